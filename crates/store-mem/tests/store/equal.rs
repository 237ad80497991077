//! A store without a capacity decides as a map that forgets nothing, while it grows and shrinks.

use std::collections::HashMap;

use gorl_core::{Action, Decision, Policy, State, decide, give_back, peek, rested_at};
use proptest::prelude::*;
use proptest::strategy::Strategy as Generate;

use crate::{LONGEST, START, Subject, config, figures, policies};

const SEEDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/proptest-regressions/equal.txt");

#[derive(Clone, Debug)]
enum Op {
    Take(u32, u32),
    Peek(u32, u32),
    GiveBack(u32, u32),
    Reset(u32),
    /// One from each of this many keys from the first on, so that tables grow.
    Crowd(u32, u32),
    Advance(u64),
    /// Steps the clock back, in all by no more than a window.
    Rewind(u64),
    Sweep,
}

fn ops() -> impl Generate<Value = Vec<Op>> {
    // Few keys are met again and again, many make the table grow.
    let key = || prop_oneof![0..8_u32, 0..500_u32];
    let op = prop_oneof![
        8 => (key(), 0..9_u32).prop_map(|(key, cost)| Op::Take(key, cost)),
        2 => (key(), 0..9_u32).prop_map(|(key, cost)| Op::Peek(key, cost)),
        2 => (key(), 0..9_u32).prop_map(|(key, cost)| Op::GiveBack(key, cost)),
        1 => key().prop_map(Op::Reset),
        2 => (0..450_u32, 1..60_u32).prop_map(|(first, count)| Op::Crowd(first, count)),
        3 => (0..LONGEST / 3).prop_map(Op::Advance),
        1 => (0..8 * LONGEST).prop_map(Op::Advance),
        1 => (0..LONGEST).prop_map(Op::Rewind),
        2 => Just(Op::Sweep),
    ];
    prop::collection::vec(op, 0..150)
}

struct Pair {
    subject: Subject,
    policy: Policy,
    map: HashMap<u32, State>,
    /// The latest that the clock has shown.
    latest: u64,
}

impl Pair {
    fn apply(&mut self, op: &Op) {
        match *op {
            Op::Take(key, cost) => self.ask(key, cost, Action::Take),
            Op::Peek(key, cost) => self.ask(key, cost, Action::Peek),
            Op::GiveBack(key, cost) => {
                self.subject.give_back(&self.policy, key, cost);
                if let Some(state) = self.map.remove(&key) {
                    let left = give_back(&self.policy, state, self.subject.now(), cost);
                    self.map.extend(left.map(|left| (key, left)));
                }
            }
            Op::Reset(key) => {
                self.subject.reset(key);
                self.map.remove(&key);
            }
            Op::Crowd(first, count) => {
                (first..first + count).for_each(|key| self.ask(key, 1, Action::Take));
            }
            Op::Advance(ns) => {
                self.subject.advance(ns);
                self.latest = self.latest.max(self.subject.now());
            }
            Op::Rewind(ns) => {
                let least = self.latest - self.policy.window_ticks();
                self.subject.clock.set((self.subject.now() - ns).max(least));
            }
            Op::Sweep => self.subject.store.sweep(),
        }
        let now = self.subject.now();
        let counts = |state: &&State| rested_at(&self.policy, **state) > now;
        let least = self.map.values().filter(counts).count();
        let len = self.subject.store.len();
        assert!((least..=self.map.len()).contains(&len), "{len} keys, {least} of them count");
    }

    fn ask(&mut self, key: u32, cost: u32, action: Action) {
        let (state, now) = (self.map.get(&key).copied(), self.subject.now());
        let expected = match action {
            Action::Take => decide(&self.policy, state, now, cost),
            Action::Peek => peek(&self.policy, state, now, cost),
        };
        let decision = self.subject.store.decide_key(&self.policy, &key, cost, action);
        assert_eq!(decision.map(|d| figures(&d)), expected.map(|d| figures(&d)), "key {key}");
        if let Some(expected) = expected.ok().filter(Decision::changes_state) {
            self.map.insert(key, expected.state());
        }
    }
}

proptest! {
    #![proptest_config(config(SEEDS))]

    #[test]
    fn every_decision_is_that_of_a_map(
        policy in policies(), shards in prop_oneof![Just(1_usize), Just(4)], ops in ops()
    ) {
        let subject = Subject::new(|builder| builder.shards(shards));
        let mut pair = Pair { subject, policy, map: HashMap::new(), latest: START };
        for op in &ops {
            pair.apply(op);
        }
        // What was moved from table to table is all there in the end.
        let keys: Vec<u32> = pair.map.keys().copied().collect();
        for key in keys {
            pair.ask(key, 1, Action::Take);
        }
    }
}
