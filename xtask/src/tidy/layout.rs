//! Folders, package names, inherited lints and crate roots.

use super::source::Source;
use super::{Problem, TextFile};
use crate::metadata::{Package, Workspace};

/// Reports packages whose folder, lints or root file are not as the rest of the tree expects.
pub(super) fn check(workspace: &Workspace, files: &[TextFile], rust: &[Source]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for package in &workspace.packages {
        problems.extend(folder(package));
        let manifest = format!("{}/Cargo.toml", package.dir);
        let text = files.iter().find(|f| f.path == manifest).map_or("", |f| &f.text);
        problems.extend(lints(&manifest, text));
        problems.extend(package.targets.iter().filter_map(|target| {
            let is_root = target.kinds.iter().any(|kind| kind.ends_with("lib") || kind == "bin");
            let source = rust.iter().find(|s| s.path == target.path)?;
            if is_root { root(package, source) } else { None }
        }));
    }
    problems
}

fn folder(package: &Package) -> Option<Problem> {
    let name = package.dir.strip_prefix("crates/")?;
    let expected = if name == "gorl" { name.to_owned() } else { format!("gorl-{name}") };
    (package.name != expected).then(|| {
        let message =
            format!("the package in crates/{name} is called {}; call it {expected}", package.name);
        Problem::new(&format!("{}/Cargo.toml", package.dir), 1, message)
    })
}

fn lints(manifest: &str, text: &str) -> Option<Problem> {
    let mut lines = text.lines().map(str::trim).skip_while(|line| *line != "[lints]").skip(1);
    let inherits = lines
        .by_ref()
        .take_while(|line| !line.starts_with('['))
        .any(|line| line.replace(' ', "") == "workspace=true");
    (!inherits).then(|| {
        let message = "the workspace's lints are not inherited; add `[lints]` `workspace = true`";
        Problem::new(manifest, text.lines().count().max(1), message)
    })
}

fn root(package: &Package, source: &Source) -> Option<Problem> {
    if MAY_BE_UNSAFE.contains(&package.name.as_str()) {
        return None;
    }
    let forbids = |line: &str| line.replace(' ', "") == "#![forbid(unsafe_code)]";
    let found = source.code.iter().any(|line| forbids(line));
    (!found).then(|| {
        let message = "unsafe code is not forbidden here; add `#![forbid(unsafe_code)]` below the \
                       first line";
        Problem::new(&source.path, 1, message)
    })
}

/// Crates that may hold unsafe code, and then only in the files that `unsafety` lists.
const MAY_BE_UNSAFE: [&str; 1] = ["gorl-store-mem"];

#[cfg(test)]
mod tests {
    use super::{folder, lints, root};
    use crate::metadata::Package;
    use crate::tidy::source::Source;

    fn package(name: &str, dir: &str) -> Package {
        Package { name: name.to_owned(), dir: dir.to_owned(), ..Package::default() }
    }

    #[test]
    fn a_folder_names_its_package() {
        assert_eq!(folder(&package("gorl-core", "crates/core")), None);
        assert_eq!(folder(&package("gorl", "crates/gorl")), None);
        assert_eq!(folder(&package("xtask", "xtask")), None);
        for (name, dir) in [("core", "crates/core"), ("gorl-gorl", "crates/gorl")] {
            assert!(folder(&package(name, dir)).is_some(), "{name} in {dir}");
        }
    }

    #[test]
    fn lints_must_be_inherited() {
        assert_eq!(lints("c", "[package]\n[lints]\nworkspace = true\n[features]\n"), None);
        for text in ["[package]\n", "[lints]\n[package]\nworkspace = true\n", "[lints]\n", ""] {
            assert!(lints("c", text).is_some(), "{text:?}");
        }
    }

    #[test]
    fn a_root_must_forbid_unsafe_code() {
        let source = |text| Source::parse("crates/x/src/lib.rs", text);
        let x = package("gorl-x", "crates/x");
        assert_eq!(root(&x, &source("//! X.\n#![forbid(unsafe_code)]\n")), None);
        for text in ["//! X.\n", "// #![forbid(unsafe_code)]\n", "#![deny(unsafe_code)]\n"] {
            assert!(root(&x, &source(text)).is_some(), "{text:?}");
        }
        assert_eq!(root(&package("gorl-store-mem", "crates/store-mem"), &source("")), None);
    }
}
