//! The suite passes a plain correct store, and fails each store that is wrong in one way.

mod plain;
mod wrong;

use std::sync::Arc;

use gorl_core::ManualClock;
use gorl_testkit::{Failure, Suite};

use plain::{Faults, Plain};

fn run(faults: Faults) -> Result<gorl_testkit::Passed, Box<Failure>> {
    let clock = Arc::new(ManualClock::new(0));
    let store = Plain::new(Arc::clone(&clock), faults);
    Suite::new(clock).run_local(&store)
}

#[test]
fn a_plain_store_passes_every_check() {
    let passed = run(Faults::default()).unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(passed.left_out(), [""; 0]);
    assert!(passed.checks().len() > 15);
}

#[test]
fn a_store_that_forgets_what_is_at_rest_passes() {
    let faults = Faults { forgets_what_is_at_rest: true, ..Faults::default() };
    run(faults).unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn a_plain_store_passes_in_microseconds() {
    let clock = Arc::new(ManualClock::new(0));
    let store = Plain::new(Arc::clone(&clock), Faults::default());
    let passed = Suite::new(clock).in_micros().seed(5).run_local(&store);
    passed.unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn a_store_behind_futures_passes_with_an_executor_of_the_author() {
    let clock = Arc::new(ManualClock::new(0));
    let store = plain::Yielding(Plain::new(Arc::clone(&clock), Faults::default()));
    let passed = Suite::new(clock).traces(50).run(&store, plain::spin);
    passed.unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn what_is_left_out_is_listed() {
    let clock = Arc::new(ManualClock::new(0));
    let faults = Faults { forgets_to_give_back: true, forgets_to_reset: true, ..Faults::default() };
    let store = Plain::new(Arc::clone(&clock), faults);
    let suite = Suite::new(clock).traces(20).without_give_back().without_reset();
    let passed = suite.run(&store, plain::spin).unwrap_or_else(|failure| panic!("{failure}"));
    assert_eq!(passed.left_out(), ["give back, never past full", "reset"]);
}
