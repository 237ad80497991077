//! What answers in the store's place while it is gone.

#[cfg(feature = "memory")]
use std::sync::OnceLock;

#[cfg(feature = "memory")]
use gorl_core::{Clock, LocalStore, Origin};
use gorl_core::{Decision, KeyRef, Policy, Request, StoreError, StoreErrorKind};
#[cfg(feature = "memory")]
use gorl_store_mem::MemoryStore;

use crate::FailurePolicy;
#[cfg(feature = "memory")]
use crate::LocalShare;
use crate::async_limiter_builder::SharedClock;

/// A failure policy with what it needs to answer.
pub(crate) enum Fallback {
    Closed,
    Open,
    #[cfg(feature = "memory")]
    Local(Local),
}

/// The counts of this process.
///
/// They stay when the store is back, until they rest: so a store that comes and goes gives nobody
/// more than one share beside what the store admits.
#[cfg(feature = "memory")]
pub(crate) struct Local {
    share: LocalShare,
    store: OnceLock<MemoryStore>,
    clock: Option<SharedClock>,
}

impl Fallback {
    #[cfg_attr(not(feature = "memory"), expect(unused_variables, reason = "for `Local` alone"))]
    pub(crate) fn new(policy: &FailurePolicy, clock: Option<&SharedClock>) -> Self {
        match policy {
            FailurePolicy::Closed => Self::Closed,
            FailurePolicy::Open => Self::Open,
            #[cfg(feature = "memory")]
            FailurePolicy::Local(share) => Self::Local(Local {
                share: share.clone(),
                store: OnceLock::new(),
                clock: clock.cloned(),
            }),
        }
    }

    /// Whether there is an answer when the store has none.
    #[cfg(feature = "redis")]
    pub(crate) const fn answers(&self) -> bool {
        !matches!(self, Self::Closed)
    }

    /// The answer to a request that the store failed, or that failure.
    pub(crate) fn decide(
        &self,
        request: Request<'_>,
        error: StoreError,
    ) -> Result<Decision, StoreError> {
        let kind = error.kind();
        if !is_absorbed(kind) {
            return Err(error);
        }
        match self {
            Self::Closed => Err(error),
            Self::Open => Ok(Decision::open(*request.policy, request.cost, kind)),
            #[cfg(feature = "memory")]
            Self::Local(local) => {
                let policy = local.share.policy(request.policy);
                // A cost that the share can never admit has no answer here, and the policy has no
                // objection to it.
                let decision = local.store().decide_now(Request { policy: &policy, ..request });
                decision.map(|decision| decision.with_origin(Origin::Local(kind))).or(Err(error))
            }
        }
    }

    /// Gives back where it was counted while the store does not answer. Where nobody counts there
    /// is nothing to give back.
    #[cfg_attr(not(feature = "memory"), expect(unused_variables, reason = "for `Local` alone"))]
    pub(crate) fn give_back(
        &self,
        request: Request<'_>,
        error: StoreError,
    ) -> Result<(), StoreError> {
        match self {
            Self::Open if is_absorbed(error.kind()) => Ok(()),
            #[cfg(feature = "memory")]
            Self::Local(local) if is_absorbed(error.kind()) => {
                if let Some(store) = local.store.get() {
                    let policy = local.share.policy(request.policy);
                    store.give_back_now(Request { policy: &policy, ..request });
                }
                Ok(())
            }
            _ => Err(error),
        }
    }

    /// Forgets a key here.
    #[cfg_attr(not(feature = "memory"), expect(unused_variables, reason = "for `Local` alone"))]
    #[cfg_attr(not(feature = "memory"), expect(clippy::unused_self, reason = "likewise"))]
    pub(crate) fn reset(&self, key: KeyRef<'_>) {
        #[cfg(feature = "memory")]
        if let Self::Local(Local { store, .. }) = self
            && let Some(store) = store.get()
        {
            store.reset_now(key);
        }
    }

    /// Follows a change of the policy.
    #[cfg_attr(not(feature = "memory"), expect(unused_variables, reason = "for `Local` alone"))]
    #[cfg_attr(not(feature = "memory"), expect(clippy::unused_self, reason = "likewise"))]
    pub(crate) fn policy_replaced(&self, old: &Policy, new: &Policy) {
        #[cfg(feature = "memory")]
        if let Self::Local(local) = self
            && let Some(store) = local.store.get()
        {
            let (old, new) = (local.share.policy(old), local.share.policy(new));
            gorl_core::Store::policy_replaced(store, &old, &new);
        }
    }
}

#[cfg(feature = "memory")]
impl Local {
    /// The counts, made when they are first needed.
    fn store(&self) -> &MemoryStore {
        self.store.get_or_init(|| {
            let builder = MemoryStore::builder().capacity(self.share.capacity);
            match &self.clock {
                Some(clock) => builder.clock(ByShared(SharedClock::clone(clock))).build(),
                None => builder.build(),
            }
        })
    }
}

/// A clock that the limiter was given.
#[cfg(feature = "memory")]
struct ByShared(SharedClock);

#[cfg(feature = "memory")]
impl Clock for ByShared {
    fn now_ns(&self) -> u64 {
        self.0.now_ns()
    }
}

/// Whether the failure policy answers for such a failure. A mistake of the caller's it does not
/// cover up.
const fn is_absorbed(kind: StoreErrorKind) -> bool {
    !matches!(kind, StoreErrorKind::Policy | StoreErrorKind::Unsupported)
}
