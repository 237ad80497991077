//! The contract of a store: what a limiter asks of the place that keeps its states.

use core::fmt;
use core::future::Future;

use crate::{CostExceedsLimit, Decision, KeyRef, Policy};

/// Whether a request spends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Spend the cost if it is admitted.
    Take,
    /// Answer as [`Action::Take`] would, and change nothing.
    Peek,
}

/// One question to a store: may this key spend this cost under this policy?
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The policy that applies.
    pub policy: &'a Policy,
    /// Who is counted.
    pub key: KeyRef<'a>,
    /// How much is spent.
    pub cost: u32,
    /// Whether it is spent, or only asked about.
    pub action: Action,
}

/// Why a store gave no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// The store cannot be reached, or refused the connection.
    Unavailable,
    /// The store did not answer within the deadline. The cost may have been spent.
    Timeout,
    /// The store failed lately, and is not asked again until a probe has found it well.
    CircuitOpen,
    /// The stored value is not one that gorl wrote; it was left as it is.
    ForeignValue,
    /// The store cannot do what was asked.
    Unsupported,
    /// The policy is outside of what this store can count.
    Policy,
    /// Anything else; the source says what.
    Other,
}

impl StoreErrorKind {
    /// The snake-case name of the kind, for logs and metric labels.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unavailable => "unavailable",
            Self::Timeout => "timeout",
            Self::CircuitOpen => "circuit_open",
            Self::ForeignValue => "foreign_value",
            Self::Unsupported => "unsupported",
            Self::Policy => "policy",
            Self::Other => "other",
        }
    }
}

/// A store gave no answer. This is not a denial: nobody knows whether the cost may be spent.
#[derive(Debug)]
pub struct StoreError {
    kind: StoreErrorKind,
    #[cfg(feature = "std")]
    source: Option<std::boxed::Box<dyn core::error::Error + Send + Sync>>,
}

impl StoreError {
    /// An error of `kind` with no further cause.
    #[must_use]
    pub const fn new(kind: StoreErrorKind) -> Self {
        Self {
            kind,
            #[cfg(feature = "std")]
            source: None,
        }
    }

    /// An error of `kind` caused by `source`.
    #[cfg(feature = "std")]
    #[must_use]
    pub fn with_source(
        kind: StoreErrorKind,
        source: impl Into<std::boxed::Box<dyn core::error::Error + Send + Sync>>,
    ) -> Self {
        Self { kind, source: Some(source.into()) }
    }

    /// What kind of failure it is.
    #[must_use]
    pub const fn kind(&self) -> StoreErrorKind {
        self.kind
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            StoreErrorKind::Unavailable => "the store cannot be reached",
            StoreErrorKind::Timeout => "the store did not answer in time",
            StoreErrorKind::CircuitOpen => "the store failed lately and is not asked",
            StoreErrorKind::ForeignValue => "the stored value was not written by gorl",
            StoreErrorKind::Unsupported => "the store does not support this operation",
            StoreErrorKind::Policy => "the store cannot count under this policy",
            StoreErrorKind::Other => "the store failed",
        })
    }
}

impl core::error::Error for StoreError {
    #[cfg(feature = "std")]
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        self.source.as_ref().map(|source| &**source as &(dyn core::error::Error + 'static))
    }
}

/// A request got no decision: the cost can never fit, or the store failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecideError {
    /// The cost is above the capacity of the policy, so no wait would help.
    #[error(transparent)]
    Cost(#[from] CostExceedsLimit),
    /// The store gave no answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Among whom a store's counts are exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Scope {
    /// Among the callers in this process. What other processes spend is not counted.
    Process,
    /// Among all processes that use the same store.
    Shared,
}

impl Scope {
    /// The snake-case name, for logs and metric labels.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Process => "process",
            Self::Shared => "shared",
        }
    }
}

/// A place that keeps states and decides on them, one key at a time.
///
/// A store serialises the decisions of one key: N callers of a policy with limit L never see more
/// than L admitted. It runs [`decide`](crate::decide), or the same arithmetic where the state
/// lives, and returns that answer; it never counts a denial. A state of another strategy than the
/// request's policy is treated as none.
///
/// # Cancellation
///
/// A future that is dropped before it is ready may or may not have spent the cost.
pub trait Store: Send + Sync {
    /// Decides on one request, spending its cost if that is asked for and admitted.
    ///
    /// # Errors
    ///
    /// [`DecideError::Cost`] if the cost can never fit, [`DecideError::Store`] if there is no
    /// answer.
    fn decide(
        &self,
        request: Request<'_>,
    ) -> impl Future<Output = Result<Decision, DecideError>> + Send;

    /// Decides on several requests at once: all spend, or none does.
    ///
    /// Unless a store says otherwise this is not supported.
    ///
    /// # Errors
    ///
    /// As [`decide`](Self::decide), and [`StoreErrorKind::Unsupported`].
    fn decide_all(
        &self,
        requests: &[Request<'_>],
        decisions: &mut [Option<Decision>],
    ) -> impl Future<Output = Result<(), DecideError>> + Send {
        let _ = (requests, decisions);
        async { Err(StoreError::new(StoreErrorKind::Unsupported).into()) }
    }

    /// Gives the request's cost back to its key, never past full. The action is not looked at.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store failed or cannot give back.
    fn give_back(
        &self,
        request: Request<'_>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send {
        let _ = request;
        async { Err(StoreError::new(StoreErrorKind::Unsupported)) }
    }

    /// Forgets a key, for every policy.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store failed or cannot reset.
    fn reset(&self, key: KeyRef<'_>) -> impl Future<Output = Result<(), StoreError>> + Send {
        let _ = key;
        async { Err(StoreError::new(StoreErrorKind::Unsupported)) }
    }

    /// Among whom the counts are exact. Unless a store says otherwise it promises no more than that
    /// its own callers are counted together.
    fn scope(&self) -> Scope {
        Scope::Process
    }

    /// Tells the store that `new` has taken the place of `old` for the keys that `old` applied to.
    ///
    /// A store that forgets states at rest uses it to keep those that the new policy still counts.
    /// Decisions are right without it, so the default does nothing.
    fn policy_replaced(&self, old: &Policy, new: &Policy) {
        let _ = (old, new);
    }
}

/// A store that answers without waiting and cannot fail.
pub trait LocalStore: Store {
    /// [`Store::decide`], at once.
    ///
    /// # Errors
    ///
    /// [`CostExceedsLimit`] if the cost can never fit.
    fn decide_now(&self, request: Request<'_>) -> Result<Decision, CostExceedsLimit>;

    /// [`Store::give_back`], at once.
    fn give_back_now(&self, request: Request<'_>);

    /// [`Store::reset`], at once.
    fn reset_now(&self, key: KeyRef<'_>);
}
