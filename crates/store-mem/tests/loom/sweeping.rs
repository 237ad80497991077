//! A sweep beside other calls: it takes away nothing that counts.

use gorl_core::{Action, Strategy};

use crate::{KEY, Subject, beside, explore, explore_three, policy};

/// A sweep that forgets a key at rest while it is asked for: the key starts afresh once.
#[test]
fn sweep_of_a_rested_key_neither_loses_nor_doubles_a_count() {
    for strategy in Strategy::ALL {
        explore(move || {
            let subject = Subject::with(|builder| builder.shards(1).capacity(2));
            let policy = policy(strategy, 1);
            subject.exhaust(&policy, KEY);
            subject.long_after();
            let other = subject.clone();
            let ((), taken) = beside(move || other.store.sweep(), || subject.take(&policy, KEY));
            assert!(taken, "{strategy}: a key at rest is full");
            assert_eq!(subject.remaining(&policy, KEY), 0);
            assert_eq!(subject.store.len(), 1);
        });
    }
}

/// Two callers and a sweep on a key at rest.
#[test]
fn sweep_beside_two_callers_of_a_rested_key() {
    explore_three(|| {
        let (subject, policy) = (Subject::new(), policy(Strategy::TokenBucket, 1));
        subject.exhaust(&policy, KEY);
        subject.long_after();
        let (sweeper, other) = (subject.clone(), subject.clone());
        let ((), (a, b)) = beside(
            move || sweeper.store.sweep(),
            || beside(move || other.take(&policy, KEY), || subject.take(&policy, KEY)),
        );
        assert!(a != b, "one fits, and {a} and {b} were the answers");
    });
}

/// A sweep leaves a key that still counts.
#[test]
fn sweep_leaves_a_key_that_counts() {
    for strategy in Strategy::ALL {
        explore(move || {
            let (subject, policy) = (Subject::new(), policy(strategy, 1));
            subject.exhaust(&policy, KEY);
            let other = subject.clone();
            let ((), taken) = beside(move || other.store.sweep(), || subject.take(&policy, KEY));
            assert!(!taken, "{strategy}: the sweep has freed a spent key");
            assert_eq!(subject.store.len(), 1);
        });
    }
}

/// Two sweeps and a first question of another key.
#[test]
fn two_sweeps_give_room_back_once() {
    explore_three(|| {
        let subject = Subject::with(|builder| builder.shards(1).capacity(1));
        let policy = policy(Strategy::FixedWindow, 1);
        subject.exhaust(&policy, KEY);
        subject.long_after();
        let (one, two) = (subject.clone(), subject.clone());
        let ((), ((), seen)) = beside(
            move || one.store.sweep(),
            || beside(move || two.store.sweep(), || subject.ask(&policy, KEY + 1, 1, Action::Take)),
        );
        assert!(seen.is_allowed());
        assert_eq!(subject.store.len(), 1);
        // Room given back twice would be room for two keys now.
        assert!(subject.take(&policy, KEY));
        assert_eq!(subject.store.len(), 1);
    });
}
