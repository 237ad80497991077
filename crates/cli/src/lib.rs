//! The `gorl` program: replay real access logs through every strategy, or trace one policy.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;

mod access_log;
mod args;
mod config;
mod duration;
mod engine;
mod failure;
mod field;
mod html;
mod json_log;
mod lines;
mod number;
mod replay;
mod timestamp;
mod trace;

pub use access_log::{Entry, LineError, parse_line};
#[doc(hidden)]
pub use replay::{Rehearsal, rehearse};

use args::{Cli, Command};
use failure::Failure;

/// Runs the program with the arguments of this process and says how it should exit.
pub fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Nobody is left to tell when the terminal is gone, so a failed print is no failure.
            let _ = error.print();
            return if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS };
        }
    };
    let done = match cli.command {
        Command::Replay(args) => replay::run(&args),
        Command::Trace(args) => trace::run(&args),
        Command::Config(command) => config::run(&command),
    };
    match done {
        // When its reader has seen enough, as with `| head`, the command has done what was asked.
        Ok(()) | Err(Failure::OutputClosed) => ExitCode::SUCCESS,
        Err(Failure::Message(message)) => {
            failure::report(&message);
            ExitCode::from(2)
        }
    }
}
