//! The answer: whether the cost may be spent, and the figures that follow from it.

use core::time::Duration;

use crate::policy::ticks_to_duration;
use crate::{Origin, Policy, State, StoreErrorKind, Strategy, step};

/// The answer to *may this key spend this cost now?*
///
/// A denial is an answer, not an error. The figures are computed when asked for, from the policy,
/// the state and the instant, so a caller that needs only [`is_allowed`](Self::is_allowed) pays for
/// nothing else. Each is exact:
///
/// - [`remaining`](Self::remaining): that much more would be admitted now, one more would not;
/// - [`retry_after`](Self::retry_after): waiting this long a lone caller is admitted, one tick less
///   and it is denied;
/// - [`reset_after`](Self::reset_after): after this long without traffic nothing is spent, one tick
///   less and something is.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use gorl_core::{Policy, decide};
///
/// let policy = Policy::fixed_window(10, Duration::from_secs(60)).unwrap();
/// let at = 20_000_000_000; // 20 s into the first window
/// let decision = decide(&policy, None, at, 10).unwrap();
/// assert!(decision.is_allowed());
/// assert_eq!((decision.limit(), decision.remaining()), (10, 0));
/// assert_eq!(decision.reset_after(), Duration::from_secs(40));
/// assert_eq!(decision.retry_after(), Duration::ZERO);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a decision that nobody looks at limits nothing"]
pub struct Decision {
    policy: Policy,
    state: State,
    now: u64,
    cost: u32,
    allowed: bool,
    spends: bool,
    origin: Origin,
}

/// The figures of a [`Decision`] together; see [`Decision::figures`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figures {
    /// [`Decision::limit`].
    pub limit: u32,
    /// [`Decision::remaining`].
    pub remaining: u32,
    /// [`Decision::reset_after`].
    pub reset_after: Duration,
    /// [`Decision::retry_after`].
    pub retry_after: Duration,
}

/// A state as the strategies work on it, brought up to an instant: as stored, but both buckets
/// count in `a` what is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) at: u64,
    pub(crate) a: u32,
    pub(crate) b: u32,
}

impl View {
    /// The view of a window's state, which is stored as it is worked on.
    #[inline]
    pub(crate) const fn window(state: State) -> Self {
        Self { at: state.at, a: state.a, b: state.b }
    }

    /// The view of any strategy's state. A token bucket keeps its tokens when its burst changes,
    /// never more than the new one; a leaky bucket keeps its occupancy.
    #[inline]
    pub(crate) const fn of(policy: &Policy, state: State) -> Self {
        match policy.strategy() {
            Strategy::TokenBucket => {
                Self { at: state.at, a: policy.capacity().saturating_sub(state.a), b: state.b }
            }
            _ => Self::window(state),
        }
    }

    /// The state to store for this view.
    #[inline]
    pub(crate) const fn to_state(self, policy: &Policy) -> State {
        match policy.strategy() {
            Strategy::TokenBucket => {
                // Cannot wrap: no more than the capacity is ever spent of tokens.
                State { at: self.at, a: policy.capacity().wrapping_sub(self.a), b: self.b }
            }
            _ => State { at: self.at, a: self.a, b: self.b },
        }
    }

    /// Ticks from `now` until nothing is spent; `None` if nothing is.
    pub(crate) fn ticks_to_full(self, policy: &Policy, now: u64) -> Option<u128> {
        let ticks = match policy.strategy() {
            Strategy::FixedWindow if self.a == 0 => 0,
            Strategy::FixedWindow => step::fixed_wait(policy, self, now),
            Strategy::SlidingWindow => step::sliding_rest(policy, self, now),
            Strategy::TokenBucket | Strategy::LeakyBucket => {
                step::bucket_wait(policy, self, now, 0)
            }
        };
        (ticks > 0).then_some(ticks)
    }
}

impl Decision {
    #[inline]
    pub(crate) const fn new(
        policy: Policy,
        state: State,
        now: u64,
        cost: u32,
        allowed: bool,
    ) -> Self {
        Self {
            policy,
            state,
            now,
            cost,
            allowed,
            spends: allowed && cost > 0,
            origin: Origin::Store,
        }
    }

    /// The cost is admitted although nobody counted it, because the store had no answer.
    ///
    /// Such a decision has no [`figures`](Self::figures).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use gorl_core::{Decision, Origin, Policy, StoreErrorKind};
    ///
    /// let policy = Policy::fixed_window(10, Duration::from_secs(60)).unwrap();
    /// let decision = Decision::open(policy, 1, StoreErrorKind::Timeout);
    /// assert!(decision.is_allowed() && decision.is_degraded());
    /// assert_eq!(decision.origin(), Origin::Open(StoreErrorKind::Timeout));
    /// assert_eq!(decision.figures(), None);
    /// ```
    pub const fn open(policy: Policy, cost: u32, cause: StoreErrorKind) -> Self {
        let state = View { at: 0, a: 0, b: 0 }.to_state(&policy);
        let origin = Origin::Open(cause);
        Self { policy, state, now: 0, cost, allowed: true, spends: false, origin }
    }

