//! A key as text, for stores whose keys are strings: readable where possible, never two keys of one text.
//!
//! ```
//! use gorl_core::{Key, KeyRef};
//! use gorl_key_text::KeyText;
//!
//! let text = KeyText::new();
//! let of = |key: &dyn Fn(&KeyText) -> String| key(&text);
//! assert_eq!(of(&|text| text.of(KeyRef::new(&"user-123".parts()))), "user-123");
//! assert_eq!(of(&|text| text.of(KeyRef::new(&("tenant 7", 42_u8).parts()))), "tenant 7:=42");
//! // What is long or binary is a digest.
//! assert!(text.of(KeyRef::new(&[0xff_u8].parts())).starts_with('~'));
//! ```
#![forbid(unsafe_code)]

use std::fmt::Write;
use std::net::IpAddr;

use gorl_core::{KeyRef, Part};
use sha2::{Digest, Sha256};

/// How keys are written.
///
/// Text is itself, with what has a meaning here escaped as `%` and two hexadecimal digits; `=5`,
/// `=-5` and `=1.2.3.4` are numbers and an address, `[::1]` is an address; parts are separated by
/// colons. What is not printable ASCII, or longer than may be, is a tilde and a digest of 160 bits
/// (SHA-256, cut), of which nobody finds a second key that has it. Braces and tildes come from
/// nothing else, so a store may give them a meaning of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyText {
    longest: usize,
    hash_all: bool,
    spaces: bool,
}

/// The longest readable key, unless another is set.
const LONGEST: usize = 200;

/// How much of the digest is used: 160 bits, of which nobody finds a second key that has them.
const DIGEST_BYTES: usize = 20;

/// How long the text of a digest is.
const DIGEST_TEXT: usize = 1 + 2 * DIGEST_BYTES;

impl KeyText {
    /// Readable up to 200 bytes, with spaces as they are.
    #[must_use]
    pub const fn new() -> Self {
        Self { longest: LONGEST, hash_all: false, spaces: true }
    }

    /// No text is longer than so many bytes; at least the 41 of a digest.
    #[must_use]
    pub const fn longest(mut self, bytes: usize) -> Self {
        self.longest = if bytes < DIGEST_TEXT { DIGEST_TEXT } else { bytes };
        self
    }

    /// Whether even short plain keys are hashed, for keys that are secret.
    #[must_use]
    pub const fn hash_all(mut self, hash_all: bool) -> Self {
        self.hash_all = hash_all;
        self
    }

    /// Whether a space may be in a text; if not it is escaped, for protocols of words.
    #[must_use]
    pub const fn spaces(mut self, spaces: bool) -> Self {
        self.spaces = spaces;
        self
    }

    /// The text of a key.
    #[must_use]
    pub fn of(&self, key: KeyRef<'_>) -> String {
        self.of_parts(key.parts())
    }

    /// The text of some parts of a key.
    #[must_use]
    pub fn of_parts(&self, parts: &[Part<'_>]) -> String {
        let readable = if self.hash_all { None } else { self.readable(parts) };
        readable.unwrap_or_else(|| hashed(parts))
    }

    /// The parts as they are, if they are short and plain.
    fn readable(&self, parts: &[Part<'_>]) -> Option<String> {
        // No part at all is not the same as one empty part.
        let mut text = String::from(if parts.is_empty() { "=" } else { "" });
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                text.push(':');
            }
            match part {
                Part::Bytes(bytes) => self.escape(bytes, &mut text)?,
                Part::Unsigned(number) => write!(text, "={number}").ok()?,
                Part::Negative(number) => write!(text, "=-{number}").ok()?,
                Part::Ip(IpAddr::V4(address)) => write!(text, "={address}").ok()?,
                Part::Ip(IpAddr::V6(address)) => write!(text, "[{address}]").ok()?,
                _ => return None,
            }
            if text.len() > self.longest {
                return None;
            }
        }
        Some(text)
    }

    /// Appends the text, unless it is long or holds a byte that is not printable.
    fn escape(&self, bytes: &[u8], text: &mut String) -> Option<()> {
        if bytes.len() > self.longest {
            return None;
        }
        for &byte in bytes {
            match byte {
                // Separator and escape, what begins another kind of part, and braces, between which
                // a cluster would look for what decides on the slot.
                b':' | b'%' | b'=' | b'[' | b'~' | b'{' | b'}' => {
                    write!(text, "%{byte:02x}").ok()?;
                }
                b' ' if !self.spaces => text.push_str("%20"),
                b' '..=b'~' => text.push(char::from(byte)),
                _ => return None,
            }
        }
        Some(())
    }
}

impl Default for KeyText {
    fn default() -> Self {
        Self::new()
    }
}

