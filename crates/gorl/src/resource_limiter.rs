//! Limits by resource, over memory: synchronous and infallible.

use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use gorl_core::{
    Action, Clock, CostExceedsLimit, Decision, Key, KeyPart, KeyRef, LocalStore, Part, Request,
    check_cost,
};
use gorl_store_mem::{MemoryStore, MemoryStoreBuilder};
use smallvec::SmallVec;

use crate::observer::{DEFAULT_RESOURCE, Watching};
use crate::resource_names::{Parts, UNKNOWN_RESOURCES, UnknownResources, parts};
use crate::{MultiDecision, MultiPolicy, Observer, ResourcePolicies, TopDenied};

/// A rate limiter with policies by resource: `check("login", "user-1")`.
///
/// The resource chooses the policy, the key who is counted. Keys of two resources never share a count. A
/// resource without policies of its own gets the default, and a count of its own, up to
/// [a bound](ResourceLimiterBuilder::unknown_resources): beyond it, unknown resources share one count, so
/// that nobody gets the limit anew for each name that they make up.
///
/// Where several policies apply to a resource, all have to admit, and nothing is spent unless they do.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use gorl::{Policy, ResourceLimiter, ResourcePolicies};
///
/// let minute = Duration::from_secs(60);
/// let limiter = ResourceLimiter::new(
///     ResourcePolicies::new(Policy::sliding_window(100, minute)?)
///         .resource("login", Policy::sliding_window(1, minute)?),
/// );
/// assert!(limiter.check("login", "user-1").is_allowed());
/// assert!(!limiter.check("login", "user-1").is_allowed());
/// // Another resource, another count.
/// assert_eq!(limiter.check("search", "user-1").remaining(), 99);
/// # Ok::<(), gorl::PolicyError>(())
/// ```
pub struct ResourceLimiter {
    store: MemoryStore,
    policies: ArcSwap<ResourcePolicies>,
    unknown: UnknownResources,
    changing: Mutex<()>,
    watching: Option<Watching>,
    top_denied: Option<Arc<TopDenied>>,
}

/// Sets up a [`ResourceLimiter`].
#[must_use = "a builder does nothing until `build`"]
pub struct ResourceLimiterBuilder {
    policies: ResourcePolicies,
    store: MemoryStoreBuilder,
    unknown: usize,
    watching: Option<Watching>,
    top_denied: Option<Arc<TopDenied>>,
}

impl ResourceLimiter {
    /// A limiter that grows with its keys, on the system's clock.
    #[must_use]
    pub fn new(policies: ResourcePolicies) -> Self {
        Self::builder(policies).build()
    }

    /// A limiter with a capacity, a clock or a bound on unknown resources of your choice.
    pub fn builder(policies: ResourcePolicies) -> ResourceLimiterBuilder {
        let store = MemoryStore::builder();
        ResourceLimiterBuilder {
            policies,
            store,
            unknown: UNKNOWN_RESOURCES,
            watching: None,
            top_denied: None,
        }
    }

    /// Spends one of the key's budget under the resource's policies, if all have one left.
    pub fn check(&self, resource: &str, key: impl Key) -> MultiDecision {
        self.decide(resource, &key, 1, Action::Take)
    }

    /// Spends `cost` if all policies of the resource have that much left; all of it under each of them,
    /// or nothing.
    ///
    /// # Errors
    ///
    /// [`CostExceedsLimit`] if `cost` is above the capacity of one of the policies.
    pub fn check_n(
        &self,
        resource: &str,
        key: impl Key,
        cost: u32,
    ) -> Result<MultiDecision, CostExceedsLimit> {
        self.decide_fitting(resource, &key, cost, Action::Take)
    }

    /// What [`check`](Self::check) would answer, spending nothing.
    pub fn peek(&self, resource: &str, key: impl Key) -> MultiDecision {
        self.decide(resource, &key, 1, Action::Peek)
    }

    /// What [`check_n`](Self::check_n) would answer, spending nothing.
    ///
    /// # Errors
    ///
    /// As [`check_n`](Self::check_n).
    pub fn peek_n(
        &self,
        resource: &str,
        key: impl Key,
        cost: u32,
    ) -> Result<MultiDecision, CostExceedsLimit> {
        self.decide_fitting(resource, &key, cost, Action::Peek)
    }

