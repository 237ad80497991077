//! A key at an instant, and what its figures promise whatever its state holds.

use gorl_core::{
    CostExceedsLimit, Decision, Policy, State, Strategy, decide, decide_adopted, give_back,
    is_rested, peek, rested_at, spent_at,
};

/// A key at an instant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    pub(crate) policy: Policy,
    pub(crate) state: Option<State>,
    pub(crate) now: u64,
    /// A number for the theorems to use as they like.
    pub(crate) spare: u64,
}

impl Point {
    pub(crate) fn at(&self, now: u64) -> Self {
        Self { now, ..*self }
    }

    pub(crate) fn with(&self, state: Option<State>) -> Self {
        Self { state, ..*self }
    }

    /// The cost, or a smaller one that the policy can admit.
    pub(crate) fn within(&self, cost: u32) -> u32 {
        match self.policy.capacity().checked_add(1) {
            Some(costs) if cost >= costs => cost % costs,
            _ => cost,
        }
    }

    pub(crate) fn decide(&self, cost: u32) -> Decision {
        decide(&self.policy, self.state, self.now, cost).expect("within the capacity")
    }

    pub(crate) fn peek(&self, cost: u32) -> Decision {
        peek(&self.policy, self.state, self.now, cost).expect("within the capacity")
    }

    fn remaining(&self) -> u32 {
        self.peek(0).remaining()
    }

    /// Costs that are worth asking for here, each within the capacity.
    fn costs(&self) -> impl Iterator<Item = u32> + use<> {
        let capacity = self.policy.capacity();
        let left = self.remaining();
        let drawn = u32::try_from(self.spare >> 32).unwrap_or(0);
        let costs =
            [0, 1, left, left.saturating_add(1), capacity - 1, capacity, self.within(drawn)];
        costs.into_iter().filter(move |&cost| cost <= capacity)
    }

    /// Every theorem.
    pub(crate) fn check(&self) {
        self.remaining_is_exact();
        self.waits_are_exact();
        self.reset_is_exact();
        self.denials_change_nothing();
        self.costs_above_the_capacity_are_errors();
        if let Some(state) = self.state {
            self.rest_is_exact(state);
            self.giving_back_is_bounded(state);
            self.any_cost_is_answered(state);
        }
    }

    fn remaining_is_exact(&self) {
        let (capacity, left) = (self.policy.capacity(), self.remaining());
        assert!(left <= capacity, "{left} of {capacity}");
        assert!(self.peek(left).is_allowed(), "what remains is not admitted");
        assert!(left == capacity || !self.peek(left + 1).is_allowed(), "more than remains is");
        for cost in self.costs() {
            let (peeked, taken) = (self.peek(cost), self.decide(cost));
            assert_eq!(taken.is_allowed(), cost <= left || cost == 0, "cost {cost}");
            assert_eq!(taken.changes_state(), taken.is_allowed() && cost > 0, "cost {cost}");
            assert_eq!(taken.limit(), capacity);
            let after = if taken.changes_state() { Some(taken.state()) } else { self.state };
            assert_eq!(taken.remaining(), self.with(after).remaining(), "after {cost}");
            assert_eq!((peeked.is_allowed(), peeked.changes_state()), (taken.is_allowed(), false));
            assert_eq!(peeked.remaining(), left, "a peek at {cost} spends");
        }
    }

    fn waits_are_exact(&self) {
        let longest = self.longest_wait();
        for cost in self.costs() {
            let decision = self.peek(cost);
            let wait = decision.retry_after_ticks();
            assert_eq!(wait.is_none(), decision.is_allowed(), "cost {cost}");
            let Some(wait) = wait else {
                assert!(decision.retry_after().is_zero());
                continue;
            };
            assert!(wait > 0, "a denial with nothing to wait for");
            assert!(wait <= longest, "{wait} ticks to wait");
            let nanos = wait * u128::from(self.policy.tick().nanos());
            assert_eq!(decision.retry_after().as_nanos(), nanos);
            // An instant beyond the end of time cannot be asked about.
            if let Ok(due) = u64::try_from(u128::from(self.now) + wait) {
                assert!(self.at(due).peek(cost).is_allowed(), "{cost} is not admitted at {due}");
                assert!(!self.at(due - 1).peek(cost).is_allowed(), "{cost} is before {due}");
            }
        }
    }

    fn reset_is_exact(&self) {
        let decision = self.peek(0);
        let (wait, capacity) = (decision.reset_after_ticks(), self.policy.capacity());
        assert!(wait <= self.longest_wait(), "{wait} ticks to rest");
        let nanos = wait * u128::from(self.policy.tick().nanos());
        assert_eq!(decision.reset_after().as_nanos(), nanos);
        assert_eq!(wait == 0, decision.remaining() == capacity);
        if let Ok(full @ 1..) = u64::try_from(u128::from(self.now) + wait) {
            assert_eq!(self.at(full).remaining(), capacity, "not full at {full}");
            assert!(wait == 0 || self.at(full - 1).remaining() < capacity, "full before {full}");
        }
    }

