//! The front door over any store: awaited, and honest when the store has no answer.

use std::future::Future;
use std::sync::Arc;

use gorl_core::{
    Action, DecideError, Decision, Key, KeyRef, Policy, Request, Scope, Store, StoreError,
};

use crate::asking::Asking;
use crate::observer::Watching;
use crate::{AsyncLimiterBuilder, Breaker, DynStore, Stats};

/// A rate limiter over any [`Store`]: the methods of `Limiter`, awaited, each with a `Result`.
///
/// It is a concrete type whatever the store, and a clone shares the store, the policy and all else.
///
/// What happens when the store has no answer is set up by the [`builder`](Self::builder): the error
/// is returned, the request is admitted, or a limiter in this process takes over. A circuit breaker
/// keeps a store that is gone from costing its deadline each time.
///
/// # Examples
///
/// ```
/// # #[cfg(feature = "memory")] {
/// # pollster::block_on(async {
/// use std::time::Duration;
/// use gorl::{AsyncLimiter, MemoryStore, Policy};
///
/// let policy = Policy::fixed_window(1, Duration::from_secs(3600))?;
/// let limiter = AsyncLimiter::new(policy, MemoryStore::new());
/// assert!(limiter.check("a").await?.is_allowed());
/// assert!(!limiter.check("a").await?.is_allowed());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// # }
/// ```
#[derive(Clone)]
pub struct AsyncLimiter {
    pub(crate) asking: Arc<Asking>,
}

// The futures say themselves that they may change threads, which an `async fn` cannot: where one
// with a borrowed key is spawned, the compiler does not find it out.
#[expect(clippy::manual_async_fn, reason = "these promise `Send`")]
impl AsyncLimiter {
    /// A limiter that asks `store`.
    #[must_use]
    pub fn new(policy: Policy, store: impl Store + 'static) -> Self {
        Self::over(policy, Arc::new(store))
    }

    /// A limiter that asks a store which others ask as well.
    #[must_use]
    pub fn over(policy: Policy, store: Arc<dyn DynStore>) -> Self {
        Self::builder(policy).build_over(store)
    }

    /// A limiter with options of your choice.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(feature = "memory")] {
    /// # pollster::block_on(async {
    /// use std::time::Duration;
    /// use gorl::{AsyncLimiter, Breaker, DenialCache, FailurePolicy, MemoryStore, Policy};
    ///
    /// let limiter = AsyncLimiter::builder(Policy::token_bucket(100, Duration::from_secs(1))?)
    ///     .failure_policy(FailurePolicy::Open)
    ///     .breaker(Breaker::new().failures(3))
    ///     .denial_cache(DenialCache::new())
    ///     .build(MemoryStore::new());
    /// let decision = limiter.check("user-1").await?;
    /// assert!(decision.is_allowed() && !decision.is_degraded());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// # }
    /// ```
    pub fn builder(policy: Policy) -> AsyncLimiterBuilder {
        AsyncLimiterBuilder::new(policy)
    }

    pub(crate) fn from_builder(builder: AsyncLimiterBuilder, store: Arc<dyn DynStore>) -> Self {
        Self { asking: Arc::new(Asking::new(builder, store)) }
    }

