//! Many policies in one store, and policies that change over states that live.

use std::time::Duration;

use gorl_core::{Action, Policy, State, Store, Strategy, decide, is_rested};
use proptest::prelude::*;
use proptest::strategy::Strategy as Generate;

use crate::{LONGEST, Subject, config, figures, policies, policy};

const SEEDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/proptest-regressions/policies.txt");

const SECOND: Duration = Duration::from_secs(1);

/// Groups of keys, each with a policy of its own that changes.
const GROUPS: usize = 3;

/// Keys of one group.
const KEYS: u32 = 40;

#[derive(Clone, Debug)]
enum Op {
    Take(usize, u32),
    Crowd(usize),
    Change(usize, Policy),
    Advance(u64),
    Sweep,
}

fn ops() -> impl Generate<Value = Vec<Op>> {
    let op = prop_oneof![
        8 => (0..GROUPS, 0..4_u32).prop_map(|(group, key)| Op::Take(group, key)),
        1 => (0..GROUPS).prop_map(Op::Crowd),
        3 => (0..GROUPS, policies()).prop_map(|(group, policy)| Op::Change(group, policy)),
        3 => (0..LONGEST / 3).prop_map(Op::Advance),
        1 => (0..4 * LONGEST).prop_map(Op::Advance),
        3 => Just(Op::Sweep),
    ];
    prop::collection::vec(op, 0..150)
}

/// What a map knows of a key.
#[derive(Clone, Copy)]
struct Kept {
    state: State,
    /// The last policy of the state's own strategy that applied to the key.
    policy: Policy,
    /// At some change of policy the state was at rest, so the store may have forgotten it, which no
    /// question before the change could have told.
    may_be_gone: bool,
}

struct Groups {
    subject: Subject,
    current: [Policy; GROUPS],
    kept: Vec<[Option<Kept>; GROUPS]>,
}

impl Groups {
    fn apply(&mut self, op: &Op) {
        match *op {
            Op::Take(group, key) => self.take(group, key),
            Op::Crowd(group) => (0..KEYS).for_each(|key| self.take(group, key)),
            Op::Change(group, policy) => self.change(group, policy),
            Op::Advance(ns) => self.subject.advance(ns),
            Op::Sweep => self.subject.store.sweep(),
        }
    }

    fn take(&mut self, group: usize, key: u32) {
        let policy = self.current[group];
        let kept = &mut self.kept[key as usize][group];
        let id = key * 10 + u32::try_from(group).unwrap();
        let decision = self.subject.ask(&policy, id, 1, Action::Take);
        let by = |state| decide(&policy, state, self.subject.now(), 1).unwrap();
        let same = kept.filter(|kept| kept.policy.strategy() == policy.strategy());
        let by_state = by(same.map(|kept| kept.state));
        let may_be_gone = same.is_some_and(|kept| kept.may_be_gone);
        let is_gone = may_be_gone && figures(&by_state) != figures(&decision);
        let expected = if is_gone { by(None) } else { by_state };
        assert_eq!(figures(&decision), figures(&expected), "key {key} of {group} by {policy}");
        if expected.changes_state() {
            // Whether a state at rest was there cannot be told from an answer that is the same.
            *kept = Some(Kept { state: expected.state(), policy, may_be_gone: false });
        }
    }

    fn change(&mut self, group: usize, policy: Policy) {
        let now = self.subject.now();
        let old = std::mem::replace(&mut self.current[group], policy);
        self.subject.store.policy_replaced(&old, &policy);
        for kept in self.kept.iter_mut().filter_map(|kept| kept[group].as_mut()) {
            kept.may_be_gone |= is_rested(&kept.policy, kept.state.adopted_by(&kept.policy), now);
            if kept.policy.strategy() == policy.strategy() {
                kept.policy = policy;
            }
        }
    }
}

proptest! {
    #![proptest_config(config(SEEDS))]

    #[test]
    fn counts_stay_while_policies_change(first in policies(), ops in ops()) {
        let subject = Subject::new(|builder| builder.shards(1));
        let kept = vec![[None; GROUPS]; KEYS as usize];
        let mut groups = Groups { subject, current: [first; GROUPS], kept };
        for op in &ops {
            groups.apply(op);
        }
    }
}

