//! A store that reads, then writes, and minds nobody else: the suite has to find it out.

use std::sync::Arc;

use gorl::{
    Action, Clock, CustomOptions, DecideError, Decision, KvBackend, ManualClock, Request, Store,
    Value,
};
use gorl_core::{State, decide, peek};
use gorl_testkit::Suite;
use gorl_tests::runtime;

use crate::map::Map;

struct Racy {
    map: Map,
    clock: Arc<ManualClock>,
}

fn bytes(state: State) -> Value {
    let mut value = [0; 16];
    value[..8].copy_from_slice(&state.at.to_be_bytes());
    value[8..12].copy_from_slice(&state.a.to_be_bytes());
    value[12..].copy_from_slice(&state.b.to_be_bytes());
    value
}

fn state(value: Value) -> State {
    let number = u128::from_be_bytes(value);
    let low = |number: u128| u32::try_from(number & u128::from(u32::MAX)).expect("32 bits");
    State {
        at: u64::try_from(number >> 64).expect("64 bits"),
        a: low(number >> 32),
        b: low(number),
    }
}

impl Store for Racy {
    async fn decide(&self, request: Request<'_>) -> Result<Decision, DecideError> {
        let Request { policy, key, cost, action } = request;
        let key = format!("{} {:?}", policy.strategy(), key.parts());
        let kept = KvBackend::get(&self.map, &key).await?.map(state);
        let now = self.clock.now_ns();
        if action == Action::Peek {
            return Ok(peek(policy, kept, now, cost)?);
        }
        let decision = decide(policy, kept, now, cost)?;
        if decision.changes_state() {
            // Whoever came in between has read the same.
            self.map.set(&key, bytes(decision.state()), std::time::Duration::MAX).await?;
        }
        Ok(decision)
    }
}

#[test]
fn a_racy_store_fails_the_suite_for_its_races() {
    let clock = Arc::new(ManualClock::new(0));
    let store = Racy { map: Map::default(), clock: Arc::clone(&clock) };
    let runtime = runtime();
    let suite = Suite::new(clock).without_give_back().without_reset();
    let failure = suite.run(&store, |future| runtime.block_on(future)).expect_err("it races");
    assert!(failure.to_string().contains("from many threads"), "{failure}");
}

#[test]
fn the_same_store_with_turns_taken_passes() {
    let passed = super::conformance::run(|options: CustomOptions| {
        gorl::Locked::with_options(Map::default(), options)
    });
    assert!(
        passed.is_ok_and(|passed| passed.checks().iter().any(|check| check.contains("threads")))
    );
}
