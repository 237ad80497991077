//! Code that must not stay: unfinished parts, tests that do not run, waiting for time to pass.

use super::Problem;
use super::source::Source;

/// Reports each use of what is banned; comments and strings may speak of it.
pub(super) fn check(source: &Source) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (index, line) in source.code.iter().enumerate() {
        let line: String = line.split_whitespace().collect();
        for (banned, advice) in BANNED {
            if line.contains(banned) && !longer_name(&line, banned) {
                let message = format!("`{banned}` must not stay; {advice}");
                problems.push(Problem::new(&source.path, index + 1, message));
            }
        }
    }
    for (index, comment) in source.comments.iter().enumerate() {
        let fence = comment.trim_start_matches(['/', '!', '*', ' ']);
        let words = fence.strip_prefix("```").unwrap_or("");
        if words.split(',').any(|word| word.trim() == "ignore") {
            let message = "an example that is not compiled goes stale; use `no_run` or `text`";
            problems.push(Problem::new(&source.path, index + 1, message));
        }
    }
    problems
}

/// Whether every hit is the tail of a longer name, as in `my_todo!`.
fn longer_name(line: &str, banned: &str) -> bool {
    line.match_indices(banned).all(|(at, _)| {
        let before = line[..at].chars().next_back();
        banned.starts_with(char::is_alphabetic)
            && before.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}

/// What is banned, written without spaces, and what to do about it.
const BANNED: [(&str, &str); 6] = [
    ("#[ignore", "a test that cannot run must fail and say what it needs"),
    (",ignore)]", "a test that cannot run must fail and say what it needs"),
    ("todo!", "finish it, or leave it out"),
    ("unimplemented!", "finish it, or leave it out"),
    ("dbg!", "remove it"),
    ("thread::sleep", "inject a clock and move it, or wait on a signal with a deadline"),
];

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tidy::source::Source;

    fn lines(text: &str) -> Vec<usize> {
        check(&Source::parse("a.rs", text)).iter().map(|problem| problem.line).collect()
    }

    #[test]
    fn each_banned_thing_is_found() {
        for line in [
            "#[ignore]",
            "#[ignore = \"slow\"]",
            "#[cfg_attr(miri, ignore)]",
            "todo!()",
            "    unimplemented!(\"later\")",
            "let x = dbg!(y);",
            "std::thread::sleep(d);",
            "thread :: sleep(d)",
            "/// ```ignore",
            "//! ```rust,ignore",
        ] {
            assert_eq!(lines(&format!("fn a() {{\n{line}\n}}\n")), [2], "{line}");
        }
    }

    #[test]
    fn speaking_of_it_passes() {
        for line in [
            "// A todo!() would not do here.",
            "let s = \"thread::sleep\";",
            "my_todo!();",
            "tokio::time::sleep(d).await;",
            "/// ```no_run",
            "ignore(x);",
        ] {
            assert!(lines(line).is_empty(), "{line}");
        }
    }
}