    /// Gives `cost` back to a key under each policy of the resource, never past full.
    pub fn give_back(&self, resource: &str, key: impl Key, cost: u32) {
        self.each(resource, &key, |policy, key| {
            self.store.give_back_now(Request { policy, key, cost, action: Action::Take });
        });
    }

    /// Forgets a key under each policy of the resource.
    pub fn reset(&self, resource: &str, key: impl Key) {
        self.each(resource, &key, |_, key| self.store.reset_now(key));
    }

    /// The policies in force.
    #[must_use]
    pub fn policies(&self) -> Arc<ResourcePolicies> {
        self.policies.load_full()
    }

    /// Replaces the policies while serving.
    ///
    /// Counts stay and are read under the new numbers of the limit that has the same name in the same
    /// resource; see [`Limiter::set_policy`](crate::Limiter::set_policy). A resource that loses its own
    /// policies gets the default from then on, and one that gets its own leaves the default's. To set
    /// the same policies again changes nothing. A decision sees the old policies or the new ones, never
    /// some of both.
    pub fn set_policies(&self, policies: ResourcePolicies) {
        let _one_at_a_time = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let old = self.policies.load_full();
        if *old == policies {
            return;
        }
        for (old, new) in old.replaced_by(&policies) {
            gorl_core::Store::policy_replaced(&self.store, old, new);
        }
        self.policies.store(Arc::new(policies));
    }

    /// How many resources without policies of their own have a count of their own.
    #[must_use]
    pub fn unknown_resources(&self) -> usize {
        self.unknown.len()
    }

    /// The store below, for its own methods.
    #[must_use]
    pub fn store(&self) -> &MemoryStore {
        &self.store
    }

    fn decide_fitting(
        &self,
        resource: &str,
        key: &impl Key,
        cost: u32,
        action: Action,
    ) -> Result<MultiDecision, CostExceedsLimit> {
        let decision = self.decide(resource, key, cost, action);
        for (_, one) in decision.iter() {
            check_cost(&one.policy(), cost)?;
        }
        Ok(decision)
    }

    /// Decides; a cost that never fits is denied and spends nothing.
    fn decide(&self, resource: &str, key: &impl Key, cost: u32, action: Action) -> MultiDecision {
        if self.watching.is_none() && self.top_denied.is_none() {
            return self.decide_alone(resource, key, cost, action);
        }
        let begun = self.watching.as_ref().map(Watching::begin);
        let decision = self.decide_alone(resource, key, cost, action);
        if decision.iter().any(|(_, one)| check_cost(&one.policy(), cost).is_err()) {
            // The caller gets an error, and nothing was decided.
            return decision;
        }
        let known = self.policies.load().known(resource).is_some();
        let label = if known { resource } else { DEFAULT_RESOURCE };
        if let (Some(top), false, Action::Take) = (&self.top_denied, decision.is_allowed(), action)
        {
            top.note_parts(label, KeyRef::new(key.parts().as_ref()));
        }
        if let Some(begun) = begun {
            let (limit, binding) = decision.binding();
            begun.decided(label, limit, decision.is_allowed(), binding);
        }
        decision
    }

    fn decide_alone(
        &self,
        resource: &str,
        key: &impl Key,
        cost: u32,
        action: Action,
    ) -> MultiDecision {
        let policies = self.policies.load();
        let (policy, resource) = self.find(&policies, resource);
        let key = key.parts();
        let key = key.as_ref();
        let decisions = if policy.len() == 1 {
            let parts = parts(resource, policy.name(0), key);
            let key = KeyRef::new(&parts);
            let one = |policy| self.decide_one(Request { policy, key, cost, action });
            policy.iter().map(|(_, policy)| one(policy)).collect()
        } else {
            self.decide_together(policy, resource, key, cost, action)
        };
        MultiDecision::new(policy, decisions)
    }

