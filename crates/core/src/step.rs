//! The pure step: what one request does to one key under one policy.

mod bucket;
mod fixed_window;
mod sliding_window;
mod wide;

pub(crate) use bucket::ticks_until_spent_at_most as bucket_wait;
pub(crate) use fixed_window::wait as fixed_wait;
pub(crate) use sliding_window::{
    remaining as sliding_remaining, rest as sliding_rest, wait as sliding_wait,
};

use crate::decision::View;
use crate::{Decision, Policy, State, Strategy};

/// The cost is larger than the policy ever admits at once, so no wait would help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cost {cost} exceeds the limit of {limit}: it would never be admitted")]
pub struct CostExceedsLimit {
    /// The cost that was asked for.
    pub cost: u32,
    /// The largest cost that the policy admits, its [capacity](Policy::capacity).
    pub limit: u32,
}

/// Decides whether `cost` may be spent at `now`, given what is stored for the key.
///
/// `now` is in [ticks](Policy::tick) since the Unix epoch. Nothing is read and nothing is stored:
/// the caller keeps [`Decision::state`] when [`Decision::changes_state`] says so. A `state` that
/// is more than one window ahead of `now` is ignored; one that is less far ahead is decided at its
/// own instant, so a clock that steps back earns nothing.
///
/// A cost of zero is always admitted and never changes anything.
///
/// # Errors
///
/// [`CostExceedsLimit`] when `cost` is above the policy's capacity.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use gorl_core::{Policy, decide};
///
/// let policy = Policy::token_bucket(2, Duration::from_secs(1)).unwrap();
/// let second = 1_000_000_000;
/// let first = decide(&policy, None, 7 * second, 2).unwrap();
/// assert!(first.is_allowed());
///
/// let next = decide(&policy, Some(first.state()), 7 * second, 1).unwrap();
/// assert!(!next.is_allowed());
/// assert_eq!(next.retry_after(), Duration::from_millis(500));
/// ```
#[inline]
pub fn decide(
    policy: &Policy,
    state: Option<State>,
    now: u64,
    cost: u32,
) -> Result<Decision, CostExceedsLimit> {
    check_cost(policy, cost)?;
    Ok(decide_adopted(policy, state.map(|state| state.adopted_by(policy)), now, cost))
}

/// [`decide`] for a state that is known to have been written under this very policy, and a cost
/// that is known to fit: the form for a store's inner loop.
///
/// It saves the division that [`State::adopted_by`] costs a fixed window, and the check of the
/// cost. For a state of another policy the answer is wrong (though never a panic): call
/// [`State::adopted_by`] first. A cost above the capacity is denied, with a wait that means
/// nothing: call [`check_cost`] before or after.
#[inline(always)]
#[allow(clippy::match_same_arms)]
pub fn decide_adopted(policy: &Policy, state: Option<State>, now: u64, cost: u32) -> Decision {
    let (state, admits) = match policy.strategy() {
        Strategy::FixedWindow => stored(policy, fixed_window::step(policy, state, now, cost)),
        Strategy::SlidingWindow => stored(policy, sliding_window::step(policy, state, now, cost)),
        // Alike, yet apart: in an arm where the strategy is known, to turn what is spent back into
        // what is stored costs the buckets nothing.
        Strategy::TokenBucket => stored(policy, bucket::step(policy, state, now, cost)),
        Strategy::LeakyBucket => stored(policy, bucket::step(policy, state, now, cost)),
    };
    Decision::new(*policy, state, now, cost, admits)
}

/// A step's outcome with the state as it is stored.
#[inline(always)]
fn stored(policy: &Policy, (view, admits): (View, bool)) -> (State, bool) {
    (view.to_state(policy), admits)
}

/// Whether the policy can ever admit `cost` at once.
///
/// # Errors
///
/// [`CostExceedsLimit`] if it cannot.
#[inline]
pub const fn check_cost(policy: &Policy, cost: u32) -> Result<(), CostExceedsLimit> {
    let limit = policy.capacity();
    if cost > limit { Err(CostExceedsLimit { cost, limit }) } else { Ok(()) }
}

/// Gives `cost` back to a key, never past full; `None` when nothing is left to store.
///
/// Units go back where they count most now: a sliding window gives back to its current count
/// first, then to the previous one. A key at rest has nothing to take back, and a state that is
/// ignored because it lies too far ahead of `now` stays as it is.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use gorl_core::{Policy, decide, give_back};
///
/// let policy = Policy::leaky_bucket(10, Duration::from_secs(1)).unwrap();
/// let spent = decide(&policy, None, 0, 7).unwrap().state();
/// let after = give_back(&policy, spent, 0, 5).unwrap();
/// assert_eq!(decide(&policy, Some(after), 0, 0).unwrap().remaining(), 8);
/// assert_eq!(give_back(&policy, after, 0, 5), None);
/// ```
#[must_use]
pub fn give_back(policy: &Policy, state: State, now: u64, cost: u32) -> Option<State> {
    let adopted = state.adopted_by(policy);
    if is_too_far_ahead(policy, adopted, now) {
        return Some(state);
    }
    let state = Some(adopted);
    let view = match policy.strategy() {
        Strategy::FixedWindow => {
            let (view, _) = fixed_window::step(policy, state, now, 0);
            View { a: view.a.saturating_sub(cost), ..view }
        }
        Strategy::SlidingWindow => {
            let (view, _) = sliding_window::step(policy, state, now, 0);
            let rest = cost.saturating_sub(view.a);
            View { a: view.a.saturating_sub(cost), b: view.b.saturating_sub(rest), ..view }
        }
        Strategy::TokenBucket | Strategy::LeakyBucket => {
            let (view, _) = bucket::step(policy, state, now, 0);
            View { a: view.a.saturating_sub(cost), ..view }
        }
    };
    let nothing_spent = match policy.strategy() {
        Strategy::SlidingWindow => view.a == 0 && view.b == 0,
        _ => view.a == 0,
    };
    (!nothing_spent).then(|| view.to_state(policy))
}

