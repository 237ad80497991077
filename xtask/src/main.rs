//! The habits of the project as commands.
#![forbid(unsafe_code)]

mod bench;
mod ci;
mod command;
mod fuzz;
mod loom;
mod metadata;
mod no_std;
mod servers;
mod test;
mod tidy;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::{Result, bail};
use lexopt::Arg::{Long, Short, Value};
use lexopt::ValueExt;

const HELP: &str = "\
The habits of the gorl project as commands.

usage: cargo xtask COMMAND

  test [--long] [-- ARGS]  everything that is needed to trust the build: all tests, doc tests,
                           every feature alone, and the core without std
                             --long   property tests try a million cases in all
                             ARGS     go to the test runner, which then is all that runs
  tidy                     dependency edges, file openings, links, lints, unsafe code, atomic orderings
  loom                     the models of every atomic and lock, under every interleaving
  fuzz [TARGET] [OPTIONS]  any bytes at stored states and access logs: every target, or one of them
                             --seconds N     how long each target runs, 60 unless told
  bench memory [OPTIONS]   the memory store beside its peers, in one process
                             --quick         fewer rounds: indicative figures in a minute
                             --instructions  instructions a decision, counted by callgrind
                             --json          figures for programs
  bench redis [OPTIONS]    the Redis store beside the usual ways, on a server of its own
                             --quick         fewer rounds: indicative figures in two minutes
                             --callers N     only with so many callers: 1, 16, 64 or 256
                             --json          figures for programs
  bench http [OPTIONS]     a tower layer beside tower_governor, under wrk (Debian: wrk)
                             --quick         fewer rounds: indicative figures in half a minute
                             --json          figures for programs
  ci [JOB]                 all that CI runs, job by job, or one job of it
";

fn main() -> ExitCode {
    match run(std::env::args_os().skip(1).collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: Vec<OsString>) -> Result<()> {
    let mut parser = lexopt::Parser::from_args(args);
    let command = match parser.next()? {
        None | Some(Short('h') | Long("help")) => "help".to_owned(),
        Some(Value(command)) => command.to_string_lossy().into_owned(),
        Some(other) => return Err(other.unexpected().into()),
    };
    match command.as_str() {
        "help" => {
            print!("{HELP}");
            Ok(())
        }
        "test" => run_test(parser),
        "tidy" => no_more(parser).and_then(|()| tidy::run()),
        "loom" => no_more(parser).and_then(|()| loom::run()),
        "fuzz" => run_fuzz(parser),
        "bench" => bench::run(&rest(&mut parser)?),
        "ci" => {
            let job = match parser.next()? {
                None => None,
                Some(Value(job)) => Some(job.to_string_lossy().into_owned()),
                Some(other) => return Err(other.unexpected().into()),
            };
            no_more(parser)?;
            ci::run(job.as_deref())
        }
        unknown => bail!("there is no command `{unknown}`; `cargo xtask help` lists them"),
    }
}

fn run_test(mut parser: lexopt::Parser) -> Result<()> {
    let mut options = test::Options::default();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("long") => options.long = true,
            // lexopt hands over everything after a bare `--` as values.
            Value(value) => {
                options.runner_args.push(value);
                options.runner_args.extend(parser.raw_args()?);
            }
            other => return Err(other.unexpected().into()),
        }
    }
    test::run(&options)
}

fn run_fuzz(mut parser: lexopt::Parser) -> Result<()> {
    let mut options = fuzz::Options::default();
    while let Some(arg) = parser.next()? {
        match arg {
            Long("seconds") => options.seconds = parser.value()?.parse()?,
            Value(name) if options.target.is_none() => {
                options.target = Some(name.to_string_lossy().into_owned());
            }
            other => return Err(other.unexpected().into()),
        }
    }
    fuzz::run(&options)
}

fn rest(parser: &mut lexopt::Parser) -> Result<Vec<OsString>> {
    Ok(parser.raw_args()?.collect())
}

fn no_more(mut parser: lexopt::Parser) -> Result<()> {
    match parser.next()? {
        None => Ok(()),
        Some(arg) => Err(arg.unexpected().into()),
    }
}

#[cfg(test)]
mod tests {
    use super::run;

    #[test]
    fn a_wrong_word_is_an_error_and_not_silence() {
        for args in [
            &["tset"][..],
            &["tidy", "--fix"],
            &["ci", "test", "fmt"],
            &["bench"],
            &["fuzz", "stored_state", "access_log"],
            &["fuzz", "--seconds", "soon"],
        ] {
            let args = args.iter().map(Into::into).collect();
            assert!(run(args).is_err());
        }
    }
}