#[test]
fn a_hundred_policies_share_a_store_and_later_ones_their_places() {
    let subject = Subject::new(|builder| builder.shards(1));
    let policies = |from: u64| -> Vec<Policy> {
        let strategies = Strategy::ALL.into_iter().cycle();
        (from..from + 100).zip(strategies).map(|(n, s)| policy(s, 2 + n, SECOND)).collect()
    };
    let mut bytes = Vec::new();
    for round in 0..10 {
        let policies = policies(100 * round);
        for (n, policy) in (0..).zip(&policies) {
            for key in 0..5 {
                subject.exhaust(policy, 5 * n + key);
            }
        }
        for (n, policy) in (0..).zip(&policies) {
            assert!((0..5).all(|key| !subject.take(policy, 5 * n + key)), "{policy}");
        }
        bytes.push(subject.store.memory_bytes());
        subject.advance(20_000_000_000);
        subject.store.sweep();
        assert!(subject.store.is_empty());
    }
    assert!(bytes.iter().all(|round| *round <= bytes[0]), "the list of policies grows: {bytes:?}");
}

#[test]
fn a_change_of_strategy_starts_afresh() {
    for from in Strategy::ALL {
        for to in Strategy::ALL.into_iter().filter(|to| *to != from) {
            let subject = Subject::new(|builder| builder.shards(1));
            let [old, new] = [from, to].map(|strategy| policy(strategy, 3, SECOND));
            subject.exhaust(&old, 1);
            assert_eq!(subject.remaining(&new, 1), 3, "{from} to {to}");
            subject.exhaust(&new, 1);
            // The count is the new strategy's now, so the old one finds none of its own.
            assert_eq!(subject.remaining(&old, 1), 3);
            assert_eq!(subject.store.len(), 1);
        }
    }
}

/// What the old policy would let rest still counts under a longer one.
#[test]
fn a_longer_policy_keeps_the_states_of_the_one_it_replaced() {
    for strategy in Strategy::ALL {
        let [short, long] = [SECOND, 1_000 * SECOND].map(|window| policy(strategy, 3, window));
        assert_kept_through(&[short, long]);
    }
}

/// A state is left alone while its policy changes twice, to a shorter one first.
#[test]
fn states_are_kept_through_a_shorter_policy() {
    for strategy in Strategy::ALL {
        let of = |seconds: u32| policy(strategy, 3, seconds * SECOND);
        assert_kept_through(&[of(10), of(1), of(1_000)]);
    }
}

/// The keys of one policy go over to two, this one to the longer.
#[test]
fn states_are_kept_where_one_policy_is_replaced_by_two() {
    for strategy in Strategy::ALL {
        let [old, long, short] = [10, 1_000, 20].map(|n| policy(strategy, 3, n * SECOND));
        let subject = Subject::new(|builder| builder.shards(1));
        subject.exhaust(&old, 1);
        subject.store.policy_replaced(&old, &long);
        subject.store.policy_replaced(&old, &short);
        subject.advance(100_000_000_000);
        subject.store.sweep();
        assert!(subject.remaining(&long, 1) < 3, "{strategy}");
    }
}

/// A slower drain keeps what was spent for longer, though a smaller burst makes it look shorter.
#[test]
fn states_are_kept_through_a_lower_rate_with_a_lower_burst() {
    let old = policy(Strategy::LeakyBucket, 100, SECOND);
    let new = policy(Strategy::LeakyBucket, 2, SECOND).with_burst(1).unwrap();
    assert_kept_through(&[old, new]);
}

/// Spends all under the first policy, replaces it by the others at once, lets the first one's states
/// rest, and finds the key still spent.
fn assert_kept_through(policies: &[Policy]) {
    let [first, .., last] = policies else { panic!("a change takes two policies") };
    let subject = Subject::new(|builder| builder.shards(1));
    subject.exhaust(first, 1);
    for pair in policies.windows(2) {
        subject.store.policy_replaced(&pair[0], &pair[1]);
    }
    subject.advance(30_000_000_000);
    subject.store.sweep();
    assert_eq!(subject.store.len(), 1, "{first}, then {last}");
    assert!(subject.remaining(last, 1) < last.capacity());
}
