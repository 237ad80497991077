//! Rest and giving back: what may be forgotten, and what can be taken back.

use gorl_core::{give_back, is_rested, rested_at};
use proptest::prelude::*;

use super::story::{Point, Verdict, stories_with_changes};
use super::theorems;

theorems! {
    seeds in "theorems-rest.txt";
    /// From `rested_at` on a state answers as none does, for every cost; a tick before it does not
    /// if anything is spent. So forgetting cannot be observed.
    a_rested_state_is_no_state in stories_with_changes() => rested;
    /// The sweeper's question has the same answer as the instant of rest.
    is_rested_agrees_with_rested_at in stories_with_changes() => agrees;
    /// Giving back raises what remains by no more than was given, never past full, and a key that
    /// has nothing spent is to be removed.
    giving_back_is_never_past_full in stories_with_changes() => given_back;
    /// What was just spent and is given back leaves what was there.
    giving_back_undoes_spending in stories_with_changes() => undone;
}

fn rested(point: &Point) -> Verdict {
    let Some(state) = point.state else {
        return Ok(());
    };
    let (policy, window) = (&point.policy, point.policy.window_ticks());
    let rest = rested_at(policy, state);
    let drawn = rest.saturating_add(point.spare % window);
    // The last instant of all means never.
    if rest < u64::MAX {
        for now in [rest, rest + 1, drawn, rest.saturating_add(window), point.now.max(rest)] {
            let point = point.at(now);
            for cost in point.costs() {
                prop_assert_eq!(point.decide(cost), point.fresh().decide(cost), "at {}", now);
            }
        }
    }
    if rest > 0 {
        let before = point.at(rest - 1).remaining();
        prop_assert!(before < policy.capacity(), "rested before {}", rest);
    }
    Ok(())
}

fn agrees(point: &Point) -> Verdict {
    let Some(state) = point.state else {
        return Ok(());
    };
    let state = state.adopted_by(&point.policy);
    let rest = rested_at(&point.policy, state);
    let near = [rest.saturating_sub(1), rest, rest.saturating_add(1), point.now, 0];
    for now in near.into_iter().filter(|&now| now < u64::MAX) {
        prop_assert_eq!(is_rested(&point.policy, state, now), rest <= now, "at {}", now);
    }
    Ok(())
}

fn given_back(point: &Point) -> Verdict {
    let Some(state) = point.state else {
        return Ok(());
    };
    let (policy, before) = (&point.policy, point.remaining());
    let ignored = point.peek(0).state() == point.fresh().peek(0).state();
    for cost in point.costs().into_iter().chain([u32::MAX]) {
        let left = give_back(policy, state, point.now, cost);
        let after = Point { state: left, ..*point }.remaining();
        prop_assert!(after >= before);
        prop_assert!(after <= before.saturating_add(cost).min(policy.capacity()));
        if left.is_none() {
            prop_assert_eq!(after, policy.capacity());
        } else if !ignored {
            prop_assert!(after < policy.capacity(), "nothing is spent, but it is kept");
        }
    }
    Ok(())
}

fn undone(point: &Point) -> Verdict {
    for cost in point.costs() {
        let decision = point.decide(cost);
        if decision.changes_state() {
            let left = give_back(&point.policy, decision.state(), point.now, cost);
            let after = Point { state: left, ..*point };
            prop_assert_eq!(after.remaining(), point.remaining(), "cost {}", cost);
            let (seen, expected) = (after.peek(0), point.peek(0));
            prop_assert_eq!(seen.reset_after_ticks(), expected.reset_after_ticks());
        }
    }
    Ok(())
}
