//! Policy changes over live state.

use gorl_core::{Policy, Strategy as Counting, decide_adopted};
use proptest::prelude::*;

use super::story::{Change, Point, Verdict, changes, policies, stories, stories_with_changes};
use super::theorems;

theorems! {
    seeds in "theorems-change.txt";
    /// A reload of the same policy changes nothing, not even the state.
    a_reload_of_the_same_policy_changes_nothing in stories() => reload;
    /// Looking at a key under another policy, and back, changes nothing.
    a_state_of_another_policy_is_read_as_if_adopted in stories_with_changes() => adopted;
}

fn reload(point: &Point) -> Verdict {
    let Some(state) = point.state else {
        return Ok(());
    };
    prop_assert_eq!(state.adopted_by(&point.policy), state);
    for cost in point.costs() {
        let decision = decide_adopted(&point.policy, Some(state), point.now, cost);
        prop_assert_eq!(decision, point.decide(cost));
    }
    Ok(())
}

fn adopted(point: &Point) -> Verdict {
    let Some(state) = point.state else {
        return Ok(());
    };
    let once = state.adopted_by(&point.policy);
    prop_assert_eq!(once.adopted_by(&point.policy), once);
    let adopted = Point { state: Some(once), ..*point };
    for cost in point.costs() {
        prop_assert_eq!(adopted.decide(cost), point.decide(cost));
    }
    Ok(())
}

/// The seeds of the theorems below, which take a change with the story.
const SEEDS: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/proptest-regressions/theorems-change.txt");

proptest! {
    #![proptest_config(super::config(SEEDS))]

    /// A higher limit, a larger burst or a shorter window never turns an admission into a denial,
    /// and leaves no less.
    #[test]
    fn a_raise_never_turns_an_admission_into_a_denial(
        story in stories_with_changes(),
        change in changes(),
    ) {
        let up = |(up, down): (u16, u16)| (up.max(down), down.min(up));
        let down = |(up, down): (u16, u16)| (up.min(down), down.max(up));
        // A shorter fixed window is no raise: it is cut at other instants, so that one may hold
        // both now and a use that the longer one had left behind.
        let aligned = story.policy.strategy() == Counting::FixedWindow;
        let raise = Change {
            limit: up(change.limit),
            burst: up(change.burst),
            window: if aligned { (1, 1) } else { down(change.window) },
        };
        story.each_point(|point| {
            let raised = Point { policy: raise.of(&point.policy), ..*point };
            prop_assert!(is_raise(&point.policy, &raised.policy));
            for cost in point.costs() {
                if point.peek(cost).is_allowed() {
                    prop_assert!(raised.peek(cost).is_allowed(), "{} under {}", cost, raised.policy);
                }
            }
            prop_assert!(raised.remaining() >= point.remaining());
            Ok(())
        })?;
    }

    /// Whatever the change, what is admitted after it is no more than one capacity of the new
    /// policy and what its rate earns: no state is worth more than none.
    #[test]
    fn no_change_hands_out_more_than_one_new_capacity(
        story in stories_with_changes(),
        change in changes(),
    ) {
        story.each_point(|point| {
            let changed = Point { policy: change.of(&point.policy), ..*point };
            let (admitted, passed) = greedily(changed);
            let bound = most_of_a_fresh_key(&changed.policy, point.now, passed);
            prop_assert!(admitted <= bound, "{} of {} in {}", admitted, bound, passed);
            Ok(())
        })?;
    }

    /// The state after any change stays within the bounds of the new policy.
    #[test]
    fn a_lowered_policy_never_underflows(
        story in stories_with_changes(),
        to in policies(),
    ) {
        story.each_point(|point| {
            if to.strategy() == point.policy.strategy() && to.tick() == point.policy.tick() {
                let changed = Point { policy: to, ..*point };
                super::figures::remaining(&changed)?;
                super::figures::retry_after(&changed)?;
                super::figures::reset_after(&changed)?;
            }
            Ok(())
        })?;
    }
}

fn is_raise(old: &Policy, new: &Policy) -> bool {
    new.limit() >= old.limit()
        && new.capacity() >= old.capacity()
        && new.window_ticks() <= old.window_ticks()
}

/// Takes all that is left, waits as told, and again; what was admitted, and the time it took.
fn greedily(mut point: Point) -> (u128, u64) {
    let (start, mut admitted) = (point.now, 0);
    for _ in 0..8 {
        let left = point.remaining();
        let decision = point.decide(left);
        if decision.changes_state() {
            point.state = Some(decision.state());
            admitted += u128::from(left);
        }
        let due = point.after(point.peek(1).retry_after_ticks().unwrap_or(0));
        // The first instant after the last taking does not count.
        if due == u64::MAX || due == point.now {
            break;
        }
        point.now = due;
    }
    (admitted, point.now - start)
}

/// The most that a key which was never seen is admitted from `now` until `passed` later.
fn most_of_a_fresh_key(policy: &Policy, now: u64, passed: u64) -> u128 {
    let (limit, window) = (u128::from(policy.limit()), u128::from(policy.window_ticks()));
    let capacity = u128::from(policy.capacity());
    match policy.strategy() {
        strategy if strategy.has_burst() => capacity + u128::from(passed) * limit / window,
        Counting::FixedWindow => {
            let (first, last) = (u128::from(now) / window, u128::from(now + passed) / window);
            (last - first + 1) * limit
        }
        // Each window of a sliding pair admits at most the limit, and one may be under way.
        _ => (u128::from(passed) / window + 2) * limit,
    }
}
