//! The `gorl` program; everything it does is in the library beside it.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    gorl_cli::run()
}
