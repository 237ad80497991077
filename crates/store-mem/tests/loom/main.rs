//! Models of the store: what threads that meet on it can see, under every interleaving.
//!
//! `cargo xtask loom` runs them. Stores have one shard, or two where a model is about their common
//! bound; under the models' flag the hash has a fixed key, so every run takes the same steps.
#![cfg(gorl_loom)]

mod capacity;
mod counting;
mod policies;
mod sweeping;
mod together;

use std::sync::Arc;
use std::time::Duration;

use gorl_core::{
    Action, Decision, Key, KeyRef, LocalStore, ManualClock, Policy, Request, Strategy,
};
use gorl_store_mem::{MemoryStore, MemoryStoreBuilder};

/// The window of every policy here.
const WINDOW: Duration = Duration::from_secs(1);

/// The key where one is enough.
const KEY: u32 = 0;

/// A store on a clock that only the model moves. Clones are the same store.
#[derive(Clone)]
struct Subject {
    store: Arc<MemoryStore>,
    clock: Arc<ManualClock>,
}

impl Subject {
    /// A store of one shard without a capacity.
    fn new() -> Self {
        Self::with(|builder| builder.shards(1))
    }

    fn with(set_up: impl FnOnce(MemoryStoreBuilder) -> MemoryStoreBuilder) -> Self {
        let clock = Arc::new(ManualClock::new(0));
        let builder = MemoryStore::builder().clock(Arc::clone(&clock));
        Self { store: Arc::new(set_up(builder).build()), clock }
    }

    /// Spends one if it is admitted; whether it was.
    fn take(&self, policy: &Policy, key: u32) -> bool {
        self.ask(policy, key, 1, Action::Take).is_allowed()
    }

    /// Spends all that is left.
    fn exhaust(&self, policy: &Policy, key: u32) {
        let left = self.remaining(policy, key);
        assert!(self.ask(policy, key, left, Action::Take).is_allowed());
    }

    fn remaining(&self, policy: &Policy, key: u32) -> u32 {
        self.ask(policy, key, 0, Action::Peek).remaining()
    }

    fn ask(&self, policy: &Policy, key: u32, cost: u32, action: Action) -> Decision {
        self.store.decide_key(policy, &key, cost, action).expect("every cost here fits")
    }

    fn give_back(&self, policy: &Policy, key: u32) {
        let parts = key.parts();
        let key = KeyRef::new(&parts);
        self.store.give_back_now(Request { policy, key, cost: 1, action: Action::Take });
    }

    fn reset(&self, key: u32) {
        self.store.reset_now(KeyRef::new(&key.parts()));
    }

    /// Moves the clock so far that every state is at rest, and has been for a while.
    fn long_after(&self) {
        self.clock.advance(8 * WINDOW);
    }
}

fn policy(strategy: Strategy, limit: u64) -> Policy {
    Policy::new(strategy, limit, WINDOW).expect("the limits here are in range")
}

/// Runs a model under every interleaving.
fn explore(model: impl Fn() + Send + Sync + 'static) {
    loom::model::Builder::new().check(model);
}

/// Runs a model of three threads under every interleaving in which threads are suspended, where
/// they need not be, no more than this often; more would take hours.
fn explore_three(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(PREEMPTIONS));
    builder.check(model);
}

/// Every known bug of three threads needs two at most: one thread stops inside of what should be
/// one step, another between what it saw and what it does.
const PREEMPTIONS: usize = 2;

/// Runs `other` in a thread of its own beside `own`.
fn beside<A: Send + 'static, B>(
    other: impl FnOnce() -> A + Send + 'static,
    own: impl FnOnce() -> B,
) -> (A, B) {
    let thread = loom::thread::spawn(other);
    let own = own();
    (thread.join().expect("a panic fails the model first"), own)
}
