//! A policy is replaced while keys are decided on.

use gorl_core::{Action, Decision, Policy, Store, Strategy};

use crate::{KEY, Subject, beside, explore, policy};

/// A key is decided by the old default policy or by the new one, and keeps its count.
#[test]
fn default_policy_changes_at_one_instant() {
    for strategy in Strategy::ALL {
        explore(move || {
            // The tokens of a bucket stay when its burst grows; the others' counts do.
            let [old, new] = [1, 2].map(|limit| policy(strategy, limit));
            let subject = with_default(old);
            assert!(decide_default(&subject, KEY).is_allowed());
            let other = subject.clone();
            let ((), seen) = beside(
                move || other.store.set_default_policy(new),
                || decide_default(&subject, KEY),
            );
            let by_new = decide_raised(strategy, &seen, &new);
            assert!(by_new || seen.policy() == old && !seen.is_allowed(), "{strategy}: {seen:?}");
            let left = subject.store.decide_default(&KEY, 0, Action::Peek).remaining();
            let free = u32::from(strategy != Strategy::TokenBucket);
            assert_eq!(left, free - u32::from(seen.is_allowed()), "{strategy}");
            assert_eq!(subject.store.len(), 1);
        });
    }
}

/// Whether the new policy has decided on a spent key, and rightly.
fn decide_raised(strategy: Strategy, seen: &Decision, new: &Policy) -> bool {
    seen.policy() == *new && seen.is_allowed() == (strategy != Strategy::TokenBucket)
}

/// The first question of a key while the default policy changes: one entry, one unit spent.
#[test]
fn default_policy_changes_beside_a_first_hit() {
    explore(|| {
        let [old, new] = [2, 3].map(|limit| policy(Strategy::FixedWindow, limit));
        let subject = with_default(old);
        let other = subject.clone();
        let ((), seen) =
            beside(move || other.store.set_default_policy(new), || decide_default(&subject, KEY));
        assert!(seen.is_allowed());
        assert_eq!(seen.remaining(), seen.limit() - 1);
        assert_eq!(decide_default(&subject, KEY).remaining(), 1);
        assert_eq!(subject.store.len(), 1);
    });
}

/// Two threads decide on one key, one still under the old policy: together they spend no more than
/// the larger of the limits.
#[test]
fn callers_of_two_policies_share_the_count() {
    for strategy in [Strategy::FixedWindow, Strategy::SlidingWindow, Strategy::LeakyBucket] {
        explore(move || {
            let [old, new] = [1, 2].map(|limit| policy(strategy, limit));
            let subject = Subject::new();
            assert!(subject.take(&old, KEY));
            let other = subject.clone();
            let (by_old, by_new) = beside(
                move || other.take(&old, KEY),
                || {
                    subject.store.policy_replaced(&old, &new);
                    subject.take(&new, KEY)
                },
            );
            assert!(!by_old && by_new, "{strategy}: old {by_old}, new {by_new}");
            assert_eq!(subject.remaining(&new, KEY), 0);
            assert_eq!(subject.store.len(), 1);
        });
    }
}

fn with_default(policy: Policy) -> Subject {
    Subject::with(|builder| builder.shards(1).default_policy(policy))
}

fn decide_default(subject: &Subject, key: u32) -> Decision {
    subject.store.decide_default(&key, 1, Action::Take)
}