/// A digest of the parts, each with its kind and length, so that none runs into the next.
fn hashed(parts: &[Part<'_>]) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        match part {
            Part::Bytes(bytes) => feed(&mut digest, 0, bytes),
            Part::Unsigned(number) => feed(&mut digest, 1, &number.to_be_bytes()),
            Part::Negative(number) => feed(&mut digest, 2, &number.to_be_bytes()),
            Part::Ip(IpAddr::V4(address)) => feed(&mut digest, 3, &address.octets()),
            Part::Ip(IpAddr::V6(address)) => feed(&mut digest, 4, &address.octets()),
            // A kind of part that this version does not know is told apart by how it is shown.
            other => feed(&mut digest, u8::MAX, format!("{other:?}").as_bytes()),
        }
    }
    let mut text = String::with_capacity(DIGEST_TEXT);
    text.push('~');
    for byte in digest.finalize().iter().take(DIGEST_BYTES) {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn feed(digest: &mut Sha256, kind: u8, bytes: &[u8]) {
    digest.update([kind]);
    digest.update((bytes.len() as u64).to_be_bytes());
    digest.update(bytes);
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use gorl_core::Key;

    use super::*;

    fn text(key: impl Key) -> String {
        KeyText::new().of(KeyRef::new(key.parts().as_ref()))
    }

    #[test]
    fn short_plain_keys_are_readable() {
        assert_eq!(text("user-123"), "user-123");
        assert_eq!(text("ann@example.com"), "ann@example.com");
        assert_eq!(text(("tenant 7", 42_u8)), "tenant 7:=42");
        assert_eq!(text(-42_i64), "=-42");
        assert_eq!(text(Ipv4Addr::LOCALHOST), "=127.0.0.1");
        assert_eq!(text((Ipv6Addr::LOCALHOST, "/login")), "[::1]:/login");
        assert_eq!(text(("a:b", "c")), "a%3ab:c");
    }

    #[test]
    fn without_spaces_a_key_is_one_word() {
        let words = KeyText::new().spaces(false);
        assert_eq!(words.of(KeyRef::new(&"a b%20".parts())), "a%20b%2520");
    }

    #[test]
    fn long_binary_and_secret_keys_are_hashed_and_no_text_is_longer_than_may_be() {
        let (long, colons) = (vec![b'x'; 1 << 20], [b':'; 199]);
        for odd in [&b"\xff"[..], b"a\0b", b"a\n", "é".as_bytes(), &long, &colons] {
            let hashed = text(odd.to_vec());
            assert!(hashed.starts_with('~'), "{hashed}");
            assert_eq!(hashed.len(), DIGEST_TEXT);
        }
        for length in 0..400 {
            let bytes = vec![b'x'; length];
            let parts = [Part::Unsigned(u128::MAX), Part::Bytes(&bytes)];
            assert!(KeyText::new().of_parts(&parts).len() <= LONGEST);
        }
        let hashed = KeyText::new().hash_all(true).of(KeyRef::new(&"token".parts()));
        assert!(hashed.starts_with('~') && !hashed.contains("token"));
    }

    #[test]
    fn different_keys_are_written_differently_readable_and_hashed() {
        let bytes = |text: &'static str| Part::Bytes(text.as_bytes());
        let v4 = Ipv4Addr::new(1, 2, 3, 4);
        let keys: Vec<Vec<Part<'_>>> = vec![
            vec![],
            vec![bytes("")],
            vec![bytes(""), bytes("")],
            vec![bytes("a"), bytes("")],
            vec![bytes(""), bytes("a")],
            vec![bytes("a")],
            vec![bytes("a b")],
            vec![bytes("a%20b")],
            vec![bytes("a:b"), bytes("c")],
            vec![bytes("a"), bytes("b:c")],
            vec![bytes("a"), bytes("b"), bytes("c")],
            vec![bytes("a%3ab"), bytes("c")],
            vec![bytes("=")],
            vec![bytes("5")],
            vec![bytes("=5")],
            vec![Part::Unsigned(5)],
            vec![Part::Negative(5)],
            vec![bytes("1.2.3.4")],
            vec![Part::Ip(v4.into())],
            vec![Part::Ip(v4.to_ipv6_mapped().into())],
            vec![Part::Unsigned(0x0102_0304)],
            vec![bytes("[::1]")],
            vec![Part::Ip(Ipv6Addr::LOCALHOST.into())],
            vec![bytes("~")],
            vec![bytes("{a}")],
            vec![bytes("a\0b")],
            vec![bytes("a\0"), bytes("b")],
        ];
        for hash_all in [false, true] {
            for spaces in [false, true] {
                let how = KeyText::new().hash_all(hash_all).spaces(spaces);
                let mut all: Vec<String> = keys.iter().map(|key| how.of_parts(key)).collect();
                all.sort();
                all.dedup();
                assert_eq!(all.len(), keys.len(), "{how:?}");
            }
        }
    }
}
