//! Windows: their weights, their edges, and very long ones.

use gorl_core::Strategy;
use gorl_tests::{LimiterDriver, on_every_engine};

use super::{DAY, MS, S, policy, tokens};

const K: &str = "k";

#[test]
fn r23_a_sliding_window_forgets_after_two_idle_windows() {
    on_every_engine(policy(Strategy::SlidingWindow, 10, 10 * S), |engine| {
        assert_eq!(engine.admitted_of(10, 5 * S, K), 10);
        assert_eq!(engine.admitted_of(11, 25 * S, K), 10);
    });
    on_every_engine(policy(Strategy::SlidingWindow, 10, 10 * S), |engine| {
        assert_eq!(engine.admitted_of(10, 5 * S, K), 10);
        assert!(!engine.admits(15 * S, K));
        assert_eq!(engine.admitted_of(6, 20 * S, K), 5);
    });
}

#[test]
fn r25_the_previous_window_weighs_by_what_still_overlaps() {
    on_every_engine(policy(Strategy::SlidingWindow, 10, 10 * S), |engine| {
        assert!(engine.admits(0, K));
        assert_eq!(engine.admitted_of(9, 9 * S, K), 9);
        assert!(engine.admits(11 * S, K));
        let denied = engine.figures(11 * S, K, 1);
        assert!(!denied.allowed);
        assert_eq!(denied.retry_after, Some(S.into()));
        assert!(engine.admits(12 * S, K));
    });
}

#[test]
fn r27_what_a_burst_across_a_boundary_gets_is_as_documented() {
    let cases = [
        (policy(Strategy::FixedWindow, 100, S), 100),
        (policy(Strategy::SlidingWindow, 100, S), 0),
        (tokens(100, 100, S), 20),
        (policy(Strategy::LeakyBucket, 100, S), 20),
    ];
    for (policy, after) in cases {
        on_every_engine(policy, |engine| {
            assert_eq!(engine.admitted_of(100, 900 * MS, K), 100);
            assert_eq!(engine.admitted_of(100, 1_100 * MS, K), after, "{policy}");
        });
    }
}

#[test]
fn r29_a_window_of_a_year_lasts_a_year() {
    let year = policy(Strategy::FixedWindow, 5, 365 * DAY);
    on_every_engine(year, |engine| {
        assert_eq!(engine.admitted_of(6, 0, K), 5);
        for days in [25, 50, 364] {
            assert!(!engine.admits(days * DAY, K), "after {days} days");
        }
        assert!(!engine.admits(365 * DAY - 1, K));
        assert!(engine.admits(365 * DAY, K));
    });
}

#[test]
fn r29_a_sweep_in_between_does_not_shorten_it() {
    use gorl_tests::Driver;

    let mut engine = LimiterDriver::new(policy(Strategy::FixedWindow, 5, 365 * DAY));
    assert_eq!(engine.admitted_of(5, 0, K), 5);
    for days in [25, 50, 364] {
        engine.at(days * DAY);
        engine.limiter().sweep();
        assert!(!engine.admits(days * DAY, K), "after {days} days");
    }
    assert!(engine.admits(365 * DAY, K));
}