/// What [`decide`] would answer, without spending: [`Decision::remaining`] is what is left before
/// the cost, and the state never changes.
///
/// # Errors
///
/// As [`decide`].
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use gorl_core::{Policy, peek};
///
/// let policy = Policy::fixed_window(3, Duration::from_secs(1)).unwrap();
/// let decision = peek(&policy, None, 0, 2).unwrap();
/// assert!(decision.is_allowed() && decision.remaining() == 3 && !decision.changes_state());
/// ```
#[inline]
pub fn peek(
    policy: &Policy,
    state: Option<State>,
    now: u64,
    cost: u32,
) -> Result<Decision, CostExceedsLimit> {
    decide(policy, state, now, cost).map(Decision::unspent)
}

/// When a state is worth as much as no state at all: the instant, in ticks, from which it may be
/// forgotten.
///
/// Saturates at [`u64::MAX`], which means that it may never be.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use gorl_core::{Policy, decide, rested_at};
///
/// let policy = Policy::sliding_window(10, Duration::from_nanos(50)).unwrap();
/// let state = decide(&policy, None, 20, 1).unwrap().state();
/// assert_eq!(rested_at(&policy, state), 120);
/// ```
#[must_use]
pub fn rested_at(policy: &Policy, state: State) -> u64 {
    let view = View::of(policy, state.adopted_by(policy));
    // Seen from instant zero, the wait until the key is full is the instant at which it is.
    u64::try_from(view.ticks_to_full(policy, 0).unwrap_or(0)).unwrap_or(u64::MAX)
}

/// Whether a state written under `policy` is worth no more than no state at `now`.
///
/// [`rested_at`] compared with `now`, without its divisions: what a sweeper asks of each entry.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use gorl_core::{Policy, decide, is_rested};
///
/// let policy = Policy::token_bucket(10, Duration::from_nanos(100)).unwrap();
/// let state = decide(&policy, None, 0, 3).unwrap().state();
/// assert!(!is_rested(&policy, state, 29));
/// assert!(is_rested(&policy, state, 30));
/// ```
#[must_use]
pub fn is_rested(policy: &Policy, state: State, now: u64) -> bool {
    let Some(elapsed) = now.checked_sub(state.at) else {
        // Its instant is still to come, so it is at rest only if it never was anything else.
        return rested_at(policy, state) == 0;
    };
    let window = policy.window_ticks();
    match policy.strategy() {
        Strategy::FixedWindow => state.a == 0 || elapsed >= window,
        Strategy::SlidingWindow if state.a == 0 => state.b == 0 || elapsed >= window,
        Strategy::SlidingWindow => elapsed.saturating_sub(window) >= window,
        Strategy::TokenBucket | Strategy::LeakyBucket => {
            bucket::is_empty_after(policy, View::of(policy, state), elapsed)
        }
    }
}

/// How much of the capacity is spent at `now`: `capacity - remaining`, the measure by which a full
/// store chooses what to forget.
#[must_use]
pub fn spent_at(policy: &Policy, state: State, now: u64) -> u32 {
    match decide(policy, Some(state), now, 0) {
        Ok(decision) => policy.capacity().saturating_sub(decision.remaining()),
        // Zero is never above a capacity.
        Err(_) => policy.capacity(),
    }
}

/// Whether `now` is in the window that begins at the state's instant. A `now` before it is not: the
/// difference must not wrap, or the end of time would come just before its beginning.
#[inline]
const fn is_current(policy: &Policy, state: State, now: u64) -> bool {
    now >= state.at && now.wrapping_sub(state.at) < policy.window_ticks()
}

/// Whether a state lies more than one window ahead of `now`, so that it is ignored: nobody is
/// locked out for longer than that by a clock that once ran ahead.
fn is_too_far_ahead(policy: &Policy, state: State, now: u64) -> bool {
    let ahead = state.at.saturating_sub(now);
    let fraction = policy.strategy().has_burst() && state.b > 0;
    ahead > policy.window_ticks() || (ahead == policy.window_ticks() && fraction)
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;

    const TEN: Duration = Duration::from_nanos(10);

    #[test]
    fn a_state_at_the_end_of_time_is_ignored_at_its_beginning() {
        let state = State { at: u64::MAX - 5, a: 4, b: 0 };
        for strategy in Strategy::ALL {
            let policy = Policy::new(strategy, 4, TEN).unwrap();
            for now in [0, 1, 4] {
                let seen = peek(&policy, Some(state), now, 4).unwrap();
                assert_eq!(seen, peek(&policy, None, now, 4).unwrap(), "{strategy} at {now}");
            }
        }
    }

    #[test]
    fn a_bucket_filled_by_a_lower_burst_is_as_new_when_the_clock_is_back() {
        let high = Policy::token_bucket(10, TEN).unwrap();
        let low = high.with_burst(5).unwrap();
        let state = decide(&high, None, 100, 3).unwrap().state();
        assert_eq!(rested_at(&low, state), 0);
        let seen = decide(&low, Some(state), 95, 1).unwrap();
        assert_eq!(seen, decide(&low, None, 95, 1).unwrap());
    }
    #[test]
    fn the_sweeper_sees_that_a_lower_burst_has_filled_a_bucket() {
        let high = Policy::token_bucket(10, TEN).unwrap();
        let low = high.with_burst(5).unwrap();
        let state = decide(&high, None, 100, 3).unwrap().state();
        assert!(is_rested(&low, state, 95));
        assert!(!is_rested(&high, state, 95));
    }
}
