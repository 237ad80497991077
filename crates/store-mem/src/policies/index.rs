//! Which number a policy of a long list has: open addressing over the numbers alone.

use std::hash::BuildHasher;

use gorl_core::Policy;

use super::{Kept, NO_POLICY};
use crate::sync::RandomState;
use crate::table::PolicyId;

/// Places at first, a power of two.
const FIRST: usize = 32;

/// Each number lies at its policy's home or, if that is taken, at the next place that is not. At
/// most half of the places are taken, so a search soon ends.
#[derive(Default)]
pub(super) struct Index {
    places: Box<[PolicyId]>,
    taken: usize,
    hasher: RandomState,
}

impl Index {
    pub(super) fn is_empty(&self) -> bool {
        self.taken == 0
    }

    /// The number of a policy.
    pub(super) fn find(&self, list: &[Kept], policy: &Policy) -> Option<PolicyId> {
        self.place_of(list, policy).map(|place| self.places[place])
    }

    /// Adds the number of a policy that is in the list and not in the index.
    pub(super) fn insert(&mut self, list: &[Kept], id: PolicyId) {
        if (self.taken + 1) * 2 > self.places.len() {
            let places = vec![NO_POLICY; (self.places.len() * 2).max(FIRST)].into_boxed_slice();
            for id in std::mem::replace(&mut self.places, places) {
                if id != NO_POLICY {
                    self.put(list, id);
                }
            }
        }
        self.taken += 1;
        self.put(list, id);
    }

    /// Removes the number of a policy, and moves later ones back that may lie in the gap.
    /// (Knuth, The Art of Computer Programming, vol. 3, 6.4, algorithm R.)
    pub(super) fn remove(&mut self, list: &[Kept], policy: &Policy) {
        let Some(mut gap) = self.place_of(list, policy) else {
            return;
        };
        self.taken -= 1;
        let mut scan = self.after(gap);
        while self.places[scan] != NO_POLICY {
            let home = self.home(&list[usize::from(self.places[scan])].policy);
            if self.distance(home, scan) >= self.distance(gap, scan) {
                self.places[gap] = self.places[scan];
                gap = scan;
            }
            scan = self.after(scan);
        }
        self.places[gap] = NO_POLICY;
    }

    /// Bytes of the heap.
    pub(super) fn bytes(&self) -> usize {
        size_of_val::<[_]>(&self.places)
    }

    fn place_of(&self, list: &[Kept], policy: &Policy) -> Option<usize> {
        if self.is_empty() {
            return None;
        }
        let mut place = self.home(policy);
        while self.places[place] != NO_POLICY {
            if list[usize::from(self.places[place])].is_of(policy) {
                return Some(place);
            }
            place = self.after(place);
        }
        None
    }

    fn put(&mut self, list: &[Kept], id: PolicyId) {
        let mut place = self.home(&list[usize::from(id)].policy);
        while self.places[place] != NO_POLICY {
            place = self.after(place);
        }
        self.places[place] = id;
    }

    /// The place where a policy's number is looked for first.
    fn home(&self, policy: &Policy) -> usize {
        // The mask leaves what a word of any size holds.
        #[allow(clippy::cast_possible_truncation)]
        let hash = self.hasher.hash_one(policy) as usize;
        hash & (self.places.len() - 1)
    }

    fn after(&self, place: usize) -> usize {
        (place + 1) & (self.places.len() - 1)
    }

    fn distance(&self, from: usize, to: usize) -> usize {
        to.wrapping_sub(from) & (self.places.len() - 1)
    }
}
