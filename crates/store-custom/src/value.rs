//! What a backend keeps for a key: sixteen bytes.

use gorl_core::{State, StoreError, StoreErrorKind};

/// What is stored for a key: sixteen bytes, opaque to the backend.
///
/// They are the instant in nanoseconds since the Unix epoch and two counts, in big-endian order, or all
/// ones for a key that was given back to until nothing was spent, or was reset; the strategy and the
/// version of the layout are in the key.
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

/// What stands for nothing: no state has it, for its instant is beyond all others.
pub(crate) const NOTHING: Value = [u8::MAX; 16];

/// The state of a byte form; none for [`NOTHING`].
pub(crate) fn decode(value: Value) -> Option<State> {
    if value == NOTHING {
        return None;
    }
    let word = |at: usize| {
        let mut word = [0; 4];
        word.copy_from_slice(&value[at..at + 4]);
        u32::from_be_bytes(word)
    };
    let at = (u64::from(word(0)) << 32) | u64::from(word(4));
    Some(State { at, a: word(8), b: word(12) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back() {
        let state = State { at: 0x0102_0304_0506_0708, a: u32::MAX, b: 7 };
        assert_eq!(decode(encode(state)), Some(state));
        assert_eq!(&encode(state)[..8], &[1, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn nothing_reads_back_as_nothing() {
        assert_eq!(decode(NOTHING), None);
        assert_eq!(decode([0; 16]), Some(State::default()));
    }
}
