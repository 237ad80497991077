//! `cargo xtask test`: everything that a newcomer needs to trust the build.

use std::ffi::OsString;
use std::process::Command;

use anyhow::Result;

use crate::command::{self, cargo, root};
use crate::metadata::{Package, Workspace};
use crate::{no_std, servers};

/// The variable from which proptest takes its seed.
const SEED_VARIABLE: &str = "PROPTEST_RNG_SEED";

/// The seed of a plain run: one change passes or fails alike wherever it is tested. New cases are
/// looked for by `--long`, which draws a seed, and by whoever sets the variable.
const SEED: &str = "20261201";

/// What was asked on the command line.
#[derive(Debug, Default)]
pub(crate) struct Options {
    /// Property tests try a million cases in all.
    pub(crate) long: bool,
    /// Arguments for the test runner; when there are any, it is all that runs.
    pub(crate) runner_args: Vec<OsString>,
}

/// Runs the tests, or the part of them that was asked for.
pub(crate) fn run(options: &Options) -> Result<()> {
    // A part of the tests may well need no server; if it does, its failure says so.
    if options.runner_args.is_empty() {
        servers::ensure_all()?;
    }
    let mut runner = runner();
    if options.long {
        runner.env("GORL_LONG", "1");
    } else if std::env::var_os(SEED_VARIABLE).is_none() {
        runner.env(SEED_VARIABLE, SEED);
    }
    command::run(runner.args(&options.runner_args))?;
    if !options.runner_args.is_empty() {
        return Ok(());
    }
    // nextest does not run doc tests, and cargo test already has, but then they are built.
    command::run(cargo().args(["test", "--workspace", "--all-features", "--doc", "--quiet"]))?;
    let workspace = Workspace::load()?;
    for combination in workspace.crates().flat_map(combinations) {
        command::run(cargo().args(combination))?;
    }
    no_std::check()?;
    // The benchmark lives in a workspace of its own, and would go stale unseen.
    command::run(cargo().current_dir(root().join("xtask/peers")).args(["test", "--quiet"]))?;
    // What fuzzing once found stays right; to look for more takes a nightly compiler and time.
    command::run(cargo().current_dir(root().join("xtask/fuzz")).args(["test", "--quiet"]))
}

/// nextest where it is installed, for it runs tests side by side and shows the slow ones.
fn runner() -> Command {
    let mut runner = cargo();
    if command::succeeds(cargo().args(["nextest", "--version"])) {
        runner.args(["nextest", "run"]);
    } else {
        runner.args(["test", "--lib", "--bins", "--tests", "--examples"]);
    }
    runner.args(["--workspace", "--all-features"]);
    runner
}

/// The arguments of the builds that show that features are additive: the crate without any, and
/// with each one alone. All of them together is what the tests were built with.
pub(crate) fn combinations(package: &Package) -> Vec<Vec<String>> {
    let bare = ["check", "--quiet", "--package", &package.name, "--no-default-features"];
    let bare = bare.map(str::to_owned).to_vec();
    let features = package.features.iter().filter(|feature| *feature != "default");
    let alone = features.map(|feature| {
        let mut args = bare.clone();
        args.extend(["--features".to_owned(), feature.clone()]);
        args
    });
    std::iter::once(bare.clone()).chain(alone).collect()
}

#[cfg(test)]
mod tests {
    use super::combinations;
    use crate::metadata::Package;

    #[test]
    fn every_feature_is_built_alone_and_none_with_the_default() {
        let package = Package {
            name: "gorl-x".to_owned(),
            features: ["default", "json", "std"].map(str::to_owned).to_vec(),
            ..Package::default()
        };
        let built: Vec<String> = combinations(&package).iter().map(|args| args.join(" ")).collect();
        let bare = "check --quiet --package gorl-x --no-default-features";
        let json = format!("{bare} --features json");
        let std = format!("{bare} --features std");
        assert_eq!(built, [bare, &json, &std]);
    }
}
