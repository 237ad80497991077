//! `cargo xtask tidy`: the rules of the tree that no compiler knows.

mod banned;
mod edges;
mod files;
mod layout;
mod links;
mod orderings;
mod source;
mod test_code;
mod unsafety;

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::command::{self, program, root};
use crate::metadata::Workspace;
use source::Source;

/// A broken rule: where it is broken, and what to do.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Problem {
    path: String,
    line: usize,
    message: String,
}

impl Problem {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// A text file of the repository.
#[derive(Debug)]
struct TextFile {
    /// Relative to the root, with forward slashes.
    path: String,
    text: String,
}

impl TextFile {
    fn has_extension(&self, extension: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|found| found == extension)
    }
}

/// Checks every rule and prints each place that breaks one.
pub(crate) fn run() -> Result<()> {
    let workspace = Workspace::load()?;
    let files = text_files()?;
    let problems = problems(&workspace, &files);
    for problem in &problems {
        println!("{problem}");
    }
    if !problems.is_empty() {
        bail!("{} of the tree's rules are broken", problems.len());
    }
    println!("tidy: {} files and {} packages", files.len(), workspace.packages.len());
    Ok(())
}

fn problems(workspace: &Workspace, files: &[TextFile]) -> Vec<Problem> {
    let rust: Vec<Source> = files
        .iter()
        .filter(|f| f.has_extension("rs"))
        .map(|f| Source::parse(&f.path, &f.text))
        .collect();
    let mut problems = edges::check(workspace);
    problems.extend(layout::check(workspace, files, &rust));
    problems.extend(files.iter().flat_map(files::check));
    problems.extend(links::check(files));
    problems.extend(rust.iter().flat_map(banned::check));
    problems.extend(rust.iter().flat_map(unsafety::check));
    problems.extend(orderings::check(&rust));
    problems.sort();
    problems
}

/// The files that git tracks or is about to, less those that are not text or are deleted.
fn text_files() -> Result<Vec<TextFile>> {
    let mut git = program("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let listing = command::output(&mut git).context("tidy reads the files that git tracks")?;
    let mut files = Vec::new();
    for path in listing.split('\0').filter(|path| !path.is_empty()) {
        let Ok(bytes) = fs::read(root().join(path)) else {
            continue;
        };
        if let Ok(text) = String::from_utf8(bytes) {
            files.push(TextFile { path: path.to_owned(), text });
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::Problem;

    #[test]
    fn a_problem_is_printed_as_editors_link_it() {
        assert_eq!(Problem::new("a.rs", 3, "why").to_string(), "a.rs:3: why");
    }
}
