//! How a limiter over memory is set up.

use gorl_core::{Clock, Policy};
use gorl_store_mem::{MemoryStore, MemoryStoreBuilder};

use crate::Limiter;

/// Sets up a [`Limiter`]; made by [`Limiter::builder`].
#[must_use = "a builder does nothing until `build`"]
pub struct LimiterBuilder {
    policy: Policy,
    store: MemoryStoreBuilder,
}

impl LimiterBuilder {
    pub(crate) fn new(policy: Policy) -> Self {
        Self { policy, store: MemoryStore::builder() }
    }

    /// A hard bound on the number of keys; see [`MemoryStoreBuilder::capacity`].
    pub fn capacity(mut self, keys: usize) -> Self {
        self.store = self.store.capacity(keys);
        self
    }

    /// The number of shards; see [`MemoryStoreBuilder::shards`].
    pub fn shards(mut self, shards: usize) -> Self {
        self.store = self.store.shards(shards);
        self
    }

    /// The clock to decide by; see [`MemoryStoreBuilder::clock`].
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.store = self.store.clock(clock);
        self
    }

    /// Builds the limiter.
    ///
    /// # Panics
    ///
    /// If the system has no memory for the capacity.
    #[must_use]
    pub fn build(self) -> Limiter {
        Limiter::over(self.policy, self.store.default_policy(self.policy).build())
    }
}
