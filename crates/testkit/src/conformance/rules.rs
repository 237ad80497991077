//! The rules of a store, one check each, for all four strategies.

use std::time::Duration;

use gorl_core::Strategy;

use super::failure::Failure;
use super::harness::Harness;
use crate::Figures;

type Check = Result<(), Box<Failure>>;

/// The figures of ten per ten seconds, foreseen without the model.
pub(super) fn a_plain_policy(harness: &Harness<'_>) -> Check {
    for strategy in Strategy::ALL {
        let policy = harness.ten(strategy);
        let key = harness.key(strategy.as_str());
        let mut trial = harness.round_trial(&policy);
        for used in 1..=10 {
            let answer = trial.take(&policy, &key, 1)?;
            let seen = answer.map(|figures| (figures.allowed, figures.limit, figures.remaining));
            trial.expect("ten are admitted, one by one", &Some((true, 10, 10 - used)), &seen)?;
        }
        let denied = trial.take(&policy, &key, 1)?;
        let second = u128::from(policy.window_ticks() / 10);
        let wait = match strategy {
            Strategy::FixedWindow => 10 * second,
            Strategy::SlidingWindow => 11 * second,
            _ => second,
        };
        let seen = denied.and_then(|figures| figures.retry_after);
        trial.expect("the wait", &Some(wait), &seen)?;
        trial.wait(wait - 1);
        let early = trial.take(&policy, &key, 1)?;
        trial.expect("a tick too early", &Some(false), &early.map(|figures| figures.allowed))?;
        trial.wait(1);
        let due = trial.take(&policy, &key, 1)?;
        trial.expect("at the due instant", &Some(true), &due.map(|figures| figures.allowed))?;
    }
    Ok(())
}

/// A thousand denials later every answer is the one that would have been given without them.
pub(super) fn denial(harness: &Harness<'_>) -> Check {
    for strategy in Strategy::ALL {
        let policy = harness.ten(strategy);
        let key = harness.key(strategy.as_str());
        let mut trial = harness.round_trial(&policy);
        trial.take(&policy, &key, 8)?;
        for cost in (3..=10).cycle().take(1_000) {
            let denied = trial.take(&policy, &key, cost)?;
            trial.expect("8 of 10 used", &Some(false), &denied.map(|figures| figures.allowed))?;
        }
        let last = trial.take(&policy, &key, 2)?;
        trial.expect("the last two fit", &Some(true), &last.map(|figures| figures.allowed))?;
        // Polled until it is due, a denied key comes free no later than one that was left alone.
        let step = policy.window_ticks() / 97;
        for _ in 0..250 {
            trial.wait(step.into());
            trial.take(&policy, &key, 3)?;
        }
    }
    Ok(())
}

pub(super) fn peek(harness: &Harness<'_>) -> Check {
    for strategy in Strategy::ALL {
        let policy = harness.ten(strategy);
        let key = harness.key(strategy.as_str());
        let mut trial = harness.round_trial(&policy);
        for cost in [0, 1, 10, 11] {
            trial.peek(&policy, &key, cost)?;
        }
        trial.take(&policy, &key, 4)?;
        for _ in 0..100 {
            let seen = trial.peek(&policy, &key, 6)?.map(|figures| figures.remaining);
            trial.expect("what is left before the cost", &Some(6), &seen)?;
            trial.peek(&policy, &key, 7)?;
        }
        trial.take(&policy, &key, 6)?;
        trial.peek(&policy, &key, 1)?;
    }
    Ok(())
}

/// A cost of zero is admitted always, by a key that is used up too, and never counts.
pub(super) fn cost_zero(harness: &Harness<'_>) -> Check {
    for strategy in Strategy::ALL {
        let policy = harness.ten(strategy);
        let key = harness.key(strategy.as_str());
        let mut trial = harness.round_trial(&policy);
        for used in [0, 10] {
            trial.take(&policy, &key, used)?;
            for _ in 0..100 {
                let seen = trial.take(&policy, &key, 0)?;
                let seen = seen.map(|figures| (figures.allowed, figures.remaining));
                trial.expect("nothing was spent", &Some((true, 10 - used)), &seen)?;
                trial.wait(1);
                trial.at(trial.now() - 1);
            }
        }
    }
    Ok(())
}

