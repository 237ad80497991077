//! Several limiters over one store, asked in one call, while it answers and while it does not.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use gorl::{Ask, AsyncLimiter, BreakerState, DynStore, FailurePolicy};
use gorl_core::{DecideError, Decision, ManualClock, Policy, StoreErrorKind};
use pollster::block_on;

use super::fake::Fake;

fn limiter(store: &Arc<dyn DynStore>, limit: u64, failure: FailurePolicy) -> AsyncLimiter {
    let policy = Policy::token_bucket(limit, Duration::from_secs(3_600)).expect("a valid policy");
    AsyncLimiter::builder(policy).failure_policy(failure).build_over(Arc::clone(store))
}

fn store() -> (Fake, Arc<dyn DynStore>) {
    let fake = Fake::new(&Arc::new(ManualClock::new(1_000_000_000)));
    (fake.clone(), Arc::new(fake))
}

fn check(limiters: [&AsyncLimiter; 2], cost: u32) -> Result<Vec<Decision>, DecideError> {
    // One store counts for both, so each has a key of its own.
    let [one, other] = limiters;
    block_on(AsyncLimiter::check_all(&[
        Ask { limiter: one, key: &"k", cost },
        Ask { limiter: other, key: &"l", cost },
    ]))
}

fn allowed(limiters: [&AsyncLimiter; 2]) -> [bool; 2] {
    let decisions = check(limiters, 1).expect("answered");
    [decisions[0].is_allowed(), decisions[1].is_allowed()]
}

fn local() -> FailurePolicy {
    let whole = NonZeroU32::new(1).expect("some");
    FailurePolicy::local(whole)
}

#[test]
fn the_store_is_asked_once_and_charges_all_or_nobody() {
    let (fake, store) = store();
    let tight = limiter(&store, 2, FailurePolicy::Closed);
    let wide = limiter(&store, 5, FailurePolicy::Closed);
    for expected in [[true, true], [true, true], [true, false], [true, false]] {
        assert_eq!(allowed([&wide, &tight]), expected);
    }
    assert_eq!(fake.asked(), 4);
    assert_eq!(wide.stats().allowed, 4);
    assert_eq!((tight.stats().allowed, tight.stats().denied), (2, 2));
    assert!(matches!(check([&wide, &tight], 3), Err(DecideError::Cost(_))));
    assert_eq!(fake.asked(), 4);
}

#[test]
fn limiters_of_different_stores_cannot_be_asked_together() {
    let ((_, one), (_, other)) = (store(), store());
    let limiters = [&one, &other].map(|store| limiter(store, 2, FailurePolicy::Open));
    assert!(!limiters[0].shares_store_with(&limiters[1]));
    let error = check([&limiters[0], &limiters[1]], 1).expect_err("two stores");
    let DecideError::Store(error) = error else { panic!("{error:?}") };
    assert_eq!(error.kind(), StoreErrorKind::Unsupported);
    // Nobody was asked, so nobody failed.
    assert_eq!(limiters[0].stats(), gorl::Stats::default());
    assert!(block_on(AsyncLimiter::check_all::<&str>(&[])).expect("nothing").is_empty());
}

#[test]
fn without_the_store_each_answers_by_its_policy_and_nothing_is_charged_in_vain() {
    let (fake, store) = store();
    let (tight, wide) = (limiter(&store, 2, local()), limiter(&store, 5, local()));
    fake.fail(StoreErrorKind::Unavailable);
    for expected in [[true, true], [true, true], [true, false], [true, false]] {
        assert_eq!(allowed([&wide, &tight]), expected);
    }
    // What the tight one denied was not taken from the share of the wide one.
    for allowed in [true, true, true, false] {
        assert_eq!(block_on(wide.check("k")).expect("answered").is_allowed(), allowed);
    }
    let open = limiter(&store, 1, FailurePolicy::Open);
    assert_eq!(allowed([&open, &open]), [true, true]);
    let closed = limiter(&store, 5, FailurePolicy::Closed);
    let other = limiter(&store, 5, local());
    assert!(matches!(check([&other, &closed], 1), Err(DecideError::Store(_))));
    assert_eq!(block_on(other.check("k")).expect("answered").remaining(), 4);
}

#[test]
fn the_first_limiters_breaker_keeps_a_dead_store_from_being_asked() {
    let (fake, store) = store();
    let limiters = [limiter(&store, 9, FailurePolicy::Open), limiter(&store, 9, local())];
    fake.fail(StoreErrorKind::Timeout);
    for _ in 0..20 {
        assert!(allowed([&limiters[0], &limiters[1]])[0]);
    }
    assert_eq!(fake.asked(), 5);
    assert_eq!(limiters[0].breaker().expect("one").state(), BreakerState::Open);
}
