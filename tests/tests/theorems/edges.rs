//! A bucket at the edges where its arithmetic takes a shorter way, by a formula that takes none.

use gorl_core::{Policy, State, Strategy as Counting, decide};
use proptest::prelude::*;
use proptest::sample::select;
use std::time::Duration;

const SEEDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/proptest-regressions/theorems-edges.txt");

/// Ten years, the longest window.
const MAX_WINDOW_NS: u64 = 10 * 365 * 86_400 * 1_000_000_000;

/// Where in time a question lies, seen from the state's instant.
#[derive(Clone, Copy, Debug)]
enum Edge {
    /// The product of time and limit leaves 64 bits.
    Overflow,
    /// The first unit has drained.
    FirstUnit,
    /// The last has.
    LastUnit,
    /// Some have.
    Unit(u32),
    /// The clock stands still.
    Still,
    /// The clock went back, until the state is ignored.
    Back,
    /// The beginning or the end of time.
    Ends,
}

#[derive(Clone, Debug)]
struct Case {
    policy: Policy,
    state: State,
    now: u64,
    cost: u32,
}

/// Numbers of which the least, the greatest and those beside them are likely.
fn numbers(most: u64) -> impl Strategy<Value = u64> {
    prop_oneof![select(vec![1, 2, 3, 1_000, most / 2, most - 1, most]), 1..=most, 1..=1_000_u64]
}

fn cases() -> impl Strategy<Value = Case> {
    let edge = prop_oneof![
        3 => Just(Edge::Overflow),
        3 => Just(Edge::FirstUnit),
        2 => Just(Edge::LastUnit),
        2 => any::<u32>().prop_map(Edge::Unit),
        1 => Just(Edge::Still),
        1 => Just(Edge::Back),
        1 => Just(Edge::Ends),
    ];
    let policy = (any::<bool>(), numbers(u32::MAX.into()), numbers(MAX_WINDOW_NS));
    let parts = (policy, numbers(u32::MAX.into()), any::<[u64; 4]>(), edge, -2..=2_i64);
    parts.prop_map(|((leaky, limit, window), burst, spare, edge, by)| {
        let strategy = if leaky { Counting::LeakyBucket } else { Counting::TokenBucket };
        let policy = Policy::new(strategy, limit, Duration::from_nanos(window))
            .and_then(|policy| policy.with_burst(burst))
            .expect("in range");
        let state = state(&policy, spare);
        let now = edge.of(&policy, state).saturating_add_signed(by);
        let cost = narrow(u128::from(spare[3]) % (u128::from(burst) + 1));
        Case { policy, state, now, cost: if spare[3] % 3 == 0 { 1 } else { cost } }
    })
}

/// A state with counts up to a little above the capacity, as a lowered burst leaves them.
fn state(policy: &Policy, spare: [u64; 4]) -> State {
    let at = match spare[0] % 4 {
        0 => spare[0],
        1 => u64::MAX - (spare[0] >> 54),
        _ => spare[0] >> 2,
    };
    let most = u64::from(policy.capacity()) + 2;
    let a = match spare[1] % 4 {
        0 => 0,
        1 => u64::from(policy.capacity()) - 1,
        _ => (spare[1] >> 2) % most,
    };
    State { at, a: narrow(a.into()), b: narrow(u128::from(spare[2]) % u128::from(policy.limit())) }
}

impl Edge {
    fn of(self, policy: &Policy, state: State) -> u64 {
        let limit = u128::from(policy.limit());
        let after = |units: u32| {
            let passed =
                u128::from(units) * u128::from(policy.window_ticks()) + u128::from(state.b);
            passed.div_ceil(limit)
        };
        let elapsed = match self {
            Self::Overflow => u128::from(u64::MAX) / limit,
            Self::FirstUnit => after(1),
            Self::LastUnit => after(spent(policy, state)),
            Self::Unit(n) => after(n % spent(policy, state).max(1)),
            Self::Still => 0,
            Self::Back => return state.at.saturating_sub(policy.window_ticks()),
            Self::Ends => return if state.b.is_multiple_of(2) { 0 } else { u64::MAX },
        };
        state.at.saturating_add(u64::try_from(elapsed).unwrap_or(u64::MAX))
    }
}

fn spent(policy: &Policy, state: State) -> u32 {
    match policy.strategy() {
        Counting::TokenBucket => policy.capacity().saturating_sub(state.a),
        _ => state.a,
    }
}

fn narrow(n: u128) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// What is spent at the instant before the cost, and the instant and fraction of that count.
fn brought_up(case: &Case) -> (u32, u64, u32) {
    let Case { policy, state, now, .. } = case;
    let (limit, window) = (u128::from(policy.limit()), u128::from(policy.window_ticks()));
    let fresh = (0, *now, 0);
    if *now < state.at {
        // In units of 1/limit tick, so that the fraction counts.
        let ahead = u128::from(state.at - now) * limit + u128::from(state.b);
        let spent = spent(policy, *state);
        let kept = ahead <= window * limit && spent > 0;
        return if kept { (spent, state.at, state.b) } else { fresh };
    }
    let passed = u128::from(now - state.at) * limit;
    let units = passed.saturating_sub(u128::from(state.b)) / window;
    let left = u128::from(spent(policy, *state)).saturating_sub(units);
    if left == 0 {
        return fresh;
    }
    let moved = units * window + u128::from(state.b);
    let at = u128::from(state.at) + moved / limit;
    (narrow(left), u64::try_from(at).expect("not after now"), narrow(moved % limit))
}

proptest! {
    #![proptest_config(super::config(SEEDS))]

    /// The answer and the state after it are those of the formula, on both sides of each edge.
    #[test]
    fn a_bucket_is_exact_where_its_arithmetic_takes_a_shorter_way(case in cases()) {
        let Case { policy, state, now, cost } = case;
        let (before, at, b) = brought_up(&case);
        let capacity = policy.capacity();
        let admits = cost == 0 || u64::from(before) + u64::from(cost) <= u64::from(capacity);
        let decision = decide(&policy, Some(state), now, cost).expect("within the capacity");
        prop_assert_eq!(decision.is_allowed(), admits);
        let after = if admits { before + cost } else { before };
        prop_assert_eq!(decision.remaining(), capacity.saturating_sub(after));
        if decision.changes_state() {
            let a = if policy.strategy() == Counting::TokenBucket { capacity - after } else { after };
            prop_assert_eq!(decision.state(), State { at, a, b });
        }
    }
}
