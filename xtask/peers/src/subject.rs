//! The limiters that are compared, behind one loop that is compiled for each of them.

use std::hint::black_box;
use std::num::NonZeroU32;
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

    /// A limit that no run exhausts, or one that the first decision of a key exhausts. Either way
    /// nothing refills meanwhile, so that no state ever expires.
    fn limit(self) -> u32 {
        match self {
            Self::Allowed => u32::MAX,
            Self::Denied => 1,
        }
    }
}

/// Long enough that nothing refills while we measure.
const WINDOW: Duration = Duration::from_hours(10 * 365 * 24);

/// A limiter under test.
pub(crate) enum Subject {
    Gorl(Limiter),
    Governor(DefaultKeyedRateLimiter<String>),
}

/// The names of all subjects; the first is what the others are compared with.
pub(crate) fn names() -> Vec<&'static str> {
    std::iter::once(GOVERNOR)
        .chain(Strategy::ALL.iter().map(|s| s.as_str()))
        .collect()
}

/// The name of the peer.
pub(crate) const GOVERNOR: &str = "governor";

impl Subject {
    /// The subject of this name, with its default store and its default clock.
    pub(crate) fn new(name: &str, outcome: Outcome) -> Self {
        match policy(name, outcome) {
            Some(policy) => Self::Gorl(Limiter::new(policy)),
            None => Self::Governor(RateLimiter::keyed(quota(outcome))),
        }
    }

    /// The subject of this name in a store built for so many keys; governor has no such store.
    pub(crate) fn with_capacity(name: &str, outcome: Outcome, capacity: usize) -> Option<Self> {
        let policy = policy(name, outcome)?;
        Some(Self::Gorl(
            Limiter::builder(policy).capacity(capacity).build(),
        ))
    }

    /// Decides for the keys in this order, and returns how many decisions allowed.
    pub(crate) fn decide(&self, keys: &[String], order: &[u32]) -> u64 {
        match self {
            Self::Gorl(limiter) => {
                each(keys, order, |key| limiter.check(key.as_str()).is_allowed())
            }
            Self::Governor(limiter) => each(keys, order, |key| limiter.check_key(key).is_ok()),
        }
    }

    /// Makes the store know every key, one after the other.
    pub(crate) fn fill(&self, keys: &[String]) {
        let order: Vec<u32> = (0..keys.len() as u32).collect();
        self.decide(keys, &order);
    }
}

fn each(keys: &[String], order: &[u32], decide: impl Fn(&String) -> bool) -> u64 {
    let mut allowed = 0;
    for &index in order {
        allowed += u64::from(black_box(decide(black_box(&keys[index as usize]))));
    }
    allowed
}

fn policy(name: &str, outcome: Outcome) -> Option<Policy> {
    let strategy: Strategy = name.parse().ok()?;
    Some(Policy::new(strategy, u64::from(outcome.limit()), WINDOW).expect("a policy in range"))
}

fn quota(outcome: Outcome) -> Quota {
    let limit = NonZeroU32::new(outcome.limit()).expect("not zero");
    let refill = WINDOW / limit.get();
    Quota::with_period(refill)
        .expect("not zero")
        .allow_burst(limit)
}

#[cfg(test)]
mod tests {
    use super::{Outcome, Subject, names};

    #[test]
    fn every_subject_answers_as_its_outcome_says() {
        let keys = ["a".to_owned(), "b".to_owned()];
        for name in names() {
            for (outcome, expected) in [(Outcome::Allowed, 4), (Outcome::Denied, 0)] {
                let subject = Subject::new(name, outcome);
                subject.fill(&keys);
                assert_eq!(
                    subject.decide(&keys, &[0, 1, 1, 0]),
                    expected,
                    "{name} {outcome:?}"
                );
            }
        }
    }
}