    /// Spends one of the key's budget if there is one left.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store has no answer and the failure policy gives none; that is not a
    /// denial.
    pub fn check<'a>(
        &'a self,
        key: impl Key + Send + 'a,
    ) -> impl Future<Output = Result<Decision, StoreError>> + Send + 'a {
        async move { without_cost_error(self.decide(key, 1, Action::Take).await) }
    }

    /// Spends `cost` of the key's budget if that much is left; all of it or nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(feature = "memory")] {
    /// # pollster::block_on(async {
    /// use std::time::Duration;
    /// use gorl::{AsyncLimiter, DecideError, MemoryStore, Policy};
    ///
    /// let policy = Policy::token_bucket(10, Duration::from_secs(60))?;
    /// let limiter = AsyncLimiter::new(policy, MemoryStore::new());
    /// assert_eq!(limiter.check_n("a", 7).await?.remaining(), 3);
    /// assert!(matches!(limiter.check_n("a", 11).await, Err(DecideError::Cost(_))));
    /// limiter.give_back("a", 7).await?;
    /// assert_eq!(limiter.peek("a").await?.remaining(), 10);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`DecideError::Cost`] if `cost` is above the policy's capacity, and [`DecideError::Store`]
    /// if the store has no answer and the failure policy gives none.
    pub fn check_n<'a>(
        &'a self,
        key: impl Key + Send + 'a,
        cost: u32,
    ) -> impl Future<Output = Result<Decision, DecideError>> + Send + 'a {
        self.decide(key, cost, Action::Take)
    }

    /// What [`check`](Self::check) would answer, spending nothing.
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check).
    pub fn peek<'a>(
        &'a self,
        key: impl Key + Send + 'a,
    ) -> impl Future<Output = Result<Decision, StoreError>> + Send + 'a {
        async move { without_cost_error(self.decide(key, 1, Action::Peek).await) }
    }

    /// What [`check_n`](Self::check_n) would answer, spending nothing.
    ///
    /// # Errors
    ///
    /// As [`check_n`](Self::check_n).
    pub fn peek_n<'a>(
        &'a self,
        key: impl Key + Send + 'a,
        cost: u32,
    ) -> impl Future<Output = Result<Decision, DecideError>> + Send + 'a {
        self.decide(key, cost, Action::Peek)
    }

    /// Gives `cost` back to a key, never past full.
    ///
    /// While the store has no answer, [`FailurePolicy::Local`](crate::FailurePolicy) gives back
    /// what this process has counted, and under [`FailurePolicy::Open`](crate::FailurePolicy)
    /// nothing was counted; neither is an error.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store failed or cannot give back, unless as above.
    pub fn give_back<'a>(
        &'a self,
        key: impl Key + Send + 'a,
        cost: u32,
    ) -> impl Future<Output = Result<(), StoreError>> + Send + 'a {
        async move {
            let policy = self.policy();
            let parts = key.parts();
            let key = KeyRef::new(parts.as_ref());
            let request = Request { policy: &policy, key, cost, action: Action::Take };
            self.asking.give_back(request).await
        }
    }

    /// Forgets a key: its next request is its first.
    ///
    /// The failure policy has no part in this: that the store could not be told is always an error.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store failed or cannot reset.
    pub fn reset<'a>(
        &'a self,
        key: impl Key + Send + 'a,
    ) -> impl Future<Output = Result<(), StoreError>> + Send + 'a {
        async move { self.asking.reset(KeyRef::new(key.parts().as_ref())).await }
    }

    /// The policy in force.
    #[must_use]
    pub fn policy(&self) -> Policy {
        **self.asking.policy.load()
    }

    /// Replaces the policy for this limiter and its clones.
    ///
    /// Counts stay and are read under the new numbers; another strategy starts every key afresh.
    /// Other processes that share the store keep theirs until they do the same.
    pub fn set_policy(&self, policy: Policy) {
        self.asking.set_policy(policy);
    }

    /// What became of the requests so far.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(feature = "memory")] {
    /// # pollster::block_on(async {
    /// use std::time::Duration;
    /// use gorl::{AsyncLimiter, MemoryStore, Policy};
    ///
    /// let policy = Policy::fixed_window(1, Duration::from_secs(3600))?;
    /// let limiter = AsyncLimiter::new(policy, MemoryStore::new());
    /// for _ in 0..3 {
    ///     let _ = limiter.check("a").await?;
    /// }
    /// let stats = limiter.stats();
    /// assert_eq!((stats.allowed, stats.denied, stats.failed), (1, 2, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// # }
    /// ```
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.asking.counters.read()
    }

    /// Among whom the counts are exact while the store answers.
    #[must_use]
    pub fn scope(&self) -> Scope {
        self.asking.store.scope_dyn()
    }

    /// The circuit breaker, if there is one.
    #[must_use]
    pub fn breaker(&self) -> Option<&Breaker> {
        self.asking.breaker().map(|breaker| &**breaker)
    }

    fn decide<'a>(
        &'a self,
        key: impl Key + Send + 'a,
        cost: u32,
        action: Action,
    ) -> impl Future<Output = Result<Decision, DecideError>> + Send + 'a {
        async move {
            let policy = self.policy();
            let parts = key.parts();
            let key = KeyRef::new(parts.as_ref());
            let begun = self.asking.watching.as_ref().map(Watching::begin);
            let answer = self.asking.decide(Request { policy: &policy, key, cost, action }).await;
            if let (Ok(decision), Action::Take) = (&answer, action) {
                self.asking.note_denial(None, key, decision.is_allowed());
            }
            if let Some(begun) = begun {
                begun.end(answer.as_ref());
            }
            answer
        }
    }
}

impl std::fmt::Debug for AsyncLimiter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AsyncLimiter").field("policy", &self.policy()).finish_non_exhaustive()
    }
}

/// The answer for a cost of one, which no store may call too large.
fn without_cost_error(answer: Result<Decision, DecideError>) -> Result<Decision, StoreError> {
    answer.map_err(|error| match error {
        DecideError::Store(error) => error,
        other => StoreError::with_source(gorl_core::StoreErrorKind::Other, other),
    })
}
