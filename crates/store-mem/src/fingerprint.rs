//! A key as 128 keyed bits: what the store keeps in place of the key itself.

use std::hash::{BuildHasher, Hasher, RandomState};

use foldhash::SharedSeed;
use foldhash::quality::FoldHasher;
use gorl_core::Part;

/// The low bits of the second word that are not stored: they choose the shard, and a stored entry
/// uses their place for the number of its policy.
pub(crate) const SHARD_BITS: u32 = 16;

const SHARD_MASK: u64 = (1 << SHARD_BITS) - 1;

/// The keyed 128-bit hash of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    /// Never zero, so that zero can mark an empty slot. Also chooses the place in the table.
    pub(crate) place: u64,
    /// The other half; its low [`SHARD_BITS`] choose the shard.
    pub(crate) rest: u64,
}

impl Fingerprint {
    /// Which of a power of two of shards keeps the key.
    #[inline]
    pub(crate) fn shard(self, mask: usize) -> usize {
        // The mask is below 2^16, so what the cast could drop on a small machine is masked anyway.
        #[allow(clippy::cast_possible_truncation)]
        let low = (self.rest & SHARD_MASK) as usize;
        low & mask
    }

    /// The stored part of `rest`, its low bits zero.
    #[inline]
    pub(crate) fn stored_rest(self) -> u64 {
        self.rest & !SHARD_MASK
    }
}

/// The secret of one store: two independent seeds, drawn from the system's randomness when the
/// store is built and never shown.
pub(crate) struct Secret {
    seeds: [SharedSeed; 2],
    starts: [u64; 2],
}

impl Secret {
    pub(crate) fn random() -> Self {
        // The standard library's keys come from the system's random source; SipHash under such a
        // key of four different words gives four words that do not tell one another.
        let source = RandomState::new();
        let draw = |n: u64| source.hash_one(n);
        Self {
            seeds: [SharedSeed::from_u64(draw(0)), SharedSeed::from_u64(draw(1))],
            starts: [draw(2), draw(3)],
        }
    }

    /// The fingerprint of a key. Parts carry their kind and length, so that no two lists of parts
    /// give the hash the same bytes.
    #[inline]
    pub(crate) fn fingerprint(&self, parts: &[Part<'_>]) -> Fingerprint {
        let [first, second] = &self.seeds;
        let place = hash(self.starts[0], first, parts);
        let rest = hash(self.starts[1], second, parts);
        Fingerprint {
            place: place | u64::from(place == 0),
            rest,
        }
    }
}

#[inline]
fn hash(start: u64, seed: &SharedSeed, parts: &[Part<'_>]) -> u64 {
    // The first part's header goes in by the start value, which saves a round for the common key
    // of one part.
    let Some((first, more)) = parts.split_first() else {
        return FoldHasher::with_seed(start, seed).finish();
    };
    let count = (parts.len() as u64) << 60;
    let mut hasher = FoldHasher::with_seed(start ^ count ^ header(first), seed);
    write_body(&mut hasher, first);
    for part in more {
        hasher.write_u64(header(part));
        write_body(&mut hasher, part);
    }
    hasher.finish()
}

/// Kind and length of a part.
#[inline]
fn header(part: &Part<'_>) -> u64 {
    const KIND: u32 = 56;
    match part {
        Part::Bytes(bytes) => bytes.len() as u64 | (1 << KIND),
        Part::Unsigned(_) => 2 << KIND,
        Part::Negative(_) => 3 << KIND,
        Part::Ip(std::net::IpAddr::V4(_)) => 4 << KIND,
        Part::Ip(std::net::IpAddr::V6(_)) => 5 << KIND,
        _ => 6 << KIND,
    }
}

#[inline]
fn write_body(hasher: &mut FoldHasher<'_>, part: &Part<'_>) {
    match part {
        Part::Bytes(bytes) => hasher.write(bytes),
        Part::Unsigned(n) | Part::Negative(n) => hasher.write_u128(*n),
        Part::Ip(std::net::IpAddr::V4(address)) => hasher.write_u32(address.to_bits()),
        Part::Ip(std::net::IpAddr::V6(address)) => hasher.write_u128(address.to_bits()),
        // A kind that a later core may add: its debug form is as unambiguous as the kind itself.
        other => hasher.write(format!("{other:?}").as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gorl_core::Key;

    #[test]
    fn parts_are_kept_apart() {
        let secret = Secret::random();
        let print = |key: &dyn Fn() -> Vec<Part<'static>>| secret.fingerprint(&key());
        let keys: Vec<Vec<Part<'static>>> = vec![
            ("a", "b:c").parts().to_vec(),
            ("a:b", "c").parts().to_vec(),
            ("ab", "c").parts().to_vec(),
            ("a", "bc").parts().to_vec(),
            "abc".parts().to_vec(),
            ("abc", "").parts().to_vec(),
            ("", "abc").parts().to_vec(),
            "".parts().to_vec(),
            ("", "").parts().to_vec(),
            0_u8.parts().to_vec(),
            std::net::Ipv4Addr::UNSPECIFIED.parts().to_vec(),
            std::net::Ipv6Addr::UNSPECIFIED.parts().to_vec(),
        ];
        for (i, a) in keys.iter().enumerate() {
            for (j, b) in keys.iter().enumerate() {
                let same = print(&|| a.clone()) == print(&|| b.clone());
                assert_eq!(same, i == j, "{a:?} against {b:?}");
            }
        }
    }

    #[test]
    fn two_stores_agree_on_no_fingerprint() {
        let parts = "user-1".parts();
        let (a, b) = (Secret::random(), Secret::random());
        assert_ne!(a.fingerprint(&parts), b.fingerprint(&parts));
        assert_eq!(a.fingerprint(&parts), a.fingerprint(&parts));
    }
}
