//! The denial cache: never another answer than the store's, and far fewer questions.

use std::sync::Arc;
use std::time::Duration;

use gorl::{AsyncLimiter, DenialCache, Origin};
use gorl_core::{
    Action, Decision, Key, KeyRef, LocalStore, ManualClock, Policy, Request, Strategy,
};
use pollster::block_on;
use proptest::prelude::*;
use proptest::strategy::Strategy as _;

use super::fake::Fake;

const S: u64 = 1_000_000_000;

struct Setup {
    limiter: AsyncLimiter,
    store: Fake,
    clock: Arc<ManualClock>,
}

fn set_up(policy: Policy, cache: DenialCache) -> Setup {
    let clock = Arc::new(ManualClock::new(100 * S));
    let store = Fake::new(&clock);
    let builder = AsyncLimiter::builder(policy).denial_cache(cache).clock(Arc::clone(&clock));
    Setup { limiter: builder.build(store.clone()), store, clock }
}

fn for_ever() -> DenialCache {
    DenialCache::new().max_age(Duration::MAX)
}

impl Setup {
    fn check(&self, key: &str, cost: u32) -> Decision {
        block_on(self.limiter.check_n(key, cost)).expect("the store answers")
    }

    /// What the store would say now.
    fn truth(&self, key: &str, cost: u32) -> Decision {
        self.elsewhere(key, cost, Action::Peek)
    }

    /// Another process asks.
    fn elsewhere(&self, key: &str, cost: u32, action: Action) -> Decision {
        let (policy, parts) = (self.limiter.policy(), key.parts());
        let request = Request { policy: &policy, key: KeyRef::new(&parts), cost, action };
        self.store.memory().decide_now(request).expect("the cost fits")
    }
}

#[test]
fn a_denied_key_costs_no_question_until_its_retry_after() {
    for strategy in Strategy::ALL {
        let policy = Policy::new(strategy, 5, Duration::from_secs(60)).expect("a valid policy");
        let setup = set_up(policy, for_ever());
        while setup.check("a", 1).is_allowed() {}
        let asked = setup.store.asked();
        let mut retry_after = setup.truth("a", 1).retry_after();
        while retry_after > Duration::from_nanos(1) {
            let step = retry_after / 3 + Duration::from_nanos(1);
            setup.clock.advance(step);
            retry_after -= step;
            if retry_after.is_zero() {
                break;
            }
            let (known, truth) = (setup.check("a", 1), setup.truth("a", 1));
            assert_eq!(known.origin(), Origin::DenialCache);
            assert_eq!(known.with_origin(Origin::Store), truth, "{strategy}");
            assert_eq!(known.retry_after(), retry_after, "{strategy}");
        }
        assert_eq!(setup.store.asked(), asked, "{strategy}");
        setup.clock.advance(retry_after);
        assert!(setup.check("a", 1).is_allowed(), "{strategy}");
        assert!(setup.limiter.stats().denial_cache_hits > 0);
    }
}

#[test]
fn a_smaller_cost_that_fits_is_asked_for() {
    let policy = Policy::fixed_window(10, Duration::from_secs(60)).expect("a valid policy");
    let setup = set_up(policy, for_ever());
    assert!(setup.check("a", 7).is_allowed());
    assert!(!setup.check("a", 4).is_allowed());
    assert_eq!(setup.check("a", 5).origin(), Origin::DenialCache);
    let small = setup.check("a", 3);
    assert!(small.is_allowed() && small.origin() == Origin::Store);
}

#[test]
fn what_others_free_is_noticed_within_the_age() {
    let policy = Policy::fixed_window(1, Duration::from_secs(3_600)).expect("a valid policy");
    let setup = set_up(policy, DenialCache::new().max_age(Duration::from_millis(200)));
    assert!(setup.check("a", 1).is_allowed() && !setup.check("a", 1).is_allowed());
    setup.store.memory().reset_now(KeyRef::new(&"a".parts()));
    setup.clock.advance(Duration::from_millis(199));
    assert!(!setup.check("a", 1).is_allowed());
    setup.clock.advance(Duration::from_millis(1));
    assert!(setup.check("a", 1).is_allowed());
}

