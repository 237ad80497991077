//! The front door: a limiter, and those who wait for it.

use std::future::{Future, poll_fn};
use std::hash::{BuildHasher, RandomState};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use gorl::{
    AsyncLimiter, CostExceedsLimit, DecideError, Decision, Key, KeyRef, Limiter, Policy, StoreError,
};

use crate::Timer;
use crate::queues::Queues;

/// A limiter that can be waited for.
pub trait Decides: Send + Sync {
    /// The policy in force.
    fn policy(&self) -> Policy;

    /// Spends `cost` of a key's budget if that much is left.
    fn decide<K: Key + Sync>(
        &self,
        key: &K,
        cost: u32,
    ) -> impl Future<Output = Result<Decision, DecideError>> + Send;
}

/// Those who wait for a limiter.
///
/// See the [crate's documentation](crate) for an example and for what is promised.
#[derive(Debug)]
pub struct Waiting<L, T> {
    limiter: L,
    timer: T,
    queues: Queues,
    jitter: Duration,
    random: RandomState,
}

/// The limit admitted, and the cost is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready(Decision);

impl Ready {
    /// The decision that admitted, with what is left.
    pub const fn decision(&self) -> Decision {
        self.0
    }
}

/// Why nobody was served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WaitError {
    /// The cost is above the capacity of the policy, so that no wait would help.
    #[error(transparent)]
    Cost(#[from] CostExceedsLimit),
    /// So many wait already: for this key, or in all.
    #[error("too many wait already: at most {per_key} for a key and {in_all} in all")]
    TooMany {
        /// How many may wait for a key.
        per_key: usize,
        /// How many may wait in all.
        in_all: usize,
    },
    /// The time that the caller gave was over, or would have been. Nothing was spent.
    #[error("the wait would be longer than the {given:?} that were given")]
    TooLong {
        /// The time that was given.
        given: Duration,
    },
    /// The store gave no answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How many may wait for one key, unless another bound is set.
const PER_KEY: usize = 10_000;

/// How many may wait in all, unless another bound is set.
const IN_ALL: usize = 100_000;

impl<L: Decides, T: Timer> Waiting<L, T> {
    /// Waits for `limiter`, sleeping by `timer`.
    #[must_use]
    pub fn new(limiter: L, timer: T) -> Self {
        let queues = Queues::new(PER_KEY, IN_ALL);
        Self { limiter, timer, queues, jitter: Duration::ZERO, random: RandomState::new() }
    }

    /// How many may wait for one key (by default 10 000), and in all (100 000).
    #[must_use]
    pub fn most(mut self, per_key: usize, in_all: usize) -> Self {
        self.queues = Queues::new(per_key, in_all);
        self
    }

    /// Lets whoever sleeps sleep longer by a random time up to this, so that processes that share a limit
    /// do not all ask at the same instant.
    #[must_use]
    pub fn jitter(mut self, most: Duration) -> Self {
        self.jitter = most;
        self
    }

    /// Waits until one may be spent of the key's budget, and spends it.
    ///
    /// A future that is dropped before it is ready leaves its place. Over memory it has spent nothing; over
    /// a store that was being asked, it may have.
    ///
    /// # Errors
    ///
    /// [`WaitError::TooMany`] at once; [`WaitError::Store`] if the store has no answer and the failure
    /// policy gives none.
    pub async fn until_ready(&self, key: impl Key + Sync + Send) -> Result<Ready, WaitError> {
        self.until_ready_n(key, 1).await
    }

    /// Waits until `cost` may be spent, and spends it.
    ///
    /// # Errors
    ///
    /// As [`until_ready`](Self::until_ready), and [`WaitError::Cost`] at once for a cost that can never be
    /// admitted, or when the policy has become such meanwhile.
    pub async fn until_ready_n(
        &self,
        key: impl Key + Sync + Send,
        cost: u32,
    ) -> Result<Ready, WaitError> {
        self.wait(&key, cost, None).await
    }

    /// Waits for no longer than `given`.
    ///
    /// Whoever is first and knows that the wait is longer does not begin it.
    ///
    /// # Errors
    ///
    /// As [`until_ready_n`](Self::until_ready_n), and [`WaitError::TooLong`].
    pub async fn until_ready_within(
        &self,
        key: impl Key + Sync + Send,
        cost: u32,
        given: Duration,
    ) -> Result<Ready, WaitError> {
        let mut wait = pin!(self.wait(&key, cost, Some(given)));
        let mut over = pin!(self.timer.sleep(given));
        poll_fn(|context| {
            // What is ready in time is served, even if the time is over by then.
            if let Poll::Ready(served) = wait.as_mut().poll(context) {
                return Poll::Ready(served);
            }
            over.as_mut().poll(context).map(|()| Err(WaitError::TooLong { given }))
        })
        .await
    }

    /// How many wait now.
    #[must_use]
    pub fn len(&self) -> usize {
        self.queues.len()
    }

    /// Whether nobody waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The limiter that is waited for.
    pub fn limiter(&self) -> &L {
        &self.limiter
    }

    async fn wait<K: Key + Sync>(
        &self,
        key: &K,
        cost: u32,
        given: Option<Duration>,
    ) -> Result<Ready, WaitError> {
        gorl::core::check_cost(&self.limiter.policy(), cost)?;
        let place = self.queues.join(KeyRef::new(key.parts().as_ref()));
        let Some(place) = place else {
            let Queues { per_key, in_all, .. } = self.queues;
            return Err(WaitError::TooMany { per_key, in_all });
        };
        place.turn().await;
        loop {
            let decision = self.limiter.decide(key, cost).await.map_err(WaitError::from)?;
            if decision.is_allowed() {
                return Ok(Ready(decision));
            }
            let wait = decision.retry_after();
            if let Some(given) = given.filter(|given| wait > *given) {
                return Err(WaitError::TooLong { given });
            }
            self.timer.sleep(wait.saturating_add(self.some_jitter())).await;
        }
    }

    /// A random time up to the jitter.
    fn some_jitter(&self) -> Duration {
        if self.jitter.is_zero() {
            return Duration::ZERO;
        }
        // The time makes it differ from call to call.
        let random = self.random.hash_one(std::time::Instant::now());
        let most = u64::try_from(self.jitter.as_nanos()).unwrap_or(u64::MAX);
        // Below `most`, which fits.
        let nanos = (u128::from(random) * u128::from(most)) >> 64;
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(most))
    }
}

