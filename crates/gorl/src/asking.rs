//! How an `AsyncLimiter` comes to an answer: from its cache, its store, or in the store's place.

use std::future::Future;
use std::sync::Arc;

use arc_swap::ArcSwap;
use gorl_core::{
    Clock, DecideError, Decision, KeyRef, Policy, Request, StoreError, StoreErrorKind, check_cost,
};

use crate::async_limiter_builder::{AsyncLimiterBuilder, SharedClock};
use crate::breaker::{Pass, Probe};
use crate::denial_cache::Cache;
use crate::fallback::Fallback;
use crate::observer::{DEFAULT_RESOURCE, Watching};
use crate::stats::Counters;
use crate::steady_clock::SteadyClock;
use crate::{Breaker, BreakerState, DynStore, TopDenied};
#[cfg(feature = "redis")]
use {crate::owned_key::OwnedKey, gorl_core::Action};

/// What a limiter and its clones share.
pub(crate) struct Asking {
    pub(crate) store: Arc<dyn DynStore>,
    pub(crate) policy: ArcSwap<Policy>,
    pub(crate) counters: Counters,
    breaker: Option<Arc<Breaker>>,
    cache: Option<Cache>,
    pub(crate) fallback: Fallback,
    clock: SharedClock,
    pub(crate) watching: Option<Watching>,
    pub(crate) top_denied: Option<Arc<TopDenied>>,
}

impl Asking {
    pub(crate) fn new(builder: AsyncLimiterBuilder, store: Arc<dyn DynStore>) -> Self {
        let given = builder.clock;
        Self {
            store,
            policy: ArcSwap::from_pointee(builder.policy),
            counters: Counters::default(),
            breaker: builder.breaker,
            cache: builder.denial_cache.as_ref().map(crate::DenialCache::build),
            fallback: Fallback::new(&builder.failure_policy, given.as_ref()),
            clock: given.unwrap_or_else(|| Arc::new(SteadyClock::new())),
            watching: builder.watching,
            top_denied: builder.top_denied,
        }
    }

    /// Decides, and counts what came of it.
    pub(crate) async fn decide(
        self: &Arc<Self>,
        request: Request<'_>,
    ) -> Result<Decision, DecideError> {
        // Whether or not there is a store, such a cost can never fit.
        check_cost(request.policy, request.cost)?;
        let answer = self.answer(request).await;
        match &answer {
            Ok(decision) => self.counters.decided(decision),
            Err(DecideError::Store(_)) => self.counters.failed(),
            Err(_) => {}
        }
        answer
    }

    async fn answer(self: &Arc<Self>, request: Request<'_>) -> Result<Decision, DecideError> {
        let ticket = match &self.cache {
            None => None,
            Some(cache) => match cache.look(&request, self.clock.now_ns()) {
                Ok(denial) => return Ok(denial),
                Err(ticket) => Some((cache, ticket)),
            },
        };
        let probe = match self.pass() {
            Pass::Through => None,
            Pass::TurnedAway => return self.turned_away(request),
            Pass::Probe(probe) => match self.probe_apart(request, probe) {
                Ok(answer) => return answer,
                Err(probe) => Some(probe),
            },
        };
        let answer = self.ask(request, probe).await;
        if let (Ok(decision), Some((cache, ticket))) = (&answer, &ticket) {
            cache.keep(&request, ticket, decision, self.clock.now_ns());
        }
        match answer {
            Err(DecideError::Store(error)) => Ok(self.fallback.decide(request, error)?),
            answer => answer,
        }
    }

    /// Gives back. The key may be asked for again at once, even if nobody waits for the end.
    pub(crate) async fn give_back(&self, request: Request<'_>) -> Result<(), StoreError> {
        let _freed = self.cache.as_ref().map(|cache| Freed { cache, key: request.key });
        match self.unless_open(self.store.give_back_dyn(request)).await {
            Ok(()) => Ok(()),
            Err(error) => self.fallback.give_back(request, error),
        }
    }

    /// Forgets a key, in the store and here.
    pub(crate) async fn reset(&self, key: KeyRef<'_>) -> Result<(), StoreError> {
        let _freed = self.cache.as_ref().map(|cache| Freed { cache, key });
        self.fallback.reset(key);
        self.unless_open(self.store.reset_dyn(key)).await
    }

    /// Replaces the policy.
    pub(crate) fn set_policy(&self, policy: Policy) {
        let old = self.policy.swap(Arc::new(policy));
        if *old != policy {
            self.policy_replaced(&old, &policy);
        }
    }

    /// Tells all who keep something that another policy applies.
    pub(crate) fn policy_replaced(&self, old: &Policy, new: &Policy) {
        self.store.policy_replaced_dyn(old, new);
        self.fallback.policy_replaced(old, new);
        if let Some(cache) = &self.cache {
            cache.policy_replaced();
        }
    }

    pub(crate) fn breaker(&self) -> Option<&Arc<Breaker>> {
        self.breaker.as_ref()
    }

    pub(crate) fn pass(&self) -> Pass {
        let Some(breaker) = &self.breaker else {
            return Pass::Through;
        };
        let pass = breaker.pass(|| self.clock.now_ns());
        if let (Pass::Probe(_), Some(watching)) = (&pass, &self.watching) {
            watching.observer.breaker_changed(&watching.name, BreakerState::Probing);
        }
        pass
    }

