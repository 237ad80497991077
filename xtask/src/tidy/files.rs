//! How files open, how long they are, and paths that exist on one machine only.

use super::{Problem, TextFile};

/// Reports what is wrong with the text of one file.
pub(super) fn check(file: &TextFile) -> Vec<Problem> {
    let mut problems = foreign_paths(file);
    if file.has_extension("rs") {
        problems.extend(opening(file));
        problems.extend(length(file));
    }
    problems
}

/// A file opens with one line that says its purpose. More of the same comment may follow where the
/// file is a crate's front page, set apart by an empty line as rustdoc wants a summary.
fn opening(file: &TextFile) -> Option<Problem> {
    let mut lines = file.text.lines();
    let purpose = lines.next().and_then(|line| line.strip_prefix("//! "));
    if purpose.is_none_or(|purpose| purpose.trim().is_empty()) {
        let message = "the file does not say its purpose; open it with one line `//! …`";
        return Some(Problem::new(&file.path, 1, message));
    }
    let second = lines.next().unwrap_or("");
    (second.starts_with("//!") && second.trim() != "//!").then(|| {
        let message = "the purpose goes on; say it in the first line, and set more of it apart by \
                       an empty `//!`";
        Problem::new(&file.path, 2, message)
    })
}

fn length(file: &TextFile) -> Option<Problem> {
    let lines = file.text.lines().count();
    (lines > MAX_LINES).then(|| {
        let message =
            format!("the file has {lines} lines; split it by purpose, {MAX_LINES} are the most");
        Problem::new(&file.path, MAX_LINES + 1, message)
    })
}

fn foreign_paths(file: &TextFile) -> Vec<Problem> {
    // A log is input data, and the paths in it are those of a web site.
    if file.has_extension("log") {
        return Vec::new();
    }
    let lines = file.text.lines().enumerate();
    lines
        .filter_map(|(index, line)| {
            let folder = FOREIGN.iter().find(|folder| begins_a_path(line, folder))?;
            let message = format!(
                "a path in /{folder} exists on one machine only; write it relative to the root of \
                 the repository",
            );
            Some(Problem::new(&file.path, index + 1, message))
        })
        .collect()
}

/// Whether `/folder/` begins an absolute path in the line: what is before it belongs to no path.
fn begins_a_path(line: &str, folder: &str) -> bool {
    let wanted = format!("/{folder}/");
    line.match_indices(&wanted).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && !"_-./~}>*".contains(c))
    })
}

/// Long enough for one purpose with its tests; what needs more has two.
const MAX_LINES: usize = 400;

/// Folders in which people keep their work; without slashes, or this list would break its rule.
const FOREIGN: [&str; 4] = ["root", "work", "home", "Users"];

#[cfg(test)]
mod tests {
    use super::{MAX_LINES, check};
    use crate::tidy::TextFile;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let file = TextFile { path: path.to_owned(), text: text.to_owned() };
        check(&file).iter().map(|problem| problem.line).collect()
    }

    #[test]
    fn a_rust_file_says_its_purpose_in_one_line() {
        assert!(lines("a.rs", "//! What it is for.\n\nfn a() {}\n").is_empty());
        assert!(lines("a.rs", "//! A crate.\n//!\n//! More of it.\n").is_empty());
        assert!(lines("a.toml", "[package]\n").is_empty());
        for text in ["", "fn a() {}\n", "//!\n", "//! \n", "// A.\n", "\n//! Late.\n"] {
            assert_eq!(lines("a.rs", text), [1], "{text:?}");
        }
        assert_eq!(lines("a.rs", "//! It goes\n//! on.\n"), [2]);
    }

    #[test]
    fn a_rust_file_is_short() {
        let text = |count: usize| format!("//! A.\n{}", "\n".repeat(count - 1));
        assert!(lines("a.rs", &text(MAX_LINES)).is_empty());
        assert_eq!(lines("a.rs", &text(MAX_LINES + 1)), [MAX_LINES + 1]);
    }

    #[test]
    fn paths_of_one_machine_are_found() {
        for folder in super::FOREIGN {
            for line in
                [format!("/{folder}/x"), format!("see `/{folder}/x`"), format!("=/{folder}/")]
            {
                assert_eq!(lines("a.md", &format!("\n{line}\n")), [2], "{line}");
                assert!(lines("a.log", &line).is_empty());
            }
            for line in [
                format!("https://a.org/{folder}/x"),
                format!("./{folder}/x"),
                format!("/{folder}s/"),
            ] {
                assert!(lines("a.md", &line).is_empty(), "{line}");
            }
        }
    }
}
