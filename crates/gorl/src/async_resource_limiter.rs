//! Limits by resource, over any store: awaited, with a failure policy.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use gorl_core::{
    Action, Clock, DecideError, Decision, Key, KeyPart, KeyRef, Part, Policy, Request, Scope,
    Store, StoreError,
};
use smallvec::SmallVec;

use crate::asking::Asking;
use crate::async_limiter_builder::AsyncLimiterBuilder;
use crate::observer::{DEFAULT_RESOURCE, Watching};
use crate::resource_names::{Parts, UNKNOWN_RESOURCES, UnknownResources, parts};
use crate::{
    Breaker, DenialCache, DynStore, FailurePolicy, MultiDecision, MultiPolicy, Observer,
    ResourcePolicies, Stats, TopDenied,
};

/// A rate limiter with policies by resource over any [`Store`]: the methods of `ResourceLimiter`,
/// awaited, each with a `Result`.
///
/// A clone shares the store, the policies and all else. What happens when the store has no answer is set
/// up as for an [`AsyncLimiter`](crate::AsyncLimiter).
///
/// Where several policies apply to a resource the store is asked for all of them in one call, if it can
/// decide on them together: memory and Redis can. In a Redis Cluster their keys must share a slot, which
/// `RedisStoreBuilder::tag_first_part` sees to; the resource is then the tag. Any other store is asked for
/// one after the other, and what was spent before one denied is given back.
///
/// # Examples
///
/// ```
/// # #[cfg(feature = "memory")] {
/// # pollster::block_on(async {
/// use std::time::Duration;
/// use gorl::{AsyncResourceLimiter, MemoryStore, Policy, ResourcePolicies};
///
/// let minute = Duration::from_secs(60);
/// let policies = ResourcePolicies::new(Policy::sliding_window(100, minute)?)
///     .resource("login", Policy::sliding_window(1, minute)?);
/// let limiter = AsyncResourceLimiter::new(policies, MemoryStore::new());
/// assert!(limiter.check("login", "user-1").await?.is_allowed());
/// assert!(!limiter.check("login", "user-1").await?.is_allowed());
/// assert_eq!(limiter.check("search", "user-1").await?.remaining(), 99);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// # }
/// ```
#[derive(Clone)]
pub struct AsyncResourceLimiter {
    inner: Arc<Inner>,
}

struct Inner {
    asking: Arc<Asking>,
    policies: ArcSwap<ResourcePolicies>,
    unknown: UnknownResources,
    changing: Mutex<()>,
}

/// Sets up an [`AsyncResourceLimiter`].
#[must_use = "a builder does nothing until `build`"]
pub struct AsyncResourceLimiterBuilder {
    policies: ResourcePolicies,
    /// Its policy is not used.
    options: AsyncLimiterBuilder,
    unknown: usize,
}

// The futures say themselves that they may change threads; see `AsyncLimiter`.
#[expect(clippy::manual_async_fn, reason = "these promise `Send`")]
impl AsyncResourceLimiter {
    /// A limiter that asks `store`.
    #[must_use]
    pub fn new(policies: ResourcePolicies, store: impl Store + 'static) -> Self {
        Self::builder(policies).build(store)
    }

    /// A limiter with options of your choice.
    pub fn builder(policies: ResourcePolicies) -> AsyncResourceLimiterBuilder {
        let options = AsyncLimiterBuilder::new(Policy::MOST);
        AsyncResourceLimiterBuilder { policies, options, unknown: UNKNOWN_RESOURCES }
    }

