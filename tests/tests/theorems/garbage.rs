//! Any sixteen bytes are a state: no panic, and answers within bounds.

use gorl_core::{Policy, State, Strategy as Counting, decide_adopted, give_back, is_rested};
use gorl_core::{rested_at, spent_at};
use proptest::prelude::*;

use super::story::{Point, instants, policies};

const SEEDS: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/proptest-regressions/theorems-garbage.txt");

/// States that no decision wrote, near the instant and anywhere.
fn garbage() -> impl Strategy<Value = Point> {
    let count = || prop_oneof![Just(0), Just(1), Just(u32::MAX), any::<u32>(), (0..=100_u32)];
    let at = prop_oneof![
        2 => instants().prop_map(Place::At),
        3 => any::<u16>().prop_map(Place::Behind),
        3 => any::<u16>().prop_map(Place::Ahead),
        2 => (-2..=2_i64).prop_map(Place::Beside),
    ];
    let parts = (policies(), instants(), at, count(), count(), any::<u64>());
    parts.prop_map(|(policy, now, place, a, b, spare)| {
        let at = place.of(&policy, now);
        Point { policy, state: Some(State { at, a, b }), now, spare }
    })
}

/// Where the state's instant lies.
#[derive(Clone, Copy, Debug)]
enum Place {
    At(u64),
    /// In 1/16384 of the window.
    Behind(u16),
    Ahead(u16),
    Beside(i64),
}

impl Place {
    fn of(self, policy: &Policy, now: u64) -> u64 {
        let share = |of: u16| {
            u64::try_from((u128::from(policy.window_ticks()) * u128::from(of)) >> 14).unwrap_or(0)
        };
        match self {
            Self::At(at) => at,
            Self::Behind(of) => now.saturating_sub(share(of)),
            Self::Ahead(of) => now.saturating_add(share(of)),
            Self::Beside(by) => now.saturating_add_signed(by),
        }
    }
}

proptest! {
    #![proptest_config(super::config(SEEDS))]

    /// Every operation takes every state, and the figures stay within what the policy can say.
    #[test]
    fn any_bytes_are_a_state(point in garbage()) {
        let Point { policy, state, now, .. } = point;
        let state = state.expect("garbage has a state");
        let most = longest_wait(&policy);
        for cost in point.costs() {
            let decision = point.decide(cost);
            prop_assert!(decision.remaining() <= policy.capacity());
            prop_assert_eq!(decision.limit(), policy.capacity());
            prop_assert!(decision.reset_after_ticks() <= most);
            prop_assert!(decision.retry_after_ticks().unwrap_or(1) <= most);
            prop_assert!(decision.retry_after_ticks() != Some(0));
            let _ = give_back(&policy, state, now, cost);
        }
        // An answer for a state of another policy, or to a cost that never fits, may be wrong, but
        // it is one.
        for cost in point.costs().into_iter().chain([policy.capacity().saturating_add(1), u32::MAX]) {
            let adopted = decide_adopted(&policy, Some(state), now, cost);
            let _ = (adopted.remaining(), adopted.reset_after(), adopted.retry_after());
            prop_assert!(cost <= policy.capacity() || !adopted.is_allowed());
        }
        let _ = (rested_at(&policy, state), is_rested(&policy, state, now));
        prop_assert!(spent_at(&policy, state, now) <= policy.capacity());
    }

    /// Even then the figures mean what they say.
    #[test]
    fn the_figures_of_any_bytes_are_exact(point in garbage()) {
        super::figures::remaining(&point)?;
        super::figures::retry_after(&point)?;
        super::figures::reset_after(&point)?;
    }

    /// A state is read back from its bytes, whatever it is.
    #[test]
    fn any_state_reads_back_from_its_bytes(point in garbage()) {
        let state = point.state.expect("garbage has a state");
        let strategy = point.policy.strategy();
        prop_assert_eq!(State::decode(&state.encode(strategy)), Ok((strategy, state)));
    }
}

/// The longest that a state which is not ignored can make anybody wait.
fn longest_wait(policy: &Policy) -> u128 {
    let window = u128::from(policy.window_ticks());
    match policy.strategy() {
        Counting::FixedWindow => 2 * window,
        Counting::SlidingWindow => 3 * window,
        // A leaky bucket may be fuller than its capacity after that was lowered.
        _ => window + (u128::from(u32::MAX) * window).div_ceil(policy.limit().into()) + 1,
    }
}
