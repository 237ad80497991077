//! Faults that users of rate limiters have met, on Redis: what is asked at times of the test's own.
//!
//! The number in front is that of the report. Each step is also compared with core by the driver,
//! the decision and what is stored.

use gorl_core::{Action, CostExceedsLimit, Policy, PolicyError, Strategy};
use gorl_tests::{Driver, RedisDriver};
use redis::Commands;

use super::{DAY, MS, S, US, leaky, policy, tokens};

const K: &str = "k";

#[test]
fn r05_a_due_request_is_admitted_at_the_exact_microsecond() {
    let mut engine = RedisDriver::new(tokens(1, 10, 13 * S));
    for k in 0..10_000 {
        let due = k * 1_300 * MS;
        if due > 0 {
            assert!(!engine.admits(due - US, K), "a microsecond before {due}");
        }
        assert!(engine.admits(due, K), "at {due}");
    }
}

#[test]
fn r07_numbers_beyond_a_doubles_digits_stay_exact() {
    let most = u64::from(u32::MAX);
    let mut engine = RedisDriver::new(policy(Strategy::FixedWindow, most, 3_650 * DAY));
    let at = 1_893_456_000_123_457 * US;
    for strategy in Strategy::ALL {
        engine.set_policy(policy(strategy, most, 3_650 * DAY));
        for (ahead, cost) in [(0, 1), (0, u32::MAX - 2), (0, 1), (0, 1), (US, 1), (73_427 * US, 1)]
        {
            let _ = engine.figures(at + ahead, K, cost);
            let name = engine.redis_key(K);
            let stored: String = engine.look().get(&name).expect("the server answers");
            let plain = stored.bytes().all(|byte| byte.is_ascii_digit() || byte == b' ');
            assert!(plain, "{stored}");
        }
    }
    engine.set_policy(policy(Strategy::SlidingWindow, 1, S));
    let _ = engine.figures(at, "time", 1);
    let name = engine.redis_key("time");
    let stored: String = engine.look().get(name).expect("the server answers");
    assert_eq!(stored, "1 1893456000123457 1 0");
    let above = Policy::fixed_window(most + 1, std::time::Duration::from_secs(1));
    assert_eq!(above, Err(PolicyError::Limit { given: most + 1 }));
}

#[test]
fn r09_polling_faster_than_the_refill_loses_nothing() {
    let mut engine = RedisDriver::new(tokens(1, 1, S));
    for k in 0..100 {
        assert_eq!(engine.admits(k * 600 * MS, K), k % 2 == 0, "at {k} times 0.6 s");
    }
    engine.set_policy(tokens(3, 3, S));
    let admitted = (0..=10_000).filter(|&ms| engine.admits(ms * MS, "other")).count();
    assert_eq!(admitted, 33);
}

#[test]
fn r11_giving_back_to_an_untouched_key_buys_nothing() {
    let mut engine = RedisDriver::new(tokens(10, 10, S));
    for strategy in Strategy::ALL {
        engine.set_policy(policy(strategy, 10, S));
        engine.at(0);
        engine.give_back(K, 5);
        assert_eq!(engine.remaining(0, K), 10);
        assert_eq!(engine.admitted_of(11, 0, K), 10);
        engine.give_back(K, 4);
        assert_eq!(engine.admitted_of(11, 0, K), 4);
    }
}

#[test]
fn r13_a_clock_that_steps_back_neither_earns_nor_locks_out() {
    let mut engine = RedisDriver::new(tokens(5, 5, 60 * S));
    assert!(engine.figures(100 * S, K, 3).allowed);
    let back = engine.figures(89 * S, K, 1);
    assert!(back.allowed);
    assert_eq!(back.remaining, 1);
    assert_eq!(engine.remaining(112 * S, K), 2);
    for strategy in Strategy::ALL {
        engine.set_policy(policy(strategy, 5, 60 * S));
        assert_eq!(engine.admitted_of(6, 7_200 * S, "hour"), 5);
        assert_eq!(engine.admitted_of(20, 3_600 * S, "hour"), 5, "{strategy}");
    }
}

