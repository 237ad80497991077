//! Faults that users of rate limiters have met, each as a test named after what it checks.
//!
//! The number in front is that of the report. Every test runs on core, the model, the limiter and
//! the memory store, unless it is about one of them.

mod changes;
mod keys;
mod memory;
mod rates;
mod time;
mod windows;

use std::time::Duration;

use gorl_core::{Policy, Strategy};

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
