//! The object-safe twin of `Store`, so that any store fits behind one concrete limiter.

use std::future::Future;
use std::pin::Pin;

use gorl_core::{DecideError, Decision, KeyRef, Policy, Request, Scope, Store, StoreError};

/// A boxed future that borrows from its arguments.
type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// [`Store`] as a trait object. Every store is one; there is nothing to implement.
///
/// # Examples
///
/// ```
/// # #[cfg(feature = "memory")] {
/// use std::sync::Arc;
/// use gorl::{DynStore, MemoryStore};
///
/// let stores: Vec<Arc<dyn DynStore>> = vec![Arc::new(MemoryStore::new())];
/// # assert_eq!(stores.len(), 1);
/// # }
/// ```
pub trait DynStore: Send + Sync {
    /// [`Store::decide`].
    fn decide_dyn<'a>(&'a self, request: Request<'a>) -> Boxed<'a, Result<Decision, DecideError>>;

    /// [`Store::decide_all`].
    fn decide_all_dyn<'a>(
        &'a self,
        requests: &'a [Request<'a>],
        decisions: &'a mut [Option<Decision>],
    ) -> Boxed<'a, Result<(), DecideError>>;

    /// [`Store::give_back`].
    fn give_back_dyn<'a>(&'a self, request: Request<'a>) -> Boxed<'a, Result<(), StoreError>>;

    /// [`Store::reset`].
    fn reset_dyn<'a>(&'a self, key: KeyRef<'a>) -> Boxed<'a, Result<(), StoreError>>;

    /// [`Store::scope`].
    fn scope_dyn(&self) -> Scope;

    /// [`Store::policy_replaced`].
    fn policy_replaced_dyn(&self, old: &Policy, new: &Policy);
}

impl<S: Store> DynStore for S {
    fn decide_dyn<'a>(&'a self, request: Request<'a>) -> Boxed<'a, Result<Decision, DecideError>> {
        Box::pin(self.decide(request))
    }

    fn decide_all_dyn<'a>(
        &'a self,
        requests: &'a [Request<'a>],
        decisions: &'a mut [Option<Decision>],
    ) -> Boxed<'a, Result<(), DecideError>> {
        Box::pin(self.decide_all(requests, decisions))
    }

    fn give_back_dyn<'a>(&'a self, request: Request<'a>) -> Boxed<'a, Result<(), StoreError>> {
        Box::pin(self.give_back(request))
    }

    fn reset_dyn<'a>(&'a self, key: KeyRef<'a>) -> Boxed<'a, Result<(), StoreError>> {
        Box::pin(self.reset(key))
    }

    fn scope_dyn(&self) -> Scope {
        self.scope()
    }

    fn policy_replaced_dyn(&self, old: &Policy, new: &Policy) {
        self.policy_replaced(old, new);
    }
}