#[test]
fn r21_a_long_pause_earns_one_burst() {
    let mut engine = RedisDriver::new(tokens(5, 1, S));
    assert_eq!(engine.admitted_of(6, 0, K), 5);
    assert_eq!(engine.admitted_of(6, 1_000_000 * S, K), 5);
}

#[test]
fn r23_a_jump_of_two_windows_forgets_the_previous_count() {
    let mut engine = RedisDriver::new(policy(Strategy::SlidingWindow, 10, 10 * S));
    assert_eq!(engine.admitted_of(10, 5 * S, K), 10);
    assert_eq!(engine.admitted_of(11, 25 * S, K), 10);
    assert_eq!(engine.admitted_of(10, 5 * S, "fresh"), 10);
    assert!(!engine.admits(15 * S, "fresh"));
    assert_eq!(engine.admitted_of(6, 20 * S, "fresh"), 5);
}

#[test]
fn r25_the_previous_window_weighs_on_the_next() {
    let mut engine = RedisDriver::new(policy(Strategy::SlidingWindow, 10, 10 * S));
    assert!(engine.admits(0, K));
    assert_eq!(engine.admitted_of(9, 9 * S, K), 9);
    assert!(engine.admits(11 * S, K));
    let denied = engine.figures(11 * S, K, 1);
    assert_eq!((denied.allowed, denied.retry_after), (false, Some(1_000_000)));
    assert!(!engine.admits(12 * S - US, K));
    assert!(engine.admits(12 * S, K));
}

#[test]
fn r27_what_an_edge_lets_through() {
    let mut engine = RedisDriver::new(tokens(100, 100, S));
    for (strategy, second) in [
        (Strategy::FixedWindow, 100),
        (Strategy::SlidingWindow, 0),
        (Strategy::TokenBucket, 20),
        (Strategy::LeakyBucket, 20),
    ] {
        engine.set_policy(policy(strategy, 100, S));
        assert_eq!(engine.admitted_of(100, 900 * MS, K), 100);
        assert_eq!(engine.admitted_of(100, 1_100 * MS, K), second, "{strategy}");
    }
}

#[test]
fn r31_the_wait_is_exact_below_a_second() {
    let mut engine = RedisDriver::new(tokens(1, 5, S));
    assert!(engine.admits(0, K));
    assert_eq!(engine.figures(0, K, 1).retry_after, Some(200_000));
    assert!(!engine.admits(200 * MS - US, K));
    assert!(engine.admits(200 * MS, K));
}

#[test]
fn r35_remaining_and_reset_follow_the_cost() {
    let mut engine = RedisDriver::new(leaky(10, 10, 30 * S));
    let first = engine.figures(0, K, 5);
    assert_eq!((first.remaining, first.reset_after), (5, 15_000_000));
    assert_eq!(engine.figures(100 * S, K, 1).remaining, 9);
}

#[test]
fn r43_a_denied_cost_spends_nothing() {
    let mut engine = RedisDriver::new(tokens(5, 1, 10 * S));
    assert!(engine.figures(0, K, 3).allowed);
    assert!(!engine.figures(0, K, 4).allowed);
    assert!(engine.figures(0, K, 2).allowed);
}

#[test]
fn r47_a_limit_of_zero_is_no_policy() {
    for strategy in Strategy::ALL {
        let none = Policy::new(strategy, 0, std::time::Duration::from_secs(1));
        assert_eq!(none, Err(PolicyError::Limit { given: 0 }));
    }
}

#[test]
fn r49_a_cost_of_zero_is_free_and_leaves_no_key() {
    let mut engine = RedisDriver::new(tokens(5, 5, S));
    for strategy in Strategy::ALL {
        engine.set_policy(policy(strategy, 5, S));
        for _ in 0..250 {
            let figures = engine.figures(0, K, 0);
            assert_eq!((figures.allowed, figures.remaining), (true, 5));
        }
        engine.at(0);
        assert_eq!(engine.take(K, 6), Err(CostExceedsLimit { cost: 6, limit: 5 }));
    }
    let keys: usize = redis::cmd("DBSIZE").query(engine.look()).expect("the server answers");
    assert_eq!(keys, 0);
}

