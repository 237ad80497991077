//! Several limiters over one store, asked in one call: all admit, or nothing is spent.

use std::future::Future;
use std::sync::Arc;

use gorl_core::{
    Action, DecideError, Decision, Key, KeyRef, Policy, Request, StoreError, StoreErrorKind,
    check_cost,
};

use crate::AsyncLimiter;
use crate::asking::Asking;
use crate::breaker::Pass;
use crate::observer::Watching;

/// A request to one of several limiters.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a, K> {
    /// Who decides.
    pub limiter: &'a AsyncLimiter,
    /// Who is counted.
    pub key: &'a K,
    /// How much it costs.
    pub cost: u32,
}

impl AsyncLimiter {
    /// Whether both ask the same store, so that [`check_all`](Self::check_all) can ask it once.
    #[must_use]
    pub fn shares_store_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.asking.store, &other.asking.store)
    }

    /// Asks several limiters over one store, in one call: nothing is spent unless all admit.
    ///
    /// Build the limiters over clones of one `Arc` of the store, by [`over`](Self::over) or
    /// `build_over`. If one denies, the decisions of the others are as those of a peek. The denial
    /// caches of the limiters take no part. While the store is gone each answers by its own failure
    /// policy, and what was admitted is given back if another denies.
    ///
    /// # Errors
    ///
    /// - [`DecideError::Cost`] if one of the costs can never fit.
    /// - [`StoreErrorKind::Unsupported`] if the limiters have different stores, or if the store cannot
    ///   decide on these keys together: those of a Redis Cluster must share a slot.
    /// - Other errors of the store, for the first limiter whose failure policy has no answer.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # #[cfg(feature = "redis")]
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// use std::sync::Arc;
    /// use std::time::Duration;
    /// use gorl::{Ask, AsyncLimiter, DynStore, Policy, RedisStore};
    ///
    /// let store: Arc<dyn DynStore> = Arc::new(RedisStore::connect("redis://127.0.0.1/").await?);
    /// let second = Policy::token_bucket(10, Duration::from_secs(1))?;
    /// let day = Policy::fixed_window(5_000, Duration::from_secs(86_400))?;
    /// let [second, day] = [second, day].map(|policy| AsyncLimiter::over(policy, Arc::clone(&store)));
    ///
    /// // Limiters of one strategy need keys of their own.
    /// let decisions = AsyncLimiter::check_all(&[
    ///     Ask { limiter: &second, key: &("second", "user-1"), cost: 1 },
    ///     Ask { limiter: &day, key: &("day", "user-1"), cost: 1 },
    /// ])
    /// .await?;
    /// let admitted = decisions.iter().all(|decision| decision.is_allowed());
    /// # Ok(())
    /// # }
    /// ```
    // It says itself that it may change threads; see the other methods.
    #[expect(clippy::manual_async_fn, reason = "this promises `Send`")]
    pub fn check_all<'a, K: Key + Sync>(
        asks: &'a [Ask<'a, K>],
    ) -> impl Future<Output = Result<Vec<Decision>, DecideError>> + Send + 'a {
        async move { ask_together(asks).await }
    }
}

