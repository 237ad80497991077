//! The bound on the number of keys, while several shards make use of it.

use std::sync::{Arc, Mutex};

use gorl_core::{Policy, Strategy};

use crate::{KEY, Subject, beside, explore, explore_three, policy};

/// Two new keys of one shard where there is room for one.
#[test]
fn two_new_keys_share_one_shard_with_room_for_one() {
    explore(|| {
        let subject = Subject::with(|builder| builder.shards(1).capacity(1));
        let policy = policy(Strategy::FixedWindow, 2);
        let other = subject.clone();
        let (a, b) = beside(move || other.take(&policy, KEY), || subject.take(&policy, KEY + 1));
        assert!(a && b, "a full store admits a key that it has no count of");
        assert_room_is_right(&subject, &policy, [KEY, KEY + 1], 1);
    });
}

/// Two new keys of two shards where there is room for one: the counter is all they share.
#[test]
fn two_new_keys_of_two_shards_with_room_for_one() {
    let keys = keys_of_two_shards();
    explore(move || {
        let subject = Subject::with(|builder| builder.shards(2).capacity(1));
        let policy = policy(Strategy::FixedWindow, 2);
        let other = subject.clone();
        let (a, b) =
            beside(move || other.take(&policy, keys[0]), || subject.take(&policy, keys[1]));
        assert!(a && b, "a full store admits a key that it has no count of");
        assert_room_is_right(&subject, &policy, keys, 1);
    });
}

/// The same with room for both: neither is turned away or evicted.
#[test]
fn two_new_keys_of_two_shards_with_room_for_two() {
    let keys = keys_of_two_shards();
    explore(move || {
        let subject = Subject::with(|builder| builder.shards(2).capacity(2));
        let policy = policy(Strategy::FixedWindow, 2);
        let other = subject.clone();
        beside(move || other.take(&policy, keys[0]), || subject.take(&policy, keys[1]));
        assert_eq!(keys.map(|key| subject.remaining(&policy, key)), [1, 1]);
        assert_room_is_right(&subject, &policy, keys, 2);
    });
}

/// Whoever counts the keys while one takes the place of another in another shard never sees more
/// than the capacity, whichever of the shards is counted first.
#[test]
fn len_is_never_above_the_capacity() {
    let keys = keys_of_two_shards();
    for [old, new] in [keys, [keys[1], keys[0]]] {
        explore(move || {
            let subject = Subject::with(|builder| builder.shards(2).capacity(1));
            let policy = policy(Strategy::FixedWindow, 2);
            assert!(subject.take(&policy, old));
            let other = subject.clone();
            let (taken, len) = beside(move || other.take(&policy, new), || subject.store.len());
            assert!(taken && len <= 1, "{len} keys in a store for one");
        });
    }
}

/// A key is reset while another shard wants its room.
#[test]
fn reset_beside_a_new_key_gives_room_back_once() {
    let keys = keys_of_two_shards();
    explore(move || {
        let subject = Subject::with(|builder| builder.shards(2).capacity(1));
        let policy = policy(Strategy::FixedWindow, 2);
        assert!(subject.take(&policy, keys[0]));
        let other = subject.clone();
        let ((), taken) = beside(move || other.reset(keys[0]), || subject.take(&policy, keys[1]));
        assert!(taken);
        assert_room_is_right(&subject, &policy, keys, 1);
    });
}

/// Three threads: two new keys and one that makes room.
#[test]
fn sweep_beside_two_new_keys_gives_room_back_once() {
    let keys = keys_of_two_shards();
    explore_three(move || {
        let subject = Subject::with(|builder| builder.shards(2).capacity(1));
        let policy = policy(Strategy::FixedWindow, 2);
        assert!(subject.take(&policy, keys[0]));
        subject.long_after();
        let (sweeper, other) = (subject.clone(), subject.clone());
        beside(
            move || sweeper.store.sweep(),
            || beside(move || other.take(&policy, keys[0]), || subject.take(&policy, keys[1])),
        );
        assert_room_is_right(&subject, &policy, keys, 1);
    });
}

/// Whether as many keys have room as the capacity says: no more, no fewer, also later on.
fn assert_room_is_right(subject: &Subject, policy: &Policy, keys: [u32; 2], capacity: usize) {
    let kept = keys.into_iter().filter(|key| subject.remaining(policy, *key) < policy.limit());
    assert!(kept.count() <= capacity, "more keys are kept than there is room for");
    for key in keys {
        subject.reset(key);
    }
    assert!(subject.store.is_empty());
    // A counter above the truth would leave no room for one key in an empty store, which is then
    // asked for without end; one below it would have room for too many.
    for key in keys {
        assert!(subject.take(policy, key));
    }
    assert_eq!(subject.store.len(), capacity);
}

/// Two keys in different shards of a store of two.
pub(crate) fn keys_of_two_shards() -> [u32; 2] {
    let found = Arc::new(Mutex::new(None));
    let result = Arc::clone(&found);
    explore(move || {
        let policy = policy(Strategy::FixedWindow, 2);
        // A shard allocates its table with its first key, and room in it for some more.
        let apart = |key: &u32| {
            let subject = Subject::with(|builder| builder.shards(2));
            subject.take(&policy, KEY);
            let bytes = subject.store.memory_bytes();
            subject.take(&policy, *key);
            subject.store.memory_bytes() > bytes
        };
        *result.lock().expect("nobody panics with the lock") = (KEY + 1..KEY + 32).find(apart);
    });
    let found = *found.lock().expect("nobody panics with the lock");
    [KEY, found.expect("one of 31 keys lies in the other shard")]
}
