//! The suite that any store can run, on the one that gorl brings.

use std::sync::Arc;

use gorl_core::ManualClock;
use gorl_store_mem::MemoryStore;
use gorl_testkit::Suite;

/// More traces in a long run, and always other ones than the suite's own tests use.
fn suite(clock: Arc<ManualClock>, seed: u64) -> Suite {
    let long = std::env::var("GORL_LONG").is_ok_and(|value| value == "1");
    Suite::new(clock).seed(seed).traces(if long { 5_000 } else { 500 })
}

fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::new(0))
}

#[test]
fn a_growing_store_conforms() {
    let clock = clock();
    let store = MemoryStore::builder().clock(Arc::clone(&clock)).build();
    suite(clock, 11).run_local(&store).unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn a_store_of_one_shard_conforms() {
    let clock = clock();
    let store = MemoryStore::builder().shards(1).clock(Arc::clone(&clock)).build();
    suite(clock, 12).run_local(&store).unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn a_store_that_has_room_within_its_capacity_conforms() {
    let clock = clock();
    let store = MemoryStore::builder().capacity(100_000).clock(Arc::clone(&clock)).build();
    suite(clock, 13).run_local(&store).unwrap_or_else(|failure| panic!("{failure}"));
}

#[test]
fn a_store_that_counts_in_microseconds_conforms() {
    let clock = clock();
    let store = MemoryStore::builder().clock(Arc::clone(&clock)).build();
    let suite = suite(clock, 14).in_micros();
    suite.run_local(&store).unwrap_or_else(|failure| panic!("{failure}"));
}