async fn ask_together<K: Key + Sync>(asks: &[Ask<'_, K>]) -> Result<Vec<Decision>, DecideError> {
    let Some(first) = asks.first() else {
        return Ok(Vec::new());
    };
    if !asks.iter().all(|ask| ask.limiter.shares_store_with(first.limiter)) {
        return Err(unsupported("the limiters have different stores").into());
    }
    let policies: Vec<Policy> = asks.iter().map(|ask| ask.limiter.policy()).collect();
    let parts: Vec<K::Parts<'_>> = asks.iter().map(|ask| ask.key.parts()).collect();
    let requests: Vec<Request<'_>> = asks
        .iter()
        .zip(policies.iter().zip(&parts))
        .map(|(ask, (policy, parts))| Request {
            policy,
            key: KeyRef::new(parts.as_ref()),
            cost: ask.cost,
            action: Action::Take,
        })
        .collect();
    for request in &requests {
        check_cost(request.policy, request.cost)?;
    }
    let askings: Vec<&Asking> = asks.iter().map(|ask| &*ask.limiter.asking).collect();
    let begun: Vec<_> =
        askings.iter().map(|asking| asking.watching.as_ref().map(Watching::begin)).collect();
    let answer = decide_all(&askings, &requests).await;
    match &answer {
        Ok(decisions) => {
            for (begun, decision) in begun.into_iter().zip(decisions) {
                if let Some(begun) = begun {
                    begun.end(Ok(decision));
                }
            }
            for ((asking, request), decision) in askings.iter().zip(&requests).zip(decisions) {
                asking.note_denial(None, request.key, decision.is_allowed());
            }
        }
        // It is one failure, which is the first limiter's in the totals as well.
        Err(error) if is_counted(error) => {
            if let Some(begun) = begun.into_iter().next().flatten() {
                begun.end(Err(error));
            }
        }
        Err(_) => {}
    }
    answer
}

/// Decides on requests to several limiters over one store, of which there is at least one, and counts
/// what came of it.
async fn decide_all(
    askings: &[&Asking],
    requests: &[Request<'_>],
) -> Result<Vec<Decision>, DecideError> {
    let first = askings[0];
    let answer = match first.ask_all(requests).await {
        Err(DecideError::Store(error)) if error.kind() != StoreErrorKind::Unsupported => {
            without_store(askings, requests, &error)
        }
        answer => answer,
    };
    match &answer {
        Ok(decisions) => {
            for (asking, decision) in askings.iter().zip(decisions) {
                asking.counters.decided(decision);
            }
        }
        Err(error) if is_counted(error) => first.counters.failed(),
        Err(_) => {}
    }
    answer
}

impl Asking {
    /// Decides on several requests, of which there is at least one: nothing is spent unless all admit.
    ///
    /// A store that cannot decide on them together is asked for one after the other, and what was spent
    /// before one denied is given back; who asks in between may find it spent.
    pub(crate) async fn decide_together(
        self: &Arc<Self>,
        requests: &[Request<'_>],
    ) -> Result<Vec<Decision>, DecideError> {
        for request in requests {
            check_cost(request.policy, request.cost)?;
        }
        let askings = vec![&**self; requests.len()];
        match decide_all(&askings, requests).await {
            Err(DecideError::Store(error)) if error.kind() == StoreErrorKind::Unsupported => {
                self.one_by_one(requests).await
            }
            answer => answer,
        }
    }

    async fn one_by_one(
        self: &Arc<Self>,
        requests: &[Request<'_>],
    ) -> Result<Vec<Decision>, DecideError> {
        let mut decisions: Vec<Decision> = Vec::with_capacity(requests.len());
        let mut refused = None;
        for request in requests {
            let is_denied = decisions.iter().any(|decision| !decision.is_allowed());
            let action = if is_denied { Action::Peek } else { request.action };
            match self.decide(Request { action, ..*request }).await {
                Ok(decision) => decisions.push(decision),
                Err(error) => {
                    refused = Some(error);
                    break;
                }
            }
        }
        if refused.is_some() || decisions.iter().any(|decision| !decision.is_allowed()) {
            for (request, decision) in requests.iter().zip(&mut decisions) {
                // That it cannot is in the totals; the request is answered all the same.
                if decision.changes_state() && self.give_back(*request).await.is_ok() {
                    *decision = decision.unspent();
                }
            }
        }
        refused.map_or(Ok(decisions), Err)
    }

    /// The store's decisions on all, unless the breaker keeps it from being asked.
    async fn ask_all(&self, requests: &[Request<'_>]) -> Result<Vec<Decision>, DecideError> {
        let probe = match self.pass() {
            Pass::Through => None,
            Pass::Probe(probe) => Some(probe),
            Pass::TurnedAway => return Err(self.breakers_error().into()),
        };
        let mut decisions = vec![None; requests.len()];
        let answer = self.store.decide_all_dyn(requests, &mut decisions).await;
        let failure = match &answer {
            Err(DecideError::Store(error)) => Some(error),
            _ => None,
        };
        // What cannot be asked says nothing of the store, and another may probe it.
        if failure.is_none_or(|error| error.kind() != StoreErrorKind::Unsupported) {
            self.note(failure, probe);
        }
        answer?;
        let decisions: Option<Vec<Decision>> = decisions.into_iter().collect();
        Ok(decisions.ok_or_else(|| StoreError::new(StoreErrorKind::Other))?)
    }
}

/// What the failure policies make of it: each for its own limiter, and nothing is spent unless all
/// admit.
fn without_store(
    askings: &[&Asking],
    requests: &[Request<'_>],
    error: &StoreError,
) -> Result<Vec<Decision>, DecideError> {
    let mut decisions = Vec::with_capacity(requests.len());
    let mut refused = None;
    for (asking, request) in askings.iter().zip(requests) {
        match asking.fallback.decide(*request, again(error)) {
            Ok(decision) => decisions.push(decision),
            Err(error) => {
                refused = Some(error);
                break;
            }
        }
    }
    if refused.is_some() || !decisions.iter().all(Decision::is_allowed) {
        let admitted = askings.iter().zip(requests).zip(&mut decisions);
        for ((asking, request), decision) in admitted.filter(|(_, decision)| decision.is_allowed())
        {
            // It was counted here, if anywhere, so this cannot fail.
            let _ = asking.fallback.give_back(*request, again(error));
            *decision = decision.unspent();
        }
    }
    match refused {
        Some(error) => Err(error.into()),
        None => Ok(decisions),
    }
}

/// Whether the store failed. Requests that it cannot decide on together are a mistake of the caller's, or
/// asked for one after the other.
fn is_counted(error: &DecideError) -> bool {
    matches!(error, DecideError::Store(error) if error.kind() != StoreErrorKind::Unsupported)
}

/// The same failure, for another who asks.
fn again(error: &StoreError) -> StoreError {
    StoreError::with_source(error.kind(), error.to_string())
}

fn unsupported(why: &str) -> StoreError {
    StoreError::with_source(StoreErrorKind::Unsupported, why)
}
