//! Text from outside, written so that a page can only show it.

use std::fmt;

/// Displays a text with everything that means something to HTML spelled as an entity; fit for
/// elements and for quoted attributes.
pub(crate) struct Escaped<'a>(pub(crate) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                // HTML has no way to write these; they are no text.
                c if c.is_control() && c != '\n' && c != '\t' => f.write_str("\u{fffd}")?,
                c => fmt::Write::write_char(f, c)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_character_of_markup_survives() {
        assert_eq!(
            Escaped("<a b='c' d=\"e\">&\0é").to_string(),
            "&lt;a b=&#39;c&#39; d=&quot;e&quot;&gt;&amp;\u{fffd}é"
        );
    }
}