    /// Counts a key among those that are denied most, if it was denied and somebody wants to know.
    pub(crate) fn note_denial(&self, resource: Option<&str>, key: KeyRef<'_>, is_allowed: bool) {
        if let (Some(top), false) = (&self.top_denied, is_allowed) {
            let name = self.watching.as_ref().map_or(DEFAULT_RESOURCE, |watching| &*watching.name);
            top.note_parts(resource.unwrap_or(name), key);
        }
    }

    /// Counts a failure of the store, and tells of it.
    fn store_error(&self, kind: StoreErrorKind) {
        self.counters.store_error(kind);
        if let Some(watching) = &self.watching {
            watching.observer.store_error(&watching.name, kind);
        }
    }

    /// What is no decision is no probe either: it is turned away while the breaker is open.
    async fn unless_open(
        &self,
        asked: impl Future<Output = Result<(), StoreError>>,
    ) -> Result<(), StoreError> {
        if let Some(breaker) = &self.breaker
            && breaker.state() != crate::BreakerState::Closed
        {
            let error = breaker.turned_away();
            self.store_error(error.kind());
            return Err(error);
        }
        let answer = asked.await;
        self.note(answer.as_ref().err(), None);
        answer
    }

    /// The answer without asking the store.
    #[cold]
    fn turned_away(&self, request: Request<'_>) -> Result<Decision, DecideError> {
        Ok(self.fallback.decide(request, self.breakers_error())?)
    }

    /// What is said in the store's place while it is not asked.
    pub(crate) fn breakers_error(&self) -> StoreError {
        let kind = StoreErrorKind::CircuitOpen;
        self.store_error(kind);
        match &self.breaker {
            Some(breaker) => breaker.turned_away(),
            None => StoreError::new(kind),
        }
    }

    /// Tells the breaker and the counters how the store did.
    pub(crate) fn note(&self, failure: Option<&StoreError>, probe: Option<Probe>) {
        if let Some(error) = failure {
            self.store_error(error.kind());
        }
        let Some(breaker) = &self.breaker else {
            return;
        };
        let before = self.watching.as_ref().map(|watching| (watching, breaker.state()));
        self.note_at(breaker, failure, probe);
        if let Some((watching, before)) = before {
            let after = breaker.state();
            if after != before {
                watching.observer.breaker_changed(&watching.name, after);
            }
        }
    }

    fn note_at(&self, breaker: &Arc<Breaker>, failure: Option<&StoreError>, probe: Option<Probe>) {
        if let Some(probe) = probe {
            self.counters.probed();
            probe.settle(failure, self.clock.now_ns());
        } else if let Some(error) = failure {
            if breaker.failed(error, self.clock.now_ns()) {
                self.counters.breaker_opened();
            }
        } else {
            breaker.answered();
        }
    }

    async fn ask(
        &self,
        request: Request<'_>,
        probe: Option<Probe>,
    ) -> Result<Decision, DecideError> {
        let answer = self.store.decide_dyn(request).await;
        let failure = match &answer {
            Err(DecideError::Store(error)) => Some(error),
            _ => None,
        };
        self.note(failure, probe);
        answer
    }

    /// Answers in the store's place, and has a task of its own ask the store, so that no caller waits
    /// for one that is likely to be gone. What was admitted here is spent there as well, as far as
    /// it counts again.
    ///
    /// The caller has to probe itself where there is no tokio runtime, and where it would get an
    /// error anyway: it may as well wait for what may be an answer.
    #[cfg(feature = "redis")]
    fn probe_apart(
        self: &Arc<Self>,
        request: Request<'_>,
        probe: Probe,
    ) -> Result<Result<Decision, DecideError>, Probe> {
        let (Ok(runtime), Some(key), true) = (
            tokio::runtime::Handle::try_current(),
            OwnedKey::of(request.key),
            self.fallback.answers(),
        ) else {
            return Err(probe);
        };
        let answer = self.turned_away(request);
        let is_spent =
            answer.as_ref().is_ok_and(Decision::is_allowed) && request.action == Action::Take;
        let action = if is_spent { Action::Take } else { Action::Peek };
        let (policy, cost, asking) = (*request.policy, request.cost, Arc::clone(self));
        drop(runtime.spawn(async move {
            let parts = key.parts();
            let key = KeyRef::new(&parts);
            // What it says is in the counters and the breaker.
            let _ = asking.ask(Request { policy: &policy, key, cost, action }, Some(probe)).await;
        }));
        Ok(answer)
    }

    #[cfg(not(feature = "redis"))]
    #[expect(clippy::unused_self, reason = "as with it")]
    fn probe_apart(
        self: &Arc<Self>,
        _request: Request<'_>,
        probe: Probe,
    ) -> Result<Result<Decision, DecideError>, Probe> {
        Err(probe)
    }
}

/// Has the cache forget a key when a give-back or a reset ends, even by being dropped: from then on
/// the store may admit the key again.
struct Freed<'a> {
    cache: &'a Cache,
    key: KeyRef<'a>,
}

impl Drop for Freed<'_> {
    fn drop(&mut self) {
        self.cache.free(self.key);
    }
}
