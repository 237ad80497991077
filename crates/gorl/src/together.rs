//! Several limiters over one store, asked in one call: all admit, or nothing is spent.

use std::sync::Arc;

use gorl_core::{
    Action, DecideError, Decision, Key, KeyRef, Policy, Request, StoreError, StoreErrorKind,
    check_cost,
};

use crate::AsyncLimiter;
use crate::asking::Asking;
use crate::breaker::Pass;

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
    pub async fn check_all<K: Key + Sync>(
        asks: &[Ask<'_, K>],
    ) -> Result<Vec<Decision>, DecideError> {
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
        let answer = first.limiter.asking.ask_all(&requests).await;
        let answer = match answer {
            Err(DecideError::Store(error)) if error.kind() != StoreErrorKind::Unsupported => {
                without_store(asks, &requests, &error)
            }
            answer => answer,
        };
        match &answer {
            Ok(decisions) => {
                for (ask, decision) in asks.iter().zip(decisions) {
                    ask.limiter.asking.counters.decided(decision);
                }
            }
            Err(DecideError::Store(error)) if error.kind() != StoreErrorKind::Unsupported => {
                first.limiter.asking.counters.failed();
            }
            Err(_) => {}
        }
        answer
    }
}

impl Asking {
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
fn without_store<K>(
    asks: &[Ask<'_, K>],
    requests: &[Request<'_>],
    error: &StoreError,
) -> Result<Vec<Decision>, DecideError> {
    let mut decisions = Vec::with_capacity(requests.len());
    let mut refused = None;
    for (ask, request) in asks.iter().zip(requests) {
        let fallback = &ask.limiter.asking.fallback;
        match fallback.decide(*request, again(error)) {
            Ok(decision) => decisions.push(decision),
            Err(error) => {
                refused = Some(error);
                break;
            }
        }
    }
    if refused.is_some() || !decisions.iter().all(Decision::is_allowed) {
        let admitted = asks.iter().zip(requests).zip(&mut decisions);
        for ((ask, request), decision) in admitted.filter(|(_, decision)| decision.is_allowed()) {
            // It was counted here, if anywhere, so this cannot fail.
            let _ = ask.limiter.asking.fallback.give_back(*request, again(error));
            *decision = decision.unspent();
        }
    }
    match refused {
        Some(error) => Err(error.into()),
        None => Ok(decisions),
    }
}

/// The same failure, for another who asks.
fn again(error: &StoreError) -> StoreError {
    StoreError::with_source(error.kind(), error.to_string())
}

fn unsupported(why: &str) -> StoreError {
    StoreError::with_source(StoreErrorKind::Unsupported, why)
}
