//! What a store promises, held against plain maps that run the same arithmetic.
#![cfg(not(gorl_loom))]

mod capacity;
mod equal;
mod policies;
mod sweeping;
mod together;

use std::sync::Arc;
use std::time::Duration;

use gorl_core::{
    Action, Clock, Decision, Key, KeyRef, LocalStore, ManualClock, Policy, Request, Strategy,
};
use gorl_store_mem::{MemoryStore, MemoryStoreBuilder};
use proptest::prelude::{ProptestConfig, any, prop_oneof};
use proptest::strategy::Strategy as Generate;
use proptest::test_runner::FileFailurePersistence;

/// Some instant in this century, in nanoseconds since the epoch.
const START: u64 = 1_700_000_000_123_456_789;

/// The longest window of a random policy, in nanoseconds.
const LONGEST: u64 = 1_000;

/// A store on a clock that only the test moves.
struct Subject {
    store: MemoryStore,
    clock: Arc<ManualClock>,
}

impl Subject {
    fn new(set_up: impl FnOnce(MemoryStoreBuilder) -> MemoryStoreBuilder) -> Self {
        let clock = Arc::new(ManualClock::new(START));
        let builder = MemoryStore::builder().clock(Arc::clone(&clock));
        Self { store: set_up(builder).build(), clock }
    }

    fn now(&self) -> u64 {
        self.clock.now_ns()
    }

    fn advance(&self, ns: u64) {
        self.clock.advance(Duration::from_nanos(ns));
    }

    fn ask(&self, policy: &Policy, key: u32, cost: u32, action: Action) -> Decision {
        self.store.decide_key(policy, &key, cost, action).expect("every cost here fits")
    }

    fn take(&self, policy: &Policy, key: u32) -> bool {
        self.ask(policy, key, 1, Action::Take).is_allowed()
    }

    /// Spends all that is left.
    fn exhaust(&self, policy: &Policy, key: u32) {
        let left = self.remaining(policy, key);
        assert!(self.ask(policy, key, left, Action::Take).is_allowed());
        assert_eq!(self.remaining(policy, key), 0);
    }

    fn remaining(&self, policy: &Policy, key: u32) -> u32 {
        self.ask(policy, key, 0, Action::Peek).remaining()
    }

    fn give_back(&self, policy: &Policy, key: u32, cost: u32) {
        let parts = key.parts();
        let key = KeyRef::new(&parts);
        self.store.give_back_now(Request { policy, key, cost, action: Action::Take });
    }

    fn reset(&self, key: u32) {
        self.store.reset_now(KeyRef::new(&key.parts()));
    }
}

/// All that a decision tells.
fn figures(decision: &Decision) -> (bool, u32, u32, u128, Option<u128>) {
    (
        decision.is_allowed(),
        decision.limit(),
        decision.remaining(),
        decision.reset_after_ticks(),
        decision.retry_after_ticks(),
    )
}

fn policy(strategy: Strategy, limit: u64, window: Duration) -> Policy {
    Policy::new(strategy, limit, window).expect("the numbers here are in range")
}

/// Policies of small numbers, which meet their edges often.
fn policies() -> impl Generate<Value = Policy> {
    let window = prop_oneof![1..10_u64, 1..=LONGEST];
    (0..4_usize, 1..7_u64, window, 1..10_u64, any::<bool>()).prop_map(
        |(strategy, limit, window, burst, has_burst)| {
            let plain = policy(Strategy::ALL[strategy], limit, Duration::from_nanos(window));
            if has_burst { plain.with_burst(burst).unwrap_or(plain) } else { plain }
        },
    )
}

/// Some hundreds of cases, many more when asked for; what failed once is tried first ever after.
fn config(seeds: &'static str) -> ProptestConfig {
    let long = std::env::var("GORL_LONG").is_ok_and(|value| value == "1");
    ProptestConfig {
        cases: if long { 20_000 } else { 250 },
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(seeds))),
        ..ProptestConfig::default()
    }
}
