//! Where a decision came from: who counted, or that nobody did and why.

use core::fmt;

use crate::StoreErrorKind;

/// Where a [`Decision`](crate::Decision) came from.
///
/// # Examples
///
/// ```
/// use gorl_core::{Origin, StoreErrorKind};
///
/// assert!(!Origin::Store.is_degraded());
/// let origin = Origin::Open(StoreErrorKind::Timeout);
/// assert!(origin.is_degraded());
/// assert_eq!((origin.as_str(), origin.cause()), ("open", Some(StoreErrorKind::Timeout)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Origin {
    /// The store counted.
    #[default]
    Store,
    /// A denial of the store that still holds, answered without asking it again.
    DenialCache,
    /// The store had no answer, and a limiter in this process counted in its place.
    Local(StoreErrorKind),
    /// The store had no answer, and the cost was admitted without being counted.
    Open(StoreErrorKind),
}

impl Origin {
    /// Whether the store had no answer and something else took its place.
    #[inline]
    #[must_use]
    pub const fn is_degraded(self) -> bool {
        matches!(self, Self::Local(_) | Self::Open(_))
    }

    /// Why the store had no answer; `None` if it had one.
    #[inline]
    #[must_use]
    pub const fn cause(self) -> Option<StoreErrorKind> {
        match self {
            Self::Local(cause) | Self::Open(cause) => Some(cause),
            Self::Store | Self::DenialCache => None,
        }
    }

    /// The snake-case name, without the cause, for logs and metric labels.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Store => "store",
            Self::DenialCache => "denial_cache",
            Self::Local(_) => "local",
            Self::Open(_) => "open",
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_fits_where_a_decision_has_room() {
        assert!(size_of::<Origin>() <= 2);
    }
}