/// A cost above the capacity is an error at once, whatever is left, and changes nothing.
pub(super) fn cost_too_high(harness: &Harness<'_>) -> Check {
    for strategy in Strategy::ALL {
        let policy = harness.ten(strategy);
        let key = harness.key(strategy.as_str());
        let mut trial = harness.round_trial(&policy);
        for used in [0, 4, 6] {
            trial.take(&policy, &key, used)?;
            for cost in [11, 4_000, u32::MAX] {
                let seen = trial.take(&policy, &key, cost)?;
                trial.expect("an error", &None, &seen)?;
                trial.peek(&policy, &key, cost)?;
            }
            trial.peek(&policy, &key, 1)?;
        }
    }
    Ok(())
}

/// A key that has come to rest answers as one that was never seen; a tick before it does not.
pub(super) fn rest(harness: &Harness<'_>) -> Check {
    for strategy in Strategy::ALL {
        let policy = harness.policy(strategy, 7, Duration::from_secs(10));
        for (index, spent) in [1, 3, 7].into_iter().enumerate() {
            let key = harness.key(format!("{strategy} {index}"));
            let other = harness.key(format!("{strategy} {index} fresh"));
            let mut trial = harness.round_trial(&policy);
            trial.take(&policy, &key, spent)?;
            let rested = trial.peek(&policy, &key, 1)?.map_or(0, |figures| figures.reset_after);
            trial.wait(rested - 1);
            let seen = trial.peek(&policy, &key, 7)?.map(|figures| figures.allowed);
            trial.expect("a tick before rest", &Some(false), &seen)?;
            trial.wait(1);
            let expected = trial.take(&policy, &other, 5)?;
            let seen = trial.take(&policy, &key, 5)?;
            trial.expect("as a fresh key", &expected, &seen)?;
        }
    }
    Ok(())
}

/// A clock that goes back earns nothing within a window, and locks nobody out beyond one.
pub(super) fn clock_back(harness: &Harness<'_>) -> Check {
    for strategy in Strategy::ALL {
        let policy = harness.ten(strategy);
        let key = harness.key(strategy.as_str());
        let mut trial = harness.round_trial(&policy);
        let (start, window) = (trial.now(), policy.window_ticks());
        trial.take(&policy, &key, 10)?;
        for back in [1, window / 2, window - 1, window] {
            trial.at(start - back);
            let seen = trial.take(&policy, &key, 1)?.map(|figures| figures.allowed);
            trial.expect("within a window nothing is earned", &Some(false), &seen)?;
        }
        trial.at(start);
        let seen = trial.take(&policy, &key, 1)?.map(|figures| figures.allowed);
        trial.expect("nor on the way forward again", &Some(false), &seen)?;
        trial.at(start - window - 1);
        let seen = trial.take(&policy, &key, 10)?.map(|figures| figures.allowed);
        trial.expect("further back the state is ignored", &Some(true), &seen)?;
    }
    Ok(())
}

/// A policy that changes its numbers reads the counts that are there.
pub(super) fn policy_change(harness: &Harness<'_>) -> Check {
    for strategy in Strategy::ALL {
        let key = harness.key(strategy.as_str());
        let policies = [(10, 10), (4, 10), (1, 1), (7, 3), (10, 10), (u64::from(u32::MAX), 10)]
            .map(|(limit, secs)| harness.policy(strategy, limit, Duration::from_secs(secs)));
        let mut trial = harness.round_trial(&policies[0]);
        trial.take(&policies[0], &key, 3)?;
        for policy in policies {
            for cost in [0, 1, policy.capacity().min(3), policy.capacity()] {
                trial.peek(&policy, &key, cost)?;
                trial.take(&policy, &key, cost)?;
            }
            // Too short for any of the policies to bring the key to rest.
            trial.wait(u128::from(policy.window_ticks() / 100));
        }
    }
    Ok(())
}

