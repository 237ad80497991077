//! A clock that stalls, leaps and steps back on a seeded schedule.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use gorl_core::Clock;

use crate::rng::Rng;

/// A [`Clock`] that behaves like the worst of real ones, and the same way for the same seed.
///
/// Each reading moves it: in most it goes on by up to a millisecond, in some it stands still, now
/// and then it leaps forward (a machine that slept) or steps back (a correction by the network).
/// A decision tells at which reading it was taken
/// ([`decided_at`](gorl_core::Decision::decided_at)), so a model can follow.
///
/// # Examples
///
/// ```
/// use gorl_core::Clock;
/// use gorl_testkit::SimClock;
///
/// let readings = |seed| {
///     let clock = SimClock::new(seed, 1_000_000_000_000);
///     (0..1_000).map(|_| clock.now_ns()).collect::<Vec<_>>()
/// };
/// assert_eq!(readings(7), readings(7));
/// assert_ne!(readings(7), readings(8));
/// assert!(readings(7).windows(2).any(|pair| pair[1] < pair[0]));
/// ```
#[derive(Debug)]
pub struct SimClock {
    inner: Mutex<Inner>,
    longest_leap: u64,
    longest_step_back: u64,
}

#[derive(Debug)]
struct Inner {
    rng: Rng,
    now_ns: u64,
}

/// The longest that a clock goes on by in an ordinary reading.
const PACE_NS: u64 = 1_000_000;

impl SimClock {
    /// A clock that starts at `start_ns`, leaps by up to an hour and steps back by up to a minute.
    #[must_use]
    pub fn new(seed: u64, start_ns: u64) -> Self {
        Self {
            inner: Mutex::new(Inner { rng: Rng::new(seed), now_ns: start_ns }),
            longest_leap: 3_600_000_000_000,
            longest_step_back: 60_000_000_000,
        }
    }

    /// The same clock with leaps of up to `longest`.
    #[must_use]
    pub fn leaping_up_to(mut self, longest: Duration) -> Self {
        self.longest_leap = nanos(longest);
        self
    }

    /// The same clock with steps back of up to `longest`; zero means that it never goes back.
    #[must_use]
    pub fn stepping_back_up_to(mut self, longest: Duration) -> Self {
        self.longest_step_back = nanos(longest);
        self
    }
}

impl Clock for SimClock {
    fn now_ns(&self) -> u64 {
        // A poisoned lock means that a test has failed already; its readings are still good.
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let now = inner.now_ns;
        inner.now_ns = match inner.rng.up_to(99) {
            0..20 => now,
            20..23 => now.saturating_add(inner.rng.magnitude_up_to(self.longest_leap)),
            23..26 => now.saturating_sub(inner.rng.magnitude_up_to(self.longest_step_back)),
            _ => now.saturating_add(inner.rng.up_to(PACE_NS)),
        };
        inner.now_ns
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_stalls_leaps_and_steps_back() {
        let clock = SimClock::new(1, 1_u64 << 60);
        let readings: Vec<u64> = (0..10_000).map(|_| clock.now_ns()).collect();
        let count = |of: fn(u64, u64) -> bool| {
            readings.windows(2).filter(|pair| of(pair[0], pair[1])).count()
        };
        assert!(count(|a, b| a == b) > 1_000);
        assert!(count(|a, b| b < a) > 100);
        assert!(count(|a, b| b > a + PACE_NS) > 100);
    }

    #[test]
    fn one_that_may_not_step_back_never_does() {
        let clock = SimClock::new(2, 0).stepping_back_up_to(Duration::ZERO);
        let readings: Vec<u64> = (0..10_000).map(|_| clock.now_ns()).collect();
        assert!(readings.is_sorted());
    }
}
