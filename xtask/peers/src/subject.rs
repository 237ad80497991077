//! The limiters that are compared, behind one loop that is compiled for each of them.

use std::hint::black_box;
use std::num::NonZeroU32;
use std::slice;
use std::time::Duration;

use gorl::{Limiter, Policy, Strategy};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

/// What every decision of a run answers, once the keys are known to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Allowed,
    Denied,
}

impl Outcome {
    pub(crate) const ALL: [Self; 2] = [Self::Allowed, Self::Denied];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Denied => "denied",
        }
    }

    /// How many of so many decisions for known keys this outcome allows.
    pub(crate) fn allows(self, decisions: usize) -> u64 {
        match self {
            Self::Allowed => decisions as u64,
            Self::Denied => 0,
        }
    }

    /// A limit that no run exhausts, or one that the first decision of a key exhausts.
    ///
    /// A million keys get few visits each, and a huge limit would refill what they spend before
    /// the next one: the key would rest, and the store be free to forget it.
    fn limit(self, keys: usize) -> u32 {
        match self {
            Self::Allowed if keys > 1_000 => 10_000_000,
            Self::Allowed => 1_000_000_000,
            Self::Denied => 1,
        }
    }
}

/// The longest there is, so that as little as can be refills while we measure.
const WINDOW: Duration = Duration::from_hours(10 * 365 * 24);

/// A limiter under test.
pub(crate) enum Subject {
    Gorl(Limiter),
    Governor(DefaultKeyedRateLimiter<String>),
    /// Reads the key and answers as it is told: what the loop costs without a limiter.
    Nothing(Outcome),
}

/// The names of all subjects; the first is what the others are compared with.
pub(crate) fn names() -> Vec<&'static str> {
    std::iter::once(GOVERNOR).chain(Strategy::ALL.iter().map(|s| s.as_str())).collect()
}

/// The name of the peer.
pub(crate) const GOVERNOR: &str = "governor";

/// The name of what decides nothing, to show what is not the limiters' doing.
pub(crate) const NOTHING: &str = "(nothing)";

impl Subject {
    /// The subject of this name, with its default store and its default clock.
    pub(crate) fn new(name: &str, outcome: Outcome, keys: usize) -> Self {
        let limit = outcome.limit(keys);
        match policy(name, limit) {
            Some(policy) => Self::Gorl(Limiter::new(policy)),
            None if name == NOTHING => Self::Nothing(outcome),
            None => Self::Governor(RateLimiter::keyed(quota(limit))),
        }
    }

    /// The subject of this name in a store built for so many keys; governor has no such store.
    pub(crate) fn with_capacity(name: &str, outcome: Outcome, capacity: usize) -> Option<Self> {
        let policy = policy(name, outcome.limit(capacity))?;
        Some(Self::Gorl(Limiter::builder(policy).capacity(capacity).build()))
    }

    /// Decides for the keys in this order, and returns how many decisions allowed.
    pub(crate) fn decide(&self, keys: &[String], order: &[u32]) -> u64 {
        match self {
            Self::Gorl(limiter) => {
                each(keys, order, |key| limiter.check(key.as_str()).is_allowed())
            }
            Self::Governor(limiter) => each(keys, order, |key| limiter.check_key(key).is_ok()),
            Self::Nothing(outcome) => each(keys, order, |key| {
                black_box(key.as_bytes().last());
                *outcome == Outcome::Allowed
            }),
        }
    }

    /// Makes the store know every key, one after the other.
    pub(crate) fn fill(&self, keys: &[String]) {
        for key in keys {
            self.decide(slice::from_ref(key), &[0]);
        }
        let forgot = self.len().is_some_and(|len| len != keys.len());
        assert!(!forgot, "the store forgot keys, so no figure would mean much");
    }

    /// How many keys the store knows, if there is one.
    fn len(&self) -> Option<usize> {
        match self {
            Self::Gorl(limiter) => Some(limiter.len()),
            Self::Governor(limiter) => Some(limiter.len()),
            Self::Nothing(_) => None,
        }
    }
}

fn each(keys: &[String], order: &[u32], decide: impl Fn(&String) -> bool) -> u64 {
    let mut allowed = 0;
    for &index in order {
        allowed += u64::from(black_box(decide(black_box(&keys[index as usize]))));
    }
    allowed
}

fn policy(name: &str, limit: u32) -> Option<Policy> {
    let strategy: Strategy = name.parse().ok()?;
    Some(Policy::new(strategy, u64::from(limit), WINDOW).expect("a policy in range"))
}

fn quota(limit: u32) -> Quota {
    let limit = NonZeroU32::new(limit).expect("not zero");
    let refill = WINDOW / limit.get();
    Quota::with_period(refill).expect("not zero").allow_burst(limit)
}

#[cfg(test)]
mod tests {
    use super::{Outcome, Subject, names};

    #[test]
    fn every_subject_answers_as_its_outcome_says() {
        let keys = ["a".to_owned(), "b".to_owned()];
        for name in names().into_iter().chain([super::NOTHING]) {
            for outcome in Outcome::ALL {
                let subject = Subject::new(name, outcome, keys.len());
                subject.fill(&keys);
                let allowed = subject.decide(&keys, &[0, 1, 1, 0]);
                assert_eq!(allowed, outcome.allows(4), "{name} {outcome:?}");
            }
        }
    }
}
