//! The breaker in a limiter: who is let through, and who waits for whom.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use gorl::{AsyncLimiter, Breaker, BreakerState, FailurePolicy, Origin};
use gorl_core::{ManualClock, Policy, StoreErrorKind};
use pollster::block_on;
use tokio::runtime::{Builder, Runtime};

use super::fake::Fake;

const WAIT: Duration = Duration::from_millis(500);

fn limiter(failure_policy: FailurePolicy) -> (AsyncLimiter, Fake, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::new(1_000_000_000));
    let store = Fake::new(&clock);
    let policy = Policy::leaky_bucket(1_000, Duration::from_secs(3_600)).expect("a valid policy");
    let builder = AsyncLimiter::builder(policy).failure_policy(failure_policy);
    (builder.clock(Arc::clone(&clock)).build(store.clone()), store, clock)
}

fn one_thread() -> Runtime {
    Builder::new_current_thread().build().expect("a runtime")
}

fn state(limiter: &AsyncLimiter) -> BreakerState {
    limiter.breaker().expect("there is one").state()
}

#[test]
fn a_store_that_failed_five_times_is_not_asked() {
    for failure_policy in [FailurePolicy::Closed, FailurePolicy::Open] {
        let (limiter, store, clock) = limiter(failure_policy);
        store.fail(StoreErrorKind::Timeout);
        for _ in 0..100 {
            let _ = block_on(limiter.check("a"));
        }
        assert_eq!((store.asked(), state(&limiter)), (5, BreakerState::Open));
        let stats = limiter.stats();
        assert_eq!(stats.errors(StoreErrorKind::Timeout), 5);
        assert_eq!(stats.errors(StoreErrorKind::CircuitOpen), 95);
        assert_eq!(stats.breaker_opened, 1);
        // Without a runtime the next caller probes, and gets what the store answers.
        store.heal();
        clock.advance(WAIT);
        let decision = block_on(limiter.check("a")).expect("answered");
        assert_eq!((decision.origin(), decision.remaining()), (Origin::Store, 999));
        assert_eq!((state(&limiter), limiter.stats().probes), (BreakerState::Closed, 1));
    }
}

#[test]
fn nobody_waits_for_a_probe_if_there_is_an_answer_without_it() {
    let two = NonZeroU32::new(2).expect("some");
    for failure_policy in [FailurePolicy::Open, FailurePolicy::local(two)] {
        let (limiter, store, clock) = limiter(failure_policy);
        let runtime = one_thread();
        store.fail(StoreErrorKind::Timeout);
        for _ in 0..5 {
            let _ = runtime.block_on(limiter.check("a"));
        }
        clock.advance(WAIT);
        store.fall_silent();
        // Had anybody to wait, this would not end.
        for _ in 0..100 {
            let decision = runtime.block_on(limiter.check("a")).expect("answered here");
            assert_eq!(decision.origin().cause(), Some(StoreErrorKind::CircuitOpen));
            runtime.block_on(tokio::task::yield_now());
        }
        assert_eq!((store.asked(), state(&limiter)), (6, BreakerState::Probing));
        // The runtime ends, and the probe with it: the next one is not kept waiting for it.
        drop(runtime);
        assert_eq!(state(&limiter), BreakerState::Open);
        store.heal();
        let runtime = one_thread();
        assert!(runtime.block_on(limiter.check("a")).expect("answered here").is_degraded());
        runtime.block_on(tokio::task::yield_now());
        assert_eq!(state(&limiter), BreakerState::Closed);
        assert!(!runtime.block_on(limiter.check("a")).expect("answered").is_degraded());
    }
}

#[test]
fn a_probe_spends_what_was_admitted_and_nothing_else() {
    let (limiter, store, clock) = limiter(FailurePolicy::Open);
    let runtime = one_thread();
    store.fail(StoreErrorKind::Unavailable);
    for _ in 0..5 {
        let _ = runtime.block_on(limiter.check("a"));
    }
    store.heal();
    clock.advance(WAIT);
    let taken = store.taken();
    let _ = runtime.block_on(limiter.check_n(("a", 7), 3)).expect("admitted here");
    runtime.block_on(tokio::task::yield_now());
    assert_eq!(store.taken(), taken + 1);
    assert_eq!(block_on(limiter.peek(("a", 7))).expect("answered").remaining(), 997);
}

#[test]
fn under_closed_the_caller_asks_and_may_get_an_answer() {
    let (limiter, store, clock) = limiter(FailurePolicy::Closed);
    let runtime = one_thread();
    store.fail(StoreErrorKind::Unavailable);
    for _ in 0..6 {
        assert!(runtime.block_on(limiter.check("a")).is_err());
    }
    assert_eq!(store.asked(), 5);
    store.heal();
    clock.advance(WAIT);
    assert!(runtime.block_on(limiter.check("a")).expect("the store is back").is_allowed());
}

#[test]
fn a_probe_whose_caller_goes_away_leaves_room_for_another() {
    let (limiter, store, clock) = limiter(FailurePolicy::Closed);
    let runtime = one_thread();
    store.fail(StoreErrorKind::Unavailable);
    for _ in 0..5 {
        assert!(runtime.block_on(limiter.check("a")).is_err());
    }
    store.fall_silent();
    clock.advance(WAIT);
    runtime.block_on(async {
        let mut asking = std::pin::pin!(limiter.check("a"));
        let waits = std::future::poll_fn(|cx| {
            std::task::Poll::Ready(asking.as_mut().poll(cx).is_pending())
        });
        assert!(waits.await);
        assert_eq!(state(&limiter), BreakerState::Probing);
    });
    assert_eq!(state(&limiter), BreakerState::Open);
    store.heal();
    assert!(runtime.block_on(limiter.check("a")).expect("the store is back").is_allowed());
}

#[test]
fn limiters_can_share_what_they_know_of_a_store() {
    let clock = Arc::new(ManualClock::new(0));
    let (store, breaker) = (Fake::new(&clock), Arc::new(Breaker::new()));
    let policy = Policy::fixed_window(10, Duration::from_secs(1)).expect("a valid policy");
    let limiter = || {
        let builder = AsyncLimiter::builder(policy).breaker(Arc::clone(&breaker));
        builder.clock(Arc::clone(&clock)).build(store.clone())
    };
    let (one, other) = (limiter(), limiter());
    store.fail(StoreErrorKind::Unavailable);
    for _ in 0..5 {
        assert!(block_on(one.check("a")).is_err());
    }
    let error = block_on(other.check("b")).expect_err("not asked");
    assert_eq!((error.kind(), store.asked()), (StoreErrorKind::CircuitOpen, 5));
}
