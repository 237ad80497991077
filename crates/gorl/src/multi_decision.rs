//! What several limits say together.

use std::sync::Arc;
use std::time::Duration;

use gorl_core::Decision;
use smallvec::SmallVec;

use crate::MultiPolicy;

/// The answer of one or several limits: admitted if all admit, and then each has spent; otherwise none
/// has.
///
/// # Examples
///
/// ```
/// # #[cfg(feature = "memory")] {
/// use std::time::Duration;
/// use gorl::{MultiPolicy, Policy, ResourceLimiter, ResourcePolicies};
///
/// let second = Policy::fixed_window(2, Duration::from_secs(3600))?;
/// let day = Policy::fixed_window(10, Duration::from_secs(86_400))?;
/// let both = MultiPolicy::named("hour", second)?.and("day", day)?;
/// let limiter = ResourceLimiter::new(ResourcePolicies::new(both));
/// for left in [1, 0] {
///     assert_eq!(limiter.check("search", "user-1").remaining(), left);
/// }
/// let denied = limiter.check("search", "user-1");
/// assert!(!denied.is_allowed());
/// assert_eq!(denied.binding().0, "hour");
/// // What the other limit has left was not spent.
/// let left: Vec<_> = denied.iter().map(|(name, one)| (name, one.remaining())).collect();
/// assert_eq!(left, [("hour", 0), ("day", 8)]);
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a decision that nobody looks at limits nothing"]
pub struct MultiDecision {
    /// The names of the limits, unless there is one alone, which has none.
    names: Option<Arc<MultiPolicy>>,
    decisions: SmallVec<[Decision; 1]>,
}

impl MultiDecision {
    /// One decision for each limit of the policy, in their order.
    pub(crate) fn new(policy: &Arc<MultiPolicy>, decisions: SmallVec<[Decision; 1]>) -> Self {
        debug_assert_eq!(policy.len(), decisions.len(), "each limit decides");
        let has_names = !policy.name(0).is_empty();
        Self { names: has_names.then(|| Arc::clone(policy)), decisions }
    }

    /// Whether all limits admitted the cost (or, for a peek, would).
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        self.decisions.iter().all(Decision::is_allowed)
    }

    /// Whether one of the decisions was made without the store.
    #[must_use]
    pub fn is_degraded(&self) -> bool {
        self.decisions.iter().any(Decision::is_degraded)
    }

    /// The largest cost that would be admitted now: the least that a limit has left.
    #[must_use]
    pub fn remaining(&self) -> u32 {
        self.decisions.iter().map(Decision::remaining).min().unwrap_or(0)
    }

    /// The capacity of the [binding](Self::binding) limit.
    #[must_use]
    pub fn limit(&self) -> u32 {
        self.binding().1.limit()
    }

    /// How long a denied caller must wait to be admitted if nobody else spends: the longest wait of
    /// the limits that denied. Zero when it was admitted.
    #[must_use]
    pub fn retry_after(&self) -> Duration {
        self.decisions.iter().map(Decision::retry_after).max().unwrap_or(Duration::ZERO)
    }

    /// How long until nothing is spent under any limit.
    #[must_use]
    pub fn reset_after(&self) -> Duration {
        self.decisions.iter().map(Decision::reset_after).max().unwrap_or(Duration::ZERO)
    }

    /// The limit that decides what the caller can do next: of those that denied the one that it has to
    /// wait for longest, otherwise the one that has least left.
    pub fn binding(&self) -> (&str, &Decision) {
        let index = binding(&self.decisions);
        (self.name(index), &self.decisions[index])
    }

    /// Every limit by its name, in the order of the [`MultiPolicy`]; a policy alone has an empty name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Decision)> {
        self.decisions.iter().enumerate().map(|(index, decision)| (self.name(index), decision))
    }

    /// How many limits decided; at least one.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "there is always one")]
    pub fn len(&self) -> usize {
        self.decisions.len()
    }

    fn name(&self, index: usize) -> &str {
        self.names.as_ref().map_or("", |names| names.name(index))
    }
}

/// Which of the decisions, of which there is at least one, binds.
fn binding(decisions: &[Decision]) -> usize {
    if decisions.len() == 1 {
        return 0;
    }
    let numbered = || decisions.iter().enumerate();
    let denied = numbered().filter(|(_, decision)| !decision.is_allowed());
    // The first of equals: `max_by_key` would take the last.
    let longest = denied.rev().max_by_key(|(_, decision)| decision.retry_after());
    let least = || numbered().min_by_key(|(_, decision)| decision.remaining());
    longest.or_else(least).map_or(0, |(index, _)| index)
}
