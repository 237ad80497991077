//! Resources without a policy of their own: counted apart up to a bound, together beyond it.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};
use std::sync::{PoisonError, RwLock};

use gorl_core::{KeyPart, Part};
use smallvec::SmallVec;

/// The names of such resources that were asked for, as 128 bits under secrets of this process, however
/// long they are.
#[derive(Debug)]
pub(crate) struct UnknownResources {
    most: usize,
    seen: RwLock<HashSet<u128>>,
    hashers: [RandomState; 2],
}

/// So many unknown resources have a count of their own, unless another bound is set. Whoever can
/// choose the resource has the default limit so many times over.
pub(crate) const UNKNOWN_RESOURCES: usize = 1_000;

/// The parts of a key behind those of its resource and limit.
pub(crate) type Parts<'a> = SmallVec<[Part<'a>; 6]>;

impl UnknownResources {
    pub(crate) fn new(most: usize) -> Self {
        let hashers = [RandomState::new(), RandomState::new()];
        Self { most, seen: RwLock::default(), hashers }
    }

    /// What stands for an unknown resource in a key: its name, if it is among the first so many, and
    /// otherwise what all others share.
    pub(crate) fn part<'a>(&self, resource: &'a str) -> Part<'a> {
        let [high, low] = self.hashers.each_ref().map(|hasher| hasher.hash_one(resource));
        let print = (u128::from(high) << 64) | u128::from(low);
        let seen = self.seen.read().unwrap_or_else(PoisonError::into_inner);
        let (known, full) = (seen.contains(&print), seen.len() >= self.most);
        drop(seen);
        if known || (!full && self.add(print)) {
            resource.part()
        } else {
            // A number, which no name is.
            Part::Unsigned(0)
        }
    }

    /// Whether there is room for one more; each is added once, and none is ever removed.
    #[cold]
    fn add(&self, print: u128) -> bool {
        let mut seen = self.seen.write().unwrap_or_else(PoisonError::into_inner);
        seen.contains(&print) || (seen.len() < self.most && seen.insert(print))
    }

    pub(crate) fn len(&self) -> usize {
        self.seen.read().unwrap_or_else(PoisonError::into_inner).len()
    }
}

/// The parts of a key: the resource, the name of the limit, and the caller's own. Each of the first two
/// is one part wherever it stands, so no key of one resource or limit is one of another.
pub(crate) fn parts<'a>(resource: Part<'a>, limit: &'a str, key: &[Part<'a>]) -> Parts<'a> {
    let mut parts = Parts::new();
    parts.push(resource);
    parts.push(limit.part());
    parts.extend_from_slice(key);
    parts
}
