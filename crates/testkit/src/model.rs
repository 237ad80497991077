//! The exact model: what the four strategies answer, in rational arithmetic.

mod bucket;
mod fixed_window;
mod sliding_window;
mod standing;

use std::collections::HashMap;
use std::hash::Hash;

use gorl_core::{CostExceedsLimit, Decision, Policy, Strategy};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive, Zero};

use bucket::Bucket;
use fixed_window::FixedWindow;
use sliding_window::SlidingWindow;
use standing::Standing;

/// An exact number.
type Q = BigRational;

/// What the model answers: figures, or that the cost can never fit.
pub type Answer = Result<Figures, CostExceedsLimit>;

/// The figures of a decision, in ticks of its policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figures {
    /// Whether the cost is admitted.
    pub allowed: bool,
    /// The capacity.
    pub limit: u32,
    /// The largest cost that would be admitted now.
    pub remaining: u32,
    /// Ticks until nothing is spent.
    pub reset_after: u128,
    /// Ticks until the cost is admitted; `None` when it is.
    pub retry_after: Option<u128>,
}

impl Figures {
    /// The figures of a decision of gorl, to be compared with the model's.
    pub fn of(decision: &Decision) -> Self {
        Self {
            allowed: decision.is_allowed(),
            limit: decision.limit(),
            remaining: decision.remaining(),
            reset_after: decision.reset_after_ticks(),
            retry_after: decision.retry_after_ticks(),
        }
    }
}

/// A limiter that is right rather than fast: it keeps every instant as an exact fraction,
/// remembers every key, and rounds only what it answers.
///
/// It is written from the definitions of the strategies and shares no arithmetic with `gorl-core`,
/// so that where both agree both are likely to be right. The policy comes with each call, as it
/// does to a store; calling with another one is how a policy changes over live state. A key that
/// was counted by another strategy starts afresh.
///
/// Instants are in ticks of the policy. Policies of different ticks must not share a model.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use gorl_core::Policy;
/// use gorl_testkit::Model;
///
/// let policy = Policy::token_bucket(3, Duration::from_nanos(10)).unwrap();
/// let mut model = Model::new();
/// assert_eq!(model.take(&policy, &"key", 0, 3).unwrap().remaining, 0);
/// // A token comes every 3 1/3 ns.
/// assert_eq!(model.take(&policy, &"key", 3, 1).unwrap().retry_after, Some(1));
/// assert!(model.take(&policy, &"key", 4, 1).unwrap().allowed);
/// ```
#[derive(Clone, Debug)]
pub struct Model<K> {
    keys: HashMap<K, Remembered>,
}

/// What is remembered for a key: its count, and the policy that it was counted by.
#[derive(Clone, Debug)]
struct Remembered {
    policy: Policy,
    count: Count,
}

#[derive(Clone, Debug)]
enum Count {
    FixedWindow(FixedWindow),
    SlidingWindow(SlidingWindow),
    TokenBucket { tokens: Q, at: Q },
    LeakyBucket { occupancy: Q, at: Q },
}

/// A policy in exact numbers.
#[derive(Clone, Debug)]
struct Rule {
    limit: Q,
    window: Q,
    capacity: Q,
}

impl<K> Default for Model<K> {
    fn default() -> Self {
        Self { keys: HashMap::new() }
    }
}

impl<K: Clone + Eq + Hash> Model<K> {
    /// A model that has seen no key.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Spends `cost` if it is admitted, and answers.
    ///
    /// # Errors
    ///
    /// [`CostExceedsLimit`] if the cost is above the capacity.
    pub fn take(&mut self, policy: &Policy, key: &K, now: u64, cost: u32) -> Answer {
        check_cost(policy, cost)?;
        let rule = Rule::of(policy);
        let mut standing = self.standing(policy, key, now);
        let allowed = cost == 0 || standing.admits(&rule, &whole(cost));
        if allowed && cost > 0 {
            standing.spend(&whole(cost));
            self.keys.insert(key.clone(), standing.clone().remember(policy));
        }
        Ok(standing.figures(policy, now, cost, allowed))
    }

    /// Answers as [`take`](Self::take) would, before the cost, and changes nothing.
    ///
    /// # Errors
    ///
    /// As [`take`](Self::take).
    pub fn peek(&self, policy: &Policy, key: &K, now: u64, cost: u32) -> Answer {
        check_cost(policy, cost)?;
        let standing = self.standing(policy, key, now);
        let allowed = cost == 0 || standing.admits(&Rule::of(policy), &whole(cost));
        Ok(standing.figures(policy, now, cost, allowed))
    }

