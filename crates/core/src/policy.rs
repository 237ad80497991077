//! What is allowed: a strategy, a limit per window, and for the buckets a burst.

use core::fmt;
use core::num::{NonZeroU32, NonZeroU64};
use core::time::Duration;

use crate::Strategy;

/// The longest window: ten years of 365 days, in nanoseconds.
const MAX_WINDOW_NS: u64 = 10 * 365 * 86_400 * 1_000_000_000;

/// The unit in which a policy's instants are counted.
///
/// Memory counts nanoseconds; Redis counts the microseconds of its own `TIME`. The arithmetic is
/// the same for both, so the two engines differ in nothing but the length of a tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tick {
    /// One nanosecond.
    #[default]
    Nanosecond,
    /// One microsecond.
    Microsecond,
}

impl Tick {
    /// How many nanoseconds one tick lasts.
    #[must_use]
    pub const fn nanos(self) -> u64 {
        match self {
            Self::Nanosecond => 1,
            Self::Microsecond => 1_000,
        }
    }

    /// An instant or a span in nanoseconds as whole ticks, rounded down.
    ///
    /// # Examples
    ///
    /// ```
    /// use gorl_core::Tick;
    ///
    /// assert_eq!(Tick::Nanosecond.whole(1_999), 1_999);
    /// assert_eq!(Tick::Microsecond.whole(1_999), 1);
    /// ```
    #[inline]
    #[must_use]
    pub const fn whole(self, nanos: u64) -> u64 {
        match self {
            Self::Nanosecond => nanos,
            Self::Microsecond => nanos / 1_000,
        }
    }
}

/// What is allowed: `limit` per `window` by a [`Strategy`], and for the two buckets a `burst`.
///
/// A policy that exists is valid. The rate is kept as the exact rational `limit / window`; it is
/// never turned into an interval, so a limit that does not divide the window loses nothing.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use gorl_core::{Policy, PolicyError, Strategy};
///
/// // 100 a minute, and up to 20 of them at once.
/// let policy = Policy::token_bucket(100, Duration::from_secs(60))?.with_burst(20)?;
/// assert_eq!(policy.strategy(), Strategy::TokenBucket);
/// assert_eq!((policy.limit(), policy.capacity()), (100, 20));
/// assert_eq!(policy.to_string(), "token_bucket, 100 per 60s, burst 20");
///
/// let none = Policy::fixed_window(0, Duration::from_secs(1));
/// assert_eq!(none, Err(PolicyError::Limit { given: 0 }));
/// # Ok::<(), PolicyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Policy {
    window: NonZeroU64,
    limit: NonZeroU32,
    capacity: NonZeroU32,
    strategy: Strategy,
    tick: Tick,
}

/// A policy that cannot be: it names the field, what was given and what is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// The limit is zero or too large.
    #[error("limit must be from 1 to 4294967295, got {given}")]
    Limit {
        /// The limit that was asked for.
        given: u64,
    },
    /// The burst is zero or too large.
    #[error("burst must be from 1 to 4294967295, got {given}")]
    Burst {
        /// The burst that was asked for.
        given: u64,
    },
    /// The strategy has no burst: a window's capacity is its limit.
    #[error("burst applies to token_bucket and leaky_bucket only, the strategy is {strategy}")]
    BurstNotSupported {
        /// The strategy that was asked to have a burst.
        strategy: Strategy,
    },
    /// The window is zero or longer than ten years.
    #[error("window must be from 1ns to 10 years (315360000s), got {given:?}")]
    Window {
        /// The window that was asked for.
        given: Duration,
    },
    /// The window is no whole number of microseconds, which is what the engine counts in.
    #[error("window must be a whole number of microseconds on this engine, got {given:?}")]
    WindowTooFine {
        /// The window that was asked for.
        given: Duration,
    },
}

impl Policy {
    /// The policy that allows most: [`u32::MAX`] in each nanosecond, by fixed windows.
    pub const MOST: Self = Self {
        window: NonZeroU64::MIN,
        limit: NonZeroU32::MAX,
        capacity: NonZeroU32::MAX,
        strategy: Strategy::FixedWindow,
        tick: Tick::Nanosecond,
    };

