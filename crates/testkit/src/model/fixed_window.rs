//! Fixed window: what was used in the window that holds an instant.

use num_traits::Zero;

use super::{Q, Rule};

#[derive(Clone, Debug)]
pub(super) struct FixedWindow {
    pub(super) start: Q,
    pub(super) used: Q,
}

impl FixedWindow {
    pub(super) fn fresh(rule: &Rule, now: &Q) -> Self {
        Self { start: start_of(rule, now), used: Q::zero() }
    }

    /// The same use, in the window of the rule that holds the start of the window it was made in.
    pub(super) fn aligned_to(&self, rule: &Rule) -> Self {
        Self { start: start_of(rule, &self.start), used: self.used.clone() }
    }

    pub(super) fn at(self, rule: &Rule, now: &Q) -> Self {
        if start_of(rule, now) > self.start { Self::fresh(rule, now) } else { self }
    }
}

/// Windows are counted from the Unix epoch.
fn start_of(rule: &Rule, instant: &Q) -> Q {
    (instant / &rule.window).floor() * &rule.window
}