    /// Spends one of the key's budget under the resource's policies, if all have one left.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the store has no answer and the failure policy gives none; that is not a
    /// denial.
    pub fn check<'a>(
        &'a self,
        resource: &'a str,
        key: impl Key + Send + 'a,
    ) -> impl Future<Output = Result<MultiDecision, StoreError>> + Send + 'a {
        async move { without_cost_error(self.decide(resource, key, 1, Action::Take).await) }
    }

    /// Spends `cost` if all policies of the resource have that much left; all of it under each of them,
    /// or nothing.
    ///
    /// # Errors
    ///
    /// [`DecideError::Cost`] if `cost` is above the capacity of one of the policies, and
    /// [`DecideError::Store`] if the store has no answer and the failure policy gives none.
    pub fn check_n<'a>(
        &'a self,
        resource: &'a str,
        key: impl Key + Send + 'a,
        cost: u32,
    ) -> impl Future<Output = Result<MultiDecision, DecideError>> + Send + 'a {
        self.decide(resource, key, cost, Action::Take)
    }

    /// What [`check`](Self::check) would answer, spending nothing.
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check).
    pub fn peek<'a>(
        &'a self,
        resource: &'a str,
        key: impl Key + Send + 'a,
    ) -> impl Future<Output = Result<MultiDecision, StoreError>> + Send + 'a {
        async move { without_cost_error(self.decide(resource, key, 1, Action::Peek).await) }
    }

    /// What [`check_n`](Self::check_n) would answer, spending nothing.
    ///
    /// # Errors
    ///
    /// As [`check_n`](Self::check_n).
    pub fn peek_n<'a>(
        &'a self,
        resource: &'a str,
        key: impl Key + Send + 'a,
        cost: u32,
    ) -> impl Future<Output = Result<MultiDecision, DecideError>> + Send + 'a {
        self.decide(resource, key, cost, Action::Peek)
    }

    /// Gives `cost` back to a key under each policy of the resource, never past full; see
    /// [`AsyncLimiter::give_back`](crate::AsyncLimiter::give_back).
    ///
    /// # Errors
    ///
    /// [`StoreError`] of the first policy for which it failed; those after it are not given back to.
    pub fn give_back<'a>(
        &'a self,
        resource: &'a str,
        key: impl Key + Send + 'a,
        cost: u32,
    ) -> impl Future<Output = Result<(), StoreError>> + Send + 'a {
        async move {
            let (policy, resource, _) = self.find(resource);
            let own = key.parts();
            for (name, policy) in policy.iter() {
                let parts = parts(resource, name, own.as_ref());
                let key = KeyRef::new(&parts);
                let request = Request { policy, key, cost, action: Action::Take };
                self.inner.asking.give_back(request).await?;
            }
            Ok(())
        }
    }

    /// Forgets a key under each policy of the resource.
    ///
    /// # Errors
    ///
    /// [`StoreError`] of the first policy for which it failed.
    pub fn reset<'a>(
        &'a self,
        resource: &'a str,
        key: impl Key + Send + 'a,
    ) -> impl Future<Output = Result<(), StoreError>> + Send + 'a {
        async move {
            let (policy, resource, _) = self.find(resource);
            let own = key.parts();
            for (name, _) in policy.iter() {
                let parts = parts(resource, name, own.as_ref());
                self.inner.asking.reset(KeyRef::new(&parts)).await?;
            }
            Ok(())
        }
    }

    /// The policies in force.
    #[must_use]
    pub fn policies(&self) -> Arc<ResourcePolicies> {
        self.inner.policies.load_full()
    }

    /// Replaces the policies while serving; see `ResourceLimiter::set_policies`.
    pub fn set_policies(&self, policies: ResourcePolicies) {
        let inner = &*self.inner;
        let _one_at_a_time = inner.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let old = inner.policies.load_full();
        if *old == policies {
            return;
        }
        for (old, new) in old.replaced_by(&policies) {
            inner.asking.policy_replaced(old, new);
        }
        inner.policies.store(Arc::new(policies));
    }

    /// How many resources without policies of their own have a count of their own.
    #[must_use]
    pub fn unknown_resources(&self) -> usize {
        self.inner.unknown.len()
    }

    /// What became of the requests so far. Each policy of a resource counts for itself.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.inner.asking.counters.read()
    }

    /// Among whom the counts are exact while the store answers.
    #[must_use]
    pub fn scope(&self) -> Scope {
        self.inner.asking.store.scope_dyn()
    }

    /// The circuit breaker, if there is one.
    #[must_use]
    pub fn breaker(&self) -> Option<&Breaker> {
        self.inner.asking.breaker().map(|breaker| &**breaker)
    }

    fn decide<'a>(
        &'a self,
        resource: &'a str,
        key: impl Key + Send + 'a,
        cost: u32,
        action: Action,
    ) -> impl Future<Output = Result<MultiDecision, DecideError>> + Send + 'a {
        async move {
            let asking = &self.inner.asking;
            let begun = asking.watching.as_ref().map(Watching::begin);
            let (policy, part, label) = self.find(resource);
            let own = key.parts();
            let answer = self.decide_on(&policy, part, own.as_ref(), cost, action).await;
            if let (Ok(decision), Action::Take) = (&answer, action) {
                asking.note_denial(Some(label), KeyRef::new(own.as_ref()), decision.is_allowed());
            }
            match (begun, &answer) {
                (Some(begun), Ok(decision)) => {
                    let (limit, binding) = decision.binding();
                    begun.decided(label, limit, decision.is_allowed(), binding);
                }
                (Some(begun), Err(error)) => begun.failed(label, error),
                (None, _) => {}
            }
            answer
        }
    }

    fn decide_on<'a>(
        &'a self,
        policy: &'a Arc<MultiPolicy>,
        resource: Part<'a>,
        own: &'a [Part<'a>],
        cost: u32,
        action: Action,
    ) -> impl Future<Output = Result<MultiDecision, DecideError>> + Send + 'a {
        async move {
            let keys: SmallVec<[Parts<'_>; 1]> =
                policy.iter().map(|(name, _)| parts(resource, name, own)).collect();
            let requests: SmallVec<[Request<'_>; 1]> = policy
                .iter()
                .zip(&keys)
                .map(|((_, policy), key)| Request { policy, key: KeyRef::new(key), cost, action })
                .collect();
            let asking = &self.inner.asking;
            let decisions: SmallVec<[Decision; 1]> = match &*requests {
                [request] => SmallVec::from_iter([asking.decide(*request).await?]),
                requests => asking.decide_together(requests).await?.into(),
            };
            Ok(MultiDecision::new(policy, decisions))
        }
    }

    /// The policies of a resource, what stands for it in keys, and what observers call it.
    fn find<'a>(&self, resource: &'a str) -> (Arc<MultiPolicy>, Part<'a>, &'a str) {
        let policies = self.inner.policies.load();
        if let Some(policy) = policies.known(resource) {
            return (Arc::clone(policy), resource.part(), resource);
        }
        let default = Arc::clone(policies.default_shared());
        (default, self.inner.unknown.part(resource), DEFAULT_RESOURCE)
    }
}