impl From<DecideError> for WaitError {
    fn from(error: DecideError) -> Self {
        match error {
            DecideError::Cost(error) => Self::Cost(error),
            DecideError::Store(error) => Self::Store(error),
            other => Self::Store(StoreError::with_source(gorl::StoreErrorKind::Other, other)),
        }
    }
}

impl Decides for Limiter {
    fn policy(&self) -> Policy {
        Self::policy(self)
    }

    fn decide<K: Key + Sync>(
        &self,
        key: &K,
        cost: u32,
    ) -> impl Future<Output = Result<Decision, DecideError>> + Send {
        std::future::ready(self.check_n(key, cost).map_err(DecideError::from))
    }
}

impl Decides for AsyncLimiter {
    fn policy(&self) -> Policy {
        Self::policy(self)
    }

    async fn decide<K: Key + Sync>(&self, key: &K, cost: u32) -> Result<Decision, DecideError> {
        self.check_n(key, cost).await
    }
}

impl<L: Decides> Decides for Arc<L> {
    fn policy(&self) -> Policy {
        L::policy(self)
    }

    fn decide<K: Key + Sync>(
        &self,
        key: &K,
        cost: u32,
    ) -> impl Future<Output = Result<Decision, DecideError>> + Send {
        L::decide(self, key, cost)
    }
}
