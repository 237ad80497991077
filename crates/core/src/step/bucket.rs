//! Token and leaky bucket: one arithmetic, read as tokens left or as occupancy.

use super::wide;
use crate::decision::View;
use crate::{Policy, State, Strategy};

/// The bucket as it stands at `now` with `cost` spent if it fits, and whether it does.
///
/// Time is counted in units of `1/limit` tick, in which one unit of cost drains in exactly
/// `window` of them; so the drained count is `⌊elapsed·limit / window⌋` with nothing rounded, and
/// the instant moves on by exactly what was drained. A bucket with nothing spent keeps no credit:
/// its instant is `now`.
#[inline(always)]
pub(super) fn step(policy: &Policy, state: Option<State>, now: u64, cost: u32) -> (View, bool) {
    let view = match state {
        Some(state) => undrained(policy, state, now).unwrap_or_else(|| moved(policy, state, now)),
        None => View { at: now, a: 0, b: 0 },
    };
    let fits = match view.a.checked_add(cost) {
        Some(total) => total <= policy.capacity(),
        None => false,
    };
    if fits { (View { a: view.a.wrapping_add(cost), ..view }, true) } else { (view, cost == 0) }
}

/// The state as it is, if something is spent and no unit has drained since: what a bucket that is
/// asked more often than it drains nearly always is. It takes no division and no wide product;
/// `None` says nothing.
#[inline(always)]
fn undrained(policy: &Policy, state: State, now: u64) -> Option<View> {
    let passed = now.checked_sub(state.at)?.checked_mul(u64::from(policy.limit()))?;
    // Cannot wrap: a window is below 2^59 ticks, and the fraction is 32 bits.
    let first = policy.window_ticks().wrapping_add(u64::from(state.b));
    let spent = match policy.strategy() {
        Strategy::TokenBucket => policy.capacity().checked_sub(state.a)?,
        _ => state.a,
    };
    (passed < first && spent > 0).then_some(View { at: state.at, a: spent, b: state.b })
}

/// The state brought up to any `now`: what has drained is gone, and one that lies too far ahead is
/// ignored.
#[inline(always)]
fn moved(policy: &Policy, state: State, now: u64) -> View {
    let Words(at, counts) = moved_words(policy, Words(state.at, join(state.a, state.b)), now);
    let (a, b) = split(counts);
    View { at, a, b }
}

/// A state or a view as it is handed to and from a function that is not inlined: two words travel
/// in registers. Three fields would travel through memory, and every decision would pay for it.
struct Words(u64, u64);

#[inline(never)]
fn moved_words(policy: &Policy, Words(at, counts): Words, now: u64) -> Words {
    let (a, b) = split(counts);
    let state = State { at, a, b };
    let view = match View::of(policy, state) {
        view if now > at => drained(policy, view, now),
        // The clock went back, or stands still: nothing has drained.
        view if !super::is_too_far_ahead(policy, state, now) => view,
        _ => View { at: now, a: 0, b: 0 },
    };
    // A lowered burst can leave nothing spent at an instant that is still to come. Such a state is
    // rested, so it must be worth no more and no less than none.
    let view = if view.a == 0 { View { at: now, a: 0, b: 0 } } else { view };
    Words(view.at, join(view.a, view.b))
}

#[inline(always)]
fn join(a: u32, b: u32) -> u64 {
    u64::from(a) | (u64::from(b) << 32)
}

#[inline(always)]
fn split(counts: u64) -> (u32, u32) {
    // The two halves of the word.
    #[allow(clippy::cast_possible_truncation)]
    (counts as u32, (counts >> 32) as u32)
}

/// What is still spent at `now`, which is after `view.at`, and the instant at which that count was exact.
fn drained(policy: &Policy, view: View, now: u64) -> View {
    let window = policy.window_nonzero();
    let passed = wide::mul(now.wrapping_sub(view.at), u64::from(policy.limit()));
    // Cannot wrap: a window is below 2^59 ticks, and the fraction is 32 bits.
    let first = u128::from(window.get().wrapping_add(u64::from(view.b)));
    if passed < first && view.a > 0 {
        return view;
    }
    let elapsed = passed.saturating_sub(u128::from(view.b));
    if elapsed >= wide::mul(u64::from(view.a), window.get()) {
        return View { at: now, a: 0, b: 0 };
    }
    drained_in_part(policy, view, elapsed)
}

/// The bucket after `elapsed`, which drains something and not all.
fn drained_in_part(policy: &Policy, view: View, elapsed: u128) -> View {
    let window = policy.window_nonzero();
    // Below `view.a`, since not all has drained, so it fits 32 bits.
    let units = wide::saturate(wide::div(elapsed, window));
    let passed = wide::mul(units, window.get()).wrapping_add(u128::from(view.b));
    let (ticks, fraction) = wide::div_rem(passed, policy.limit_nonzero());
    View {
        at: view.at.saturating_add(ticks),
        a: view.a.saturating_sub(u32::try_from(units).unwrap_or(u32::MAX)),
        b: fraction,
    }
}

/// Whether everything has drained `elapsed` ticks after the view's instant.
pub(super) fn is_empty_after(policy: &Policy, view: View, elapsed: u64) -> bool {
    let drained = wide::mul(elapsed, u64::from(policy.limit())).saturating_sub(u128::from(view.b));
    drained >= wide::mul(u64::from(view.a), policy.window_ticks())
}

/// Ticks from `now` until no more than `spent` is spent.
pub(crate) fn ticks_until_spent_at_most(policy: &Policy, view: View, now: u64, spent: u32) -> u128 {
    let Some(units @ 1..) = view.a.checked_sub(spent) else {
        return 0;
    };
    let passed =
        wide::mul(u64::from(units), policy.window_ticks()).wrapping_add(u128::from(view.b));
    u128::from(view.at)
        .saturating_add(wide::div_ceil(passed, policy.limit_nonzero().into()))
        .saturating_sub(u128::from(now))
}
