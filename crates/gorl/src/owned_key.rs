//! A key that outlives its caller, for a request that goes on without it.

use std::net::IpAddr;

use gorl_core::{KeyRef, Part};

/// The parts of a key, owned.
pub(crate) struct OwnedKey(Vec<OwnedPart>);

enum OwnedPart {
    Bytes(Vec<u8>),
    Unsigned(u128),
    Negative(u128),
    Ip(IpAddr),
}

impl OwnedKey {
    /// A copy of the key; `None` if it has a part of a kind that is not known here.
    pub(crate) fn of(key: KeyRef<'_>) -> Option<Self> {
        let part = |part: &Part<'_>| match part {
            Part::Bytes(bytes) => Some(OwnedPart::Bytes(bytes.to_vec())),
            Part::Unsigned(number) => Some(OwnedPart::Unsigned(*number)),
            Part::Negative(number) => Some(OwnedPart::Negative(*number)),
            Part::Ip(address) => Some(OwnedPart::Ip(*address)),
            _ => None,
        };
        key.parts().iter().map(part).collect::<Option<_>>().map(Self)
    }

    /// The parts, to make a [`KeyRef`] of.
    pub(crate) fn parts(&self) -> Vec<Part<'_>> {
        self.0.iter().map(OwnedPart::borrow).collect()
    }
}

impl OwnedPart {
    fn borrow(&self) -> Part<'_> {
        match self {
            Self::Bytes(bytes) => Part::Bytes(bytes),
            Self::Unsigned(number) => Part::Unsigned(*number),
            Self::Negative(number) => Part::Negative(*number),
            Self::Ip(address) => Part::Ip(*address),
        }
    }
}