    /// A policy of `strategy` that allows `limit` per `window`; the burst of a bucket is `limit`.
    ///
    /// # Errors
    ///
    /// [`PolicyError::Limit`] unless `limit` is in `1..=u32::MAX`, and [`PolicyError::Window`]
    /// unless `window` is in 1 ns ..= 10 years.
    pub const fn new(
        strategy: Strategy,
        limit: u64,
        window: Duration,
    ) -> Result<Self, PolicyError> {
        let Some(checked) = checked_u32(limit) else {
            return Err(PolicyError::Limit { given: limit });
        };
        let nanos = window.as_nanos();
        if nanos > MAX_WINDOW_NS as u128 {
            return Err(PolicyError::Window { given: window });
        }
        // The bound above fits in 64 bits.
        #[allow(clippy::cast_possible_truncation)]
        let Some(ticks) = NonZeroU64::new(nanos as u64) else {
            return Err(PolicyError::Window { given: window });
        };
        Ok(Self {
            window: ticks,
            limit: checked,
            capacity: checked,
            strategy,
            tick: Tick::Nanosecond,
        })
    }

    /// At most `limit` in each `window` counted from the Unix epoch.
    ///
    /// # Errors
    ///
    /// As [`Policy::new`].
    pub const fn fixed_window(limit: u64, window: Duration) -> Result<Self, PolicyError> {
        Self::new(Strategy::FixedWindow, limit, window)
    }

    /// `limit` per `window` by two counters: the key's current window, and the one before weighted
    /// by how much of it a window that ends now still covers.
    ///
    /// The weight takes the previous window's requests as spread evenly. A caller that bunches them
    /// at its end, and the next ones at the end of the current window, is admitted nearly twice
    /// `limit` within one span of `window`; requests that are spread are held to `limit`.
    ///
    /// # Errors
    ///
    /// As [`Policy::new`].
    pub const fn sliding_window(limit: u64, window: Duration) -> Result<Self, PolicyError> {
        Self::new(Strategy::SlidingWindow, limit, window)
    }

    /// A bucket of `limit` tokens that refills at `limit` per `window`.
    ///
    /// # Errors
    ///
    /// As [`Policy::new`].
    pub const fn token_bucket(limit: u64, window: Duration) -> Result<Self, PolicyError> {
        Self::new(Strategy::TokenBucket, limit, window)
    }

    /// A meter that holds `limit` and drains at `limit` per `window`.
    ///
    /// # Errors
    ///
    /// As [`Policy::new`].
    pub const fn leaky_bucket(limit: u64, window: Duration) -> Result<Self, PolicyError> {
        Self::new(Strategy::LeakyBucket, limit, window)
    }

    /// The same policy with another burst: how much a bucket holds, whatever its rate.
    ///
    /// # Errors
    ///
    /// [`PolicyError::Burst`] unless `burst` is in `1..=u32::MAX`, and
    /// [`PolicyError::BurstNotSupported`] for the two windows.
    pub const fn with_burst(mut self, burst: u64) -> Result<Self, PolicyError> {
        if !self.strategy.has_burst() {
            return Err(PolicyError::BurstNotSupported { strategy: self.strategy });
        }
        let Some(capacity) = checked_u32(burst) else {
            return Err(PolicyError::Burst { given: burst });
        };
        self.capacity = capacity;
        Ok(self)
    }

    /// The same policy counted in microseconds, for an engine whose clock is no finer.
    ///
    /// # Errors
    ///
    /// [`PolicyError::WindowTooFine`] unless the window is a whole number of microseconds.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use gorl_core::{Policy, Tick};
    ///
    /// let policy = Policy::token_bucket(7, Duration::from_secs(1)).unwrap().in_micros().unwrap();
    /// assert_eq!((policy.tick(), policy.window_ticks()), (Tick::Microsecond, 1_000_000));
    /// assert!(Policy::token_bucket(7, Duration::from_nanos(1_500)).unwrap().in_micros().is_err());
    /// ```
    pub const fn in_micros(mut self) -> Result<Self, PolicyError> {
        if matches!(self.tick, Tick::Microsecond) {
            return Ok(self);
        }
        let nanos = self.window.get();
        let per_tick = Tick::Microsecond.nanos();
        let too_fine = PolicyError::WindowTooFine { given: self.window() };
        let (Some(0), Some(ticks)) = (nanos.checked_rem(per_tick), nanos.checked_div(per_tick))
        else {
            return Err(too_fine);
        };
        let Some(window) = NonZeroU64::new(ticks) else {
            return Err(too_fine);
        };
        self.window = window;
        self.tick = Tick::Microsecond;
        Ok(self)
    }

