//! What each failure policy makes of a store that fails.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use gorl::{AsyncLimiter, AsyncLimiterBuilder, BreakerState, FailurePolicy, Figures, Origin};
use gorl_core::{DecideError, ManualClock, Policy, StoreErrorKind};
use pollster::block_on;

use super::fake::Fake;

const KINDS: [StoreErrorKind; 4] = [
    StoreErrorKind::Unavailable,
    StoreErrorKind::Timeout,
    StoreErrorKind::ForeignValue,
    StoreErrorKind::Other,
];

fn policy() -> Policy {
    Policy::token_bucket(8, Duration::from_secs(3_600)).expect("a valid policy")
}

fn local(instances: u32) -> FailurePolicy {
    FailurePolicy::local(NonZeroU32::new(instances).expect("some"))
}

fn set_up(
    failure_policy: FailurePolicy,
    options: impl FnOnce(AsyncLimiterBuilder) -> AsyncLimiterBuilder,
) -> (AsyncLimiter, Fake, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::new(1_000_000_000));
    let store = Fake::new(&clock);
    let builder =
        AsyncLimiter::builder(policy()).failure_policy(failure_policy).clock(Arc::clone(&clock));
    (options(builder).build(store.clone()), store, clock)
}

#[test]
fn closed_returns_the_error() {
    let (limiter, store, _) = set_up(FailurePolicy::Closed, AsyncLimiterBuilder::without_breaker);
    for (number, kind) in (1..).zip(KINDS) {
        store.fail(kind);
        assert_eq!(block_on(limiter.check("a")).expect_err("no answer").kind(), kind);
        let stats = limiter.stats();
        assert_eq!((stats.failed, stats.errors(kind), stats.allowed), (number, 1, 0));
    }
}

#[test]
fn open_admits_marks_and_invents_no_figures() {
    let (limiter, store, _) = set_up(FailurePolicy::Open, AsyncLimiterBuilder::without_breaker);
    for (number, kind) in (1..).zip(KINDS) {
        store.fail(kind);
        let decision = block_on(limiter.check_n("a", 8)).expect("admitted");
        assert!(decision.is_allowed() && decision.is_degraded());
        assert_eq!(decision.origin(), Origin::Open(kind));
        assert_eq!(decision.figures(), None);
        assert_eq!((decision.limit(), decision.remaining()), (8, 0));
        assert!(decision.reset_after().is_zero() && decision.retry_after().is_zero());
        let stats = limiter.stats();
        assert_eq!((stats.open, stats.errors(kind), stats.failed), (number, 1, 0));
    }
    store.heal();
    let decision = block_on(limiter.check("a")).expect("the store answers");
    assert_eq!((decision.origin(), decision.remaining()), (Origin::Store, 7));
}

#[test]
fn local_counts_a_share_and_marks() {
    let (limiter, store, clock) = set_up(local(4), AsyncLimiterBuilder::without_breaker);
    for (round, kind) in KINDS.into_iter().enumerate() {
        store.fail(kind);
        for allowed in [true, true, false] {
            let decision = block_on(limiter.check("a")).expect("answered here");
            assert_eq!((decision.is_allowed(), decision.origin()), (allowed, Origin::Local(kind)));
            assert_eq!(decision.limit(), 2);
        }
        let denied = block_on(limiter.check("a")).expect("answered here");
        let figures = denied.figures().expect("it was counted");
        let wait = Duration::from_secs(1_800);
        let expected = Figures { limit: 2, remaining: 0, reset_after: 2 * wait, retry_after: wait };
        assert_eq!(figures, expected, "round {round}");
        clock.advance(2 * wait);
    }
    assert_eq!(limiter.stats().local, 4 * 4);
    assert_eq!(store.memory().len(), 0);
}

#[test]
fn a_store_that_comes_and_goes_gives_no_more_than_one_share_beside_its_own() {
    let (limiter, store, _) = set_up(local(4), AsyncLimiterBuilder::without_breaker);
    let mut admitted = 0;
    for round in 0..100 {
        if round % 2 == 0 {
            store.fail(StoreErrorKind::Timeout);
        } else {
            store.heal();
        }
        admitted += u32::from(block_on(limiter.check("a")).expect("answered").is_allowed());
    }
    assert_eq!(admitted, 8 + 2);
}

