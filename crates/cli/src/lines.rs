//! Lines of a stream in bounded memory: a line that is too long is skipped, not stored.

use std::io::{self, BufRead};

use memchr::memchr;

/// Longer lines are no log lines; they would only fill memory.
pub(crate) const MAX_LINE: usize = 1 << 20;

/// One line without its line break.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    Text(&'a [u8]),
    /// The line is longer than [`MAX_LINE`]; its bytes are gone.
    TooLong,
}

/// Reads lines and keeps the memory of one.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    reader: R,
    line: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader, line: Vec::new() }
    }

    /// The stream below, to ask what it has at hand.
    pub(crate) fn reader(&self) -> &R {
        &self.reader
    }

    /// The next line, or none at the end; a last line without a line break counts.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        let (mut too_long, mut any) = (false, false);
        loop {
            let chunk = match self.reader.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if chunk.is_empty() && !any {
                return Ok(None);
            }
            any = true;
            let end = memchr(b'\n', chunk);
            let part = &chunk[..end.unwrap_or(chunk.len())];
            too_long = too_long || self.line.len() + part.len() > MAX_LINE;
            if !too_long {
                self.line.extend_from_slice(part);
            }
            let (ended, used) =
                (end.is_some() || chunk.is_empty(), part.len() + usize::from(end.is_some()));
            self.reader.consume(used);
            if ended {
                break;
            }
        }
        if too_long {
            return Ok(Some(Line::TooLong));
        }
        Ok(Some(Line::Text(self.line.strip_suffix(b"\r").unwrap_or(&self.line))))
    }
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    #[test]
    fn lines_end_in_any_way_and_cross_buffers() {
        let mut lines = Lines::new(BufReader::with_capacity(3, &b"one\r\n\nthree3\nlast"[..]));
        for expected in ["one", "", "three3", "last"] {
            assert_eq!(lines.next().unwrap(), Some(Line::Text(expected.as_bytes())));
        }
        assert_eq!(lines.next().unwrap(), None);
        assert_eq!(lines.next().unwrap(), None);
    }

    #[test]
    fn a_line_too_long_is_skipped_and_the_next_one_read() {
        let mut text = vec![b'x'; MAX_LINE];
        text.push(b'\n');
        text.extend(vec![b'y'; MAX_LINE + 1]);
        text.extend(b"\nz\n");
        let mut lines = Lines::new(BufReader::new(&text[..]));
        assert!(matches!(lines.next().unwrap(), Some(Line::Text(line)) if line.len() == MAX_LINE));
        assert_eq!(lines.next().unwrap(), Some(Line::TooLong));
        assert_eq!(lines.next().unwrap(), Some(Line::Text(b"z")));
    }
}
