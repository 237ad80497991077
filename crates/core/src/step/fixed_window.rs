//! Fixed window: at most the limit in each window counted from the Unix epoch.

use crate::decision::View;
use crate::{Policy, State};

/// The key's window as it stands at `now` with `cost` spent in it if it fits, and whether it does.
///
/// `now div W` is the window. A state's start is aligned, so it is the same window exactly while
/// `now - start < W`; only a new window needs the division.
#[inline(always)]
pub(super) fn step(policy: &Policy, state: Option<State>, now: u64, cost: u32) -> (View, bool) {
    let view = match state {
        Some(state) if super::is_current(policy, state, now) => View::window(state),
        _ => elsewhere(policy, state, now),
    };
    let fits = match view.a.checked_add(cost) {
        Some(total) => total <= policy.limit(),
        None => false,
    };
    if fits { (View { a: view.a.wrapping_add(cost), ..view }, true) } else { (view, cost == 0) }
}

/// The window at `now` when the state is not of it: a fresh one, or the state's own if that lies
/// ahead by no more than a window, because the clock went back.
#[cold]
fn elsewhere(policy: &Policy, state: Option<State>, now: u64) -> View {
    match state {
        Some(state) if state.at > now && !super::is_too_far_ahead(policy, state, now) => {
            View::window(state)
        }
        _ => View { at: now.wrapping_sub(now % policy.window_nonzero()), a: 0, b: 0 },
    }
}

/// Ticks from `now` to the end of the window.
pub(crate) fn wait(policy: &Policy, view: View, now: u64) -> u128 {
    u128::from(view.at)
        .saturating_add(u128::from(policy.window_ticks()))
        .saturating_sub(u128::from(now))
}
