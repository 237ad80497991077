//! `cargo xtask fuzz`: any bytes at what reads bytes, for a while, from the kept corpora on.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::command::{self, program, root};

/// The workspace of the targets, seen from the root.
const FOLDER: &str = "xtask/fuzz";

/// What was asked on the command line.
#[derive(Debug)]
pub(crate) struct Options {
    /// The only target to run; all of them if there is none.
    pub(crate) target: Option<String>,
    /// How long each target runs.
    pub(crate) seconds: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { target: None, seconds: 60 }
    }
}

/// Runs every target, or the one that was named, each for so long.
///
/// What the fuzzer finds on its way goes to a folder of its own below `target`, so that a run
/// leaves the kept corpus as it is.
pub(crate) fn run(options: &Options) -> Result<()> {
    let known = targets(&root().join(FOLDER).join("fuzz_targets"))?;
    let chosen = match &options.target {
        None => known,
        Some(name) if known.contains(name) => vec![name.clone()],
        Some(name) => bail!("there is no target `{name}`; there are {}", known.join(", ")),
    };
    require_tools()?;
    for target in chosen {
        let found = format!("target/found/{target}");
        let folder = root().join(FOLDER);
        fs::create_dir_all(folder.join(&found)).context("the fuzzer needs a place to write")?;
        command::run(
            cargo_fuzz()
                .current_dir(folder)
                .args(["run", "--fuzz-dir", ".", &target, &found, &format!("corpus/{target}")])
                .args(["--", &format!("-max_total_time={}", options.seconds)])
                .args(["-timeout=10", "-print_final_stats=1"]),
        )?;
    }
    Ok(())
}

/// The fuzzer's coverage needs an unstable flag, so whatever toolchain runs this, nightly builds.
fn cargo_fuzz() -> Command {
    let mut rustup = program("rustup");
    rustup.args(["run", "nightly", "cargo", "fuzz"]);
    rustup
}

fn require_tools() -> Result<()> {
    if !command::succeeds(program("rustup").args(["run", "nightly", "cargo", "--version"])) {
        bail!("fuzzing needs a nightly toolchain; run `rustup toolchain install nightly`");
    }
    if !command::succeeds(cargo_fuzz().arg("--version")) {
        bail!("fuzzing needs cargo-fuzz; run `cargo install cargo-fuzz --locked`");
    }
    Ok(())
}

/// The names of the files in the folder of targets, in order.
fn targets(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).context("the targets are files")? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            names.extend(path.file_stem().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::{FOLDER, Options, run, targets};
    use crate::command::root;

    #[test]
    fn every_target_has_a_kept_corpus() {
        let folder = root().join(FOLDER);
        let targets = targets(&folder.join("fuzz_targets")).unwrap();
        assert!(targets.contains(&"stored_state".to_owned()), "{targets:?}");
        for target in targets {
            assert!(folder.join("corpus").join(&target).is_dir(), "{target}");
        }
    }

    #[test]
    fn an_unknown_target_is_an_error_that_names_the_known_ones() {
        let options = Options { target: Some("nothing".to_owned()), ..Options::default() };
        let error = run(&options).unwrap_err().to_string();
        assert!(error.contains("access_log, "), "{error}");
    }
}
