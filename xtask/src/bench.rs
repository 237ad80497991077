//! `cargo xtask bench`: gorl beside its peers, built in a workspace of their own.

use std::ffi::OsString;

use anyhow::{Result, bail};

use crate::command::{self, cargo};
use crate::servers;

/// Runs the benchmark that is named first, with the arguments after it.
pub(crate) fn run(args: &[OsString]) -> Result<()> {
    let [name, options @ ..] = args else {
        bail!("say which benchmark: `cargo xtask bench memory`, `redis` or `http`");
    };
    let word: &[&str] = match name.to_str() {
        Some("memory") => &[],
        Some("redis") => {
            servers::ensure_redis()?;
            &["redis"]
        }
        Some("http") => &["http"],
        _ => bail!(
            "there is no benchmark `{}`; there are `memory`, `redis` and `http`",
            name.to_string_lossy()
        ),
    };
    command::run(
        cargo()
            .args(["run", "--quiet", "--release"])
            .args(["--manifest-path", "xtask/peers/Cargo.toml", "--"])
            .args(word)
            .args(options),
    )
}
