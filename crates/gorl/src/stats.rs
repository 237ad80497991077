//! What became of the requests of a limiter, in totals.

use std::sync::atomic::{AtomicU64, Ordering};

use gorl_core::{Decision, Origin, StoreErrorKind};

/// What became of the requests of an [`AsyncLimiter`](crate::AsyncLimiter) and its clones, in
/// totals since it was built.
///
/// Totals are read one after the other while requests go on, so they need not add up exactly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Decisions that allowed, degraded ones among them. Peeks are decisions too.
    pub allowed: u64,
    /// Decisions that denied, degraded and cached ones among them.
    pub denied: u64,
    /// Requests that ended with the store's error.
    pub failed: u64,
    /// Denials from the [`DenialCache`](crate::DenialCache).
    pub denial_cache_hits: u64,
    /// Decisions by the limiter of this process while the store had no answer.
    pub local: u64,
    /// Admissions that nobody counted, while the store had no answer.
    pub open: u64,
    /// How often the breaker opened, failed probes not among them.
    pub breaker_opened: u64,
    /// Probes of a store that had failed.
    pub probes: u64,
    /// The store's errors, by kind; see [`errors`](Self::errors).
    errors: [u64; KINDS.len()],
}

/// Every kind; the place is the index.
const KINDS: [StoreErrorKind; 7] = [
    StoreErrorKind::Unavailable,
    StoreErrorKind::Timeout,
    StoreErrorKind::CircuitOpen,
    StoreErrorKind::ForeignValue,
    StoreErrorKind::Unsupported,
    StoreErrorKind::Policy,
    StoreErrorKind::Other,
];

impl Stats {
    /// How many requests got no answer from the store for this reason, whatever the failure policy
    /// made of it. Failed probes, give-backs and resets are among them.
    #[must_use]
    pub fn errors(&self, kind: StoreErrorKind) -> u64 {
        self.errors[index(kind)]
    }

    /// [`errors`](Self::errors) of every kind.
    pub fn all_errors(&self) -> impl Iterator<Item = (StoreErrorKind, u64)> {
        KINDS.into_iter().zip(self.errors)
    }
}

/// The totals while they grow: lone counters, which order nothing.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    allowed: AtomicU64,
    denied: AtomicU64,
    failed: AtomicU64,
    denial_cache_hits: AtomicU64,
    local: AtomicU64,
    open: AtomicU64,
    breaker_opened: AtomicU64,
    probes: AtomicU64,
    errors: [AtomicU64; KINDS.len()],
}

impl Counters {
    pub(crate) fn decided(&self, decision: &Decision) {
        one(if decision.is_allowed() { &self.allowed } else { &self.denied });
        match decision.origin() {
            Origin::DenialCache => one(&self.denial_cache_hits),
            Origin::Local(_) => one(&self.local),
            Origin::Open(_) => one(&self.open),
            _ => {}
        }
    }

    pub(crate) fn failed(&self) {
        one(&self.failed);
    }

    pub(crate) fn store_error(&self, kind: StoreErrorKind) {
        one(&self.errors[index(kind)]);
    }

    pub(crate) fn breaker_opened(&self) {
        one(&self.breaker_opened);
    }

    pub(crate) fn probed(&self) {
        one(&self.probes);
    }

    pub(crate) fn read(&self) -> Stats {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Stats {
            allowed: of(&self.allowed),
            denied: of(&self.denied),
            failed: of(&self.failed),
            denial_cache_hits: of(&self.denial_cache_hits),
            local: of(&self.local),
            open: of(&self.open),
            breaker_opened: of(&self.breaker_opened),
            probes: of(&self.probes),
            errors: self.errors.each_ref().map(of),
        }
    }
}

fn one(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// The place of a kind; one that this version does not know counts as `Other`.
fn index(kind: StoreErrorKind) -> usize {
    KINDS.iter().position(|known| *known == kind).unwrap_or(KINDS.len() - 1)
}
