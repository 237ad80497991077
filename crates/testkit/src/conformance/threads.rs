//! Threads: one key is serialised, and different keys do not disturb each other.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use gorl_core::{Action, Policy, Strategy};

use super::failure::Failure;
use super::harness::{Harness, OwnedKey, START_NS};

/// How often the race is run: a store that only sometimes loses a count should not get away.
const ROUNDS: usize = 12;

/// How often each thread asks in a round.
const CHECKS: usize = 100;

/// How many of them the policy admits.
const LIMIT: u32 = 100;

/// N threads ask M times with the clock standing still: exactly the limit is admitted, and each
/// admission left one less than the one before.
pub(super) fn one_key(harness: &Harness<'_>) -> Result<(), Box<Failure>> {
    for strategy in Strategy::ALL {
        let policy = harness.policy(strategy, LIMIT.into(), Duration::from_secs(3_600));
        harness.tell(&policy, START_NS / policy.tick().nanos());
        for round in 0..ROUNDS {
            let key = harness.key(format!("{strategy} {round}"));
            let left = race(harness, &policy, |_| key.clone())?;
            check(harness, &left, &format!("{strategy}, round {round}"))?;
        }
    }
    Ok(())
}

/// Each thread has a key of its own, and each key its own budget.
pub(super) fn many_keys(harness: &Harness<'_>) -> Result<(), Box<Failure>> {
    let threads = harness.options.threads;
    let limit = u64::try_from(CHECKS / 2).unwrap_or(1);
    for strategy in Strategy::ALL {
        let policy = harness.policy(strategy, limit, Duration::from_secs(3_600));
        harness.tell(&policy, START_NS / policy.tick().nanos());
        let left = race(harness, &policy, |thread| harness.key(format!("{strategy} {thread}")))?;
        let expected = threads * (CHECKS / 2);
        if left.len() != expected {
            let what = format!("{strategy}: admissions of {threads} threads, a key each");
            return Err(harness.place().fail(what, &expected, &left.len()));
        }
    }
    Ok(())
}

/// Lets every thread ask at once, and returns what each admission said was left.
fn race(
    harness: &Harness<'_>,
    policy: &Policy,
    key: impl Fn(usize) -> OwnedKey + Sync,
) -> Result<Vec<u32>, Box<Failure>> {
    let threads = harness.options.threads;
    let barrier = Barrier::new(threads);
    let run = |thread: usize| {
        let key = key(thread);
        let mut left = Vec::new();
        barrier.wait();
        for _ in 0..CHECKS {
            match harness.ask(policy, &key, 1, Action::Take) {
                Ok(Ok(figures)) if figures.allowed => left.push(figures.remaining),
                Ok(Ok(_)) => {}
                other => return Err(harness.place().fail("take 1", &"a decision", &other)),
            }
        }
        Ok(left)
    };
    let run = &run;
    thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|thread| scope.spawn(move || run(thread))).collect();
        let mut left = Vec::new();
        for one in all {
            match one.join() {
                Ok(admitted) => left.extend(admitted?),
                Err(_) => return Err(harness.place().fail("take 1", &"a decision", &"a panic")),
            }
        }
        Ok(left)
    })
}

fn check(harness: &Harness<'_>, left: &[u32], what: &str) -> Result<(), Box<Failure>> {
    let admitted = u32::try_from(left.len()).unwrap_or(u32::MAX);
    if admitted != LIMIT {
        let what = format!("{what}: how many were admitted");
        return Err(harness.place().fail(what, &LIMIT, &admitted));
    }
    let mut sorted = left.to_vec();
    sorted.sort_unstable();
    let expected: Vec<u32> = (0..LIMIT).collect();
    if sorted != expected {
        let what = format!("{what}: what each admission left");
        return Err(harness.place().fail(what, &expected, &sorted));
    }
    Ok(())
}
