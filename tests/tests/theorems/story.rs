//! Random stories: a policy, and what happens to one key at times that sit on the edges.

use std::time::Duration;

use gorl_core::{
    Decision, Policy, State, Strategy as Counting, decide, give_back, peek, rested_at,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseError;

/// What a theorem says of a point.
pub(crate) type Verdict = Result<(), TestCaseError>;

/// Ten years, the longest window.
const MAX_WINDOW_NS: u64 = 10 * 365 * 86_400 * 1_000_000_000;

/// 2025-01-01T00:00:00Z.
const PRESENT_NS: u64 = 1_735_689_600_000_000_000;

/// A policy, a beginning, and what happens.
#[derive(Clone, Debug)]
pub(crate) struct Story {
    pub(crate) policy: Policy,
    pub(crate) start: u64,
    pub(crate) steps: Vec<(Move, Act)>,
    /// A number for the theorem to use as it likes.
    pub(crate) spare: u64,
}

/// How the clock moves. Instants at which an answer turns are taken from the state as it is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Move {
    Stay,
    ToRetry(i8),
    ToRest(i8),
    /// A share of the window in 1/65536.
    Share(u16),
    Windows(u8, i8),
    Forward(u64),
    BackShare(u16),
    /// To one window before the state's instant, and some ticks.
    BackToEdge(i8),
    Back(u64),
    NearTheEnd(u16),
}

/// What is done at an instant.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Act {
    Nothing,
    Take(Cost),
    GiveBack(Cost),
    Change(Change),
}

/// How much.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cost {
    Zero,
    One,
    Remaining,
    OneMore,
    Capacity,
    /// A share of the capacity in 1/65536.
    Share(u16),
}

/// Another policy of the same strategy: each number times `up` over `down`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Change {
    pub(crate) limit: (u16, u16),
    pub(crate) burst: (u16, u16),
    pub(crate) window: (u16, u16),
}

/// Where a story has come to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    pub(crate) policy: Policy,
    pub(crate) state: Option<State>,
    pub(crate) now: u64,
    pub(crate) spare: u64,
}

impl Story {
    /// Plays the story and looks at every point of it.
    pub(crate) fn each_point(&self, holds: impl Fn(&Point) -> Verdict) -> Verdict {
        let mut point = self.beginning();
        holds(&point)?;
        for &(step, act) in &self.steps {
            point.go(step);
            point.act(act);
            holds(&point)?;
        }
        Ok(())
    }

    pub(crate) fn beginning(&self) -> Point {
        Point { policy: self.policy, state: None, now: self.start, spare: self.spare }
    }
}

impl Point {
    pub(crate) fn peek(&self, cost: u32) -> Decision {
        peek(&self.policy, self.state, self.now, cost).expect("within the capacity")
    }

    pub(crate) fn decide(&self, cost: u32) -> Decision {
        decide(&self.policy, self.state, self.now, cost).expect("within the capacity")
    }

    pub(crate) fn remaining(&self) -> u32 {
        self.peek(0).remaining()
    }

    pub(crate) fn at(&self, now: u64) -> Self {
        Self { now, ..*self }
    }

    pub(crate) fn fresh(&self) -> Self {
        Self { state: None, ..*self }
    }

    /// Costs that are worth asking for here, each within the capacity.
    pub(crate) fn costs(&self) -> Vec<u32> {
        let capacity = self.policy.capacity();
        let left = self.remaining();
        let drawn = u32::try_from(self.spare % (u64::from(capacity) + 1)).unwrap_or(0);
        let mut costs = vec![0, 1, left, left.saturating_add(1), capacity - 1, capacity, drawn];
        costs.retain(|&cost| cost <= capacity);
        costs
    }

