//! Fetching an entry's cache lines before the lock is taken, so that the misses overlap with it.
#![cfg_attr(all(target_arch = "x86_64", not(gorl_loom)), allow(unsafe_code))]

use super::{AtomicUsize, Ordering};

/// Groups of a table up to which it stays in the nearest caches, so that nothing is gained.
const NEAR_GROUPS: usize = 64;

/// What one fetch brings.
const LINE_BYTES: usize = 64;

/// Two groups; past the end of a table a fetch is harmless.
const FETCHED_LINES: usize = 2 * crate::table::GROUP_BYTES / LINE_BYTES;

/// Where a shard's table lies, told outside of its lock.
///
/// It may be out of date: then the wrong line is fetched and the decision waits for its own. No
/// decision depends on it, so the two words need no order among themselves or with the lock.
#[derive(Default)]
pub(crate) struct Hint {
    base: AtomicUsize,
    groups: AtomicUsize,
}

impl Hint {
    /// Tells where the table lies.
    pub(crate) fn set(&self, base: usize, groups: usize) {
        self.base.store(base, Ordering::Relaxed);
        self.groups.store(groups, Ordering::Relaxed);
    }

    /// Begins to fetch the group where the search for `place` will begin, and the one after it: one
    /// key in ten lies there, and its line would be fetched last of all, under the lock.
    #[inline(always)]
    pub(crate) fn prefetch(&self, place: u64) {
        let groups = self.groups.load(Ordering::Relaxed);
        if groups > NEAR_GROUPS {
            let group = crate::table::home(place, groups);
            let at =
                self.base.load(Ordering::Relaxed).wrapping_add(group * crate::table::GROUP_BYTES);
            for line in 0..FETCHED_LINES {
                fetch(at.wrapping_add(line * LINE_BYTES));
            }
        }
    }
}

#[cfg(all(target_arch = "x86_64", not(gorl_loom)))]
#[inline(always)]
fn fetch(address: usize) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a prefetch is a hint about any address at all; it reads nothing that the program can
    // see and never faults.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::without_provenance(address)) }
}

#[cfg(not(all(target_arch = "x86_64", not(gorl_loom))))]
fn fetch(_address: usize) {}
