//! A key as 127 keyed bits: what the store keeps in place of the key itself.

use std::hash::BuildHasher;
use std::net::IpAddr;

use crate::sync::RandomState;
use gorl_core::Part;

/// The low bits of the second word that are not stored: they choose the shard, and a stored entry
/// uses their place for the number of its policy.
pub(crate) const SHARD_BITS: u32 = 16;

const SHARD_MASK: u64 = (1 << SHARD_BITS) - 1;

/// The keyed hash of a key: 128 bits, one of them fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    /// Odd, so that zero can mark an empty slot. Also chooses the place in the table.
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
        let low = self.rest as usize;
        low & mask
    }

    /// The stored part of `rest`, its low bits zero.
    #[inline]
    pub(crate) fn stored_rest(self) -> u64 {
        self.rest & !SHARD_MASK
    }
}

/// The secret of one store: two lanes of independent keys, drawn from the system's randomness when
/// the store is built and never shown.
pub(crate) struct Secret {
    lanes: [Lane; 2],
}

/// The keys of one 64-bit lane.
struct Lane {
    start: u64,
    key: u64,
}

impl Secret {
    pub(crate) fn random() -> Self {
        // The standard library's keys come from the system's random source; SipHash under such a
        // key of different words gives words that do not tell one another.
        let source = RandomState::new();
        let lane = |n: u64| Lane { start: source.hash_one(n), key: source.hash_one(n + 1) };
        Self { lanes: [lane(0), lane(2)] }
    }

    /// The fingerprint of a key. Parts carry their kind and length, so that no two lists of parts
    /// give the hash the same words.
    #[inline(always)]
    pub(crate) fn fingerprint(&self, parts: &[Part<'_>]) -> Fingerprint {
        // The first part's header goes in by the start value: the common key, one short text, is
        // then hashed in one round.
        let header = match parts.first() {
            Some(first) => ((parts.len() as u64 - 1) << 60) ^ header(first),
            None => u64::MAX,
        };
        let [first, second] = &self.lanes;
        let start = Lanes(first.start ^ header, second.start ^ header);
        let Lanes(a, b) = match parts {
            [Part::Bytes(bytes)] => self.bytes(start, bytes),
            _ => self.parts(start, parts),
        };
        Fingerprint { place: a | 1, rest: b }
    }

    /// A round: takes in two words.
    #[inline]
    fn words(&self, Lanes(a, b): Lanes, x: u64, y: u64) -> Lanes {
        let [first, second] = &self.lanes;
        Lanes(fold(a ^ x, first.key ^ y), fold(b ^ x, second.key ^ y))
    }

    /// Takes in bytes whose length the header has told.
    #[inline]
    fn bytes(&self, lanes: Lanes, bytes: &[u8]) -> Lanes {
        if bytes.len() > 16 {
            return self.long(lanes, bytes);
        }
        // Two words that may overlap cover 8 to 16 bytes; shorter ones are read likewise.
        let (x, y) = match (bytes.first_chunk(), bytes.last_chunk()) {
            (Some(first), Some(last)) => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
            _ => short(bytes),
        };
        self.words(lanes, x, y)
    }

    #[inline(never)]
    fn long(&self, mut lanes: Lanes, bytes: &[u8]) -> Lanes {
        let (pairs, _) = bytes.as_chunks::<16>();
        // The last sixteen bytes are taken whole, whether or not some were taken before.
        let whole = bytes.len().saturating_sub(1) / 16;
        for pair in pairs.iter().take(whole).chain(bytes.last_chunk::<16>()) {
            lanes = self.wide(lanes, u128::from_le_bytes(*pair));
        }
        lanes
    }

    /// Takes in a number of 128 bits.
    fn wide(&self, lanes: Lanes, n: u128) -> Lanes {
        // The two halves.
        #[allow(clippy::cast_possible_truncation)]
        self.words(lanes, n as u64, (n >> 64) as u64)
    }

    /// Takes in all parts, the header of the first excepted.
    #[inline(never)]
    fn parts(&self, mut lanes: Lanes, parts: &[Part<'_>]) -> Lanes {
        for (n, part) in parts.iter().enumerate() {
            if n > 0 {
                lanes = self.words(lanes, header(part), 0);
            }
            lanes = match part {
                Part::Bytes(bytes) => self.bytes(lanes, bytes),
                Part::Unsigned(n) | Part::Negative(n) => self.wide(lanes, *n),
                Part::Ip(IpAddr::V4(address)) => self.wide(lanes, address.to_bits().into()),
                Part::Ip(IpAddr::V6(address)) => self.wide(lanes, address.to_bits()),
                // A kind that a later core may add: its debug form is as clear as the kind itself.
                other => self.bytes(lanes, format!("{other:?}").as_bytes()),
            };
        }
        // Of numbers that follow one another, one round can leave the bits alike that choose the
        // shard: they could all lie in one. A second round sees what differs in the high bits.
        self.words(lanes, 0, 0)
    }
}

/// A hash under way: two lanes that see the same words under different keys.
///
/// A round takes in two words by a folded multiplication, the 128-bit product with its halves
/// added without carry, which is the round of wyhash and its kin. The keys are secret and the lanes
/// independent, so to make two keys agree one has to guess 127 bits.
#[derive(Clone, Copy)]
struct Lanes(u64, u64);

/// Up to seven bytes as two words.
#[inline]
fn short(bytes: &[u8]) -> (u64, u64) {
    match (bytes.first_chunk(), bytes.last_chunk(), bytes) {
        (Some(first), Some(last), _) => {
            (u32::from_le_bytes(*first).into(), u32::from_le_bytes(*last).into())
        }
        (_, _, &[first, .., last]) => {
            (u64::from(first), u64::from(bytes[bytes.len() / 2]) << 8 | u64::from(last))
        }
        (_, _, &[only]) => (u64::from(only), 0),
        _ => (0, 0),
    }
}

/// The product of two words, its halves added without carry.
#[inline]
const fn fold(x: u64, y: u64) -> u64 {
    // The product of two words never exceeds 128 bits; the casts take its halves.
    #[allow(clippy::cast_possible_truncation)]
    {
        let product = (x as u128) * (y as u128);
        (product as u64) ^ ((product >> 64) as u64)
    }
}

/// Kind and length of a part.
#[inline]
fn header(part: &Part<'_>) -> u64 {
    const KIND: u32 = 56;
    match part {
        Part::Bytes(bytes) => bytes.len() as u64,
        Part::Unsigned(_) => 1 << KIND,
        Part::Negative(_) => 2 << KIND,
        Part::Ip(IpAddr::V4(_)) => 3 << KIND,
        Part::Ip(IpAddr::V6(_)) => 4 << KIND,
        _ => 5 << KIND,
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
    fn numbers_that_follow_one_another_spread_over_the_shards() {
        const SHARDS: usize = 8;
        for step in [1, 8, 1 << 16] {
            // One round did so to sixteen numbers under one secret in fifty. By chance more than
            // eleven lie together under one in some millions, and never under three of these.
            let crowded = (0..2_000).filter(|_| {
                let secret = Secret::random();
                let mut counts = [0; SHARDS];
                for n in 0..16_u32 {
                    counts[secret.fingerprint(&(n * step).parts()).shard(SHARDS - 1)] += 1;
                }
                counts.iter().any(|count| *count > 11)
            });
            let crowded = crowded.count();
            assert!(crowded < 3, "{crowded} secrets crowd numbers {step} apart");
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
