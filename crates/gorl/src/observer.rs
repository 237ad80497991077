//! Who wants to know what became of requests: metrics, logs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gorl_core::{DecideError, Decision, StoreErrorKind};

use crate::BreakerState;

/// Hears what becomes of the requests of a limiter.
///
/// It is called in the task of the request, under no lock, and should be quick. It never sees a key. What it
/// does not care for it need not implement. It must not panic; if it does, the panic is the request's, and
/// the limiter goes on.
///
/// Without an observer nothing is paid for it: no clock is read.
///
/// # Examples
///
/// ```
/// # #[cfg(feature = "memory")] {
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use std::time::Duration;
/// use gorl::{Observed, Observer, Policy, ResourceLimiter, ResourcePolicies};
///
/// #[derive(Default)]
/// struct Denials(AtomicU64);
///
/// impl Observer for Denials {
///     fn decided(&self, observed: &Observed<'_>) {
///         if !observed.is_allowed {
///             self.0.fetch_add(1, Ordering::Relaxed);
///         }
///     }
/// }
///
/// let denials = Arc::new(Denials::default());
/// let policies = ResourcePolicies::new(Policy::fixed_window(1, Duration::from_secs(3600))?);
/// let observer = Arc::clone(&denials);
/// let limiter = ResourceLimiter::builder(policies).observer(observer).build();
/// let _ = (limiter.check("x", "a"), limiter.check("x", "a"));
/// assert_eq!(denials.0.load(Ordering::Relaxed), 1);
/// # }
/// # Ok::<(), gorl::PolicyError>(())
/// ```
pub trait Observer: Send + Sync {
    /// A request was decided on. Peeks are decisions too.
    fn decided(&self, observed: &Observed<'_>) {
        let _ = observed;
    }

    /// A request ended with the store's error, after so long.
    fn failed(&self, resource: &str, kind: StoreErrorKind, latency: Duration) {
        let _ = (resource, kind, latency);
    }

    /// The store failed, whatever the failure policy made of it; or it was not asked, as it failed
    /// before.
    fn store_error(&self, resource: &str, kind: StoreErrorKind) {
        let _ = (resource, kind);
    }

    /// The breaker came to another state.
    fn breaker_changed(&self, resource: &str, state: BreakerState) {
        let _ = (resource, state);
    }
}

impl<O: Observer + ?Sized> Observer for Arc<O> {
    fn decided(&self, observed: &Observed<'_>) {
        (**self).decided(observed);
    }

    fn failed(&self, resource: &str, kind: StoreErrorKind, latency: Duration) {
        (**self).failed(resource, kind, latency);
    }

    fn store_error(&self, resource: &str, kind: StoreErrorKind) {
        (**self).store_error(resource, kind);
    }

    fn breaker_changed(&self, resource: &str, state: BreakerState) {
        (**self).breaker_changed(resource, state);
    }
}

/// A decision as an [`Observer`] hears of it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Observed<'a> {
    /// The resource, if it has policies of its own, and otherwise `default`; the limiter's name, if it is
    /// for one policy. There are no more of these than there are policies.
    pub resource: &'a str,
    /// The limit that binds, where several apply to the resource.
    pub limit: &'a str,
    /// Whether the request was admitted.
    pub is_allowed: bool,
    /// The binding decision.
    pub decision: &'a Decision,
    /// How long it took, with the store's part in it.
    pub latency: Duration,
}

/// What all resources without policies of their own are called.
pub(crate) const DEFAULT_RESOURCE: &str = "default";

/// An observer, and what it calls a limiter.
#[derive(Clone)]
pub(crate) struct Watching {
    pub(crate) name: Arc<str>,
    pub(crate) observer: Arc<dyn Observer>,
}

/// A request that is observed, from its beginning.
pub(crate) struct Begun<'a> {
    watching: &'a Watching,
    at: Instant,
}

impl Watching {
    pub(crate) fn new(name: &str, observer: impl Observer + 'static) -> Self {
        Self { name: Arc::from(name), observer: Arc::new(observer) }
    }

    pub(crate) fn begin(&self) -> Begun<'_> {
        Begun { watching: self, at: Instant::now() }
    }
}

impl Begun<'_> {
    /// Tells of the one decision of a limiter.
    pub(crate) fn end(self, answer: Result<&Decision, &DecideError>) {
        let name = Arc::clone(&self.watching.name);
        match answer {
            Ok(decision) => self.decided(&name, "", decision.is_allowed(), decision),
            Err(error) => self.failed(&name, error),
        }
    }

    pub(crate) fn decided(self, resource: &str, limit: &str, is_allowed: bool, of: &Decision) {
        let latency = self.at.elapsed();
        let observed = Observed { resource, limit, is_allowed, decision: of, latency };
        self.watching.observer.decided(&observed);
    }

    pub(crate) fn failed(self, resource: &str, error: &DecideError) {
        if let DecideError::Store(error) = error {
            self.watching.observer.failed(resource, error.kind(), self.at.elapsed());
        }
    }
}
