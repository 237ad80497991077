//! The bound on the number of keys, shared by the shards of a store.

use crate::sync::{AtomicUsize, Ordering};

/// How many entries there may be, and how many there are. Without a bound nothing is counted.
pub(crate) struct Room {
    capacity: Option<usize>,
    taken: AtomicUsize,
}

impl Room {
    pub(crate) fn new(capacity: Option<usize>) -> Self {
        Self { capacity, taken: AtomicUsize::new(0) }
    }

    pub(crate) fn capacity(&self) -> Option<usize> {
        self.capacity
    }

    /// Takes room for one more entry, unless all is taken.
    pub(crate) fn reserve(&self) -> bool {
        let Some(capacity) = self.capacity else {
            return true;
        };
        // The number alone is what matters: entries themselves are published by the shard's lock.
        self.taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |taken| {
                (taken < capacity).then_some(taken + 1)
            })
            .is_ok()
    }

    /// Gives back the room of one entry.
    pub(crate) fn release(&self) {
        if self.capacity.is_some() {
            self.taken.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
