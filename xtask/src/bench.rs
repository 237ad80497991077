//! `cargo xtask bench`: gorl beside its peers, built in a workspace of their own.

use std::ffi::OsString;

use anyhow::{Result, bail};

use crate::command::{self, cargo};

/// Runs the benchmark that is named first, with the arguments after it.
pub(crate) fn run(args: &[OsString]) -> Result<()> {
    let [name, options @ ..] = args else {
        bail!("say which benchmark: `cargo xtask bench memory`");
    };
    if name != "memory" {
        bail!("there is no benchmark `{}`; there is `memory`", name.to_string_lossy());
    }
    command::run(
        cargo()
            .args(["run", "--quiet", "--release"])
            .args(["--manifest-path", "xtask/peers/Cargo.toml", "--"])
            .args(options),
    )
}
