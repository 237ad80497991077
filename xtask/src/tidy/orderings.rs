//! Each atomic ordering that orders anything names the model that shows it.

use super::Problem;
use super::source::{Source, words};
use super::test_code;

/// Reports each ordering other than `Relaxed` in shipped code that names no model which exists.
///
/// A model is named by a comment `// loom: name_of_model` on the line or a few lines above it.
pub(super) fn check(sources: &[Source]) -> Vec<Problem> {
    let models: Vec<String> =
        sources.iter().filter(|source| is_models(&source.path)).flat_map(models).collect();
    let test_files: Vec<String> = sources.iter().flat_map(test_files).collect();
    let is_test = |path: &str| {
        test_files
            .iter()
            .any(|file| path == format!("{file}.rs") || path.starts_with(&format!("{file}/")))
    };
    let shipped =
        sources.iter().filter(|source| is_shipped(&source.path) && !is_test(&source.path));
    shipped.flat_map(|source| unnamed(source, &models)).collect()
}

fn unnamed(source: &Source, models: &[String]) -> Vec<Problem> {
    let is_test = test_code::lines(source);
    let bare = imported(source);
    let mut problems = Vec::new();
    for (index, code) in source.code.iter().enumerate() {
        if is_test[index] || is_import(code) {
            continue;
        }
        let Some(ordering) = ORDERINGS.iter().find(|name| uses(code, name, bare.contains(name)))
        else {
            continue;
        };
        let from = index.saturating_sub(REACH);
        let named: Vec<&str> = source.comments[from..=index]
            .iter()
            .flat_map(|comment| named_models(comment))
            .collect();
        if named.iter().any(|name| models.iter().any(|model| model == name)) {
            continue;
        }
        let message = match named.last() {
            None => format!("`{ordering}` names no model; add `// loom: name_of_model` above it"),
            Some(name) => {
                format!("`{ordering}` names the model `{name}`, which does not exist; write it")
            }
        };
        problems.push(Problem::new(&source.path, index + 1, message));
    }
    problems
}

/// Whether a line uses the ordering: behind a path, or bare where the file imports it. Bare names
/// elsewhere are something else, such as the type of a guard.
fn uses(code: &str, ordering: &str, bare: bool) -> bool {
    let behind_path = format!("::{ordering}");
    words(code).any(|word| word == ordering) && (bare || code.contains(&behind_path))
}

/// The orderings that a file can use without a path.
fn imported(source: &Source) -> Vec<&'static str> {
    let imports: Vec<&String> = source.code.iter().filter(|code| is_import(code)).collect();
    let is_imported = |name: &&str| {
        imports
            .iter()
            .any(|code| code.contains("Ordering::*") || words(code).any(|word| word == *name))
    };
    ORDERINGS.into_iter().filter(is_imported).collect()
}

/// The names after `loom:` in a comment, separated by commas.
fn named_models(comment: &str) -> impl Iterator<Item = &str> {
    let (_, names) = comment.split_once("loom: ").unwrap_or_default();
    names.split(',').map(|name| words(name).next().unwrap_or_default()).filter(|n| !n.is_empty())
}

/// The functions of a file of models: those under `#[test]`, and those called `model_…`.
fn models(source: &Source) -> Vec<String> {
    let mut models = Vec::new();
    let mut under_test = false;
    for line in &source.code {
        let mut names = words(line).skip_while(|word| *word != "fn").skip(1);
        if let Some(name) = names.next() {
            if under_test || name.starts_with("model_") {
                models.push(name.to_owned());
            }
            under_test = false;
        } else if line.trim() == "#[test]" {
            under_test = true;
        }
    }
    models
}

/// The paths, without `.rs`, of the modules that a file declares for its tests.
fn test_files(source: &Source) -> Vec<String> {
    let (folder, file) = source.path.rsplit_once('/').unwrap_or(("", &source.path));
    let folder = match file {
        "lib.rs" | "main.rs" | "mod.rs" => folder.to_owned(),
        file => format!("{folder}/{}", file.trim_end_matches(".rs")),
    };
    test_code::modules(source).iter().map(|module| format!("{folder}/{module}")).collect()
}