/// A change of policy and back, with nothing spent in between, changes no answer.
pub(super) fn policy_visit(harness: &Harness<'_>) -> Check {
    for strategy in Strategy::ALL {
        let key = harness.key(strategy.as_str());
        let policy = harness.policy(strategy, 10, Duration::from_secs(10));
        let visited = harness.policy(strategy, 3, Duration::from_secs(7));
        let mut trial = harness.round_trial(&policy);
        trial.wait(u128::from(policy.window_ticks() / 2));
        trial.take(&policy, &key, 10)?;
        let before = trial.peek(&policy, &key, 1)?;
        trial.peek(&visited, &key, 1)?;
        trial.take(&visited, &key, 0)?;
        trial.take(&visited, &key, 4)?;
        let after = trial.take(&policy, &key, 1)?;
        trial.expect("as before the visit", &before, &after)?;
    }
    Ok(())
}

/// A key that another strategy counted starts afresh.
pub(super) fn strategy_change(harness: &Harness<'_>) -> Check {
    for from in Strategy::ALL {
        for to in Strategy::ALL.into_iter().filter(|&to| to != from) {
            let key = harness.key(format!("{from} {to}"));
            let (from, to) = (harness.ten(from), harness.ten(to));
            let mut trial = harness.round_trial(&from);
            trial.take(&from, &key, 10)?;
            let fresh = |figures: Figures| (figures.allowed, figures.remaining);
            let seen = trial.peek(&to, &key, 10)?.map(fresh);
            trial.expect("afresh under the new strategy", &Some((true, 10)), &seen)?;
            let seen = trial.take(&to, &key, 4)?.map(fresh);
            trial.expect("afresh under the new strategy", &Some((true, 6)), &seen)?;
            trial.take(&to, &key, 7)?;
        }
    }
    Ok(())
}

pub(super) fn give_back(harness: &Harness<'_>) -> Check {
    for strategy in Strategy::ALL {
        let policy = harness.ten(strategy);
        let key = harness.key(strategy.as_str());
        let mut trial = harness.round_trial(&policy);
        let left = |figures: Figures| figures.remaining;
        trial.give_back(&policy, &key, 5)?;
        let seen = trial.peek(&policy, &key, 0)?.map(left);
        trial.expect("an untouched key has nothing to take back", &Some(10), &seen)?;
        trial.take(&policy, &key, 10)?;
        trial.give_back(&policy, &key, 3)?;
        let seen = trial.take(&policy, &key, 2)?.map(left);
        trial.expect("three came back, two went", &Some(1), &seen)?;
        trial.wait(u128::from(policy.window_ticks() + policy.window_ticks() / 3));
        trial.peek(&policy, &key, 1)?;
        trial.give_back(&policy, &key, 2)?;
        trial.take(&policy, &key, 1)?;
        trial.give_back(&policy, &key, u32::MAX)?;
        let seen = trial.peek(&policy, &key, 0)?.map(left);
        trial.expect("never past full", &Some(10), &seen)?;
        trial.take(&policy, &key, 10)?;
        let seen = trial.take(&policy, &key, 1)?.map(|figures| figures.allowed);
        trial.expect("never past full", &Some(false), &seen)?;
    }
    Ok(())
}

pub(super) fn reset(harness: &Harness<'_>) -> Check {
    for strategy in Strategy::ALL {
        let policy = harness.ten(strategy);
        let key = harness.key(strategy.as_str());
        let other = harness.key(format!("{strategy}, another"));
        let mut trial = harness.round_trial(&policy);
        trial.reset(&key)?;
        trial.take(&policy, &key, 10)?;
        trial.take(&policy, &other, 10)?;
        trial.reset(&key)?;
        let seen = trial.peek(&policy, &other, 1)?.map(|figures| figures.allowed);
        trial.expect("another key keeps its count", &Some(false), &seen)?;
        let seen = trial.take(&policy, &key, 10)?.map(|figures| figures.allowed);
        trial.expect("the key is as new", &Some(true), &seen)?;
    }
    Ok(())
}
