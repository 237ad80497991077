//! A Rust file with its code, its comments and its strings told apart, line by line.

/// The lines of a Rust file, twice: what is code, and what is comment.
///
/// Both have as many lines as the file. Strings and characters are in neither; their quotes stay
/// in the code, so that what is around them does not grow together.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) path: String,
    pub(super) code: Vec<String>,
    pub(super) comments: Vec<String>,
}

impl Source {
    /// Tells the parts of a file apart. Text that is not Rust gives some split, never a panic.
    pub(super) fn parse(path: &str, text: &str) -> Self {
        let mut splitter = Splitter { rest: text, code: String::new(), comments: String::new() };
        while !splitter.rest.is_empty() {
            splitter.step();
        }
        // As many lines as the file, even where the last ones hold nothing of a part.
        let count = text.lines().count();
        let lines = |part: &str| part.split('\n').take(count).map(str::to_owned).collect();
        let (code, comments) = (lines(&splitter.code), lines(&splitter.comments));
        Self { path: path.to_owned(), code, comments }
    }
}

/// The names, keywords and numbers in a line of code.
pub(super) fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

struct Splitter<'a> {
    rest: &'a str,
    code: String,
    comments: String,
}

/// Where a piece of text goes.
#[derive(Clone, Copy)]
enum Part {
    Code,
    Comment,
    Literal,
}

impl Splitter<'_> {
    fn step(&mut self) {
        if self.rest.starts_with("//") {
            let end = self.rest.find('\n').unwrap_or(self.rest.len());
            self.take(end, Part::Comment);
        } else if self.rest.starts_with("/*") {
            self.take(block_comment(self.rest), Part::Comment);
        } else if let Some(hashes) = raw_string(self.rest, &self.code) {
            let open = self.rest.find('"').map_or(self.rest.len(), |quote| quote + 1);
            self.take(open, Part::Code);
            let close = format!("\"{}", "#".repeat(hashes));
            let end = self.rest.find(&close).unwrap_or(self.rest.len());
            self.take(end, Part::Literal);
            self.take(close.len(), Part::Code);
        } else if self.rest.starts_with('"') {
            self.take(1, Part::Code);
            self.take(quoted(self.rest, '"'), Part::Literal);
            self.take(1, Part::Code);
        } else if is_character(self.rest) {
            self.take(1, Part::Code);
            self.take(quoted(self.rest, '\''), Part::Literal);
            self.take(1, Part::Code);
        } else {
            let first = self.rest.chars().next().map_or(0, char::len_utf8);
            self.take(first, Part::Code);
        }
    }

    /// Moves the next bytes to their part. Line ends go to both, which keeps the lines in step.
    fn take(&mut self, bytes: usize, part: Part) {
        let (taken, rest) = self.rest.split_at(bytes.min(self.rest.len()));
        self.rest = rest;
        for c in taken.chars() {
            match (c, part) {
                ('\n', _) => {
                    self.code.push(c);
                    self.comments.push(c);
                }
                (_, Part::Code) => self.code.push(c),
                (_, Part::Comment) => self.comments.push(c),
                (_, Part::Literal) => {}
            }
        }
    }
}

/// The length of a block comment, in which others may nest.
fn block_comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

/// The number of hashes if a raw string begins here: `r`, hashes, a quote, not in a name.
fn raw_string(text: &str, code: &str) -> Option<usize> {
    let after_r = text.strip_prefix('r')?;
    let hashes = after_r.len() - after_r.trim_start_matches('#').len();
    let mut before = code.chars().rev();
    // `br"` and `cr"` are raw strings as well, `par"` would not be Rust.
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let continues_a_name = match before.next() {
        Some('b' | 'c') => before.next().is_some_and(is_name),
        Some(c) => is_name(c),
        None => false,
    };
    (after_r[hashes..].starts_with('"') && !continues_a_name).then_some(hashes)
}

/// The bytes before the quote that closes a literal.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at,
            _ => {}
        }
    }
    text.len()
}

/// Whether a character begins here rather than a lifetime, which has no closing quote.
fn is_character(text: &str) -> bool {
    let Some(inner) = text.strip_prefix('\'') else {
        return false;
    };
    let mut chars = inner.chars();
    match chars.next() {
        Some('\\') => true,
        Some('\'') | None => false,
        Some(_) => chars.next() == Some('\''),
    }
}

#[cfg(test)]
mod tests {
    use super::{Source, words};

    #[track_caller]
    fn splits(text: &str, code: &str, comment: &str) {
        let source = Source::parse("a.rs", text);
        assert_eq!(
            (source.code.join("\n").trim(), source.comments.join("\n").trim()),
            (code, comment)
        );
    }

    #[test]
    fn comments_and_strings_leave_the_code() {
        splits("f(); // why", "f();", "// why");
        splits("a /* b /* c */ d */ e", "a  e", "/* b /* c */ d */");
        splits("f(\"// no\")", "f(\"\")", "");
        splits(
            r#"f("a\"b // no") // yes"#,
            r#"f("") // yes"#.split(" //").next().unwrap(),
            "// yes",
        );
        splits("f(r#\"a\" // no\"#) // yes", "f(r#\"\"#)", "// yes");
        splits("br\"\\\" // yes", "br\"\"", "// yes");
    }

    #[test]
    fn characters_and_lifetimes_are_told_apart() {
        splits("f('\"', b) // yes", "f('', b)", "// yes");
        splits("f('\\'') // yes", "f('')", "// yes");
        splits("fn f<'a>(x: &'a str) // yes", "fn f<'a>(x: &'a str)", "// yes");
    }

    #[test]
    fn lines_stay_in_step() {
        let source = Source::parse("a.rs", "/* a\nb */ c\n\"d\ne\"\n// f\n");
        assert_eq!(source.code, ["", " c", "\"", "\"", ""]);
        assert_eq!(source.comments, ["/* a", "b */", "", "", "// f"]);
    }

    #[test]
    fn broken_text_gives_some_split() {
        for text in ["\"", "'", "/*", "r#\"", "'\\", "é'é", "/* é", "r", "b'"] {
            let _ = Source::parse("a.rs", text);
        }
        assert_eq!(words("a::b_1(c)").collect::<Vec<_>>(), ["a", "b_1", "c"]);
    }
}