#[test]
fn a_give_back_that_is_not_waited_for_still_frees_the_key() {
    let policy = Policy::fixed_window(1, Duration::from_secs(3_600)).expect("a valid policy");
    let setup = set_up(policy, for_ever());
    assert!(setup.check("a", 1).is_allowed() && !setup.check("a", 1).is_allowed());
    // The store has done it, and its answer was never read.
    setup.store.memory().reset_now(KeyRef::new(&"a".parts()));
    setup.store.fall_silent();
    block_on(async {
        let mut giving = std::pin::pin!(setup.limiter.give_back("a", 1));
        std::future::poll_fn(|cx| {
            assert!(giving.as_mut().poll(cx).is_pending());
            std::task::Poll::Ready(())
        })
        .await;
    });
    setup.store.heal();
    assert!(setup.check("a", 1).is_allowed());
}

#[test]
fn nothing_is_denied_after_a_give_back_that_the_store_would_admit() {
    let policy = Policy::leaky_bucket(1, Duration::from_secs(3_600)).expect("a valid policy");
    let setup = set_up(policy, for_ever());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..20_000 {
                    // Denials, from the store and from the cache, while others give back.
                    let _ = setup.check("a", 1);
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..20_000 {
                block_on(setup.limiter.give_back("a", 1)).expect("the store answers");
            }
        });
    });
    block_on(setup.limiter.give_back("a", 1)).expect("the store answers");
    assert!(setup.check("a", 1).is_allowed());
}

#[derive(Clone, Debug)]
enum Act {
    Check { key: bool, cost: u32 },
    Peek { key: bool, cost: u32 },
    Elsewhere { key: bool, cost: u32 },
    GiveBack { key: bool, cost: u32 },
    Reset { key: bool },
    Policy { strategy: usize, limit: u32, window: u64 },
    Wait { ns: u64 },
}

fn act() -> impl proptest::strategy::Strategy<Value = Act> {
    let key = any::<bool>();
    prop_oneof![
        6 => (key, 0..12_u32).prop_map(|(key, cost)| Act::Check { key, cost }),
        2 => (key, 0..12_u32).prop_map(|(key, cost)| Act::Peek { key, cost }),
        3 => (key, 0..12_u32).prop_map(|(key, cost)| Act::Elsewhere { key, cost }),
        1 => (key, 0..12_u32).prop_map(|(key, cost)| Act::GiveBack { key, cost }),
        1 => key.prop_map(|key| Act::Reset { key }),
        1 => (0..4_usize, 1..12_u32, 1..20_u64)
            .prop_map(|(strategy, limit, window)| Act::Policy { strategy, limit, window }),
        4 => (0..15_u64).prop_map(|ns| Act::Wait { ns }),
    ]
}

proptest! {
    /// Whatever this process and others do (others only spend), the answer is the store's, and so
    /// are the figures of a cost of one. Windows are of some nanoseconds, so that time matters.
    #[test]
    fn the_answer_is_always_the_stores(acts in prop::collection::vec(act(), 1..120)) {
        let policy = Policy::token_bucket(5, Duration::from_nanos(10)).expect("a valid policy");
        let setup = set_up(policy, for_ever().capacity(1));
        for act in acts {
            let name = |key| if key { "a" } else { "b" };
            let most = setup.limiter.policy().capacity();
            match act {
                Act::Check { key, cost } => {
                    let cost = cost.min(most);
                    let truth = setup.truth(name(key), cost);
                    let answer = setup.check(name(key), cost);
                    prop_assert_eq!(answer.is_allowed(), truth.is_allowed());
                    prop_assert_eq!(answer.limit(), truth.limit());
                    if !answer.is_allowed() && cost == 1 {
                        prop_assert_eq!(answer.remaining(), 0);
                    }
                }
                Act::Peek { key, cost } => {
                    let cost = cost.min(most);
                    let truth = setup.truth(name(key), cost);
                    let answer = block_on(setup.limiter.peek_n(name(key), cost)).expect("answered");
                    prop_assert_eq!(answer.is_allowed(), truth.is_allowed());
                }
                Act::Elsewhere { key, cost } => {
                    let _ = setup.elsewhere(name(key), cost.min(most), Action::Take);
                }
                Act::GiveBack { key, cost } => {
                    block_on(setup.limiter.give_back(name(key), cost)).expect("answered");
                }
                Act::Reset { key } => {
                    block_on(setup.limiter.reset(name(key))).expect("answered");
                }
                Act::Policy { strategy, limit, window } => {
                    let window = Duration::from_nanos(window);
                    let policy = Policy::new(Strategy::ALL[strategy], u64::from(limit), window);
                    setup.limiter.set_policy(policy.expect("a valid policy"));
                }
                Act::Wait { ns } => setup.clock.advance(Duration::from_nanos(ns)),
            }
        }
    }
}
