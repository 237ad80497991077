//! gorl beside its peers: in memory, over Redis, and around a service of HTTP.

mod alloc_count;
mod clocks;
mod goals;
mod http;
mod instructions;
mod machine;
mod memory;
mod process;
mod redis;
mod reload;
mod report;
mod speed;
mod stats;
mod subject;
mod sweep;
mod workload;

use anyhow::{Result, bail};
use lexopt::Arg::{Long, Short, Value};

use report::Report;

const HELP: &str = "\
usage: cargo xtask bench memory [OPTIONS]

  --quick          fewer rounds: indicative figures in a minute or two
  --instructions   only count instructions a decision, by callgrind (Debian: valgrind)
  --only SECTION   only `speed`, `clocks`, `memory`, `sweep`, `reload` or
                   `instructions`
  --json           print figures for programs
";

/// What to measure, and how.
#[derive(Debug, Default)]
struct Options {
    quick: bool,
    json: bool,
    only: Option<String>,
}

impl Options {
    /// Callgrind needs a program of its own and much time, so it has to be asked for.
    fn wants(&self, section: &str) -> bool {
        self.only.as_ref().map_or(section != "instructions", |only| only == section)
    }
}

fn main() -> Result<()> {
    let mut parser = lexopt::Parser::from_env();
    let mut options = Options::default();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("quick") => options.quick = true,
            Long("json") => options.json = true,
            Long("instructions") => options.only = Some("instructions".to_owned()),
            Long("only") => options.only = Some(parser.value()?.to_string_lossy().into_owned()),
            Long("help") | Short('h') => {
                print!("{HELP}");
                return Ok(());
            }
            // This program starts itself again for what must not share a process.
            Value(word) if word == "redis" => return redis::run(parser),
            Value(word) if word == "http" => return http::run(parser),
            Value(word) if word == "http-serve" => {
                return http::serve(&parser.value()?.to_string_lossy());
            }
            Value(part) => {
                let words: Vec<String> =
                    parser.raw_args()?.map(|word| word.to_string_lossy().into_owned()).collect();
                return match part.to_str() {
                    Some("memory-part") => memory::part(&words),
                    Some("instructions-part") => instructions::part(&words),
                    _ => bail!("unknown word `{}`\n{HELP}", part.to_string_lossy()),
                };
            }
            other => return Err(other.unexpected().into()),
        }
    }
    bench(&options)
}

fn bench(options: &Options) -> Result<()> {
    const SECTIONS: [&str; 6] = ["speed", "clocks", "memory", "sweep", "reload", "instructions"];
    if let Some(only) = options.only.as_deref().filter(|only| !SECTIONS.contains(only)) {
        bail!("there is no section `{only}`; there are {}", SECTIONS.join(", "));
    }
    let mut report = Report::default();
    if options.wants("speed") {
        let (rounds, rows) = speed::measure(options.quick);
        report.section(&speed::table(rounds, &rows), ("speed", speed::json(&rows)));
        report.goals.extend(goals::speed(&rows));
    }
    if options.wants("clocks") {
        let measured = clocks::measure(options.quick);
        report.section(&clocks::table(&measured), ("clocks", clocks::json(&measured)));
    }
    if options.wants("memory") {
        let rows = memory::measure()?;
        report.section(&memory::table(&rows), ("memory", memory::json(&rows)));
        report.goals.extend(goals::memory(&rows));
    }
    if options.wants("sweep") {
        let rows = sweep::measure(options.quick)?;
        report.section(&sweep::table(&rows), ("sweep", sweep::json(&rows)));
        report.goals.extend(goals::sweep(&rows));
    }
    if options.wants("reload") {
        let (rounds, rows) = reload::measure(options.quick);
        report.section(&reload::table(rounds, &rows), ("reload", reload::json(&rows)));
    }
    if options.wants("instructions") {
        let rows = instructions::measure()?;
        report.section(&instructions::table(&rows), ("instructions", instructions::json(&rows)));
        report.goals.extend(goals::instructions(&rows));
    }
    let machine = machine::describe();
    report.print(&machine, options.json);
    Ok(())
}