#[test]
fn r59_a_fill_time_below_a_millisecond_still_limits() {
    let mut engine = RedisDriver::new(tokens(1, 3, S));
    assert!(engine.admits(0, K));
    assert!(!engine.admits(US, K));
    for (number, per_second) in (0..).zip([1_000, 2_000, 999_999, 1_000_000]) {
        engine.set_policy(tokens(1, per_second, S));
        let key = number.to_string();
        assert!(engine.admits(S, &key));
        assert!(!engine.admits(S, &key), "{per_second} a second");
        assert!(engine.admits(S + MS, &key), "{per_second} a second");
    }
}

#[test]
fn r109_a_lowered_limit_holds_on_the_very_next_check() {
    let mut engine = RedisDriver::new(tokens(1, 1, S));
    for strategy in [Strategy::FixedWindow, Strategy::SlidingWindow, Strategy::LeakyBucket] {
        engine.set_policy(policy(strategy, 10, 60 * S));
        assert!(engine.figures(0, K, 3).allowed);
        engine.set_policy(policy(strategy, 4, 60 * S));
        assert!(engine.admits(0, K));
        assert!(!engine.admits(0, K), "{strategy}");
    }
    engine.set_policy(policy(Strategy::TokenBucket, 10, 60 * S));
    assert!(engine.figures(0, K, 3).allowed);
    engine.set_policy(policy(Strategy::TokenBucket, 4, 60 * S));
    assert_eq!(engine.admitted_of(5, 0, K), 4);
}

#[test]
fn r109_another_strategy_starts_every_key_afresh() {
    let mut engine = RedisDriver::new(tokens(1, 1, S));
    for strategy in Strategy::ALL {
        engine.set_policy(policy(strategy, 10, 60 * S));
        assert_eq!(engine.admitted_of(11, 0, K), 10, "{strategy}");
    }
    engine.reset(K);
    for strategy in Strategy::ALL {
        engine.set_policy(policy(strategy, 10, 60 * S));
        assert_eq!(engine.remaining(0, K), 10, "a reset forgets every strategy");
    }
}

#[test]
fn r110_a_raised_rate_causes_no_denial() {
    let mut engine = RedisDriver::new(tokens(16, 10, 20 * S));
    assert!(engine.figures(7 * US, K, 3).allowed);
    engine.set_policy(tokens(16, 1_000, 20 * S));
    assert!(engine.admits(7 * US, K));
    assert_eq!(engine.remaining(7 * US, K), 12);
}

#[test]
fn a_window_finer_than_a_microsecond_is_a_policy_error() {
    let mut engine = RedisDriver::new(tokens(1, 1, S));
    let fine = policy(Strategy::FixedWindow, 1, 1_500);
    let parts = gorl_core::Key::parts(&K);
    let key = gorl_core::KeyRef::new(&parts);
    let request = gorl_core::Request { policy: &fine, key, cost: 1, action: Action::Take };
    let answer = engine.wait(gorl_core::Store::decide(engine.store(), request));
    let gorl_core::DecideError::Store(error) = answer.expect_err("no decision") else {
        panic!("not an error of the store");
    };
    assert_eq!(error.kind(), gorl_core::StoreErrorKind::Policy);
    let cause = std::error::Error::source(&error).expect("a cause").to_string();
    assert!(cause.contains("whole number of microseconds"), "{cause}");
    engine.at((1 << 53) * US);
    let error = engine.ask(K, 1, Action::Take).expect_err("no time that scripts can count");
    let gorl_core::DecideError::Store(error) = error else { panic!("not an error of the store") };
    assert_eq!(error.kind(), gorl_core::StoreErrorKind::Unsupported);
}
