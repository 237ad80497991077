//! What a backend keeps for a key: sixteen bytes.

use gorl_core::{State, StoreError, StoreErrorKind, Strategy};

/// What is stored for a key: sixteen bytes, opaque to the backend.
///
/// They are the instant in nanoseconds since the Unix epoch and two counts, in big-endian order; the
/// strategy and the version of the layout are in the key.
pub type Value = [u8; 16];

/// The backend returned something that is not sixteen bytes, so that gorl did not write it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the value of key {key:?} is {length} bytes long, and gorl writes 16")]
pub struct ValueError {
    /// The key that was read.
    pub key: String,
    /// How long its value is.
    pub length: usize,
}

impl ValueError {
    /// Reads a value, for backends that get bytes of any length.
    ///
    /// # Errors
    ///
    /// A [`StoreError`] of the kind [`ForeignValue`](StoreErrorKind::ForeignValue) unless it is
    /// sixteen bytes long.
    ///
    /// # Examples
    ///
    /// ```
    /// use gorl_core::StoreErrorKind;
    /// use gorl_store_custom::ValueError;
    ///
    /// assert_eq!(ValueError::check("a", &[7; 16]).unwrap(), [7; 16]);
    /// let error = ValueError::check("a", b"12").unwrap_err();
    /// assert_eq!(error.kind(), StoreErrorKind::ForeignValue);
    /// ```
    pub fn check(key: &str, bytes: &[u8]) -> Result<Value, StoreError> {
        bytes.try_into().map_err(|_| {
            let error = Self { key: key.to_owned(), length: bytes.len() };
            StoreError::with_source(StoreErrorKind::ForeignValue, error)
        })
    }
}

/// The byte form of a state.
pub(crate) fn encode(state: State) -> Value {
    let mut value = [0; 16];
    value[..8].copy_from_slice(&state.at.to_be_bytes());
    value[8..12].copy_from_slice(&state.a.to_be_bytes());
    value[12..].copy_from_slice(&state.b.to_be_bytes());
    value
}

/// The state of a byte form. Any sixteen bytes are one.
pub(crate) fn decode(value: Value) -> State {
    let word = |at: usize| {
        let mut word = [0; 4];
        word.copy_from_slice(&value[at..at + 4]);
        u32::from_be_bytes(word)
    };
    let at = (u64::from(word(0)) << 32) | u64::from(word(4));
    State { at, a: word(8), b: word(12) }
}

/// A state that no policy of the strategy tells from none: nothing is spent.
pub(crate) const fn at_rest(strategy: Strategy) -> State {
    match strategy {
        // More tokens than any burst, which counts as the whole burst.
        Strategy::TokenBucket => State { at: 0, a: u32::MAX, b: 0 },
        _ => State { at: 0, a: 0, b: 0 },
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use gorl_core::{Policy, decide};

    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        let state = State { at: 0x0102_0304_0506_0708, a: u32::MAX, b: 7 };
        assert_eq!(decode(encode(state)), state);
        assert_eq!(&encode(state)[..8], &[1, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn a_state_at_rest_is_as_none() {
        let now = 1_800_000_000_000_000_000;
        for strategy in Strategy::ALL {
            for limit in [1, 7, u64::from(u32::MAX)] {
                for window in [1, 1_000_000_000, 315_360_000_000_000_000] {
                    let policy =
                        Policy::new(strategy, limit, Duration::from_nanos(window)).unwrap();
                    let seen = decide(&policy, Some(at_rest(strategy)), now, 1).unwrap();
                    assert_eq!(seen, decide(&policy, None, now, 1).unwrap(), "{policy}");
                }
            }
        }
    }
}