    /// Nothing is to be written; and if the denial's state were, no later answer would differ.
    fn denials_change_nothing(&self) {
        let window = self.policy.window_ticks();
        for cost in self.costs() {
            let denied = self.decide(cost);
            if denied.is_allowed() {
                continue;
            }
            assert!(!denied.changes_state());
            let written = self.with(Some(denied.state()));
            for later in [0, 1, self.spare % window, window, self.spare % (3 * window)] {
                let Some(then) = self.now.checked_add(later) else { continue };
                let (seen, expected) = (written.at(then), self.at(then));
                for cost in self.costs() {
                    assert_eq!(seen.decide(cost), expected.decide(cost), "{later} later");
                }
            }
        }
    }

    fn costs_above_the_capacity_are_errors(&self) {
        let limit = self.policy.capacity();
        for cost in [limit.saturating_add(1), u32::MAX].into_iter().filter(|&cost| cost > limit) {
            let expected = Err(CostExceedsLimit { cost, limit });
            assert_eq!(decide(&self.policy, self.state, self.now, cost), expected);
            assert_eq!(peek(&self.policy, self.state, self.now, cost), expected);
        }
    }

    /// From its rest on a state answers as none does, and a tick before it does not.
    fn rest_is_exact(&self, state: State) {
        let (policy, window) = (&self.policy, self.policy.window_ticks());
        let rest = rested_at(policy, state);
        // No window is stored with nothing spent in it, so nobody promises what such a state answers.
        let foreign = match policy.strategy() {
            Strategy::FixedWindow => state.a == 0,
            Strategy::SlidingWindow => state.a == 0 && state.b == 0,
            _ => false,
        };
        // The last instant of all means never.
        if rest < u64::MAX && !foreign {
            let drawn = rest.saturating_add(self.spare % window);
            for now in [rest, rest + 1, drawn, rest.saturating_add(window), self.now.max(rest)] {
                let (seen, fresh) = (self.at(now), self.at(now).with(None));
                for cost in seen.costs() {
                    assert_eq!(seen.decide(cost), fresh.decide(cost), "at {now}");
                }
            }
        }
        if (1..u64::MAX).contains(&rest) {
            let before = self.at(rest - 1).remaining();
            assert!(before < policy.capacity(), "rested before {rest}");
        }
        // The sweeper asks about states of this policy only.
        let adopted = state.adopted_by(policy);
        assert_eq!(rested_at(policy, adopted), rest);
        for now in [rest.saturating_sub(1), rest, rest.saturating_add(1), self.now, 0] {
            if now < u64::MAX {
                assert_eq!(is_rested(policy, adopted, now), rest <= now, "at {now}");
            }
        }
    }

    fn giving_back_is_bounded(&self, state: State) {
        let (before, capacity) = (self.remaining(), self.policy.capacity());
        for cost in self.costs().chain([u32::MAX]) {
            let left = give_back(&self.policy, state, self.now, cost);
            let after = self.with(left).remaining();
            assert!(after >= before, "{cost} given back, {before} then {after}");
            assert!(after <= before.saturating_add(cost).min(capacity), "more than was given");
            assert!(left.is_some() || after == capacity);
        }
    }

    /// For what was not adopted, and costs that never fit, the answer may be wrong, but it is one.
    fn any_cost_is_answered(&self, state: State) {
        let capacity = self.policy.capacity();
        for cost in self.costs().chain([capacity.saturating_add(1), u32::MAX]) {
            let decision = decide_adopted(&self.policy, Some(state), self.now, cost);
            let _ = (decision.remaining(), decision.reset_after(), decision.retry_after());
            assert!(cost <= capacity || !decision.is_allowed());
            let _ = (decision.unspent(), give_back(&self.policy, state, self.now, cost));
        }
        let _ = is_rested(&self.policy, state, self.now);
        let spent = spent_at(&self.policy, state, self.now);
        assert_eq!(spent, capacity - self.remaining());
    }

    /// The longest that a state which is not ignored can make anybody wait.
    fn longest_wait(&self) -> u128 {
        let window = u128::from(self.policy.window_ticks());
        match self.policy.strategy() {
            Strategy::FixedWindow => 2 * window,
            Strategy::SlidingWindow => 3 * window,
            // A leaky bucket may be fuller than its capacity after that was lowered.
            _ => window + (u128::from(u32::MAX) * window).div_ceil(self.policy.limit().into()) + 1,
        }
    }
}
