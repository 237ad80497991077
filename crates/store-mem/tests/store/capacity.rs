//! The hard bound: never exceeded, and no way to buy a spent key a fresh budget.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use gorl_core::{Action, State, Strategy, decide};
use proptest::prelude::*;

use crate::{LONGEST, Subject, config, figures, policies, policy};

const SEEDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/proptest-regressions/capacity.txt");

const HOUR: Duration = Duration::from_secs(3_600);

/// The key that others try to push out.
const SPENT: u32 = u32::MAX;

proptest! {
    #![proptest_config(config(SEEDS))]

    /// A key is decided on by its whole count, or by none if it had to go.
    #[test]
    fn a_bounded_store_forgets_whole_keys_only(
        policy in policies(),
        capacity in 1..40_usize,
        shards in prop_oneof![Just(1_usize), Just(4)],
        asks in prop::collection::vec((0..80_u32, prop_oneof![3 => Just(0), 1 => 0..LONGEST]), 0..400),
    ) {
        let subject = Subject::new(|builder| builder.shards(shards).capacity(capacity));
        let mut map: HashMap<u32, State> = HashMap::new();
        for (key, ns) in asks {
            subject.advance(ns);
            let decision = subject.ask(&policy, key, 1, Action::Take);
            let by = |state| decide(&policy, state, subject.now(), 1).unwrap();
            let expected = [map.get(&key).copied(), None].map(by);
            let of = expected.iter().find(|e| figures(e) == figures(&decision));
            prop_assert!(of.is_some(), "key {}: {:?}, not {:?}", key, decision, expected);
            if let Some(of) = of.filter(|of| of.changes_state()) {
                map.insert(key, of.state());
            }
            prop_assert!(subject.store.len() <= capacity);
        }
        // The length is never told above the capacity, so the keys themselves are looked at.
        let kept = map.keys().filter(|key| subject.remaining(&policy, **key) < policy.capacity());
        prop_assert!(kept.count() <= capacity);
    }
}

/// Three sizes: one shard, one with hardly a slot to spare, and several shards.
#[test]
fn a_spent_key_survives_a_flood() {
    for strategy in Strategy::ALL {
        for (capacity, flood) in [(2, 1_000), (500, 10_000), (4_096, 40_000)] {
            let subject = Subject::new(|builder| builder.capacity(capacity));
            let policy = policy(strategy, 5, HOUR);
            subject.exhaust(&policy, SPENT);
            for key in 0..flood {
                assert!(subject.take(&policy, key), "a new key is full");
                assert!(subject.store.len() <= capacity);
                // Time goes on, but too little for the spent key to get anything back.
                subject.advance(10_000);
            }
            assert_eq!(subject.store.len(), capacity);
            assert!(!subject.take(&policy, SPENT), "{strategy} in a store for {capacity}");
        }
    }
}

/// A store that is nearly full of spent keys looks further for one that is not.
#[test]
fn many_spent_keys_survive_a_flood() {
    let subject = Subject::new(|builder| builder.capacity(500));
    let policy = policy(Strategy::SlidingWindow, 5, HOUR);
    let spent = SPENT - 450..SPENT;
    spent.clone().for_each(|key| subject.exhaust(&policy, key));
    for key in 0..5_000 {
        assert!(subject.take(&policy, key), "a new key is full");
    }
    for key in spent {
        assert!(!subject.take(&policy, key), "a flood has freed key {key}");
    }
}

/// Where every key is spent, one of them must go, and the bound still holds.
#[test]
fn a_store_full_of_spent_keys_takes_a_new_one() {
    for strategy in Strategy::ALL {
        let subject = Subject::new(|builder| builder.capacity(8));
        let policy = policy(strategy, 1, HOUR);
        for key in 0..100 {
            assert!(subject.take(&policy, key));
            assert!(!subject.take(&policy, key), "a key that is there counts");
            assert_eq!(subject.store.len(), 8.min(key as usize + 1));
        }
    }
}

/// What is at rest goes before what counts.
#[test]
fn room_is_made_of_what_is_at_rest() {
    let subject = Subject::new(|builder| builder.capacity(100));
    let short = policy(Strategy::FixedWindow, 2, Duration::from_nanos(1));
    let long = policy(Strategy::FixedWindow, 2, 24 * HOUR);
    for key in 0..50 {
        assert!(subject.take(&long, key));
    }
    for key in 50..10_000 {
        assert!(subject.take(&short, key));
        subject.advance(10);
    }
    let left: HashSet<u32> = (0..50).map(|key| subject.remaining(&long, key)).collect();
    assert_eq!(left, HashSet::from([1]));
}

/// Keys that are given up make room in whatever shard the next key lies.
#[test]
fn room_moves_between_shards() {
    let subject = Subject::new(|builder| builder.capacity(16).shards(8));
    let policy = policy(Strategy::TokenBucket, 3, HOUR);
    for round in 0..200 {
        let keys = round * 16..(round + 1) * 16;
        for key in keys.clone() {
            assert!(subject.take(&policy, key));
        }
        assert_eq!(subject.store.len(), 16);
        for key in keys {
            subject.reset(key);
        }
        assert!(subject.store.len() < 16);
    }
}

/// Only what still counted is an eviction; what rests is forgotten without a loss.
#[test]
fn evictions_are_those_of_keys_that_still_counted() {
    for strategy in Strategy::ALL {
        let subject = Subject::new(|builder| builder.shards(1).capacity(4));
        let policy = policy(strategy, 5, HOUR);
        for key in 0..4 {
            assert!(subject.take(&policy, key));
        }
        assert_eq!(subject.store.evictions(), 0, "there was room, under {strategy:?}");
        for key in 4..10 {
            assert!(subject.take(&policy, key));
        }
        assert_eq!(subject.store.evictions(), 6, "each took the place of one, under {strategy:?}");
        // All are at rest by then, and two windows later nothing of them counts.
        subject.advance(4 * 3_600_000_000_000);
        for key in 20..24 {
            assert!(subject.take(&policy, key));
        }
        assert_eq!(subject.store.evictions(), 6, "what rests is no loss, under {strategy:?}");
    }
}
