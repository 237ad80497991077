//! Giving back, and policies that change while serving.

use gorl_core::Strategy;
use gorl_tests::on_every_engine;

use super::{S, policy, tokens};

const K: &str = "k";

#[test]
fn r11_giving_back_to_an_untouched_key_buys_nothing() {
    for strategy in Strategy::ALL {
        on_every_engine(policy(strategy, 10, S), |engine| {
            engine.at(0);
            engine.give_back(K, 5);
            assert_eq!(engine.remaining(0, K), 10);
            assert_eq!(engine.admitted_of(11, 0, K), 10);
            engine.give_back(K, 4);
            assert_eq!(engine.admitted_of(11, 0, K), 4);
        });
    }
}

#[test]
fn r106_a_reload_of_the_same_policy_refills_nothing() {
    for strategy in Strategy::ALL {
        let policy = policy(strategy, 3, 60 * S);
        on_every_engine(policy, |engine| {
            assert_eq!(engine.admitted_of(4, 0, K), 3);
            let before = engine.peek(K, 1);
            for _ in 0..100 {
                engine.set_policy(policy);
                assert!(!engine.admits(0, K));
            }
            assert_eq!(engine.peek(K, 1), before);
        });
    }
}

#[test]
fn r109_a_lowered_limit_holds_on_the_very_next_check() {
    for strategy in [Strategy::FixedWindow, Strategy::SlidingWindow, Strategy::LeakyBucket] {
        on_every_engine(policy(strategy, 10, 60 * S), |engine| {
            assert!(engine.figures(0, K, 3).allowed);
            engine.set_policy(policy(strategy, 4, 60 * S));
            assert!(engine.admits(0, K));
            assert!(!engine.admits(0, K));
        });
    }
    // A token bucket keeps its tokens, as many as the new burst holds.
    on_every_engine(policy(Strategy::TokenBucket, 10, 60 * S), |engine| {
        assert!(engine.figures(0, K, 3).allowed);
        engine.set_policy(policy(Strategy::TokenBucket, 4, 60 * S));
        assert_eq!(engine.admitted_of(5, 0, K), 4);
    });
}

#[test]
fn r109_another_strategy_starts_every_key_afresh() {
    for from in Strategy::ALL {
        for to in Strategy::ALL.into_iter().filter(|&to| to != from) {
            on_every_engine(policy(from, 10, 60 * S), |engine| {
                assert_eq!(engine.admitted_of(11, 0, K), 10);
                engine.set_policy(policy(to, 10, 60 * S));
                assert_eq!(engine.admitted_of(11, 0, K), 10, "{from} to {to}");
            });
        }
    }
}

#[test]
fn r110_a_raised_rate_causes_no_denial() {
    on_every_engine(tokens(16, 10, 20 * S), |engine| {
        assert!(engine.figures(7, K, 3).allowed);
        engine.set_policy(tokens(16, 1_000, 20 * S));
        assert!(engine.admits(7, K));
        assert_eq!(engine.remaining(7, K), 12);
    });
}