    /// Gives `cost` back, never past full. A sliding window gives back to the current window
    /// first; a state that is ignored because it lies too far ahead of `now` stays as it is.
    pub fn give_back(&mut self, policy: &Policy, key: &K, now: u64, cost: u32) {
        let known = self.keys.get(key).and_then(|known| known.read_by(policy));
        let Some(known) = known.filter(|known| !known.is_too_far_ahead(&Rule::of(policy), now))
        else {
            return;
        };
        let mut standing = known.at(policy, now);
        standing.give_back(&whole(cost));
        if standing.is_rested() {
            self.keys.remove(key);
        } else {
            self.keys.insert(key.clone(), standing.remember(policy));
        }
    }

    /// Forgets a key.
    pub fn reset(&mut self, key: &K) {
        self.keys.remove(key);
    }

    /// Forgets every key, as a change of strategy does.
    pub fn reset_all(&mut self) {
        self.keys.clear();
    }

    /// Whether the key has nothing spent at `now`, by `policy` and by the one that it was counted
    /// by, so that a store is free to have forgotten it.
    ///
    /// A store that forgets is the same as one that does not as long as time goes forward and the
    /// policy stays. Only going back to before the rest tells them apart, or a change to a policy
    /// that would count for longer; a test must not ask about such a key.
    pub fn may_be_forgotten(&self, policy: &Policy, key: &K, now: u64) -> bool {
        self.keys
            .get(key)
            .is_none_or(|known| known.is_rested(policy, now) || known.is_rested(&known.policy, now))
    }

    /// Whether a fresh key would answer as this one does, at `now`.
    pub fn is_as_new(&self, policy: &Policy, key: &K, now: u64) -> bool {
        self.keys.get(key).is_none_or(|known| known.is_rested(policy, now))
    }

    fn standing(&self, policy: &Policy, key: &K, now: u64) -> Standing {
        self.keys
            .get(key)
            .and_then(|known| known.read_by(policy))
            .filter(|known| !known.is_too_far_ahead(&Rule::of(policy), now))
            .map_or_else(|| Standing::fresh(policy, now), |known| known.at(policy, now))
    }
}

impl Rule {
    fn of(policy: &Policy) -> Self {
        Self {
            limit: whole(policy.limit()),
            window: whole(policy.window_ticks()),
            capacity: whole(policy.capacity()),
        }
    }
}

impl Remembered {
    /// The standing as it was when it was written, read under `policy`; `None` if another strategy
    /// wrote it.
    fn read_by(&self, policy: &Policy) -> Option<Standing> {
        let rule = Rule::of(policy);
        let reread = |at: &Q| bucket::reread(at, self.policy.limit(), policy.limit());
        match (&self.count, policy.strategy()) {
            (Count::FixedWindow(known), Strategy::FixedWindow) => {
                Some(Standing::FixedWindow(known.aligned_to(&rule)))
            }
            (Count::SlidingWindow(known), Strategy::SlidingWindow) => {
                Some(Standing::SlidingWindow(known.clone()))
            }
            // A bucket of tokens keeps its tokens, up to the new capacity.
            (Count::TokenBucket { tokens, at }, Strategy::TokenBucket) => {
                let spent = (&rule.capacity - tokens).max(Q::zero());
                Some(Standing::Bucket(Bucket { spent, at: reread(at) }))
            }
            (Count::LeakyBucket { occupancy, at }, Strategy::LeakyBucket) => {
                Some(Standing::Bucket(Bucket { spent: occupancy.clone(), at: reread(at) }))
            }
            _ => None,
        }
    }

    fn is_rested(&self, policy: &Policy, now: u64) -> bool {
        self.read_by(policy).is_none_or(|known| {
            !known.is_too_far_ahead(&Rule::of(policy), now) && known.at(policy, now).is_rested()
        })
    }
}

fn check_cost(policy: &Policy, cost: u32) -> Result<(), CostExceedsLimit> {
    let limit = policy.capacity();
    if cost > limit { Err(CostExceedsLimit { cost, limit }) } else { Ok(()) }
}

fn whole(number: impl Into<BigInt>) -> Q {
    Q::from_integer(number.into())
}

/// A figure as an integer of the machine. One that does not fit is a fault of the model.
fn integer<T: TryFrom<u128>>(exact: &Q) -> T {
    assert!(exact.is_integer() && !exact.is_negative(), "the model computed the figure {exact}");
    let number = exact.to_integer().to_u128().expect("no figure needs more than 128 bits");
    T::try_from(number).ok().expect("the figure fits its type")
}
