//! Which lines of a file are there for its tests only.

use super::source::Source;

/// For each line whether it belongs to an item under `#[cfg(test)]`.
///
/// Such an item ends at the brace that closes it, or at a semicolon before any brace.
pub(super) fn lines(source: &Source) -> Vec<bool> {
    let mut marked = vec![false; source.code.len()];
    let mut line = 0;
    while line < source.code.len() {
        if is_test_attribute(&source.code[line]) {
            let end = item_end(&source.code, line);
            marked[line..=end].fill(true);
            line = end;
        }
        line += 1;
    }
    marked
}

/// The modules that are declared under `#[cfg(test)]` and live in a file of their own.
pub(super) fn modules(source: &Source) -> Vec<String> {
    let marked = lines(source);
    let declared = source.code.iter().zip(&marked).filter(|(_, marked)| **marked);
    declared
        .filter_map(|(line, _)| {
            let declaration = line.trim().strip_suffix(';')?;
            let (_, name) = declaration.rsplit_once("mod ")?;
            Some(name.trim().to_owned())
        })
        .collect()
}

fn is_test_attribute(line: &str) -> bool {
    let line: String = line.split_whitespace().collect();
    let condition = line.strip_prefix("#[cfg(").or_else(|| line.strip_prefix("#![cfg("));
    condition.is_some_and(|condition| {
        let all = condition.strip_prefix("all(").unwrap_or(condition);
        all.split([',', ')']).any(|word| word == "test") && !condition.starts_with("any(")
    })
}

fn item_end(code: &[String], start: usize) -> usize {
    let mut depth = 0_usize;
    let mut brackets = 0_usize;
    for (index, line) in code.iter().enumerate().skip(start) {
        for c in line.chars() {
            match c {
                '[' | '(' => brackets += 1,
                ']' | ')' => brackets = brackets.saturating_sub(1),
                '{' => depth += 1,
                '}' if depth <= 1 => return index,
                '}' => depth -= 1,
                ';' if depth == 0 && brackets == 0 => return index,
                _ => {}
            }
        }
    }
    code.len() - 1
}

#[cfg(test)]
mod tests {
    use super::{lines, modules};
    use crate::tidy::source::Source;

    fn marked(text: &str) -> Vec<usize> {
        let marked = lines(&Source::parse("a.rs", text));
        marked.iter().enumerate().filter(|(_, marked)| **marked).map(|(at, _)| at + 1).collect()
    }

    #[test]
    fn an_item_under_the_attribute_is_marked_to_its_end() {
        assert_eq!(
            marked("fn a() {}\n#[cfg(test)]\nmod t {\n  fn b() { x }\n}\nfn c() {}\n"),
            [2, 3, 4, 5]
        );
        assert_eq!(marked("#[cfg(test)]\nuse a::b;\nfn c() {}\n"), [1, 2]);
        assert_eq!(marked("#[cfg(test)]\nconst A: [u8; 2] = [1, 2];\nfn c() {}\n"), [1, 2]);
        assert_eq!(marked("#[cfg(all(test, not(gorl_loom)))]\nmod t { }\n"), [1, 2]);
    }

    #[test]
    fn other_conditions_are_not() {
        for attribute in ["#[cfg(not(test))]", "#[cfg(any(test, x))]", "#[cfg(feature = \"test\")]"]
        {
            assert!(marked(&format!("{attribute}\nfn a() {{}}\n")).is_empty(), "{attribute}");
        }
    }

    #[test]
    fn modules_in_files_of_their_own_are_named() {
        let source = Source::parse("a.rs", "#[cfg(test)]\nmod checks;\nmod code;\n");
        assert_eq!(modules(&source), ["checks"]);
    }
}
