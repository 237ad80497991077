//! `gorl config`: checks configuration files, and prints their schema.

use std::io::{self, Write};

use gorl_config::Config;

use crate::args::{CheckArgs, ConfigCommand};
use crate::failure::{Failure, report};
use crate::number::printable;

pub(crate) fn run(command: &ConfigCommand) -> Result<(), Failure> {
    match command {
        ConfigCommand::Check(args) => check(args),
        ConfigCommand::Schema => print(&gorl_config::json_schema()),
    }
}

/// Tells what every file allows, or what is wrong with it; the last error ends the command.
fn check(args: &CheckArgs) -> Result<(), Failure> {
    let mut failed = None;
    for (index, file) in args.files.iter().enumerate() {
        match Config::from_file(file) {
            Err(error) => {
                if let Some(before) = failed.replace(error.to_string()) {
                    report(&before);
                }
            }
            Ok(_) if args.quiet => {}
            Ok(config) => {
                let mut told = String::from(if index > 0 { "\n" } else { "" });
                if args.files.len() > 1 {
                    told += &printable(&file.display().to_string());
                    told += ":\n";
                }
                for line in config.to_string().lines() {
                    // A name of a resource must not reach the terminal as commands.
                    told += &printable(line);
                    told.push('\n');
                }
                print(&told)?;
            }
        }
    }
    failed.map_or(Ok(()), |error| Err(Failure::new(error)))
}

fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::from_output)
}
