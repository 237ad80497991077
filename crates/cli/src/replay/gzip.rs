//! Unpacks gzip as `gzip -d` does: all members, and nothing of what follows the last of them.

use std::cell::Cell;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

use flate2::bufread::GzDecoder;

/// What a file of gzip starts with.
pub(crate) const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Reads the text of all members.
///
/// After a complete member may follow another, or bytes that are none: tapes and some tools pad
/// with zeros, and a disk that filled up leaves a broken start. What was complete is worth reading.
pub(crate) struct Members<R> {
    /// Absent once everything was read.
    member: Option<GzDecoder<R>>,
    is_first: bool,
    /// Set when there were bytes after the last member, for whoever tells the user.
    trailing: Rc<Cell<bool>>,
}

impl<R: BufRead> Members<R> {
    pub(crate) fn new(input: R, trailing: Rc<Cell<bool>>) -> Self {
        Self { member: Some(GzDecoder::new(input)), is_first: true, trailing }
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        while let Some(member) = &mut self.member {
            let is_member = member.header().is_some();
            match member.read(into) {
                Ok(0) => {}
                Err(error) if !is_member && !self.is_first && is_no_header(&error) => {
                    self.trailing.set(true);
                    self.member = None;
                    break;
                }
                done => return done,
            }
            self.is_first = false;
            let Some(ended) = self.member.take() else { break };
            let mut rest = ended.into_inner();
            if !rest.fill_buf()?.is_empty() {
                self.member = Some(GzDecoder::new(rest));
            }
        }
        Ok(0)
    }
}

/// Whether the error is about what the bytes say, and not about reading them.
fn is_no_header(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::UnexpectedEof)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn gzip(text: &str) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        encoder.finish().unwrap()
    }

    /// The text, and whether bytes followed it; read through a buffer as small as can be, too.
    fn unpacked(bytes: &[u8]) -> io::Result<(String, bool)> {
        let read = |capacity: usize| {
            let trailing = Rc::new(Cell::new(false));
            let mut text = String::new();
            Members::new(io::BufReader::with_capacity(capacity, bytes), Rc::clone(&trailing))
                .read_to_string(&mut text)
                .map(|_| (text, trailing.get()))
        };
        let whole = read(1 << 10);
        assert_eq!(whole.as_ref().ok(), read(1).as_ref().ok());
        whole
    }

    #[test]
    fn members_follow_each_other() {
        let both = [gzip("one\n"), gzip(""), gzip("two\n")].concat();
        assert_eq!(unpacked(&both).unwrap(), ("one\ntwo\n".to_owned(), false));
    }

    #[test]
    fn what_follows_the_last_member_is_left_and_told() {
        for rest in [&[0][..], &[0; 512], b"x", b"\x1f", b"\x1f\x8b", b"\x1f\x8bnonsense", b"\n"] {
            let padded = [&gzip("one\n"), rest].concat();
            assert_eq!(unpacked(&padded).unwrap(), ("one\n".to_owned(), true), "{rest:?}");
        }
    }

    #[test]
    fn a_member_that_is_cut_or_broken_is_an_error() {
        let whole = gzip("one two three\n");
        for end in 2..whole.len() {
            assert!(unpacked(&whole[..end]).is_err(), "{end}");
        }
        let mut broken = whole.clone();
        broken[whole.len() - 8] ^= 1;
        assert!(unpacked(&broken).is_err());
        assert!(unpacked(&[&whole[..], &whole[..whole.len() - 1]].concat()).is_err());
    }
}
