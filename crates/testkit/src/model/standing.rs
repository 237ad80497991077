//! A key as it stands at one instant, whichever strategy counts it.

use gorl_core::{Policy, Strategy};
use num_traits::Zero;

use super::bucket::Bucket;
use super::fixed_window::FixedWindow;
use super::sliding_window::SlidingWindow;
use super::{Count, Figures, Q, Remembered, Rule, integer, whole};

/// A key as it stands at one instant.
#[derive(Clone, Debug)]
pub(super) enum Standing {
    FixedWindow(FixedWindow),
    SlidingWindow(SlidingWindow),
    Bucket(Bucket),
}

impl Standing {
    pub(super) fn fresh(policy: &Policy, now: u64) -> Self {
        let now = whole(now);
        match policy.strategy() {
            Strategy::FixedWindow => Self::FixedWindow(FixedWindow::fresh(&Rule::of(policy), &now)),
            Strategy::SlidingWindow => Self::SlidingWindow(SlidingWindow::fresh(now)),
            Strategy::TokenBucket | Strategy::LeakyBucket => Self::Bucket(Bucket::fresh(now)),
            other => unreachable!("the model does not know the strategy {other}"),
        }
    }

    /// Whether the state lies more than one window ahead, which is further than a clock may step
    /// back before its past is disbelieved.
    pub(super) fn is_too_far_ahead(&self, rule: &Rule, now: u64) -> bool {
        let at = match self {
            Self::FixedWindow(known) => &known.start,
            Self::SlidingWindow(known) => &known.start,
            Self::Bucket(known) => &known.at,
        };
        at - whole(now) > rule.window
    }

    /// The standing at `now`: what was written, brought forward, or as it is if the clock went
    /// back. One that has come to rest is as good as none.
    pub(super) fn at(self, policy: &Policy, now: u64) -> Self {
        let rule = Rule::of(policy);
        let then = whole(now);
        let later = match self {
            Self::FixedWindow(known) => Self::FixedWindow(known.at(&rule, &then)),
            Self::SlidingWindow(known) => Self::SlidingWindow(known.at(&rule, then)),
            Self::Bucket(known) => Self::Bucket(known.at(&rule, &then)),
        };
        if later.is_rested() { Self::fresh(policy, now) } else { later }
    }

    pub(super) fn is_rested(&self) -> bool {
        match self {
            Self::FixedWindow(known) => known.used.is_zero(),
            Self::SlidingWindow(known) => known.current.is_zero() && known.previous.is_zero(),
            Self::Bucket(known) => known.spent.is_zero(),
        }
    }

    pub(super) fn admits(&self, rule: &Rule, cost: &Q) -> bool {
        match self {
            Self::FixedWindow(known) => &known.used + cost <= rule.limit,
            Self::SlidingWindow(known) => known.estimate(rule) + cost <= rule.limit,
            Self::Bucket(known) => &known.spent + cost <= rule.capacity,
        }
    }

    pub(super) fn spend(&mut self, cost: &Q) {
        match self {
            Self::FixedWindow(known) => known.used += cost,
            Self::SlidingWindow(known) => known.current += cost,
            Self::Bucket(known) => known.spent += cost,
        }
    }

    pub(super) fn give_back(&mut self, cost: &Q) {
        match self {
            Self::FixedWindow(known) => known.used = (&known.used - cost).max(Q::zero()),
            Self::SlidingWindow(known) => known.give_back(cost),
            Self::Bucket(known) => known.spent = (&known.spent - cost).max(Q::zero()),
        }
    }

    pub(super) fn remember(self, policy: &Policy) -> Remembered {
        let count = match self {
            Self::FixedWindow(known) => Count::FixedWindow(known),
            Self::SlidingWindow(known) => Count::SlidingWindow(known.written()),
            Self::Bucket(Bucket { spent, at }) => match policy.strategy() {
                Strategy::TokenBucket => {
                    Count::TokenBucket { tokens: whole(policy.capacity()) - spent, at }
                }
                _ => Count::LeakyBucket { occupancy: spent, at },
            },
        };
        Remembered { policy: *policy, count }
    }

    pub(super) fn figures(&self, policy: &Policy, now: u64, cost: u32, allowed: bool) -> Figures {
        let rule = Rule::of(policy);
        let now = whole(now);
        let cost = whole(cost);
        let free = match self {
            Self::FixedWindow(known) => &rule.limit - &known.used,
            Self::SlidingWindow(known) => &rule.limit - known.estimate(&rule),
            Self::Bucket(known) => &rule.capacity - &known.spent,
        };
        let rested = match self {
            _ if self.is_rested() => now.clone(),
            Self::FixedWindow(known) => &known.start + &rule.window,
            Self::SlidingWindow(known) => known.rested_at(&rule),
            Self::Bucket(known) => known.spent_at_most(&rule, &Q::zero()),
        };
        let due = match self {
            Self::FixedWindow(known) => &known.start + &rule.window,
            Self::SlidingWindow(known) => known.admits_at(&rule, &cost),
            Self::Bucket(known) => known.spent_at_most(&rule, &(&rule.capacity - &cost)),
        };
        Figures {
            allowed,
            limit: policy.capacity(),
            remaining: integer(&free.floor().max(Q::zero())),
            // A caller can only come back at a whole tick: the first one that is not too early.
            reset_after: integer(&(rested.ceil() - &now)),
            retry_after: (!allowed).then(|| integer(&(due.ceil() - &now))),
        }
    }
}