    fn decide_together(
        &self,
        policy: &MultiPolicy,
        resource: Part<'_>,
        key: &[Part<'_>],
        cost: u32,
        action: Action,
    ) -> SmallVec<[Decision; 1]> {
        let keys: SmallVec<[Parts<'_>; 4]> =
            policy.iter().map(|(name, _)| parts(resource, name, key)).collect();
        let requests: SmallVec<[Request<'_>; 4]> = policy
            .iter()
            .zip(&keys)
            .map(|((_, policy), key)| Request { policy, key: KeyRef::new(key), cost, action })
            .collect();
        let mut decisions: SmallVec<[Option<Decision>; 4]> =
            SmallVec::from_elem(None, requests.len());
        // The keys differ in the names of their limits, so what can go wrong is the cost alone.
        let _ = self.store.decide_all_now(&requests, &mut decisions);
        decisions
            .into_iter()
            .zip(&requests)
            .map(|(decision, request)| decision.unwrap_or_else(|| self.look(*request)))
            .collect()
    }

    fn decide_one(&self, request: Request<'_>) -> Decision {
        self.store.decide_now(request).unwrap_or_else(|_| self.look(request))
    }

    /// How a key stands where a cost can never fit: what would be admitted is not asked.
    #[cold]
    fn look(&self, request: Request<'_>) -> Decision {
        let cost = request.cost.min(request.policy.capacity());
        let looked = self.store.decide_now(Request { cost, action: Action::Peek, ..request });
        looked.expect("a cost of at most the capacity fits")
    }

    /// Runs `each` for every policy of a resource, with the key as it counts there.
    fn each(
        &self,
        resource: &str,
        key: &impl Key,
        mut each: impl FnMut(&gorl_core::Policy, KeyRef<'_>),
    ) {
        let policies = self.policies.load();
        let (policy, resource) = self.find(&policies, resource);
        for (name, policy) in policy.iter() {
            each(policy, KeyRef::new(&parts(resource, name, key.parts().as_ref())));
        }
    }

    fn find<'a>(
        &self,
        policies: &'a ResourcePolicies,
        resource: &'a str,
    ) -> (&'a Arc<MultiPolicy>, Part<'a>) {
        match policies.known(resource) {
            Some(policy) => (policy, resource.part()),
            None => (policies.default_shared(), self.unknown.part(resource)),
        }
    }
}

impl ResourceLimiterBuilder {
    /// How many resources without policies of their own have a count of their own; all beyond share
    /// one. By default 1 000.
    pub fn unknown_resources(mut self, most: usize) -> Self {
        self.unknown = most;
        self
    }

    /// A hard bound on the number of keys, each of a resource; see [`MemoryStoreBuilder::capacity`].
    ///
    /// Where resources have several policies there is room for a count of each: the most that one
    /// resource has when this is built.
    pub fn capacity(mut self, keys: usize) -> Self {
        self.store = self.store.capacity(keys.saturating_mul(self.policies.most_limits()));
        self
    }

    /// The number of shards; see [`MemoryStoreBuilder::shards`].
    pub fn shards(mut self, shards: usize) -> Self {
        self.store = self.store.shards(shards);
        self
    }

    /// Tells an observer what becomes of requests, by resource.
    pub fn observer(mut self, observer: impl Observer + 'static) -> Self {
        self.watching = Some(Watching::new(DEFAULT_RESOURCE, observer));
        self
    }

    /// Counts the keys that are denied most.
    pub fn top_denied(mut self, top: Arc<TopDenied>) -> Self {
        self.top_denied = Some(top);
        self
    }

    /// The clock to decide by; see [`MemoryStoreBuilder::clock`].
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.store = self.store.clock(clock);
        self
    }

    /// Builds the limiter.
    ///
    /// # Panics
    ///
    /// If the system has no memory for the capacity.
    #[must_use]
    pub fn build(self) -> ResourceLimiter {
        ResourceLimiter {
            store: self.store.build(),
            policies: ArcSwap::from_pointee(self.policies),
            unknown: UnknownResources::new(self.unknown),
            changing: Mutex::new(()),
            watching: self.watching,
            top_denied: self.top_denied,
        }
    }
}

impl std::fmt::Debug for ResourceLimiter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResourceLimiter")
            .field("policies", &self.policies())
            .field("store", &self.store)
            .finish_non_exhaustive()
    }
}