/// `crates/*/tests/loom*.rs` and `crates/*/src/**/loom*.rs`, or folders of such a name.
fn is_models(path: &str) -> bool {
    let mut parts = path.split('/').skip(2);
    path.starts_with("crates/")
        && matches!(parts.next(), Some("tests" | "src"))
        && parts.any(|part| part.starts_with("loom"))
}

/// Code of the crates that users run.
fn is_shipped(path: &str) -> bool {
    path.starts_with("crates/") && path.split('/').nth(2) == Some("src") && !is_models(path)
}

fn is_import(code: &str) -> bool {
    let code = code.trim_start();
    code.starts_with("use ")
        || code.starts_with("pub use ")
        || code.starts_with("pub(") && code.contains(" use ")
}

/// The orderings that order something.
const ORDERINGS: [&str; 4] = ["Acquire", "Release", "AcqRel", "SeqCst"];

/// How many lines above an ordering its comment may be: a call that rustfmt broke up fits.
const REACH: usize = 6;

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::source::Source;

    const MODEL: &str = "fn model_a() {}\n#[test]\nfn two_takes() {}\nfn helper() {}\n";

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let models = Source::parse("crates/x/tests/loom.rs", MODEL);
        let problems = check(&[models, Source::parse(path, text)]);
        problems.iter().map(|problem| problem.line).collect()
    }

    #[test]
    fn an_ordering_without_a_model_is_found() {
        let path = "crates/x/src/a.rs";
        for text in [
            "a.load(Ordering::Acquire);",
            "use std::sync::atomic::Ordering::{Acquire, Release};\na.store(1, Release);",
            "use std::sync::atomic::Ordering::*;\na.store(1, Release);",
            "// loom: model_b\na.load(Ordering::SeqCst);",
            "// loom: helper\na.load(Ordering::SeqCst);",
            "// pairs with the store in `give`\na.load(Ordering::Acquire);",
            "// loom: model_a\n\n\n\n\n\n\na.load(Ordering::Acquire);",
            "let s = \"// loom: model_a\"; a.load(Ordering::AcqRel);",
            "#[cfg(test)]\nmod t {}\na.load(Ordering::AcqRel);",
        ] {
            let last = text.lines().count();
            assert_eq!(lines(path, text), [last], "{text}");
        }
    }

    #[test]
    fn an_ordering_that_names_its_model_passes() {
        let path = "crates/x/src/a.rs";
        for text in [
            "// loom: model_a\na.load(Ordering::Acquire);",
            "a.load(Ordering::Acquire); // pairs with b; loom: two_takes",
            "// loom: model_z, model_a.\na\n  .b(\n    c,\n    d,\n    e,\n    Ordering::AcqRel)",
            "a.load(Ordering::Relaxed);",
            "use std::sync::atomic::Ordering::{Acquire, Release};",
            "pub(crate) use std::sync::atomic::Ordering::SeqCst;",
            "#[cfg(test)]\nmod t {\n  fn f() { a.load(Ordering::SeqCst); }\n}",
            "// SeqCst would do as well.",
            "struct Release;\nlet release = Release(&self.held);",
        ] {
            assert!(lines(path, text).is_empty(), "{text}");
        }
    }

    #[test]
    fn models_and_tests_are_free_to_use_any() {
        let text = "a.load(Ordering::SeqCst);";
        for path in ["crates/x/tests/loom_b.rs", "crates/x/src/sync/loom.rs", "crates/x/tests/t.rs"]
        {
            assert!(lines(path, text).is_empty(), "{path}");
        }
        let sources = [
            Source::parse("crates/x/src/a.rs", "#[cfg(test)]\nmod tests;\n"),
            Source::parse("crates/x/src/a/tests.rs", text),
            Source::parse("crates/x/src/b/tests.rs", text),
        ];
        let paths: Vec<String> = check(&sources).into_iter().map(|problem| problem.path).collect();
        assert_eq!(paths, ["crates/x/src/b/tests.rs"]);
    }
}
