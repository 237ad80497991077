//! `cargo xtask loom`: the models of every atomic and lock, under every interleaving.

use anyhow::{Result, bail};

use crate::command::{self, cargo};
use crate::metadata::Workspace;

/// Runs every test target whose name starts with `loom`.
///
/// They have a target folder of their own: the flag changes every crate below them, and builds for
/// the models and for everything else would otherwise throw each other away.
pub(crate) fn run() -> Result<()> {
    let workspace = Workspace::load()?;
    let targets = targets(&workspace);
    if targets.is_empty() {
        bail!("no test target in crates/ has a name that starts with `loom`, so nothing was shown");
    }
    for (package, target) in targets {
        command::run(
            cargo()
                .env("RUSTFLAGS", "--cfg gorl_loom")
                .args(["test", "--release", "--target-dir", "target/loom"])
                .args(["--package", package, "--test", target]),
        )?;
    }
    Ok(())
}

fn targets(workspace: &Workspace) -> Vec<(&str, &str)> {
    let packages = workspace.crates();
    let targets = packages.flat_map(|p| p.targets.iter().map(move |t| (p, t)));
    targets
        .filter(|(_, t)| t.kinds.iter().any(|kind| kind == "test") && t.name.starts_with("loom"))
        .map(|(p, t)| (p.name.as_str(), t.name.as_str()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::targets;
    use crate::metadata::{Package, Target, Workspace};

    #[test]
    fn only_test_targets_named_loom_are_models() {
        let target = |name: &str, kind: &str| Target {
            name: name.to_owned(),
            kinds: vec![kind.to_owned()],
            path: String::new(),
        };
        let targets_of_a = ["loom", "loom_clock", "vectors"].map(|name| target(name, "test"));
        let package = Package {
            name: "a".to_owned(),
            dir: "crates/a".to_owned(),
            targets: targets_of_a.into_iter().chain([target("loom_lib", "lib")]).collect(),
            ..Package::default()
        };
        let workspace = Workspace { packages: vec![package] };
        assert_eq!(targets(&workspace), [("a", "loom"), ("a", "loom_clock")]);
    }
}
