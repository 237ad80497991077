//! The Redis store against a server of the test's own.

mod conformance;
mod connection;
mod differential;
mod edges;
mod expiry;
mod foreign;
mod many;
mod reports;
mod shared;
mod vectors;

use std::time::Duration;

use gorl_core::{Policy, Strategy};

/// A microsecond, in nanoseconds.
const US: u64 = 1_000;

/// A millisecond, in nanoseconds.
const MS: u64 = 1_000_000;

/// A second, in nanoseconds.
const S: u64 = 1_000 * MS;

/// A day, in nanoseconds.
const DAY: u64 = 86_400 * S;

/// `limit` in `window_ns`.
fn policy(strategy: Strategy, limit: u64, window_ns: u64) -> Policy {
    Policy::new(strategy, limit, Duration::from_nanos(window_ns)).expect("a valid policy")
}

/// A token bucket of `capacity` that refills at `limit` in `window_ns`.
fn tokens(capacity: u64, limit: u64, window_ns: u64) -> Policy {
    policy(Strategy::TokenBucket, limit, window_ns).with_burst(capacity).expect("a valid burst")
}

/// A leaky bucket of `capacity` that drains at `limit` in `window_ns`.
fn leaky(capacity: u64, limit: u64, window_ns: u64) -> Policy {
    policy(Strategy::LeakyBucket, limit, window_ns).with_burst(capacity).expect("a valid burst")
}