#[test]
fn a_cost_that_can_never_fit_is_an_error_whatever_fails() {
    for failure_policy in [FailurePolicy::Closed, FailurePolicy::Open, local(4)] {
        let (limiter, store, _) = set_up(failure_policy, |builder| builder);
        store.fail(StoreErrorKind::Unavailable);
        for _ in 0..10 {
            let answer = block_on(limiter.check_n("a", 9));
            assert!(matches!(answer, Err(DecideError::Cost(_))), "{answer:?}");
        }
        assert_eq!((store.asked(), limiter.stats().failed), (0, 0));
    }
}

#[test]
fn a_cost_that_only_the_share_has_no_room_for_is_the_stores_error() {
    let (limiter, store, _) = set_up(local(4), AsyncLimiterBuilder::without_breaker);
    store.fail(StoreErrorKind::Timeout);
    let answer = block_on(limiter.check_n("a", 3));
    let Err(DecideError::Store(error)) = answer else { panic!("{answer:?}") };
    assert_eq!(error.kind(), StoreErrorKind::Timeout);
    assert!(block_on(limiter.check_n("a", 2)).expect("it fits").is_allowed());
}

#[test]
fn a_mistake_of_the_callers_is_an_error_under_every_policy() {
    for failure_policy in [FailurePolicy::Closed, FailurePolicy::Open, local(1)] {
        let (limiter, store, _) = set_up(failure_policy, |builder| builder);
        for kind in [StoreErrorKind::Policy, StoreErrorKind::Unsupported] {
            store.fail(kind);
            for _ in 0..10 {
                assert_eq!(block_on(limiter.check("a")).expect_err("a mistake").kind(), kind);
            }
        }
        assert_eq!(limiter.breaker().expect("the default").state(), BreakerState::Closed);
    }
}

#[test]
fn the_share_follows_the_policy() {
    let (limiter, store, _) = set_up(local(2), AsyncLimiterBuilder::without_breaker);
    store.fail(StoreErrorKind::Timeout);
    let left = |limiter: &AsyncLimiter| block_on(limiter.check("a")).expect("here").remaining();
    assert_eq!(left(&limiter), 3);
    // Three of four tokens are left, and no more than the new burst.
    limiter.set_policy(policy().with_burst(2).expect("a valid burst"));
    assert_eq!(left(&limiter), 0);
    limiter.set_policy(policy().with_burst(1).expect("a valid burst"));
    assert!(!block_on(limiter.check("a")).expect("here").is_allowed());
    // A share is never nothing.
    assert_eq!(block_on(limiter.check("b")).expect("here").limit(), 1);
}

#[test]
fn what_is_given_back_while_the_store_is_gone_goes_where_it_was_counted() {
    let (limiter, store, _) = set_up(local(4), AsyncLimiterBuilder::without_breaker);
    store.fail(StoreErrorKind::Timeout);
    for _ in 0..2 {
        assert!(block_on(limiter.check("a")).expect("here").is_allowed());
    }
    assert!(!block_on(limiter.check("a")).expect("here").is_allowed());
    block_on(limiter.give_back("a", 1)).expect("given back here");
    assert!(block_on(limiter.check("a")).expect("here").is_allowed());
    // Of a reset the store should have heard.
    assert!(block_on(limiter.reset("a")).is_err());
    assert_eq!(block_on(limiter.peek("a")).expect("here").remaining(), 2);
    let (limiter, store, _) = set_up(FailurePolicy::Open, AsyncLimiterBuilder::without_breaker);
    store.fail(StoreErrorKind::Timeout);
    block_on(limiter.give_back("a", 1)).expect("nothing was counted");
    let (limiter, store, _) = set_up(FailurePolicy::Closed, AsyncLimiterBuilder::without_breaker);
    store.fail(StoreErrorKind::Timeout);
    assert!(block_on(limiter.give_back("a", 1)).is_err());
}
