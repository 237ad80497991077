//! Several requests at once: as if each was looked at and then all were taken, with nobody between.

use std::sync::Barrier;
use std::thread;

use gorl_core::{
    Action, DecideError, Decision, Key, KeyRef, Policy, Request, Store, StoreErrorKind, Strategy,
};
use gorl_store_mem::MemoryStore;
use proptest::prelude::*;

use crate::{Subject, config, policies};

/// The decisions on so many keys, each under its policy.
fn ask_all(
    store: &MemoryStore,
    asked: &[(u32, Policy, u32, Action)],
) -> Result<Vec<Decision>, DecideError> {
    let parts: Vec<_> = asked.iter().map(|(key, ..)| key.parts()).collect();
    let requests: Vec<Request<'_>> = asked
        .iter()
        .zip(&parts)
        .map(|((_, policy, cost, action), parts)| Request {
            policy,
            key: KeyRef::new(parts),
            cost: *cost,
            action: *action,
        })
        .collect();
    let mut decisions = vec![None; asked.len()];
    store.decide_all_now(&requests, &mut decisions)?;
    Ok(decisions.into_iter().map(|decision| decision.expect("one for each")).collect())
}

proptest! {
    #![proptest_config(config("proptest-regressions/together.txt"))]

    #[test]
    fn all_at_once_is_all_one_by_one(
        calls in prop::collection::vec(
            (prop::collection::btree_set(0_u32..6, 1..5), 0_u32..4, any::<bool>(), 0_u64..400),
            1..60,
        ),
        policies in prop::collection::vec(policies(), 6),
        shards in 1_usize..9,
    ) {
        let (all, each) = (Subject::new(|b| b.shards(shards)), Subject::new(|b| b));
        for (keys, cost, takes, ns) in calls {
            all.advance(ns);
            each.advance(ns);
            let action = if takes { Action::Take } else { Action::Peek };
            let asked: Vec<_> = keys
                .into_iter()
                .map(|key| {
                    let policy = policies[key as usize];
                    (key, policy, cost.min(policy.capacity()), action)
                })
                .collect();
            let look = |(key, policy, cost, _): &(u32, Policy, u32, Action)| {
                each.ask(policy, *key, *cost, Action::Peek)
            };
            let mut expected: Vec<Decision> = asked.iter().map(look).collect();
            if expected.iter().all(Decision::is_allowed) {
                let take = |(key, policy, cost, action): &(u32, Policy, u32, Action)| {
                    each.ask(policy, *key, *cost, *action)
                };
                expected = asked.iter().map(take).collect();
            }
            prop_assert_eq!(ask_all(&all.store, &asked).unwrap(), expected);
        }
        prop_assert_eq!(all.store.len(), each.store.len());
    }

    #[test]
    fn however_small_the_store_it_stays_within_its_bound_and_answers(
        calls in prop::collection::vec((prop::collection::btree_set(0_u32..200, 1..9), 0_u64..2_000), 1..80),
        policies in prop::collection::vec(policies(), 1..4),
        capacity in 1_usize..12,
        shards in 1_usize..9,
    ) {
        let subject = Subject::new(|builder| builder.capacity(capacity).shards(shards));
        for (keys, ns) in calls {
            subject.advance(ns);
            let policy = |key: u32| policies[key as usize % policies.len()];
            let asked: Vec<_> =
                keys.into_iter().map(|key| (key, policy(key), 1, Action::Take)).collect();
            let decisions = ask_all(&subject.store, &asked).unwrap();
            prop_assert_eq!(decisions.len(), asked.len());
            prop_assert!(subject.store.len() <= capacity);
        }
        // The room of every key comes back.
        for key in 0..200_u32 {
            subject.reset(key);
        }
        prop_assert!(subject.store.is_empty());
        let hour = Policy::fixed_window(9, std::time::Duration::from_secs(3600)).unwrap();
        for key in 0..200 {
            subject.take(&hour, key);
        }
        prop_assert!(!subject.store.is_empty() && subject.store.len() <= capacity);
    }
}

#[test]
fn what_cannot_be_asked_together_is_an_error_and_spends_nothing() {
    let subject = Subject::new(|builder| builder);
    let policy = Policy::fixed_window(3, std::time::Duration::from_secs(3600)).unwrap();
    let one = |key, cost| (key, policy, cost, Action::Take);
    let Err(DecideError::Cost(error)) = ask_all(&subject.store, &[one(1, 1), one(2, 4)]) else {
        panic!("a cost that never fits")
    };
    assert_eq!((error.cost, error.limit), (4, 3));
    let Err(DecideError::Store(error)) = ask_all(&subject.store, &[one(1, 1), one(1, 1)]) else {
        panic!("one state for two")
    };
    assert_eq!(error.kind(), StoreErrorKind::Unsupported);
    assert!(ask_all(&subject.store, &[]).unwrap().is_empty());
    let parts = 1_u32.parts();
    let key = KeyRef::new(&parts);
    let request = Request { policy: &policy, key, cost: 1, action: Action::Take };
    assert!(subject.store.decide_all_now(&[request], &mut []).is_err());
    assert!(subject.store.is_empty());
}

#[test]
fn sixty_four_threads_charge_two_limits_exactly_as_often() {
    const USERS: u32 = 8;
    for strategy in Strategy::ALL {
        let day = std::time::Duration::from_secs(86_400);
        let global = Policy::new(strategy, 1_000, day).unwrap();
        let user = Policy::new(strategy, 150, day).unwrap();
        let subject = Subject::new(|builder| builder);
        let begin = Barrier::new(64);
        let admitted: usize = thread::scope(|scope| {
            let run = |thread: u32| {
                let key = 1 + thread % USERS;
                // Half of them name the two the other way round.
                let mut asked = [(0, global, 1, Action::Take), (key, user, 1, Action::Take)];
                if thread.is_multiple_of(2) {
                    asked.reverse();
                }
                begin.wait();
                let taken = |_: &u32| {
                    ask_all(&subject.store, &asked).unwrap().iter().all(Decision::is_allowed)
                };
                (0..100_u32).filter(taken).count()
            };
            let threads: Vec<_> = (0..64).map(|thread| scope.spawn(move || run(thread))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        // Eight users may 150 each, which is more than all together may.
        assert_eq!(admitted, 1_000, "{strategy}");
        assert_eq!(subject.remaining(&global, 0), 0);
        let spent: u32 = (1..=USERS).map(|key| 150 - subject.remaining(&user, key)).sum();
        assert_eq!(spent, 1_000, "{strategy}: each user is charged as often as all are");
    }
}

#[test]
fn the_trait_decides_together_as_well() {
    let subject = Subject::new(|builder| builder);
    let policy = Policy::fixed_window(1, std::time::Duration::from_secs(3600)).unwrap();
    let parts = [1_u32.parts(), 2_u32.parts()];
    let request =
        |parts| Request { policy: &policy, key: KeyRef::new(parts), cost: 1, action: Action::Take };
    let requests = [request(&parts[0]), request(&parts[1])];
    let mut decisions = [None; 2];
    let mut asked = std::pin::pin!(subject.store.decide_all(&requests, &mut decisions));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(matches!(asked.as_mut().poll(&mut context), std::task::Poll::Ready(Ok(()))));
    assert_eq!(subject.store.len(), 2);
}
