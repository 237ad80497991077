//! Sliding window counter: the current window's count and a weighted share of the one before.

use core::num::NonZeroU64;

use super::wide;
use crate::decision::View;
use crate::{Policy, State};

/// The key's two windows as they stand at `now` with `cost` spent if it fits, and whether it does.
///
/// The estimate is `previous·(W−e)/W + current` with `e = now − start`. It is compared exactly,
/// multiplied out: `previous·(W−e) ≤ (limit−current−cost)·W`.
#[inline(always)]
pub(super) fn step(policy: &Policy, state: Option<State>, now: u64, cost: u32) -> (View, bool) {
    let view = match state {
        Some(state) if super::is_current(policy, state, now) => View::window(state),
        Some(state) => rolled(policy, state, now),
        None => View { at: now, a: 0, b: 0 },
    };
    let room = policy.limit().checked_sub(view.a).and_then(|room| room.checked_sub(cost));
    let fits = match room {
        Some(_) if view.b == 0 => true,
        Some(room) => {
            carried(policy, view, now) <= wide::mul(u64::from(room), policy.window_ticks())
        }
        None => false,
    };
    if fits { (View { a: view.a.wrapping_add(cost), ..view }, true) } else { (view, cost == 0) }
}

/// The windows at `now` when the state's current one does not hold it.
#[cold]
fn rolled(policy: &Policy, state: State, now: u64) -> View {
    let window = policy.window_ticks();
    let fresh = View { at: now, a: 0, b: 0 };
    if state.at > now {
        // The clock went back: decided at the state's own start, unless that is too far off.
        return if super::is_too_far_ahead(policy, state, now) {
            fresh
        } else {
            View::window(state)
        };
    }
    let elapsed = now.wrapping_sub(state.at);
    let one_passed = elapsed.wrapping_sub(window) < window;
    if one_passed && state.a > 0 {
        View { at: state.at.wrapping_add(window), a: 0, b: state.a }
    } else {
        fresh
    }
}

/// `previous·(W−e)`, the part of the estimate that decays, times the window.
#[inline]
fn carried(policy: &Policy, view: View, now: u64) -> u128 {
    let elapsed = now.saturating_sub(view.at);
    wide::mul(u64::from(view.b), policy.window_ticks().saturating_sub(elapsed))
}

/// The largest cost that fits at `now`: `⌊limit − estimate⌋`.
pub(crate) fn remaining(policy: &Policy, view: View, now: u64) -> u32 {
    let weighted = wide::div_ceil(carried(policy, view, now), policy.window_nonzero());
    let weighted = u32::try_from(weighted).unwrap_or(u32::MAX);
    policy.limit().saturating_sub(view.a).saturating_sub(weighted)
}

/// Ticks from `now` until `cost` fits: when the weight of the previous window has decayed enough,
/// or, if the current count alone is in the way, when it has become the previous one and decayed.
pub(crate) fn wait(policy: &Policy, view: View, now: u64, cost: u32) -> u128 {
    let start = u128::from(view.at);
    let window = u128::from(policy.window_ticks());
    let room = policy.limit().checked_sub(view.a).and_then(|room| room.checked_sub(cost));
    let instant = match room {
        Some(room) => start.saturating_add(window).saturating_sub(lead(policy, room, view.b)),
        None => {
            let room = policy.limit().saturating_sub(cost);
            let end = start.saturating_add(window).saturating_add(window);
            end.saturating_sub(lead(policy, room, view.a))
        }
    };
    instant.saturating_sub(u128::from(now))
}

/// How long before the end of its weight a previous count of `count` leaves `room` free.
fn lead(policy: &Policy, room: u32, count: u32) -> u128 {
    let window = policy.window_ticks();
    match NonZeroU64::new(u64::from(count)) {
        Some(count) => wide::div(wide::mul(u64::from(room), window), count).min(window.into()),
        None => window.into(),
    }
}

/// Ticks from `now` until nothing counts any more, zero if nothing does.
pub(crate) fn rest(policy: &Policy, view: View, now: u64) -> u128 {
    let window = u128::from(policy.window_ticks());
    let start = u128::from(view.at);
    let end = match (view.a, view.b) {
        (0, 0) => return 0,
        (0, _) => start.saturating_add(window),
        _ => start.saturating_add(window).saturating_add(window),
    };
    end.saturating_sub(u128::from(now))
}
