//! The front door over memory: synchronous, and it cannot fail.

use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;
use gorl_core::{
    Action, CostExceedsLimit, Decision, Key, KeyRef, LocalStore, Policy, Request, check_cost,
};
use gorl_store_mem::MemoryStore;

use crate::LimiterBuilder;

/// The cost of a plain [`check`](Limiter::check): the least that is worth limiting, and never above
/// a capacity.
const ONE: u32 = 1;

/// A rate limiter over memory: one [`Policy`] for every key, answers at once, cannot fail.
///
/// It is shared by reference, or in an [`Arc`]; its methods take `&self`.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use gorl::{Limiter, Policy};
///
/// let limiter = Limiter::new(Policy::token_bucket(100, Duration::from_secs(1))?.with_burst(2)?);
/// assert!(limiter.check("a").is_allowed());
/// assert_eq!(limiter.check("a").remaining(), 0);
/// assert!(!limiter.check("a").is_allowed());
/// assert!(limiter.check("b").is_allowed());
/// # Ok::<(), gorl::PolicyError>(())
/// ```
pub struct Limiter {
    store: MemoryStore,
    /// The policy in force, for those who ask; what decides lies in the store, with the counts.
    policy: ArcSwap<Policy>,
    /// One change of policy at a time.
    changing: Mutex<()>,
}

