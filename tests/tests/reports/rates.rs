//! Rates: nothing truncated, nothing lost to polling, nothing overflowed.

use gorl_core::{CostExceedsLimit, Strategy};
use gorl_tests::{Driver, on_every_engine};

use super::{DAY, MS, S, leaky, policy, tokens};

const K: &str = "k";

fn check_long_idle(engine: &mut dyn Driver) {
    for now in [0, 43_200 * S, 3_650 * DAY] {
        let figures = engine.figures(now, K, 1);
        assert!(figures.allowed);
        assert_eq!(figures.remaining, 999_999, "at {now}");
    }
}

#[test]
fn r01_long_idle_does_not_overflow() {
    for strategy in Strategy::ALL {
        on_every_engine(policy(strategy, 1_000_000, S), check_long_idle);
    }
}

#[test]
fn r03_a_rate_that_does_not_divide_its_window_is_kept() {
    // An interval of 85 ms in place of 85 5/7 would admit 7 060.
    on_every_engine(tokens(2, 700, 60 * S), |engine| {
        let admitted = (0..=600_000).filter(|&ms| engine.admits(ms * MS, K)).count();
        assert_eq!(admitted, 7_002);
    });
}

#[test]
fn r03_a_rate_above_one_a_millisecond_builds_and_counts() {
    on_every_engine(tokens(1, 120_000, 60 * S), |engine| {
        let admitted = (0..1_000).filter(|&ms| engine.admits(ms * MS, K)).count();
        assert_eq!(admitted, 1_000);
        assert!(!engine.admits(999 * MS + 499_999, K));
        assert!(engine.admits(999 * MS + 500_000, K));
    });
}

#[test]
fn r05_a_due_request_is_admitted_at_the_exact_instant() {
    on_every_engine(tokens(1, 10, 13 * S), |engine| {
        for k in 0..10_000 {
            let due = k * 1_300 * MS;
            if due > 0 {
                assert!(!engine.admits(due - 1, K), "a nanosecond before {due}");
            }
            assert!(engine.admits(due, K), "at {due}");
        }
    });
}

#[test]
fn r09_polling_faster_than_the_refill_loses_nothing() {
    on_every_engine(tokens(1, 1, S), |engine| {
        for k in 0..1_000 {
            assert_eq!(engine.admits(k * 600 * MS, K), k % 2 == 0, "check {k}");
        }
    });
    on_every_engine(tokens(3, 3, S), |engine| {
        let admitted = (0..=10_000).filter(|&ms| engine.admits(ms * MS, K)).count();
        assert_eq!(admitted, 33);
    });
}

#[test]
fn r21_an_idle_key_earns_no_more_than_its_capacity() {
    on_every_engine(tokens(5, 1, S), |engine| {
        for now in [0, 1_000_000 * S] {
            assert_eq!(engine.admitted_of(6, now, K), 5, "at {now}");
        }
    });
}

#[test]
fn r35_remaining_stays_within_the_limit_and_reset_counts_the_cost() {
    on_every_engine(leaky(10, 10, 30 * S), |engine| {
        let figures = engine.figures(0, K, 5);
        assert_eq!(figures.remaining, 5);
        assert_eq!(figures.reset_after, u128::from(15 * S));
        assert!(engine.remaining(15 * S - 1, K) < 10);
        assert_eq!(engine.remaining(15 * S, K), 10);
        assert_eq!(engine.figures(100 * S, K, 1).remaining, 9);
    });
}

#[test]
fn r41_a_cost_above_the_capacity_is_an_error_at_once_and_delays_nobody() {
    on_every_engine(tokens(10, 10, S), |engine| {
        engine.at(0);
        let error = Err(CostExceedsLimit { cost: 11, limit: 10 });
        assert_eq!(engine.take(K, 11), error);
        assert_eq!(engine.peek(K, 11), error);
        assert_eq!(engine.admitted_of(10, 0, K), 10);
        assert_eq!(engine.take(K, 11), error);
        // The next one is due no later than without it.
        assert_eq!(engine.figures(0, K, 1).retry_after, Some((100 * MS).into()));
        assert!(engine.admits(100 * MS, K));
    });
}

#[test]
fn r43_a_denied_costly_call_consumes_nothing() {
    on_every_engine(tokens(5, 1, 10 * S), |engine| {
        assert!(engine.figures(0, K, 3).allowed);
        assert!(!engine.figures(0, K, 4).allowed);
        let last = engine.figures(0, K, 2);
        assert!(last.allowed);
        assert!(last.reset_after <= u128::from(60 * S));
    });
}

#[test]
fn r49_a_cost_of_zero_is_free() {
    for strategy in Strategy::ALL {
        on_every_engine(policy(strategy, 3, S), |engine| {
            for used in [0, 3] {
                engine.figures(0, K, used);
                for _ in 0..1_000 {
                    let figures = engine.figures(0, K, 0);
                    assert!(figures.allowed);
                    assert_eq!(figures.remaining, 3 - used);
                }
            }
        });
    }
}

#[test]
fn r105_two_per_second_means_two_in_a_second() {
    on_every_engine(tokens(1, 2, S), |engine| {
        let admitted = (0..600).filter(|&tenth| engine.admits(tenth * 100 * MS, K)).count();
        assert!((120..=121).contains(&admitted), "{admitted} in a minute");
    });
}
