//! Several requests at once, over two shards: nobody waits in a circle, and all spend or none does.

use gorl_core::{Action, Key, KeyRef, Policy, Request, Strategy};

use crate::capacity::keys_of_two_shards;
use crate::{Subject, beside, explore, policy};

/// Whether two keys both admit, together.
fn take_both(subject: &Subject, policy: &Policy, keys: [u32; 2]) -> bool {
    let parts = keys.each_ref().map(Key::parts);
    let requests = parts.each_ref().map(|parts| {
        let key = KeyRef::new(parts);
        Request { policy, key, cost: 1, action: Action::Take }
    });
    let mut decisions = [None; 2];
    subject.store.decide_all_now(&requests, &mut decisions).expect("a cost that fits");
    decisions.iter().all(|decision| decision.is_some_and(|decision| decision.is_allowed()))
}

/// Two callers name the same two keys in opposite order: one of them is admitted, and both keys are
/// charged once.
#[test]
fn two_callers_of_two_shards_in_opposite_order() {
    let keys = keys_of_two_shards();
    for strategy in Strategy::ALL {
        explore(move || {
            let subject = Subject::with(|builder| builder.shards(2));
            let policy = policy(strategy, 1);
            let other = subject.clone();
            let (a, b) = beside(
                move || take_both(&other, &policy, [keys[1], keys[0]]),
                || take_both(&subject, &policy, keys),
            );
            assert!(a != b, "{strategy}: one fits, and {a} and {b} were the answers");
            assert_eq!(keys.map(|key| subject.remaining(&policy, key)), [0, 0]);
            assert_eq!(subject.store.len(), 2);
        });
    }
}

/// A caller of one of the keys comes before or after those of both, never between.
#[test]
fn one_key_beside_both() {
    let keys = keys_of_two_shards();
    explore(move || {
        let subject = Subject::with(|builder| builder.shards(2));
        let policy = policy(Strategy::TokenBucket, 1);
        let other = subject.clone();
        let (one, both) =
            beside(move || other.take(&policy, keys[1]), || take_both(&subject, &policy, keys));
        assert!(one != both, "one fits, and {one} and {both} were the answers");
        assert_eq!(subject.remaining(&policy, keys[0]), u32::from(!both));
        assert_eq!(subject.remaining(&policy, keys[1]), 0);
    });
}

/// Both keys are new, and a third one wants room of the same bound.
#[test]
fn both_keys_beside_a_new_one_stay_within_the_capacity() {
    let keys = keys_of_two_shards();
    explore(move || {
        let subject = Subject::with(|builder| builder.shards(2).capacity(2));
        let policy = policy(Strategy::FixedWindow, 2);
        let third = keys[0] + 1_000;
        let other = subject.clone();
        let (one, both) =
            beside(move || other.take(&policy, third), || take_both(&subject, &policy, keys));
        assert!(one && both, "a full store admits a key that it has no count of");
        assert!(subject.store.len() <= 2);
        for key in [keys[0], keys[1], third] {
            subject.reset(key);
        }
        assert!(subject.store.is_empty());
        assert!(take_both(&subject, &policy, keys));
        assert_eq!(subject.store.len(), 2, "the room of every key is there again");
    });
}
