//! The clock by which waits of this process are measured, which never goes back.

use std::time::Instant;

use gorl_core::Clock;

/// Nanoseconds since this clock was made. It tells spans, not the time of day.
#[derive(Debug)]
pub(crate) struct SteadyClock(Instant);

impl SteadyClock {
    pub(crate) fn new() -> Self {
        Self(Instant::now())
    }
}

impl Clock for SteadyClock {
    fn now_ns(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}
