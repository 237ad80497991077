//! Denials, failures and the breaker, as log events.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use gorl::{BreakerState, Observed, Observer, StoreErrorKind};
use tracing::{debug, info, warn};

/// An [`Observer`] that writes events by the facade `tracing`, and hands on to another observer.
///
/// - Denials at `DEBUG`, with `resource`, `limit`, `retry_after_ms` and `origin`.
/// - Failures of the store at `WARN`, the 1st, 2nd, 4th, 8th … time of each kind, with `resource`, `kind` and
///   `times`.
/// - The breaker at `WARN` when it opens, at `INFO` otherwise, with `resource` and `state`.
///
/// No event holds a key.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use gorl::{Policy, ResourceLimiter, ResourcePolicies};
/// use gorl_metrics::{Metrics, Traced};
///
/// let policies = ResourcePolicies::new(Policy::sliding_window(100, Duration::from_secs(60))?);
/// let limiter = ResourceLimiter::builder(policies).observer(Traced::and(Metrics::new())).build();
/// # assert!(limiter.check("a", "b").is_allowed());
/// # Ok::<(), gorl::PolicyError>(())
/// ```
#[derive(Default)]
pub struct Traced {
    /// Failures so far, by kind: a flood of one must not hide the first of another.
    errors: [AtomicU64; KINDS],
    next: Option<Box<dyn Observer>>,
}

/// How many kinds of failures are told apart.
const KINDS: usize = 6;

impl Traced {
    /// Events alone.
    #[must_use]
    pub const fn new() -> Self {
        Self { errors: [const { AtomicU64::new(0) }; KINDS], next: None }
    }

    /// Events, and another observer that hears the same.
    #[must_use]
    pub fn and(next: impl Observer + 'static) -> Self {
        Self { next: Some(Box::new(next)), ..Self::new() }
    }
}

impl Observer for Traced {
    fn decided(&self, observed: &Observed<'_>) {
        if !observed.is_allowed {
            let Observed { resource, limit, decision, .. } = *observed;
            let retry_after_ms =
                u64::try_from(decision.retry_after().as_millis()).unwrap_or(u64::MAX);
            let origin = decision.origin().as_str();
            debug!(resource, limit, retry_after_ms, origin, "denied");
        }
        if let Some(next) = &self.next {
            next.decided(observed);
        }
    }

    fn failed(&self, resource: &str, kind: StoreErrorKind, latency: Duration) {
        if let Some(next) = &self.next {
            next.failed(resource, kind, latency);
        }
    }

    fn store_error(&self, resource: &str, kind: StoreErrorKind) {
        // What is not asked has not failed anew, and a store that is gone fails every request.
        if kind != StoreErrorKind::CircuitOpen {
            let times = self.errors[place(kind)].fetch_add(1, Ordering::Relaxed).wrapping_add(1);
            if times.is_power_of_two() {
                warn!(resource, kind = kind.as_str(), times, "the store fails");
            }
        }
        if let Some(next) = &self.next {
            next.store_error(resource, kind);
        }
    }

    fn breaker_changed(&self, resource: &str, state: BreakerState) {
        let name = state.as_str();
        if state == BreakerState::Open {
            warn!(resource, state = name, "the store is left alone for a while");
        } else {
            info!(resource, state = name, "the breaker changed");
        }
        if let Some(next) = &self.next {
            next.breaker_changed(resource, state);
        }
    }
}

/// The place of a kind among the counters; one that a later version adds counts as other.
const fn place(kind: StoreErrorKind) -> usize {
    match kind {
        StoreErrorKind::Unavailable => 0,
        StoreErrorKind::Timeout => 1,
        StoreErrorKind::ForeignValue => 2,
        StoreErrorKind::Unsupported => 3,
        StoreErrorKind::Policy => 4,
        _ => KINDS - 1,
    }
}

impl std::fmt::Debug for Traced {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Traced").field("errors", &self.errors).finish_non_exhaustive()
    }
}
