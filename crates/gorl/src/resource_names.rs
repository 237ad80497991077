//! Resources without a policy of their own: counted apart up to a bound, together beyond it.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use arc_swap::ArcSwap;
use gorl_core::{KeyPart, Part};
use smallvec::SmallVec;

/// The names of such resources that were asked for.
#[derive(Debug)]
pub(crate) struct UnknownResources {
    most: usize,
    seen: ArcSwap<HashSet<Box<str>>>,
    adding: Mutex<()>,
}

/// So many unknown resources have a count of their own, unless another bound is set. Whoever can
/// choose the resource has the default limit so many times over.
pub(crate) const UNKNOWN_RESOURCES: usize = 1_000;

/// The parts of a key behind those of its resource and limit.
pub(crate) type Parts<'a> = SmallVec<[Part<'a>; 6]>;

impl UnknownResources {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, seen: ArcSwap::default(), adding: Mutex::new(()) }
    }

    /// What stands for an unknown resource in a key: its name, if it is among the first so many, and
    /// otherwise what all others share.
    pub(crate) fn part<'a>(&self, resource: &'a str) -> Part<'a> {
        if self.seen.load().contains(resource) || self.add(resource) {
            resource.part()
        } else {
            // A number, which no name is.
            Part::Unsigned(0)
        }
    }

    /// Whether there is room for one more; each is added once, and none is ever removed.
    #[cold]
    fn add(&self, resource: &str) -> bool {
        if self.seen.load().len() >= self.most {
            return false;
        }
        let _one_at_a_time = self.adding.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = self.seen.load();
        if seen.contains(resource) {
            return true;
        }
        if seen.len() >= self.most {
            return false;
        }
        let mut more = HashSet::clone(&seen);
        more.insert(Box::from(resource));
        self.seen.store(std::sync::Arc::new(more));
        true
    }

    pub(crate) fn len(&self) -> usize {
        self.seen.load().len()
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