    /// How the policy counts.
    #[must_use]
    pub const fn strategy(&self) -> Strategy {
        self.strategy
    }

    /// How much is allowed per window; for a bucket, its rate.
    #[must_use]
    pub const fn limit(&self) -> u32 {
        self.limit.get()
    }

    /// The length of the window.
    #[must_use]
    pub const fn window(&self) -> Duration {
        ticks_to_duration(self.window.get() as u128, self.tick)
    }

    /// The largest cost that can ever be admitted at once: the burst of a bucket, the limit of a
    /// window.
    #[must_use]
    pub const fn capacity(&self) -> u32 {
        self.capacity.get()
    }

    /// The unit in which the instants of this policy's states are counted.
    #[must_use]
    pub const fn tick(&self) -> Tick {
        self.tick
    }

    /// The length of the window in [ticks](Self::tick).
    #[must_use]
    pub const fn window_ticks(&self) -> u64 {
        self.window.get()
    }

    pub(crate) const fn window_nonzero(&self) -> NonZeroU64 {
        self.window
    }

    pub(crate) const fn limit_nonzero(&self) -> NonZeroU32 {
        self.limit
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} per {:?}", self.strategy, self.limit, self.window())?;
        if self.strategy.has_burst() {
            write!(f, ", burst {}", self.capacity)?;
        }
        Ok(())
    }
}

/// The duration of `ticks`; saturates at [`Duration::MAX`], which no valid policy reaches.
pub(crate) const fn ticks_to_duration(ticks: u128, tick: Tick) -> Duration {
    const PER_SECOND: u128 = 1_000_000_000;
    let nanos = ticks.saturating_mul(tick.nanos() as u128);
    let (Some(secs), Some(rest)) = (nanos.checked_div(PER_SECOND), nanos.checked_rem(PER_SECOND))
    else {
        return Duration::MAX;
    };
    if secs > u64::MAX as u128 {
        return Duration::MAX;
    }
    // Both fit: the seconds by the test above, the rest because it is below one second.
    #[allow(clippy::cast_possible_truncation)]
    Duration::new(secs as u64, rest as u32)
}

const fn checked_u32(value: u64) -> Option<NonZeroU32> {
    if value > u32::MAX as u64 {
        return None;
    }
    // The test above makes the cast exact.
    #[allow(clippy::cast_possible_truncation)]
    NonZeroU32::new(value as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const TEN_YEARS: Duration = Duration::from_nanos(MAX_WINDOW_NS);

    #[test]
    fn bounds_are_inclusive_and_the_error_names_the_field() {
        let max = u64::from(u32::MAX);
        for strategy in Strategy::ALL {
            assert!(Policy::new(strategy, 1, Duration::from_nanos(1)).is_ok());
            assert!(Policy::new(strategy, max, TEN_YEARS).is_ok());
            for given in [0, max + 1, u64::MAX] {
                let error = Policy::new(strategy, given, SECOND).unwrap_err();
                assert_eq!(error, PolicyError::Limit { given });
            }
            for given in [Duration::ZERO, TEN_YEARS + Duration::from_nanos(1), Duration::MAX] {
                let error = Policy::new(strategy, 1, given).unwrap_err();
                assert_eq!(error, PolicyError::Window { given });
            }
        }
    }

    #[test]
    fn only_buckets_have_a_burst() {
        let bucket = Policy::leaky_bucket(5, SECOND).unwrap();
        assert_eq!(bucket.capacity(), 5);
        assert_eq!(bucket.with_burst(9).unwrap().capacity(), 9);
        assert_eq!(bucket.with_burst(0), Err(PolicyError::Burst { given: 0 }));
        let window = Policy::fixed_window(5, SECOND).unwrap();
        let strategy = Strategy::FixedWindow;
        assert_eq!(window.with_burst(5), Err(PolicyError::BurstNotSupported { strategy }));
    }

    #[test]
    fn a_policy_is_three_words() {
        assert_eq!(size_of::<Policy>(), 24);
    }
}
