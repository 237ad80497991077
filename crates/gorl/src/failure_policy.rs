//! What becomes of a request when the store has no answer.

#[cfg(feature = "memory")]
use std::num::NonZeroU32;

/// What becomes of a request when the store has no answer.
///
/// It is about decisions whose store failed. A cost that can never fit is an error under each, and
/// so is a request that the store cannot serve even when it is well
/// ([`StoreErrorKind::Policy`](crate::StoreErrorKind::Policy),
/// [`StoreErrorKind::Unsupported`](crate::StoreErrorKind::Unsupported)): that is a mistake in the
/// caller's set-up, which nobody would find if it were admitted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailurePolicy {
    /// The store's error is returned, and the caller decides. The default.
    #[default]
    Closed,
    /// The request is admitted and counted nowhere. Its decision says so
    /// ([`Origin::Open`](crate::Origin::Open)) and has no figures.
    Open,
    /// A limiter in this process counts instead, with a share of the limit. Its decisions say so
    /// ([`Origin::Local`](crate::Origin::Local)) and have the share's figures.
    #[cfg(feature = "memory")]
    Local(LocalShare),
}

impl FailurePolicy {
    /// [`FailurePolicy::Local`] for one of `instances` processes, with its default options.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::num::NonZeroU32;
    /// use gorl::FailurePolicy;
    ///
    /// let policy = FailurePolicy::local(NonZeroU32::new(4).unwrap());
    /// assert_eq!(policy.as_str(), "local");
    /// ```
    #[cfg(feature = "memory")]
    #[must_use]
    pub const fn local(instances: NonZeroU32) -> Self {
        Self::Local(LocalShare::of(instances))
    }

    /// The snake-case name, for configuration, logs and metric labels.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            #[cfg(feature = "memory")]
            Self::Local(_) => "local",
        }
    }
}

/// The share of a limit that one process may admit on its own.
///
/// Limit and burst are divided by the number of processes, rounded down but at least 1; the window
/// stays. So all processes together admit no more than the limit, if there are no more of them and
/// none has less than one to give.
///
/// # Examples
///
/// ```
/// use std::num::NonZeroU32;
/// use std::time::Duration;
/// use gorl::{LocalShare, Policy};
///
/// let share = LocalShare::of(NonZeroU32::new(4).unwrap());
/// let policy = Policy::token_bucket(10, Duration::from_secs(1))?.with_burst(100)?;
/// let of_it = share.policy(&policy);
/// assert_eq!((of_it.limit(), of_it.capacity()), (2, 25));
/// # Ok::<(), gorl::PolicyError>(())
/// ```
#[cfg(feature = "memory")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalShare {
    instances: NonZeroU32,
    pub(crate) capacity: usize,
}

/// Some megabytes at most, for the time that the store is gone.
#[cfg(feature = "memory")]
const LOCAL_KEYS: usize = 100_000;

#[cfg(feature = "memory")]
impl LocalShare {
    /// One of so many equal shares.
    #[must_use]
    pub const fn of(instances: NonZeroU32) -> Self {
        Self { instances, capacity: LOCAL_KEYS }
    }

    /// How many keys are counted at most; see `MemoryStoreBuilder::capacity`. The default is
    /// 100 000. Nothing is allocated before the store fails.
    #[must_use]
    pub const fn capacity(mut self, keys: usize) -> Self {
        self.capacity = keys;
        self
    }

    /// The share of a policy.
    #[must_use]
    pub fn policy(&self, whole: &crate::Policy) -> crate::Policy {
        let of = |number: u32| u64::from((number / self.instances).max(1));
        let share = crate::Policy::new(whole.strategy(), of(whole.limit()), whole.window());
        let share = share.and_then(|share| {
            if whole.strategy().has_burst() {
                share.with_burst(of(whole.capacity()))
            } else {
                Ok(share)
            }
        });
        // A limit from 1 to that of a valid policy, in its window, makes a valid policy.
        share.unwrap_or(*whole)
    }
}
