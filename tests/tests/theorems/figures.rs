//! What the figures of a decision promise.

use gorl_core::{CostExceedsLimit, decide, peek, spent_at};
use proptest::prelude::*;

use super::story::{Point, Verdict, stories_with_changes};
use super::theorems;

theorems! {
    seeds in "theorems-figures.txt";
    /// Exactly `remaining` is admitted, and one more is not.
    remaining_is_the_largest_cost_that_is_admitted in stories_with_changes() => remaining;
    /// Waiting exactly `retry_after` one is admitted, a tick less and one is not; it is never zero.
    retry_after_is_exact in stories_with_changes() => retry_after;
    /// After exactly `reset_after` nothing is spent, a tick less and something is.
    reset_after_is_exact in stories_with_changes() => reset_after;
    /// A denial is to be written nowhere; and if it were, no later answer would differ.
    a_denial_changes_nothing in stories_with_changes() => denial;
    /// A cost above the capacity is an error that says both, whatever the state.
    a_cost_above_the_capacity_is_an_error in stories_with_changes() => too_costly;
    /// A cost of zero is admitted, and leaves everything as it is.
    a_cost_of_zero_is_free in stories_with_changes() => zero;
    /// A peek answers as the decision would, before the cost.
    a_peek_foretells_the_decision in stories_with_changes() => foretold;
    /// What is spent and what remains add up to the capacity.
    spent_and_remaining_are_the_capacity in stories_with_changes() => spent;
}

pub(crate) fn remaining(point: &Point) -> Verdict {
    let capacity = point.policy.capacity();
    let remaining = point.remaining();
    prop_assert!(remaining <= capacity);
    prop_assert!(point.peek(remaining).is_allowed());
    if remaining < capacity {
        prop_assert!(!point.peek(remaining + 1).is_allowed());
    }
    for cost in point.costs() {
        let decision = point.decide(cost);
        prop_assert_eq!(decision.is_allowed(), cost <= remaining || cost == 0);
        let state = if decision.changes_state() { Some(decision.state()) } else { point.state };
        let after = Point { state, ..*point };
        prop_assert_eq!(decision.remaining(), after.remaining(), "after spending {}", cost);
        prop_assert_eq!(decision.limit(), capacity);
    }
    Ok(())
}

pub(crate) fn retry_after(point: &Point) -> Verdict {
    for cost in point.costs() {
        let decision = point.peek(cost);
        let wait = decision.retry_after_ticks();
        prop_assert_eq!(wait.is_none(), decision.is_allowed());
        let in_nanos = wait.unwrap_or(0) * u128::from(point.policy.tick().nanos());
        prop_assert_eq!(decision.retry_after().as_nanos(), in_nanos);
        let Some(wait) = wait else { continue };
        prop_assert!(wait > 0, "a denial with nothing to wait for");
        // An instant beyond the end of time cannot be asked about.
        if let Ok(due) = u64::try_from(u128::from(point.now) + wait) {
            prop_assert!(point.at(due).peek(cost).is_allowed(), "not at {}", due);
            prop_assert!(!point.at(due - 1).peek(cost).is_allowed(), "before {}", due);
        }
    }
    Ok(())
}

pub(crate) fn reset_after(point: &Point) -> Verdict {
    let capacity = point.policy.capacity();
    let decision = point.peek(0);
    let wait = decision.reset_after_ticks();
    let in_nanos = wait * u128::from(point.policy.tick().nanos());
    prop_assert_eq!(decision.reset_after().as_nanos(), in_nanos);
    prop_assert_eq!(wait == 0, decision.remaining() == capacity);
    if wait == 0 {
        return Ok(());
    }
    if let Ok(full) = u64::try_from(u128::from(point.now) + wait) {
        prop_assert_eq!(point.at(full).remaining(), capacity, "not at {}", full);
        prop_assert!(point.at(full - 1).remaining() < capacity, "before {}", full);
    }
    Ok(())
}

fn denial(point: &Point) -> Verdict {
    for cost in point.costs() {
        let denied = point.decide(cost);
        if denied.is_allowed() {
            continue;
        }
        prop_assert!(!denied.changes_state());
        let written = Point { state: Some(denied.state()), ..*point };
        let window = point.policy.window_ticks();
        for later in [0, 1, point.spare % window, window, point.spare % (3 * window)] {
            let Some(then) = point.now.checked_add(later) else {
                continue;
            };
            for cost in point.costs() {
                let (seen, expected) = (written.at(then).decide(cost), point.at(then).decide(cost));
                prop_assert_eq!(seen, expected, "{} ticks later, cost {}", later, cost);
            }
        }
    }
    Ok(())
}

fn too_costly(point: &Point) -> Verdict {
    let limit = point.policy.capacity();
    for cost in [limit.checked_add(1), Some(u32::MAX)].into_iter().flatten() {
        if cost > limit {
            let expected = Err(CostExceedsLimit { cost, limit });
            prop_assert_eq!(decide(&point.policy, point.state, point.now, cost), expected);
            prop_assert_eq!(peek(&point.policy, point.state, point.now, cost), expected);
        }
    }
    Ok(())
}

fn zero(point: &Point) -> Verdict {
    let decision = point.decide(0);
    prop_assert!(decision.is_allowed());
    prop_assert!(!decision.changes_state());
    prop_assert_eq!(decision.retry_after_ticks(), None);
    prop_assert_eq!(decision, point.peek(0));
    Ok(())
}

fn foretold(point: &Point) -> Verdict {
    for cost in point.costs() {
        let (peeked, decided) = (point.peek(cost), point.decide(cost));
        prop_assert!(!peeked.changes_state());
        prop_assert_eq!(peeked.is_allowed(), decided.is_allowed());
        prop_assert_eq!(peeked.retry_after_ticks(), decided.retry_after_ticks());
        prop_assert_eq!(peeked.remaining(), point.remaining());
        prop_assert_eq!(decided.changes_state(), decided.is_allowed() && cost > 0);
        if !decided.changes_state() {
            prop_assert_eq!(peeked, decided);
        }
    }
    Ok(())
}

fn spent(point: &Point) -> Verdict {
    if let Some(state) = point.state {
        let spent = spent_at(&point.policy, state, point.now);
        prop_assert_eq!(spent + point.remaining(), point.policy.capacity());
    }
    Ok(())
}
