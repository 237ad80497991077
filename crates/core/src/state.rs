//! What is stored for a key: an instant and two counts, and their byte form.

use crate::{Policy, Strategy};

/// The first byte of an encoded state: the version of the layout.
const VERSION: u8 = 1;

/// What is stored for a key: sixteen bytes that mean, by strategy,
///
/// | strategy | `at` | `a` | `b` |
/// |---|---|---|---|
/// | fixed window | start of the window | used in it | 0 |
/// | sliding window | start of the current window | used in it | used in the one before |
/// | token bucket | when the count was exact | tokens | fraction of `at` in 1/limit ticks |
/// | leaky bucket | when the count was exact | occupancy | fraction of `at` in 1/limit ticks |
///
/// Instants are in [ticks](crate::Tick) since the Unix epoch. Any sixteen bytes are a state that
/// every operation accepts, so a corrupted store can give a wrong answer but never a panic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct State {
    /// The instant, in ticks since the Unix epoch.
    pub at: u64,
    /// The first count.
    pub a: u32,
    /// The second count.
    pub b: u32,
}

/// Bytes that are no state of the strategy they were read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The value is not [`State::ENCODED_LEN`] bytes long, so it was not written by gorl.
    #[error("a stored state is 18 bytes long, this value has {given}")]
    Length {
        /// How long the value is.
        given: usize,
    },
    /// The value was written by another version of the layout, or not by gorl.
    #[error("stored state has version {given}, this build reads version 1")]
    Version {
        /// The version byte of the value.
        given: u8,
    },
    /// The strategy byte names no strategy.
    #[error("stored state has the unknown strategy tag {given}")]
    Strategy {
        /// The strategy byte of the value.
        given: u8,
    },
}

impl State {
    /// How long an encoded state is: version, strategy, and the sixteen bytes.
    pub const ENCODED_LEN: usize = 18;

    /// The byte form: version, strategy, then `at`, `a` and `b` in big-endian order.
    ///
    /// # Examples
    ///
    /// ```
    /// use gorl_core::{State, Strategy};
    ///
    /// let state = State { at: 7, a: 2, b: 0 };
    /// let bytes = state.encode(Strategy::FixedWindow);
    /// assert_eq!(State::decode(&bytes), Ok((Strategy::FixedWindow, state)));
    /// ```
    #[must_use]
    pub const fn encode(self, strategy: Strategy) -> [u8; Self::ENCODED_LEN] {
        let [a0, a1, a2, a3, a4, a5, a6, a7] = self.at.to_be_bytes();
        let [b0, b1, b2, b3] = self.a.to_be_bytes();
        let [c0, c1, c2, c3] = self.b.to_be_bytes();
        [VERSION, tag(strategy), a0, a1, a2, a3, a4, a5, a6, a7, b0, b1, b2, b3, c0, c1, c2, c3]
    }

    /// Reads what [`encode`](Self::encode) wrote.
    ///
    /// A state of another strategy than the policy's is to be treated as no state: a change of
    /// strategy starts every key afresh.
    ///
    /// # Errors
    ///
    /// A [`StateError`] for bytes that `encode` of this version cannot have written. They belong
    /// to somebody else; report them, and do not overwrite them.
    pub fn decode(bytes: &[u8]) -> Result<(Strategy, Self), StateError> {
        let &[version, strategy, ref rest @ ..] = bytes else {
            return Err(StateError::Length { given: bytes.len() });
        };
        if version != VERSION {
            return Err(StateError::Version { given: version });
        }
        let &[a0, a1, a2, a3, a4, a5, a6, a7, b0, b1, b2, b3, c0, c1, c2, c3] = rest else {
            return Err(StateError::Length { given: bytes.len() });
        };
        let strategy = Strategy::ALL
            .into_iter()
            .find(|&known| tag(known) == strategy)
            .ok_or(StateError::Strategy { given: strategy })?;
        let state = Self {
            at: u64::from_be_bytes([a0, a1, a2, a3, a4, a5, a6, a7]),
            a: u32::from_be_bytes([b0, b1, b2, b3]),
            b: u32::from_be_bytes([c0, c1, c2, c3]),
        };
        Ok((strategy, state))
    }

    /// The state as `policy` reads it, when it may have been written under other numbers.
    ///
    /// Counts stay. A fixed window's start moves to the start of the new policy's window that
    /// holds it, and a bucket's fraction of a tick is read in the new unit, below one tick.
    #[must_use]
    pub fn adopted_by(self, policy: &Policy) -> Self {
        match policy.strategy() {
            Strategy::FixedWindow => {
                let into = self.at % policy.window_nonzero();
                Self { at: self.at.saturating_sub(into), ..self }
            }
            Strategy::SlidingWindow => self,
            Strategy::TokenBucket | Strategy::LeakyBucket => {
                Self { b: self.b.min(policy.limit().saturating_sub(1)), ..self }
            }
        }
    }
}

const fn tag(strategy: Strategy) -> u8 {
    match strategy {
        Strategy::FixedWindow => 1,
        Strategy::SlidingWindow => 2,
        Strategy::TokenBucket => 3,
        Strategy::LeakyBucket => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_bytes_are_named_for_what_they_are() {
        let good = State { at: u64::MAX, a: 1, b: u32::MAX }.encode(Strategy::LeakyBucket);
        assert!(State::decode(&good).is_ok());
        assert_eq!(State::decode(b""), Err(StateError::Length { given: 0 }));
        assert_eq!(State::decode(&good[..17]), Err(StateError::Length { given: 17 }));
        let mut other = good;
        other[0] = 9;
        assert_eq!(State::decode(&other), Err(StateError::Version { given: 9 }));
        other = good;
        other[1] = 0;
        assert_eq!(State::decode(&other), Err(StateError::Strategy { given: 0 }));
    }
}
