//! Links of the book and the other pages: what they name is there, and every page is in the summary.

use std::collections::BTreeSet;

use super::{Problem, TextFile};

/// Where the pages of the book are, and the list of them.
const BOOK: &str = "docs/src/";
const SUMMARY: &str = "docs/src/SUMMARY.md";

/// Reports links to nowhere, and pages of the book that are not in its summary.
pub(super) fn check(files: &[TextFile]) -> Vec<Problem> {
    let there: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let pages = || files.iter().filter(|file| file.has_extension("md"));
    let mut problems = Vec::new();
    for page in pages() {
        for (line, target) in links(&page.text) {
            let path = resolve(&page.path, target);
            let folder = format!("{}/", path.trim_end_matches('/'));
            let is_there =
                there.contains(path.as_str()) || there.iter().any(|file| file.starts_with(&folder));
            if !is_there {
                let message = format!("the link leads to {path}, which is not there");
                problems.push(Problem::new(&page.path, line, message));
            }
        }
    }
    let summary = files.iter().find(|file| file.path == SUMMARY);
    let listed: BTreeSet<String> = summary
        .iter()
        .flat_map(|summary| links(&summary.text))
        .map(|(_, target)| resolve(SUMMARY, target))
        .collect();
    for page in pages().filter(|page| page.path.starts_with(BOOK) && page.path != SUMMARY) {
        if !listed.contains(&page.path) {
            let message = "the page is not in docs/src/SUMMARY.md, so the book leaves it out";
            problems.push(Problem::new(&page.path, 1, message));
        }
    }
    problems
}

/// The links of a page within the repository, with their lines: not those in code, nor to the web.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut is_code = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if is_code {
            continue;
        }
        for (at, _) in line.match_indices("](") {
            let target = line[at + 2..].split(')').next().unwrap_or_default();
            let path = target.split('#').next().unwrap_or_default();
            if !path.is_empty() && !path.contains("://") && !path.starts_with("mailto:") {
                found.push((index + 1, path));
            }
        }
    }
    found
}

/// The file that a link in a page leads to, seen from the root.
fn resolve(page: &str, target: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> TextFile {
        TextFile { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn links_to_what_is_there_pass() {
        let files = [
            file(
                "README.md",
                "[a](docs/src/a.md#part) [web](https://example.com/x) [f](crates/x) [h](#here)",
            ),
            file("docs/src/SUMMARY.md", "- [a](a.md)"),
            file(
                "docs/src/a.md",
                "[code](../../crates/x/src/lib.rs)\n```text\n[no](nowhere.md)\n```",
            ),
            file("crates/x/src/lib.rs", ""),
        ];
        assert_eq!(check(&files), []);
    }

    #[test]
    fn links_to_nowhere_and_unlisted_pages_are_found() {
        let files = [
            file("docs/src/SUMMARY.md", "- [a](a.md)\n- [b](b.md)"),
            file("docs/src/a.md", "text\n[x](../x.md)"),
            file("docs/src/c.md", ""),
        ];
        let problems: Vec<String> = check(&files).iter().map(ToString::to_string).collect();
        assert_eq!(
            problems,
            [
                "docs/src/SUMMARY.md:2: the link leads to docs/src/b.md, which is not there",
                "docs/src/a.md:2: the link leads to docs/x.md, which is not there",
                "docs/src/c.md:1: the page is not in docs/src/SUMMARY.md, so the book leaves it out",
            ]
        );
    }
}
