//! What became of the requests under a limit, in totals and as events.

use std::sync::atomic::{AtomicU64, Ordering};

use gorl::Decision;

/// What became of the requests under a limit, in totals since it was built. Nothing here grows with
/// the number of keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// Requests that the limit admitted.
    pub allowed: u64,
    /// Requests that it denied. Those that another limit denied count nowhere but there.
    pub denied: u64,
    /// Requests that it would have denied, were it not in the shadow.
    pub shadow_denied: u64,
    /// Decisions that were made without the store, of either kind.
    pub degraded: u64,
    /// Requests that ended with the store's error.
    pub failed: u64,
    /// Requests that had no key and were refused for it.
    pub without_key: u64,
    /// Requests that could never fit.
    pub too_costly: u64,
    /// Admissions that were given back, since another limit denied or the status was not to be
    /// charged.
    pub given_back: u64,
}

/// What became of a request under one limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// Admitted.
    Allowed,
    /// Denied.
    Denied,
    /// Would have been denied.
    ShadowDenied,
    /// Ended with the store's error.
    Failed,
    /// Refused for lack of a key.
    WithoutKey,
    /// Refused since it can never fit.
    TooCostly,
}

impl Outcome {
    /// The snake-case name, for logs and metric labels.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Denied => "denied",
            Self::ShadowDenied => "shadow_denied",
            Self::Failed => "failed",
            Self::WithoutKey => "without_key",
            Self::TooCostly => "too_costly",
        }
    }
}

/// One request under one limit, for an observer. It never holds the key.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Event<'a> {
    /// The limit's name.
    pub limit: &'a str,
    /// What became of the request.
    pub outcome: Outcome,
    /// The decision, if there was one.
    pub decision: Option<&'a Decision>,
}

/// The totals while they grow: lone counters, which order nothing.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    allowed: AtomicU64,
    denied: AtomicU64,
    shadow_denied: AtomicU64,
    degraded: AtomicU64,
    failed: AtomicU64,
    without_key: AtomicU64,
    too_costly: AtomicU64,
    given_back: AtomicU64,
}

impl Counters {
    /// Counts an outcome; how often it has come.
    pub(crate) fn note(&self, outcome: Outcome, decision: Option<&Decision>) -> u64 {
        if decision.is_some_and(Decision::is_degraded) {
            one(&self.degraded);
        }
        one(match outcome {
            Outcome::Allowed => &self.allowed,
            Outcome::Denied => &self.denied,
            Outcome::ShadowDenied => &self.shadow_denied,
            Outcome::Failed => &self.failed,
            Outcome::WithoutKey => &self.without_key,
            Outcome::TooCostly => &self.too_costly,
        })
    }

    pub(crate) fn gave_back(&self) {
        one(&self.given_back);
    }

    pub(crate) fn read(&self) -> Tally {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Tally {
            allowed: of(&self.allowed),
            denied: of(&self.denied),
            shadow_denied: of(&self.shadow_denied),
            degraded: of(&self.degraded),
            failed: of(&self.failed),
            without_key: of(&self.without_key),
            too_costly: of(&self.too_costly),
            given_back: of(&self.given_back),
        }
    }
}

fn one(counter: &AtomicU64) -> u64 {
    counter.fetch_add(1, Ordering::Relaxed).wrapping_add(1)
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::Duration;

    use gorl::{Limiter, Policy};

    use crate::rate_limit::{Begin, RateLimit, Verdict};
    use crate::view::test::Asked;

    #[test]
    fn r88_what_is_counted_for_metrics_does_not_grow_with_the_clients() {
        let policy = Policy::fixed_window(1, Duration::from_secs(86_400)).expect("a valid policy");
        let limits = RateLimit::per_ip(Limiter::new(policy));
        for client in 0..100_000_u32 {
            let peer = Some(Ipv4Addr::from_bits(client).into());
            let asked = Asked { peer, method: "GET", ..Asked::default() };
            let begun = limits.begin(&asked, &asked);
            assert!(matches!(begun, Begin::Settled(Verdict::Pass(_))));
        }
        let tallies: Vec<_> = limits.tallies().collect();
        assert_eq!(tallies.len(), 1);
        assert_eq!((tallies[0].0, tallies[0].1.allowed), ("default", 100_000));
    }
}
