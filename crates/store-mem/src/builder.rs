//! How a store is set up: capacity, clock, shards.

use gorl_core::{Clock, Policy};

use crate::clock::ClockSource;
use crate::room::Room;
use crate::shard::Shard;
use crate::store::MemoryStore;

/// Shards for each processor: with eight, two threads that pick at random rarely meet.
const SHARDS_PER_CPU: usize = 8;

/// The fewest shards of a store without a capacity.
const MIN_SHARDS: usize = 32;

/// The most shards there can be: as many as a fingerprint has bits for.
const MAX_SHARDS: usize = 1 << crate::fingerprint::SHARD_BITS;

/// Keys that a shard of a store with a capacity should have room for. Keys spread unevenly, and
/// the fewer a shard holds the more it matters.
const MIN_KEYS_PER_SHARD: usize = 1024;

/// Sets up a [`MemoryStore`].
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use gorl_core::ManualClock;
/// use gorl_store_mem::MemoryStore;
///
/// let clock = Arc::new(ManualClock::new(0));
/// let store = MemoryStore::builder().capacity(100_000).clock(Arc::clone(&clock)).build();
/// assert_eq!(store.capacity(), Some(100_000));
/// ```
#[derive(Default)]
#[must_use = "a builder does nothing until `build`"]
pub struct MemoryStoreBuilder {
    capacity: Option<usize>,
    shards: Option<usize>,
    clock: Option<ClockSource>,
    policy: Option<Policy>,
}

impl MemoryStoreBuilder {
    /// A hard bound on the number of keys, at least one. Without it the store grows.
    ///
    /// The table is reserved at once, some 39 bytes a key, and never replaced. When all is taken,
    /// a new key takes the place of the one that has spent the least of its limit (then of the one
    /// that is at rest soonest) among a sample, so that a flood of new keys does not free one that
    /// has spent its limit. Only where the whole sample has spent its limit, as always with a limit of
    /// one, does the one that rests soonest go: choose a capacity above the keys of one window.
    pub fn capacity(mut self, keys: usize) -> Self {
        self.capacity = Some(keys.max(1));
        self
    }

    /// The number of shards, rounded up to a power of two, at most 65 536.
    ///
    /// The default is eight for each processor and at least 32; fewer if a capacity leaves a shard
    /// room for less than 1 024 keys. With a capacity and many shards, a shard may hold no key but
    /// one that has spent its limit, which a new key then replaces: leave a shard some hundreds.
    pub fn shards(mut self, shards: usize) -> Self {
        self.shards = Some(shards.clamp(1, MAX_SHARDS).next_power_of_two());
        self
    }

    /// The clock that decisions are taken by; the default is [`SystemClock`](crate::SystemClock).
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Some(ClockSource::Custom(Box::new(clock)));
        self
    }

    /// The policy of [`MemoryStore::decide_default`].
    pub fn default_policy(mut self, policy: Policy) -> Self {
        self.policy = Some(policy);
        self
    }

    /// Builds the store.
    ///
    /// # Panics
    ///
    /// If the system has no memory for the capacity.
    #[must_use]
    pub fn build(self) -> MemoryStore {
        let shards = self.shards.unwrap_or_else(|| default_shards(self.capacity));
        let slots = self.capacity.map(|capacity| slots_per_shard(capacity, shards));
        let shard = || {
            let mut shard = Shard::new(slots.unwrap_or(0), slots.is_none());
            if let Some(policy) = self.policy {
                shard.set_default_policy(policy);
            }
            shard
        };
        MemoryStore::from_parts(
            (0..shards).map(|_| shard()).collect(),
            Room::new(self.capacity),
            self.clock.unwrap_or_default(),
        )
    }
}

fn default_shards(capacity: Option<usize>) -> usize {
    let cpus = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let wanted = (cpus * SHARDS_PER_CPU).next_power_of_two().clamp(MIN_SHARDS, MAX_SHARDS);
    let useful = capacity.map_or(MAX_SHARDS, |keys| (keys / MIN_KEYS_PER_SHARD).max(1));
    let useful = if useful.is_power_of_two() { useful } else { useful.next_power_of_two() / 2 };
    wanted.min(useful)
}

/// Slots for a shard's part of the capacity: a fifth more, so that searches stay short, and room
/// for the uneven spread of keys, of which four standard deviations is all that is ever seen.
fn slots_per_shard(capacity: usize, shards: usize) -> usize {
    let mean = capacity.div_ceil(shards);
    let slack = if shards == 1 { mean / 5 + 1 } else { (mean / 5).max(4 * mean.isqrt()) + 4 };
    mean.saturating_add(slack)
}
