//! Sweeping is never seen: not after a policy change either.

use std::time::Duration;

use gorl::{Policy, Strategy};
use gorl_tests::{Driver, LimiterDriver};

/// A second, in nanoseconds.
const S: u64 = 1_000_000_000;

fn bucket(strategy: Strategy, limit: u64, burst: u64) -> Policy {
    Policy::new(strategy, limit, Duration::from_secs(10))
        .and_then(|policy| policy.with_burst(burst))
        .expect("a policy")
}

/// What the key has left at an instant at which everything at rest has just been forgotten.
fn left_after_sweep(engine: &mut LimiterDriver, now_ns: u64) -> u32 {
    engine.at(now_ns);
    engine.limiter().sweep();
    engine.remaining(now_ns, "k")
}

#[test]
fn a_key_that_a_raised_burst_still_counts_is_kept() {
    let mut engine = LimiterDriver::new(bucket(Strategy::TokenBucket, 10, 100));
    assert!(engine.admits(0, "k"));
    // 99 of 190, and two a second: full after 45.5 s, where the old policy said 1 s.
    engine.set_policy(bucket(Strategy::TokenBucket, 20, 190));
    assert_eq!(left_after_sweep(&mut engine, 12 * S), 123);
    assert_eq!(left_after_sweep(&mut engine, 45 * S + S / 2), 190);
}

#[test]
fn a_key_that_a_lowered_rate_still_counts_is_kept() {
    let mut engine = LimiterDriver::new(bucket(Strategy::LeakyBucket, 10, 10));
    assert_eq!(engine.admitted_of(10, 0, "k"), 10);
    // Ten of three, and two in five seconds: empty after 25 s, where the old policy said 10 s.
    engine.set_policy(bucket(Strategy::LeakyBucket, 4, 3));
    assert_eq!(left_after_sweep(&mut engine, 21 * S), 1);
    assert_eq!(left_after_sweep(&mut engine, 25 * S), 3);
}

#[test]
fn a_key_that_a_longer_window_still_counts_is_kept() {
    for strategy in [Strategy::FixedWindow, Strategy::SlidingWindow] {
        let window = |secs| Policy::new(strategy, 10, Duration::from_secs(secs)).expect("a policy");
        let mut engine = LimiterDriver::new(window(10));
        assert_eq!(engine.admitted_of(10, 0, "k"), 10);
        engine.set_policy(window(60));
        assert_eq!(left_after_sweep(&mut engine, 50 * S), 0);
    }
}
