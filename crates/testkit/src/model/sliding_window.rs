//! Sliding window: the current count, and the share of the previous one that still overlaps.

use num_traits::Zero;

use super::{Q, Rule};

#[derive(Clone, Debug)]
pub(super) struct SlidingWindow {
    pub(super) start: Q,
    pub(super) current: Q,
    pub(super) previous: Q,
    /// How far into the current window the instant lies at which the key is looked at.
    into: Q,
}

impl SlidingWindow {
    /// Windows are anchored at the first request.
    pub(super) fn fresh(now: Q) -> Self {
        Self { start: now, current: Q::zero(), previous: Q::zero(), into: Q::zero() }
    }

    pub(super) fn at(self, rule: &Rule, now: Q) -> Self {
        let two = &rule.window + &rule.window;
        let into = (&now - &self.start).max(Q::zero());
        if into >= two {
            Self::fresh(now)
        } else if into >= rule.window {
            Self {
                start: &self.start + &rule.window,
                current: Q::zero(),
                previous: self.current,
                into: into - &rule.window,
            }
        } else {
            Self { into, ..self }
        }
    }

    /// The same key as it is written down, which is without the instant it was looked at.
    pub(super) fn written(self) -> Self {
        Self { into: Q::zero(), ..self }
    }

    pub(super) fn estimate(&self, rule: &Rule) -> Q {
        let overlap = (&rule.window - &self.into) / &rule.window;
        &self.previous * overlap + &self.current
    }

    pub(super) fn give_back(&mut self, cost: &Q) {
        let from_current = cost.min(&self.current).clone();
        let from_previous = (cost - &from_current).min(self.previous.clone());
        self.current -= from_current;
        self.previous -= from_previous;
    }

    pub(super) fn rested_at(&self, rule: &Rule) -> Q {
        let end = &self.start + &rule.window;
        if self.current.is_zero() { end } else { end + &rule.window }
    }

    /// The instant from which `cost` fits, when it does not yet.
    pub(super) fn admits_at(&self, rule: &Rule, cost: &Q) -> Q {
        let room = &rule.limit - &self.current - cost;
        if room >= Q::zero() {
            // The previous window's weight must fall to the room.
            decayed_to(rule, &self.start, &self.previous, &room)
        } else {
            // Only when the current window has become the previous one can its weight fall.
            let next = &self.start + &rule.window;
            decayed_to(rule, &next, &self.current, &(&rule.limit - cost))
        }
    }
}

/// When `count`, whose weight falls from one at `start` to zero a window later, weighs `room`.
fn decayed_to(rule: &Rule, start: &Q, count: &Q, room: &Q) -> Q {
    if count <= room {
        return start.clone();
    }
    start + &rule.window * (count - room) / count
}