    pub(crate) fn go(&mut self, step: Move) {
        let window = self.policy.window_ticks();
        let share =
            |of: u16| u64::try_from((u128::from(window) * u128::from(of)) >> 16).unwrap_or(window);
        let retry = || {
            let capacity = self.policy.capacity();
            let wait = self.peek(self.remaining().saturating_add(1).min(capacity));
            self.after(wait.retry_after_ticks().unwrap_or(0))
        };
        self.now = match step {
            Move::Stay => self.now,
            Move::ToRetry(by) => nudged(retry(), by),
            Move::ToRest(by) => {
                let rest = self.state.map(|state| rested_at(&self.policy, state));
                nudged(rest.unwrap_or(self.now), by)
            }
            Move::Share(of) => self.now.saturating_add(share(of)),
            Move::Windows(count, by) => {
                nudged(self.now.saturating_add(window.saturating_mul(count.into())), by)
            }
            Move::Forward(by) => self.now.saturating_add(by),
            Move::BackShare(of) => self.now.saturating_sub(share(of)),
            Move::BackToEdge(by) => {
                let at = self.state.map_or(self.now, |state| state.at);
                nudged(at.saturating_sub(window), by)
            }
            Move::Back(by) => self.now.saturating_sub(by),
            Move::NearTheEnd(before) => u64::MAX - u64::from(before),
        };
    }

    pub(crate) fn act(&mut self, act: Act) {
        match act {
            Act::Nothing => {}
            Act::Take(cost) => {
                let decision = self.decide(self.cost(cost));
                if decision.changes_state() {
                    self.state = Some(decision.state());
                }
            }
            Act::GiveBack(cost) => {
                let cost = self.cost(cost);
                self.state =
                    self.state.and_then(|state| give_back(&self.policy, state, self.now, cost));
            }
            Act::Change(change) => self.policy = change.of(&self.policy),
        }
    }

    /// The instant `ticks` later; the last one if that is beyond it.
    pub(crate) fn after(&self, ticks: u128) -> u64 {
        let then = u128::from(self.now).saturating_add(ticks);
        u64::try_from(then).unwrap_or(u64::MAX)
    }

    pub(crate) fn cost(&self, cost: Cost) -> u32 {
        let capacity = self.policy.capacity();
        match cost {
            Cost::Zero => 0,
            Cost::One => 1,
            Cost::Remaining => self.remaining(),
            Cost::OneMore => self.remaining().saturating_add(1).min(capacity),
            Cost::Capacity => capacity,
            Cost::Share(of) => {
                u32::try_from((u64::from(capacity) * u64::from(of)) >> 16).unwrap_or(1)
            }
        }
    }
}

impl Change {
    /// The changed policy, in the tick of the old one.
    pub(crate) fn of(self, old: &Policy) -> Policy {
        let scaled = |number: u64, (up, down): (u16, u16), most: u64| {
            let scaled = u128::from(number) * u128::from(up) / u128::from(down.max(1));
            u64::try_from(scaled).unwrap_or(most).clamp(1, most)
        };
        let count = |number: u32, by| scaled(number.into(), by, u32::MAX.into());
        let per_tick = old.tick().nanos();
        let ticks = scaled(old.window_ticks(), self.window, MAX_WINDOW_NS / per_tick);
        let window = Duration::from_nanos(ticks * per_tick);
        let burst = old.strategy().has_burst().then(|| count(old.capacity(), self.burst));
        let limit = count(old.limit(), self.limit);
        build(old.strategy(), limit, window, burst, per_tick > 1)
    }
}

/// Stories under one policy.
pub(crate) fn stories() -> impl Strategy<Value = Story> {
    story(acts(false), 0..10)
}

/// Stories in which the policy may change too.
pub(crate) fn stories_with_changes() -> impl Strategy<Value = Story> {
    story(acts(true), 0..10)
}

/// A change in any direction.
pub(crate) fn changes() -> impl Strategy<Value = Change> {
    let any = || (select(&FACTORS[..]), select(&FACTORS[..]));
    (any(), any(), any()).prop_map(|(limit, burst, window)| Change { limit, burst, window })
}

