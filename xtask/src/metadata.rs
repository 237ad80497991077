//! What `cargo metadata` says about the workspace, reduced to what the commands ask.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::command;

/// The packages of the workspace.
#[derive(Debug, Default)]
pub(crate) struct Workspace {
    pub(crate) packages: Vec<Package>,
}

/// One package of the workspace.
#[derive(Debug, Default)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// The folder, relative to the root, with forward slashes.
    pub(crate) dir: String,
    pub(crate) features: Vec<String>,
    pub(crate) targets: Vec<Target>,
    pub(crate) dependencies: Vec<Dependency>,
}

/// Something that a package builds.
#[derive(Debug, Default)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) kinds: Vec<String>,
    /// The root file, relative to the root of the workspace.
    pub(crate) path: String,
}

/// A direct dependency.
#[derive(Debug, Default)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) dev: bool,
}

impl Workspace {
    /// Asks cargo about the workspace that this program belongs to.
    pub(crate) fn load() -> Result<Self> {
        let json = command::output(command::cargo().args([
            "metadata",
            "--no-deps",
            "--format-version",
            "1",
        ]))?;
        Self::parse(&json)
    }

    /// Reads the JSON of `cargo metadata --no-deps --format-version 1`.
    pub(crate) fn parse(json: &str) -> Result<Self> {
        let json: Value = serde_json::from_str(json).context("cargo metadata is not JSON")?;
        let root = PathBuf::from(text(&json, "workspace_root"));
        let packages = list(&json, "packages").map(|p| package(&root, p)).collect();
        Ok(Self { packages })
    }

    /// The package of this name, if it is part of the workspace.
    pub(crate) fn package(&self, name: &str) -> Option<&Package> {
        self.packages.iter().find(|p| p.name == name)
    }

    /// The packages that users get: those in `crates/`.
    pub(crate) fn crates(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|p| p.dir.starts_with("crates/"))
    }
}

fn package(root: &Path, json: &Value) -> Package {
    let manifest = PathBuf::from(text(json, "manifest_path"));
    let dir = manifest.parent().unwrap_or(&manifest);
    let mut features: Vec<String> = json["features"]
        .as_object()
        .map(|features| features.keys().cloned().collect())
        .unwrap_or_default();
    features.sort();
    Package {
        name: text(json, "name"),
        dir: relative(root, dir),
        features,
        targets: list(json, "targets")
            .map(|t| Target {
                name: text(t, "name"),
                kinds: list(t, "kind").filter_map(|k| k.as_str().map(str::to_owned)).collect(),
                path: relative(root, Path::new(&text(t, "src_path"))),
            })
            .collect(),
        dependencies: list(json, "dependencies")
            .map(|d| Dependency { name: text(d, "name"), dev: d["kind"] == "dev" })
            .collect(),
    }
}

fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

fn text(json: &Value, field: &str) -> String {
    json[field].as_str().unwrap_or_default().to_owned()
}

fn list<'a>(json: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> {
    json[field].as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::Workspace;

    #[test]
    fn names_folders_and_kinds_are_read() {
        let json = r#"{"workspace_root": "/w", "packages": [{
            "name": "gorl-x", "manifest_path": "/w/crates/x/Cargo.toml",
            "features": {"std": [], "default": ["std"]},
            "targets": [{"name": "gorl_x", "kind": ["lib"], "src_path": "/w/crates/x/src/lib.rs"}],
            "dependencies": [{"name": "a", "kind": null}, {"name": "b", "kind": "dev"}]}]}"#;
        let workspace = Workspace::parse(json).unwrap();
        let package = workspace.package("gorl-x").unwrap();
        assert_eq!(package.dir, "crates/x");
        assert_eq!(package.features, ["default", "std"]);
        assert_eq!(package.targets[0].path, "crates/x/src/lib.rs");
        let dev: Vec<bool> = package.dependencies.iter().map(|d| d.dev).collect();
        assert_eq!(dev, [false, true]);
        assert_eq!(workspace.crates().count(), 1);
    }
}
