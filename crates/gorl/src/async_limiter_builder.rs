//! How an `AsyncLimiter` is set up: what it does when its store fails, and what it need not ask.

use std::sync::Arc;

use gorl_core::{Clock, Policy, Store};

use crate::observer::Watching;
use crate::{AsyncLimiter, Breaker, DenialCache, DynStore, FailurePolicy, Observer, TopDenied};

/// A clock that several parts of a limiter read.
pub(crate) type SharedClock = Arc<dyn Clock>;

/// Sets up an [`AsyncLimiter`]; made by [`AsyncLimiter::builder`].
#[must_use = "a builder does nothing until `build`"]
pub struct AsyncLimiterBuilder {
    pub(crate) policy: Policy,
    pub(crate) failure_policy: FailurePolicy,
    pub(crate) breaker: Option<Arc<Breaker>>,
    pub(crate) denial_cache: Option<DenialCache>,
    pub(crate) clock: Option<SharedClock>,
    pub(crate) watching: Option<Watching>,
    pub(crate) top_denied: Option<Arc<TopDenied>>,
}

impl AsyncLimiterBuilder {
    pub(crate) fn new(policy: Policy) -> Self {
        Self {
            policy,
            failure_policy: FailurePolicy::default(),
            breaker: Some(Arc::new(Breaker::new())),
            denial_cache: None,
            clock: None,
            watching: None,
            top_denied: None,
        }
    }

    /// What becomes of a request when the store has no answer. The default is
    /// [`FailurePolicy::Closed`]: its error is returned.
    pub fn failure_policy(mut self, policy: FailurePolicy) -> Self {
        self.failure_policy = policy;
        self
    }

    /// The circuit breaker, which limiters over one store can share. The default is one of this
    /// limiter's own, [`Breaker::new`].
    pub fn breaker(mut self, breaker: impl Into<Arc<Breaker>>) -> Self {
        self.breaker = Some(breaker.into());
        self
    }

    /// Asks the store for every request, however often it has failed.
    pub fn without_breaker(mut self) -> Self {
        self.breaker = None;
        self
    }

    /// Answers keys that were denied without asking the store, while that is certain. By default
    /// every request is asked for.
    pub fn denial_cache(mut self, cache: DenialCache) -> Self {
        self.denial_cache = Some(cache);
        self
    }

    /// The clock for the breaker's waits, the age of cached denials and the local limiter.
    ///
    /// It is for tests, with the same clock in the store. The default measures by the system's
    /// monotonic clock, and the local limiter has the memory store's own.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Some(Arc::new(clock));
        self
    }

    /// Tells an observer what becomes of requests; it hears of this limiter by `name`.
    pub fn observer(mut self, name: &str, observer: impl Observer + 'static) -> Self {
        self.watching = Some(Watching::new(name, observer));
        self
    }

    /// Counts the keys that are denied most.
    pub fn top_denied(mut self, top: Arc<TopDenied>) -> Self {
        self.top_denied = Some(top);
        self
    }

    /// The limiter over `store`.
    #[must_use]
    pub fn build(self, store: impl Store + 'static) -> AsyncLimiter {
        self.build_over(Arc::new(store))
    }

    /// The limiter over a store that others ask as well.
    #[must_use]
    pub fn build_over(self, store: Arc<dyn DynStore>) -> AsyncLimiter {
        AsyncLimiter::from_builder(self, store)
    }

    /// Connects to Redis, and makes the limiter over it.
    ///
    /// # Errors
    ///
    /// As [`RedisStoreBuilder::connect`](crate::RedisStoreBuilder::connect). A store that
    /// [starts degraded](crate::RedisStoreBuilder::start_degraded) needs a failure policy that
    /// answers for it: with [`FailurePolicy::Closed`] that is an error of kind
    /// [`Unsupported`](gorl_core::StoreErrorKind::Unsupported).
    #[cfg(feature = "redis")]
    pub async fn connect(
        self,
        store: crate::RedisStoreBuilder,
    ) -> Result<AsyncLimiter, gorl_core::StoreError> {
        if store.starts_degraded() && self.failure_policy == FailurePolicy::Closed {
            return Err(gorl_core::StoreError::with_source(
                gorl_core::StoreErrorKind::Unsupported,
                "a limiter that starts without its store needs a failure policy that answers \
                 meanwhile: FailurePolicy::Open or FailurePolicy::Local",
            ));
        }
        Ok(self.build(store.connect().await?))
    }
}

impl std::fmt::Debug for AsyncLimiterBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AsyncLimiterBuilder")
            .field("policy", &self.policy)
            .field("failure_policy", &self.failure_policy)
            .field("denial_cache", &self.denial_cache)
            .finish_non_exhaustive()
    }
}