/// Every kind of policy, the edges of each number often.
pub(crate) fn policies() -> impl Strategy<Value = Policy> {
    let number = || {
        prop_oneof![
            3 => select(vec![1, 2, 3, 5, 7, 10, 13, 100]),
            1 => select(vec![997, 999_983, 2_147_483_647, u64::from(u32::MAX)]),
            1 => 1..=u64::from(u32::MAX),
            1 => 1..=60_u64,
        ]
    };
    let window = prop_oneof![
        2 => select(vec![1, 2, 3, 7, 10, 1_000]),
        3 => select(vec![1_000_000_000, 13_000_000_000, 60_000_000_000, 86_400_000_000_000]),
        1 => select(vec![MAX_WINDOW_NS, MAX_WINDOW_NS - 1, 86_399_999_999_999]),
        1 => 1..=MAX_WINDOW_NS,
        1 => 1..=100_u64,
    ];
    let strategy = select(Counting::ALL.to_vec());
    let parts = (strategy, number(), window, proptest::option::of(number()), any::<bool>());
    parts.prop_map(|(strategy, limit, ticks, burst, micros)| {
        let per_tick = if micros { 1_000 } else { 1 };
        let window = Duration::from_nanos(ticks.min(MAX_WINDOW_NS / per_tick) * per_tick);
        let burst = burst.filter(|_| strategy.has_burst());
        build(strategy, limit, window, burst, micros)
    })
}

/// Instants from the epoch to the end of time.
pub(crate) fn instants() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => (0..=1_000_000_000_u64).prop_map(|by| PRESENT_NS + by),
        2 => (0..=1_000_000_000_u64).prop_map(|by| PRESENT_NS / 1_000 + by),
        1 => 0..=100_u64,
        1 => (0..=100_u64).prop_map(|by| u64::MAX - by),
        1 => any::<u64>(),
    ]
}

fn build(
    strategy: Counting,
    limit: u64,
    window: Duration,
    burst: Option<u64>,
    micros: bool,
) -> Policy {
    let mut policy = Policy::new(strategy, limit, window);
    if let Some(burst) = burst {
        policy = policy.and_then(|policy| policy.with_burst(burst));
    }
    if micros {
        policy = policy.and_then(Policy::in_micros);
    }
    policy.expect("every number is in range")
}

fn story(
    act: impl Strategy<Value = Act>,
    count: std::ops::Range<usize>,
) -> impl Strategy<Value = Story> {
    let steps = vec((moves(), act), count);
    (policies(), instants(), steps, any::<u64>()).prop_map(|(policy, start, steps, spare)| Story {
        policy,
        start,
        steps,
        spare,
    })
}

fn moves() -> impl Strategy<Value = Move> {
    prop_oneof![
        5 => Just(Move::Stay),
        4 => (-1..=1_i8).prop_map(Move::ToRetry),
        3 => (-1..=1_i8).prop_map(Move::ToRest),
        5 => any::<u16>().prop_map(Move::Share),
        3 => (0..=3_u8, -1..=1_i8).prop_map(|(count, by)| Move::Windows(count, by)),
        1 => any::<u64>().prop_map(|by| Move::Forward(by >> (by % 64))),
        2 => any::<u16>().prop_map(Move::BackShare),
        2 => (-2..=2_i8).prop_map(Move::BackToEdge),
        1 => any::<u64>().prop_map(|by| Move::Back(by >> (by % 64))),
        1 => any::<u16>().prop_map(|by| Move::NearTheEnd(by >> (by % 16))),
    ]
}

fn acts(changing: bool) -> impl Strategy<Value = Act> {
    let change = changes().prop_map(Act::Change);
    prop_oneof![
        1 => Just(Act::Nothing),
        9 => costs().prop_map(Act::Take),
        2 => costs().prop_map(Act::GiveBack),
        u32::from(changing) * 3 => change,
    ]
}

fn costs() -> impl Strategy<Value = Cost> {
    prop_oneof![
        1 => Just(Cost::Zero),
        4 => Just(Cost::One),
        3 => Just(Cost::Remaining),
        1 => Just(Cost::OneMore),
        2 => Just(Cost::Capacity),
        4 => any::<u16>().prop_map(Cost::Share),
    ]
}

/// By what a number changes: not at all, by a little, or out of all proportion.
const FACTORS: [u16; 8] = [1, 1, 2, 3, 7, 100, 101, 9_999];

fn nudged(instant: u64, by: i8) -> u64 {
    instant.saturating_add_signed(by.into())
}
