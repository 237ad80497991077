//! Time: clocks that go back, start at zero, and waits that are exact.

use std::time::Duration;

use gorl_core::{Policy, PolicyError, Strategy};
use gorl_tests::{LimiterDriver, on_every_engine};

use super::{DAY, MS, S, policy, tokens};

const K: &str = "k";

#[test]
fn r13_a_clock_that_steps_back_makes_neither_debt_nor_refill() {
    on_every_engine(tokens(5, 5, 60 * S), |engine| {
        assert!(engine.figures(100 * S, K, 3).allowed);
        let back = engine.figures(89 * S, K, 1);
        assert!(back.allowed);
        assert_eq!(back.remaining, 1);
        // Only twelve seconds past the high mark: one token.
        assert_eq!(engine.remaining(112 * S, K), 2);
    });
}

#[test]
fn r13_a_step_back_far_over_the_window_ignores_the_old_state() {
    for strategy in Strategy::ALL {
        on_every_engine(policy(strategy, 5, 60 * S), |engine| {
            let later = 2 * 3_600 * S;
            assert_eq!(engine.admitted_of(6, later, K), 5);
            assert_eq!(engine.admitted_of(6, later - 3_600 * S, K), 5, "one extra budget");
            // Counting goes on from there: a second later there is nothing more.
            assert_eq!(engine.admitted_of(6, later - 3_600 * S + S, K), 0);
        });
    }
}

#[test]
fn r15_a_clock_at_zero_and_a_month_long_window_do_not_panic() {
    for strategy in Strategy::ALL {
        let month = policy(strategy, 1, 30 * DAY);
        on_every_engine(month, |engine| {
            assert!(engine.admits(0, K));
            let denied = engine.figures(0, K, 1);
            assert!(!denied.allowed);
            assert!(denied.retry_after.is_some_and(|wait| wait >= u128::from(30 * DAY)));
        });
        let engine = LimiterDriver::new(month);
        let limiter = engine.limiter();
        assert!(limiter.check(K).is_allowed());
        limiter.sweep();
        assert_eq!(limiter.len(), 1);
        assert!(limiter.peek(K).retry_after() >= Duration::from_secs(30 * 86_400));
    }
}

#[test]
fn r31_a_wait_below_a_second_is_not_cut_to_zero() {
    on_every_engine(tokens(1, 5, S), |engine| {
        assert!(engine.admits(0, K));
        assert_eq!(engine.figures(0, K, 1).retry_after, Some((200 * MS).into()));
        assert!(!engine.admits(200 * MS - 1, K));
        assert!(engine.admits(200 * MS, K));
    });
}

#[test]
fn r33_the_wait_is_the_rest_of_the_window_not_all_of_it() {
    on_every_engine(policy(Strategy::FixedWindow, 10, 60 * S), |engine| {
        for k in 0..10 {
            assert!(engine.admits(k * 2 * S, K));
        }
        assert_eq!(engine.figures(20 * S, K, 1).retry_after, Some((40 * S).into()));
    });
}

#[test]
fn r47_a_limit_of_zero_is_an_error_everywhere() {
    for strategy in Strategy::ALL {
        let window = Duration::from_secs(1);
        assert_eq!(Policy::new(strategy, 0, window), Err(PolicyError::Limit { given: 0 }));
        if let Ok(policy) = Policy::new(strategy, 1, window)
            && strategy.has_burst()
        {
            assert_eq!(policy.with_burst(0), Err(PolicyError::Burst { given: 0 }));
        }
    }
}

#[test]
fn r112_a_number_that_a_policy_cannot_have_is_named() {
    let second = Duration::from_secs(1);
    let text = |policy: Result<Policy, PolicyError>| policy.unwrap_err().to_string();
    assert!(text(Policy::fixed_window(1 << 32, second)).contains("limit must be from 1 to"));
    assert!(text(Policy::fixed_window(1, Duration::ZERO)).contains("window must be from 1ns"));
    let bucket = Policy::token_bucket(1, second).unwrap();
    assert!(text(bucket.with_burst(1 << 40)).contains("burst must be from 1 to"));
    let window = Policy::sliding_window(1, second).unwrap();
    assert!(text(window.with_burst(2)).contains("the strategy is sliding_window"));
    let fine = Policy::fixed_window(1, Duration::from_nanos(1_001)).unwrap();
    assert!(text(fine.in_micros()).contains("whole number of microseconds"));
    for typo in ["fixedwindow", "Token_Bucket", "token bucket", "gcra", ""] {
        assert!(typo.parse::<Strategy>().is_err(), "{typo:?}");
    }
}

#[test]
fn r114_an_enormous_window_is_an_error_and_a_tiny_rate_has_a_finite_wait() {
    for window in [Duration::MAX, Duration::from_secs(u64::MAX), Duration::from_secs(315_360_001)] {
        for strategy in Strategy::ALL {
            assert!(matches!(
                Policy::new(strategy, 1, window),
                Err(PolicyError::Window { given }) if given == window
            ));
        }
    }
    // Four billion tokens at one in ten years: longer than 64 bits of nanoseconds.
    let slow = tokens(u32::MAX.into(), 1, 3_650 * DAY);
    on_every_engine(slow, |engine| {
        let spent = engine.figures(0, K, u32::MAX);
        assert_eq!(spent.reset_after, u128::from(u32::MAX) * u128::from(3_650 * DAY));
        let denied = engine.figures(0, K, u32::MAX);
        assert_eq!(denied.retry_after, Some(spent.reset_after));
    });
    let decision = gorl_core::decide(&slow, None, 0, u32::MAX).unwrap();
    let years = decision.reset_after().as_secs() / (365 * 86_400);
    assert_eq!(years, u64::from(u32::MAX) * 10);
}