impl Limiter {
    /// A limiter whose memory grows with its keys, on the default clock.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self::builder(policy).build()
    }

    /// A limiter with a bound on its keys, a clock or a number of shards of your choice.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::time::Duration;
    /// use gorl::{Limiter, ManualClock, Policy};
    ///
    /// let clock = Arc::new(ManualClock::new(0));
    /// let policy = Policy::fixed_window(1, Duration::from_secs(10))?;
    /// let limiter = Limiter::builder(policy).capacity(1_000_000).clock(Arc::clone(&clock)).build();
    ///
    /// assert!(limiter.check("a").is_allowed());
    /// let denied = limiter.check("a");
    /// clock.advance(denied.retry_after());
    /// assert!(limiter.check("a").is_allowed());
    /// # Ok::<(), gorl::PolicyError>(())
    /// ```
    pub fn builder(policy: Policy) -> LimiterBuilder {
        LimiterBuilder::new(policy)
    }

    pub(crate) fn over(policy: Policy, store: MemoryStore) -> Self {
        Self { store, policy: ArcSwap::from_pointee(policy), changing: Mutex::new(()) }
    }

    /// Spends one of the key's budget if there is one left.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use gorl::{Limiter, Policy};
    ///
    /// let limiter = Limiter::new(Policy::fixed_window(1, Duration::from_secs(3600))?);
    /// assert!(limiter.check("user-1").is_allowed());
    /// let denied = limiter.check("user-1");
    /// assert!(!denied.is_allowed() && !denied.retry_after().is_zero());
    /// # Ok::<(), gorl::PolicyError>(())
    /// ```
    #[inline(always)]
    pub fn check(&self, key: impl Key) -> Decision {
        self.store.decide_default(&key, ONE, Action::Take)
    }

    /// Spends `cost` of the key's budget if that much is left; all of it or nothing.
    ///
    /// A cost of zero is always admitted and spends nothing.
    ///
    /// # Errors
    ///
    /// [`CostExceedsLimit`] if `cost` is above the policy's capacity, so that no wait would help.
    /// Nothing is spent.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use gorl::{CostExceedsLimit, Limiter, Policy};
    ///
    /// let limiter = Limiter::new(Policy::leaky_bucket(10, Duration::from_secs(1))?);
    /// assert_eq!(limiter.check_n("a", 7)?.remaining(), 3);
    /// assert!(!limiter.check_n("a", 7)?.is_allowed());
    /// assert_eq!(limiter.check_n("a", 11), Err(CostExceedsLimit { cost: 11, limit: 10 }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn check_n(&self, key: impl Key, cost: u32) -> Result<Decision, CostExceedsLimit> {
        fitting(self.store.decide_default(&key, cost, Action::Take))
    }

    /// What [`check`](Self::check) would answer, spending nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use gorl::{Limiter, Policy};
    ///
    /// let limiter = Limiter::new(Policy::fixed_window(1, Duration::from_secs(3600))?);
    /// for _ in 0..3 {
    ///     assert!(limiter.peek("user-1").is_allowed());
    /// }
    /// assert_eq!(limiter.peek("user-1").remaining(), 1);
    /// # Ok::<(), gorl::PolicyError>(())
    /// ```
    #[inline]
    pub fn peek(&self, key: impl Key) -> Decision {
        self.store.decide_default(&key, ONE, Action::Peek)
    }

    /// What [`check_n`](Self::check_n) would answer, spending nothing.
    ///
    /// # Errors
    ///
    /// As [`check_n`](Self::check_n).
    #[inline]
    pub fn peek_n(&self, key: impl Key, cost: u32) -> Result<Decision, CostExceedsLimit> {
        fitting(self.store.decide_default(&key, cost, Action::Peek))
    }

    /// Gives `cost` back to a key, never past full: for a request that was admitted and then not
    /// served.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use gorl::{Limiter, Policy};
    ///
    /// let limiter = Limiter::new(Policy::fixed_window(3, Duration::from_secs(3600))?);
    /// let _ = limiter.check("a");
    /// limiter.give_back("a", 5);
    /// assert_eq!(limiter.peek("a").remaining(), 3);
    /// # Ok::<(), gorl::PolicyError>(())
    /// ```
    pub fn give_back(&self, key: impl Key, cost: u32) {
        let policy = self.policy();
        let parts = key.parts();
        let key = KeyRef::new(parts.as_ref());
        self.store.give_back_now(Request { policy: &policy, key, cost, action: Action::Take });
    }

    /// Forgets a key: its next request is its first.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use gorl::{Limiter, Policy};
    ///
    /// let limiter = Limiter::new(Policy::fixed_window(1, Duration::from_secs(3600))?);
    /// let _ = limiter.check("user-1");
    /// limiter.reset("user-1");
    /// assert!(limiter.check("user-1").is_allowed());
    /// # Ok::<(), gorl::PolicyError>(())
    /// ```
    pub fn reset(&self, key: impl Key) {
        self.store.reset_now(KeyRef::new(key.parts().as_ref()));
    }

    /// The policy in force.
    #[must_use]
    pub fn policy(&self) -> Policy {
        **self.policy.load()
    }

    /// Replaces the policy while serving.
    ///
    /// Counts stay and are read under the new numbers: a raised limit admits more at once, a
    /// lowered one less, and setting the same policy again changes nothing. A token bucket keeps
    /// its tokens (never more than the new burst), a leaky bucket keeps its occupancy. Another
    /// strategy starts every key afresh, since its counts mean something else.
    ///
    /// The state of a key that was not asked for since is read under the new numbers as well: what
    /// it spent counts from then as the new policy counts it. A key that was at rest is as new if
    /// its state has been forgotten meanwhile, as it may be from one window after its rest.
    ///
    /// Each key sees the change at one instant; it reaches all keys before this returns.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use gorl::{Limiter, Policy};
    ///
    /// let hour = Duration::from_secs(3600);
    /// let limiter = Limiter::new(Policy::fixed_window(10, hour)?);
    /// let _ = limiter.check_n("a", 3)?;
    /// limiter.set_policy(Policy::fixed_window(4, hour)?);
    /// assert!(limiter.check("a").is_allowed());
    /// assert!(!limiter.check("a").is_allowed());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_policy(&self, policy: Policy) {
        let _one_at_a_time = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        self.store.set_default_policy(policy);
        self.policy.store(Arc::new(policy));
    }

    /// How many keys have a state.
    #[must_use]
    pub fn len(&self) -> usize {
        self.store.len()
    }

    /// Whether no key has a state.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.store.is_empty()
    }

    /// Bytes of memory that the counts take.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        self.store.memory_bytes()
    }

    /// Forgets every key at rest and gives memory back; see [`MemoryStore::sweep`].
    pub fn sweep(&self) {
        self.store.sweep();
    }

    /// The store below, for its own methods.
    #[must_use]
    pub fn store(&self) -> &MemoryStore {
        &self.store
    }
}

/// The decision, unless its cost can never fit; such a one was denied and changed nothing.
#[inline]
fn fitting(decision: Decision) -> Result<Decision, CostExceedsLimit> {
    check_cost(&decision.policy(), decision.cost()).map(|()| decision)
}

impl std::fmt::Debug for Limiter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Limiter")
            .field("policy", &self.policy())
            .field("store", &self.store)
            .finish_non_exhaustive()
    }
}
