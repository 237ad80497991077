//! The key of a request: whom it is counted for.

use std::net::IpAddr;

use gorl::{Key, KeyPart, Part};
use smallvec::SmallVec;

/// A key that is made of a request: some parts, each kept apart from the others.
///
/// # Examples
///
/// ```
/// use gorl_http::RequestKey;
///
/// let key = RequestKey::of("tenant-7").and(42_u64);
/// assert_ne!(key, RequestKey::of("tenant-7:42"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RequestKey {
    parts: SmallVec<[Owned; 3]>,
}

/// A part of a key, owned.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Owned {
    Static(&'static str),
    Text(Box<str>),
    Bytes(Box<[u8]>),
    Unsigned(u128),
    Negative(u128),
    Ip(IpAddr),
}

impl RequestKey {
    /// A key of one part: a text, a number, an address, bytes.
    pub fn of(part: impl KeyPart) -> Self {
        Self::default().and(part)
    }

    /// One more part.
    #[must_use]
    pub fn and(mut self, part: impl KeyPart) -> Self {
        let owned = match part.part() {
            Part::Unsigned(number) => Owned::Unsigned(number),
            Part::Negative(number) => Owned::Negative(number),
            Part::Ip(address) => Owned::Ip(address),
            Part::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => Owned::Text(text.into()),
                Err(_) => Owned::Bytes(bytes.into()),
            },
            // Kinds to come are told apart by how they are written.
            other => Owned::Text(format!("{other:?}").into()),
        };
        self.parts.push(owned);
        self
    }

    /// The parts of another key after those of this one.
    #[must_use]
    pub fn and_all(mut self, other: Self) -> Self {
        self.parts.extend(other.parts);
        self
    }

    pub(crate) fn of_static(text: &'static str) -> Self {
        Self { parts: SmallVec::from_iter([Owned::Static(text)]) }
    }

    pub(crate) fn of_text(text: String) -> Self {
        Self { parts: SmallVec::from_iter([Owned::Text(text.into())]) }
    }
}

impl Key for RequestKey {
    type Parts<'a> = SmallVec<[Part<'a>; 4]>;

    fn parts(&self) -> Self::Parts<'_> {
        let borrowed = |owned: &'static str| Part::Bytes(owned.as_bytes());
        let part = |part| match part {
            &Owned::Static(text) => borrowed(text),
            Owned::Text(text) => Part::Bytes(text.as_bytes()),
            Owned::Bytes(bytes) => Part::Bytes(bytes),
            Owned::Unsigned(number) => Part::Unsigned(*number),
            Owned::Negative(number) => Part::Negative(*number),
            Owned::Ip(address) => Part::Ip(*address),
        };
        self.parts.iter().map(part).collect()
    }
}

impl<P: KeyPart> From<P> for RequestKey {
    fn from(part: P) -> Self {
        Self::of(part)
    }
}

#[cfg(test)]
mod tests {
    use super::RequestKey;
    use gorl::{Key, Part};

    #[test]
    fn a_key_has_the_parts_that_it_was_given() {
        let address: std::net::IpAddr = "::1".parse().expect("an address");
        let key = RequestKey::of("a").and(7_u32).and(-7_i32).and(address).and(&[255_u8][..]);
        let expected = [
            Part::Bytes(b"a"),
            Part::Unsigned(7),
            Part::Negative(7),
            Part::Ip(address),
            Part::Bytes(&[255]),
        ];
        assert_eq!(&*key.parts(), expected);
    }
}