    /// The same answer, from elsewhere.
    #[inline]
    pub const fn with_origin(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    /// Where the decision came from.
    #[inline]
    #[must_use]
    pub const fn origin(&self) -> Origin {
        self.origin
    }

    /// Whether the store had no answer, so that this is what its failure policy gave instead.
    #[inline]
    #[must_use]
    pub const fn is_degraded(&self) -> bool {
        self.origin.is_degraded()
    }

    /// The figures, if somebody counted: `None` for a cost that was admitted because the store had
    /// no answer ([`Origin::Open`]).
    ///
    /// Then [`remaining`](Self::remaining), [`reset_after`](Self::reset_after) and
    /// [`retry_after`](Self::retry_after) are zero, which promises nothing. What shows figures to
    /// others, such as headers, should show none.
    #[must_use]
    pub fn figures(&self) -> Option<Figures> {
        self.is_counted().then(|| Figures {
            limit: self.limit(),
            remaining: self.remaining(),
            reset_after: self.reset_after(),
            retry_after: self.retry_after(),
        })
    }

    #[inline]
    const fn is_counted(&self) -> bool {
        !matches!(self.origin, Origin::Open(_))
    }

    /// The same answer with the cost not spent, which makes a peek of a take.
    #[inline]
    pub const fn unspent(mut self) -> Self {
        if self.spends {
            let view = self.view();
            let view = View { a: view.a.saturating_sub(self.cost), ..view };
            self.state = view.to_state(&self.policy);
            self.spends = false;
        }
        self
    }

    /// Whether the cost was admitted (or, for a peek, would be).
    #[inline]
    #[must_use]
    pub const fn is_allowed(&self) -> bool {
        self.allowed
    }

    /// The capacity: the most that is ever admitted at once.
    #[must_use]
    pub const fn limit(&self) -> u32 {
        self.policy.capacity()
    }

    /// The largest cost that would be admitted now, after this decision.
    #[must_use]
    pub fn remaining(&self) -> u32 {
        if !self.is_counted() {
            return 0;
        }
        match self.policy.strategy() {
            Strategy::SlidingWindow => step::sliding_remaining(&self.policy, self.view(), self.now),
            _ => self.policy.capacity().saturating_sub(self.view().a),
        }
    }

    /// How long until nothing is spent, if no more is spent meanwhile; zero when nothing is.
    ///
    /// Rounded up to a whole [tick](Policy::tick), so it is never too early.
    #[must_use]
    pub fn reset_after(&self) -> Duration {
        ticks_to_duration(self.reset_after_ticks(), self.policy.tick())
    }

    /// How long a denied caller must wait to be admitted if nobody else spends; zero when it was
    /// admitted, never zero when it was denied.
    ///
    /// Rounded up to a whole [tick](Policy::tick), so it is never too early.
    #[must_use]
    pub fn retry_after(&self) -> Duration {
        ticks_to_duration(self.retry_after_ticks().unwrap_or(0), self.policy.tick())
    }

    /// [`reset_after`](Self::reset_after) in [ticks](Policy::tick). It can exceed 64 bits: four
    /// billion tokens at one in ten years take that long.
    #[must_use]
    pub fn reset_after_ticks(&self) -> u128 {
        self.view().ticks_to_full(&self.policy, self.now).unwrap_or(0)
    }

    /// [`retry_after`](Self::retry_after) in [ticks](Policy::tick); `None` when admitted.
    #[must_use]
    pub fn retry_after_ticks(&self) -> Option<u128> {
        if self.allowed {
            return None;
        }
        let policy = &self.policy;
        Some(match policy.strategy() {
            Strategy::FixedWindow => step::fixed_wait(policy, self.view(), self.now),
            Strategy::SlidingWindow => step::sliding_wait(policy, self.view(), self.now, self.cost),
            Strategy::TokenBucket | Strategy::LeakyBucket => {
                let most = policy.capacity().saturating_sub(self.cost);
                step::bucket_wait(policy, self.view(), self.now, most)
            }
        })
    }

    /// The cost that was asked for.
    #[must_use]
    pub const fn cost(&self) -> u32 {
        self.cost
    }

    /// The policy that decided.
    #[must_use]
    pub const fn policy(&self) -> Policy {
        self.policy
    }

    /// The instant of the decision, in [ticks](Policy::tick) since the Unix epoch, as the caller
    /// gave it.
    #[must_use]
    pub const fn decided_at(&self) -> u64 {
        self.now
    }

    /// Whether [`state`](Self::state) differs from what was stored: only after an admission that
    /// spends. A denial writes nothing.
    #[inline]
    #[must_use]
    pub const fn changes_state(&self) -> bool {
        self.spends
    }

    /// The key's state after the decision, to be stored if [`changes_state`](Self::changes_state).
    #[inline]
    #[must_use]
    pub const fn state(&self) -> State {
        self.state
    }

    #[inline]
    const fn view(&self) -> View {
        View::of(&self.policy, self.state)
    }
}
