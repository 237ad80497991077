//! The four strategies and their names in text.

use core::fmt;
use core::str::FromStr;

/// How a [`Policy`](crate::Policy) counts.
///
/// The text form, which configuration files, logs and the `gorl` program use, is the snake-case
/// name that [`as_str`](Self::as_str) gives and [`FromStr`] reads.
///
/// # Examples
///
/// ```
/// use gorl_core::Strategy;
///
/// assert_eq!(Strategy::TokenBucket.as_str(), "token_bucket");
/// assert_eq!("sliding_window".parse(), Ok(Strategy::SlidingWindow));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Strategy {
    /// At most `limit` in each window `[k·W, (k+1)·W)` counted from the Unix epoch.
    FixedWindow,
    /// The previous window's count, weighted by how much of it still overlaps, plus the current one.
    SlidingWindow,
    /// A bucket that starts full and refills continuously at `limit` per window, up to `burst`.
    TokenBucket,
    /// A meter that starts empty and drains continuously at `limit` per window, filled up to `burst`.
    LeakyBucket,
}

impl Strategy {
    /// Every strategy, in the order in which the documentation treats them.
    pub const ALL: [Self; 4] =
        [Self::FixedWindow, Self::SlidingWindow, Self::TokenBucket, Self::LeakyBucket];

    /// The snake-case name of the strategy.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FixedWindow => "fixed_window",
            Self::SlidingWindow => "sliding_window",
            Self::TokenBucket => "token_bucket",
            Self::LeakyBucket => "leaky_bucket",
        }
    }

    /// Whether a policy of this strategy may have a burst other than its limit.
    #[must_use]
    pub const fn has_burst(self) -> bool {
        matches!(self, Self::TokenBucket | Self::LeakyBucket)
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The text names no strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown strategy; expected one of fixed_window, sliding_window, token_bucket, leaky_bucket"
)]
pub struct UnknownStrategy;

impl FromStr for Strategy {
    type Err = UnknownStrategy;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|strategy| strategy.as_str() == text).ok_or(UnknownStrategy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back() {
        for strategy in Strategy::ALL {
            assert_eq!(strategy.as_str().parse(), Ok(strategy));
        }
        assert_eq!("TokenBucket".parse::<Strategy>(), Err(UnknownStrategy));
        assert_eq!("".parse::<Strategy>(), Err(UnknownStrategy));
    }
}