impl AsyncResourceLimiterBuilder {
    /// How many resources without policies of their own have a count of their own; all beyond share
    /// one. By default 1 000.
    ///
    /// Processes that share a store count the names that they themselves have seen.
    pub fn unknown_resources(mut self, most: usize) -> Self {
        self.unknown = most;
        self
    }

    /// See [`AsyncLimiterBuilder::failure_policy`].
    pub fn failure_policy(mut self, policy: FailurePolicy) -> Self {
        self.options = self.options.failure_policy(policy);
        self
    }

    /// See [`AsyncLimiterBuilder::breaker`].
    pub fn breaker(mut self, breaker: impl Into<Arc<Breaker>>) -> Self {
        self.options = self.options.breaker(breaker);
        self
    }

    /// See [`AsyncLimiterBuilder::without_breaker`].
    pub fn without_breaker(mut self) -> Self {
        self.options = self.options.without_breaker();
        self
    }

    /// See [`AsyncLimiterBuilder::denial_cache`]. It takes no part where a resource has several
    /// policies.
    pub fn denial_cache(mut self, cache: DenialCache) -> Self {
        self.options = self.options.denial_cache(cache);
        self
    }

    /// Tells an observer what becomes of requests, by resource.
    pub fn observer(mut self, observer: impl Observer + 'static) -> Self {
        self.options = self.options.observer(DEFAULT_RESOURCE, observer);
        self
    }

    /// See [`AsyncLimiterBuilder::top_denied`].
    pub fn top_denied(mut self, top: Arc<TopDenied>) -> Self {
        self.options = self.options.top_denied(top);
        self
    }

    /// See [`AsyncLimiterBuilder::clock`].
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.options = self.options.clock(clock);
        self
    }

    /// The limiter over `store`.
    #[must_use]
    pub fn build(self, store: impl Store + 'static) -> AsyncResourceLimiter {
        self.build_over(Arc::new(store))
    }

    /// The limiter over a store that others ask as well.
    #[must_use]
    pub fn build_over(self, store: Arc<dyn DynStore>) -> AsyncResourceLimiter {
        let inner = Inner {
            asking: Arc::new(Asking::new(self.options, store)),
            policies: ArcSwap::from_pointee(self.policies),
            unknown: UnknownResources::new(self.unknown),
            changing: Mutex::new(()),
        };
        AsyncResourceLimiter { inner: Arc::new(inner) }
    }
}

/// Every policy admits a cost of one.
fn without_cost_error(
    answer: Result<MultiDecision, DecideError>,
) -> Result<MultiDecision, StoreError> {
    answer.map_err(|error| match error {
        DecideError::Store(error) => error,
        other => StoreError::with_source(gorl_core::StoreErrorKind::Other, other),
    })
}

impl std::fmt::Debug for AsyncResourceLimiter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AsyncResourceLimiter")
            .field("policies", &self.policies())
            .finish_non_exhaustive()
    }
}
