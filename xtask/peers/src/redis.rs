//! `cargo xtask bench redis`: the Redis store beside the usual ways, on a server of its own.

mod drive;
mod goals;
mod peers;
mod server;
mod subject;
mod table;

use anyhow::{Result, bail};
use lexopt::Arg::{Long, Short};

use crate::machine;
use crate::report::Report;
use drive::{Load, Row};
use server::Server;
use subject::Outcome;

const HELP: &str = "\
usage: cargo xtask bench redis [OPTIONS]

  --quick        fewer and shorter rounds: indicative figures in two minutes
  --callers N    only with so many callers: 1, 16, 64 or 256
  --json         print figures for programs
";

/// How many ask at a time.
const CALLERS: [usize; 4] = [1, 16, 64, 256];

/// How many keys they ask for.
const KEYS: [usize; 2] = [1, 100_000];

/// What to measure, and how.
#[derive(Clone, Copy, Debug)]
struct Options {
    quick: bool,
    json: bool,
    callers: Option<usize>,
}

pub(crate) fn run(mut parser: lexopt::Parser) -> Result<()> {
    let mut options = Options { quick: false, json: false, callers: None };
    while let Some(arg) = parser.next()? {
        match arg {
            Long("quick") => options.quick = true,
            Long("json") => options.json = true,
            Long("callers") => options.callers = Some(parser.value()?.to_string_lossy().parse()?),
            Long("help") | Short('h') => {
                print!("{HELP}");
                return Ok(());
            }
            other => return Err(other.unexpected().into()),
        }
    }
    if let Some(callers) = options.callers.filter(|callers| !CALLERS.contains(callers)) {
        bail!("there is no run with {callers} callers; there are 1, 16, 64 and 256");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    bench(options, &runtime)
}

fn bench(options: Options, runtime: &tokio::runtime::Runtime) -> Result<()> {
    let server = Server::start()?;
    let mut rows: Vec<Row> = Vec::new();
    for callers in CALLERS.into_iter().filter(|n| options.callers.is_none_or(|only| only == *n)) {
        for keys in KEYS {
            for outcome in [Outcome::Allowed, Outcome::Denied] {
                let load = Load::new(callers, keys, outcome, options.quick);
                if !options.json {
                    eprintln!("{callers} callers, {keys} keys, {}", outcome.as_str());
                }
                server.flush()?;
                rows.extend(runtime.block_on(drive::rounds(&server, &load))?);
            }
        }
    }
    let mut report = Report::default();
    report.section(&table::text(&rows), ("redis", table::json(&rows)));
    report.goals = goals::of(&rows);
    let mut machine = machine::describe();
    machine.push(format!("server:   {}", server.version()?));
    report.print(&machine, options.json);
    Ok(())
}
