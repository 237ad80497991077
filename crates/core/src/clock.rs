//! Where the time comes from: a trait, and a clock that tests move by hand.

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;

/// A source of time: nanoseconds since the Unix epoch.
///
/// Decisions tolerate a clock that steps back (nothing is earned) or leaps (no more than one
/// capacity is), so an implementation need not be perfect; it should be cheap, and never panic.
pub trait Clock: Send + Sync {
    /// The present, in nanoseconds since 1970-01-01T00:00:00Z.
    fn now_ns(&self) -> u64;
}

impl<C: Clock + ?Sized> Clock for &C {
    fn now_ns(&self) -> u64 {
        (**self).now_ns()
    }
}

#[cfg(feature = "std")]
impl<C: Clock + ?Sized> Clock for std::sync::Arc<C> {
    fn now_ns(&self) -> u64 {
        (**self).now_ns()
    }
}

/// A clock that stands still until it is told to move; for tests and simulations.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use gorl_core::{Clock, ManualClock};
///
/// let clock = ManualClock::new(1_000);
/// clock.advance(Duration::from_nanos(500));
/// assert_eq!(clock.now_ns(), 1_500);
/// clock.rewind(Duration::from_secs(1));
/// assert_eq!(clock.now_ns(), 0);
/// ```
#[derive(Debug, Default)]
pub struct ManualClock {
    now_ns: AtomicU64,
}

impl ManualClock {
    /// A clock that stands at `now_ns` nanoseconds since the Unix epoch.
    #[must_use]
    pub const fn new(now_ns: u64) -> Self {
        Self { now_ns: AtomicU64::new(now_ns) }
    }

    /// Moves the clock to `now_ns`, forwards or back.
    pub fn set(&self, now_ns: u64) {
        self.now_ns.store(now_ns, Ordering::Relaxed);
    }

    /// Moves the clock forward; it stops at the largest instant that it can show.
    pub fn advance(&self, by: Duration) {
        self.shift(|now| now.saturating_add(nanos(by)));
    }

    /// Moves the clock back; it stops at the epoch.
    pub fn rewind(&self, by: Duration) {
        self.shift(|now| now.saturating_sub(nanos(by)));
    }

    fn shift(&self, to: impl Fn(u64) -> u64) {
        let _ = self.now_ns.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |now| Some(to(now)));
    }
}

impl Clock for ManualClock {
    fn now_ns(&self) -> u64 {
        self.now_ns.load(Ordering::Relaxed)
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
