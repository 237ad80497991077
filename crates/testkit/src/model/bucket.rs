//! Both buckets: a whole count of what is spent and the exact instant at which it was that.

use num_traits::Zero;

use super::{Q, Rule, whole};

#[derive(Clone, Debug)]
pub(super) struct Bucket {
    pub(super) spent: Q,
    pub(super) at: Q,
}

impl Bucket {
    pub(super) fn fresh(now: Q) -> Self {
        Self { spent: Q::zero(), at: now }
    }

    /// The spent level is a line that falls by one in `window / limit`; a cost fits exactly when
    /// it fits the whole units that are left of it, so the line is cut at the last instant at
    /// which it passed a whole number.
    pub(super) fn at(self, rule: &Rule, now: &Q) -> Self {
        if *now <= self.at {
            return self;
        }
        let level = &self.spent - (now - &self.at) * &rule.limit / &rule.window;
        if level <= Q::zero() {
            return Self::fresh(now.clone());
        }
        let units = level.ceil();
        let at = &self.at + (&self.spent - &units) * &rule.window / &rule.limit;
        Self { spent: units, at }
    }

    /// The instant from which no more than `most` is spent.
    pub(super) fn spent_at_most(&self, rule: &Rule, most: &Q) -> Q {
        &self.at + (&self.spent - most) * &rule.window / &rule.limit
    }
}

/// The instant as another policy reads it.
///
/// This is the one rounding that the definitions allow: a state has 32 bits for the fraction of a
/// tick, in units of one limit-th, so under another limit the same number is read in other units,
/// and kept below one tick. The instant shifts by less than a tick, and never later when the limit
/// is raised.
pub(super) fn reread(at: &Q, written_by: u32, read_by: u32) -> Q {
    if written_by == read_by {
        return at.clone();
    }
    let tick = at.floor();
    let parts = (at - &tick) * whole(written_by);
    tick + parts.min(whole(read_by - 1)) / whole(read_by)
}
