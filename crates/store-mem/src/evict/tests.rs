//! A whole sweep is done in steps, and anything may happen between two of them.

use std::collections::HashMap;

use gorl_core::{Action, Policy, State, Strategy, decide_adopted, rested_at};
use proptest::prelude::*;
use proptest::strategy::Strategy as Generate;
use proptest::test_runner::FileFailurePersistence;

use super::*;
use crate::shard::Ask;

const SEEDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/proptest-regressions/evict.txt");

const WINDOW: u64 = 1_000;

#[derive(Clone, Debug)]
enum Op {
    Take(u64),
    /// Takes from each of this many keys from the first on.
    Crowd(u64, u64),
    Reset(u64),
    Advance(u64),
    /// One step of one of two sweeps; a sweep that has ended begins anew.
    Step(usize),
}

fn ops() -> impl Generate<Value = Vec<Op>> {
    let op = prop_oneof![
        4 => (0..600_u64).prop_map(Op::Take),
        2 => (0..500_u64, 1..100_u64).prop_map(|(first, count)| Op::Crowd(first, count)),
        1 => (0..600_u64).prop_map(Op::Reset),
        1 => (0..5 * WINDOW).prop_map(Op::Advance),
        6 => (0..2_usize).prop_map(Op::Step),
    ];
    prop::collection::vec(op, 0..120)
}

/// A shard, two sweeps of it under way, and what a map says that it must hold.
struct Subject {
    policy: Policy,
    shard: Shard,
    room: Room,
    sweeps: [Option<SweepPhase>; 2],
    map: HashMap<u64, State>,
    now: u64,
}

impl Subject {
    fn new(policy: Policy) -> Self {
        let (shard, room) = (Shard::new(0, true), Room::new(None));
        Self { policy, shard, room, sweeps: [None; 2], map: HashMap::new(), now: 1 << 40 }
    }

    fn apply(&mut self, op: &Op) {
        match *op {
            Op::Take(key) => self.take(key),
            Op::Crowd(first, count) => (first..first + count).for_each(|key| self.take(key)),
            Op::Reset(key) => {
                self.shard.reset(print(key), &self.room);
                self.map.remove(&key);
            }
            Op::Advance(by) => self.now += by,
            Op::Step(sweep) => self.step(sweep),
        }
        let counts = |state: &&State| rested_at(&self.policy, **state) > self.now;
        let least = self.map.values().filter(counts).count();
        assert!((least..=self.map.len()).contains(&self.shard.len()));
    }

    fn take(&mut self, key: u64) {
        let expected = decide_adopted(&self.policy, self.map.get(&key).copied(), self.now, 1);
        if expected.changes_state() {
            self.map.insert(key, expected.state());
        }
        let ask = Ask { print: print(key), now: self.now, cost: 1, action: Action::Take };
        let decision = self.shard.decide(&self.policy, &ask, &self.room, &mut After::default());
        assert_eq!(decision, expected, "key {key}");
    }

    fn step(&mut self, sweep: usize) {
        let phase = self.sweeps[sweep].unwrap_or(SweepPhase::Settle);
        let mut after = After::default();
        self.sweeps[sweep] = self.shard.sweep_step(phase, self.now, &self.room, &mut after);
    }

    /// Ends what is under way and sweeps once more, undisturbed.
    fn sweep(&mut self) {
        for _ in 0..10_000 {
            self.step(0);
            if self.sweeps[0].is_none() {
                return;
            }
        }
        panic!("a sweep that nobody disturbs has no end");
    }
}

/// Keys spread over the table as random ones would, and the same in every run.
fn print(key: u64) -> Fingerprint {
    let spread = (key + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    Fingerprint { place: spread | 1, rest: key << 16 }
}

fn config() -> ProptestConfig {
    let long = std::env::var("GORL_LONG").is_ok_and(|value| value == "1");
    ProptestConfig {
        cases: if long { 20_000 } else { 250 },
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(SEEDS))),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn whatever_happens_between_two_steps_no_count_is_lost(n in 0..4_usize, ops in ops()) {
        let policy = Policy::new(Strategy::ALL[n], 2, std::time::Duration::from_nanos(WINDOW));
        let mut subject = Subject::new(policy.unwrap());
        for op in &ops {
            subject.apply(op);
        }
        // One sweep ends what was begun, the next finds everything at rest.
        subject.now += 10 * WINDOW;
        subject.sweep();
        subject.sweep();
        prop_assert_eq!(subject.shard.len(), 0);
    }
}
