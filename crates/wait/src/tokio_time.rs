//! Tokio's time: real, or paused in a test.

use std::future::Future;
use std::time::{Duration, SystemTime};

use gorl::Clock;
use tokio::time::Instant;

use crate::Timer;

/// Sleeps by tokio. Call it within a runtime that has its time driver enabled.
///
/// Tokio's sleeps end on whole milliseconds, up to one late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokioTimer;

/// The time of day when it was made, carried on by tokio's clock: what a limiter should read so that a
/// test with a paused clock needs no real time.
#[derive(Clone, Copy, Debug)]
pub struct TokioClock {
    begun: Instant,
    begun_ns: u64,
}

impl Timer for TokioTimer {
    fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send {
        tokio::time::sleep(time)
    }
}

impl TokioClock {
    /// A clock that shows the time of day now.
    #[must_use]
    pub fn new() -> Self {
        let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        let begun_ns = u64::try_from(since.as_nanos()).unwrap_or(u64::MAX);
        Self { begun: Instant::now(), begun_ns }
    }
}

impl Default for TokioClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for TokioClock {
    fn now_ns(&self) -> u64 {
        let since = u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.begun_ns.saturating_add(since)
    }
}
