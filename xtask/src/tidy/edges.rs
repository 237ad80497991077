//! Dependencies between the workspace's crates point one way.

use super::Problem;
use crate::metadata::{Dependency, Package, Workspace};

/// Reports each dependency that does not point down the layers.
///
/// The order is `core ← key-text ← store-* ← gorl ← http ← integrations ← cli`, where a crate may skip layers and
/// never takes one of its own. The testkit stands aside: it may take the core and the facade, any
/// crate may test with it, and only the tests of several crates may ship with it.
pub(super) fn check(workspace: &Workspace) -> Vec<Problem> {
    let edges = workspace.packages.iter().flat_map(|package| {
        let dependencies = package.dependencies.iter();
        dependencies
            .filter(|d| workspace.package(&d.name).is_some())
            .filter(|d| !is_allowed(&package.name, &d.name, d.dev))
            .map(move |d| (package, d))
    });
    let report = |(package, dependency): (&Package, &Dependency)| {
        let (from, to) = (&package.name, &dependency.name);
        let message = format!(
            "{from} must not depend on {to}: edges point along core <- store-* <- gorl <- http <- \
             integrations <- cli; move what {from} needs to a lower layer",
        );
        Problem::new(&format!("{}/Cargo.toml", package.dir), 1, message)
    };
    edges.map(report).collect()
}

fn is_allowed(from: &str, to: &str, dev: bool) -> bool {
    match (from, to) {
        // The habits must build when the crates do not.
        ("xtask", _) => false,
        // Tests of several crates take what they test.
        ("gorl-tests", _) => true,
        ("gorl-testkit", to) => matches!(to, "gorl-core" | "gorl"),
        (_, "gorl-testkit") => dev,
        _ => matches!((layer(from), layer(to)), (Some(from), Some(to)) if to < from),
    }
}

/// How high a crate stands; what has no layer is nobody's dependency.
fn layer(package: &str) -> Option<u8> {
    match package {
        "gorl-core" => Some(0),
        "gorl-key-text" => Some(1),
        "gorl" => Some(3),
        "gorl-http" => Some(4),
        "gorl-cli" | "gorl-demo" => Some(6),
        "gorl-tests" | "xtask" => None,
        store if store.starts_with("gorl-store-") => Some(2),
        _ => Some(5),
    }
}

#[cfg(test)]
mod tests {
    use super::{check, is_allowed};
    use crate::metadata::{Dependency, Package, Workspace};

    #[test]
    fn edges_down_the_layers_pass() {
        for (from, to) in [
            ("gorl-store-mem", "gorl-core"),
            ("gorl", "gorl-store-redis"),
            ("gorl-tower", "gorl"),
            ("gorl-tower", "gorl-http"),
            ("gorl-cli", "gorl-core"),
            ("gorl-tests", "gorl-cli"),
            ("gorl-testkit", "gorl"),
        ] {
            assert!(is_allowed(from, to, false), "{from} -> {to}");
        }
        assert!(is_allowed("gorl-core", "gorl-testkit", true));
    }

    #[test]
    fn every_other_edge_fails() {
        for (from, to, dev) in [
            ("gorl-core", "gorl-store-mem", false),
            ("gorl-core", "gorl", true),
            ("gorl-store-mem", "gorl-store-redis", false),
            ("gorl", "gorl-tower", false),
            ("gorl-http", "gorl-tower", false),
            ("gorl-tower", "gorl-actix", true),
            ("gorl-tower", "gorl-cli", false),
            ("gorl-testkit", "gorl-store-mem", false),
            ("gorl-cli", "gorl-testkit", false),
            ("gorl", "gorl-tests", true),
            ("xtask", "gorl-core", false),
        ] {
            assert!(!is_allowed(from, to, dev), "{from} -> {to}");
        }
    }

    #[test]
    fn an_edge_is_reported_at_its_manifest() {
        let package = |name: &str, dir: &str, on: &str| Package {
            name: name.to_owned(),
            dir: dir.to_owned(),
            dependencies: vec![Dependency { name: on.to_owned(), dev: false }],
            ..Package::default()
        };
        let packages = vec![
            package("gorl-core", "crates/core", "gorl"),
            package("gorl", "crates/gorl", "serde"),
        ];
        let problems = check(&Workspace { packages });
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].path, "crates/core/Cargo.toml");
        assert!(problems[0].message.contains("gorl-core must not depend on gorl"));
    }
}
