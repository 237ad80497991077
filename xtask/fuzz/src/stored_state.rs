//! Stored states: their byte forms, and what is decided on states that nobody wrote.

use arbitrary::{Result, Unstructured};
use gorl_core::{State, StoreErrorKind, give_back};
use gorl_store_custom::ValueError;

use crate::case::{self, Act};

/// How many things happen to a key at most; more show nothing new and make a run slow.
const STEPS: usize = 8;

/// Reads the bytes as a stored state, and as a policy with a state and what happens to it.
pub fn stored_state(bytes: &[u8]) {
    byte_forms(bytes);
    // Bytes that end too soon end the case, which is no fault.
    let _ = story(&mut Unstructured::new(bytes));
}

fn byte_forms(bytes: &[u8]) {
    if let Ok((strategy, state)) = State::decode(bytes) {
        assert_eq!(state.encode(strategy), bytes, "what is read is not what is written");
    }
    match ValueError::check("key", bytes) {
        Ok(value) => assert_eq!(value, bytes),
        Err(error) => {
            assert_ne!(bytes.len(), 16);
            assert_eq!(error.kind(), StoreErrorKind::ForeignValue);
        }
    }
}

fn story(bytes: &mut Unstructured<'_>) -> Result<()> {
    let mut point = case::beginning(bytes)?;
    point.check();
    for _ in 0..STEPS {
        if bytes.is_empty() {
            break;
        }
        point.now = case::step(bytes)?.of(&point);
        match case::act(bytes, &point.policy)? {
            Act::Nothing => {}
            Act::Take(cost) => {
                let decision = point.decide(point.within(cost));
                if decision.changes_state() {
                    point.state = Some(decision.state());
                }
            }
            Act::GiveBack(cost) => {
                let state = point.state;
                point.state = state.and_then(|s| give_back(&point.policy, s, point.now, cost));
            }
            Act::Change(policy) => point.policy = policy,
        }
        point.check();
    }
    Ok(())
}
