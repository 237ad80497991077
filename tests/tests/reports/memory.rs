//! The memory store: threads, panics, and what is kept when there are too many keys.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use gorl::{Clock, Key, Limiter, ManualClock, Policy};
use gorl_core::{Part, Strategy};

use super::{S, policy};

#[test]
fn r49_a_cost_of_zero_creates_no_key() {
    let limiter = Limiter::new(policy(Strategy::TokenBucket, 3, S));
    for key in 0..1_000_u64 {
        assert!(limiter.check_n(key, 0).is_ok_and(|decision| decision.is_allowed()));
        assert!(limiter.peek(key).is_allowed());
    }
    assert_eq!(limiter.len(), 0);
}

#[test]
fn r50_sixty_four_threads_on_one_key_are_admitted_exactly_the_limit() {
    for strategy in Strategy::ALL {
        let clock = Arc::new(ManualClock::new(1_000_000 * S));
        let limiter = Limiter::builder(policy(strategy, 100, 3_600 * S)).clock(clock).build();
        let admitted = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..64 {
                scope.spawn(|| {
                    for _ in 0..1_000 {
                        let decision = limiter.check("k");
                        assert!(decision.remaining() < 100, "what remains has wrapped");
                        if decision.is_allowed() {
                            admitted.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                });
            }
        });
        assert_eq!(admitted.into_inner(), 100, "{strategy}");
    }
}

/// A clock whose owner can make it panic.
#[derive(Default)]
struct Trap {
    armed: AtomicBool,
    time: ManualClock,
}

impl Clock for Trap {
    fn now_ns(&self) -> u64 {
        assert!(!self.armed.load(Ordering::Relaxed), "the clock is broken");
        self.time.now_ns()
    }
}

/// A key whose parts cannot be had.
struct BadKey;

impl Key for BadKey {
    type Parts<'a> = [Part<'a>; 1];

    fn parts(&self) -> [Part<'_>; 1] {
        panic!("the key is broken")
    }
}

#[test]
fn r56_a_panic_in_a_callers_code_leaves_the_next_checks_right() {
    for strategy in Strategy::ALL {
        let trap = Arc::new(Trap::default());
        // One shard, so that the panics meet the lock that the checks need.
        let limiter = Limiter::builder(policy(strategy, 50, 3_600 * S))
            .clock(Arc::clone(&trap))
            .shards(1)
            .build();
        assert!(limiter.check("k").is_allowed());
        thread::scope(|scope| {
            trap.armed.store(true, Ordering::Relaxed);
            assert!(scope.spawn(|| limiter.check("k")).join().is_err());
            assert!(scope.spawn(|| limiter.sweep()).join().is_err());
            trap.armed.store(false, Ordering::Relaxed);
            assert!(scope.spawn(|| limiter.check(BadKey)).join().is_err());
            assert!(scope.spawn(|| limiter.give_back(BadKey, 1)).join().is_err());
        });
        let admitted = (0..100).filter(|_| limiter.check("k").is_allowed()).count();
        assert_eq!(admitted, 49, "{strategy}");
    }
}

#[test]
fn r81_a_million_keys_stay_within_the_capacity() {
    for strategy in Strategy::ALL {
        let clock = Arc::new(ManualClock::new(0));
        let policy = policy(strategy, 10, 3_600 * S);
        let limiter = Limiter::builder(policy).capacity(10_000).clock(clock).build();
        assert!(limiter.check_n("used up", 10).is_ok_and(|decision| decision.is_allowed()));
        let bytes = limiter.memory_bytes();
        for key in 0..1_000_000_u64 {
            let _ = limiter.check(key);
            if key % 10_000 == 0 {
                assert!(limiter.len() <= 10_000);
                assert!(!limiter.check("used up").is_allowed(), "{strategy}, after {key} keys");
            }
        }
        assert!(limiter.len() <= 10_000);
        assert!(limiter.memory_bytes() <= bytes + bytes / 8, "the memory has grown");
    }
}

#[test]
fn r81_without_a_capacity_a_sweep_after_idle_gives_the_memory_back() {
    for strategy in Strategy::ALL {
        let clock = Arc::new(ManualClock::new(0));
        let policy = policy(strategy, 10, 60 * S);
        let limiter = Limiter::builder(policy).clock(Arc::clone(&clock)).build();
        for key in 0..1_000_000_u64 {
            let _ = limiter.check(key);
        }
        assert_eq!(limiter.len(), 1_000_000);
        let full = limiter.memory_bytes();
        // Whatever a store waits after the rest of a key, ten windows are enough.
        clock.advance(Duration::from_secs(600));
        limiter.sweep();
        assert_eq!(limiter.len(), 0, "{strategy}");
        let swept = limiter.memory_bytes();
        assert!(swept < full / 100, "{swept} of {full} bytes are left");
    }
}

#[test]
fn r83_a_flood_of_new_keys_does_not_free_one_that_is_used_up() {
    for strategy in Strategy::ALL {
        for capacity in [1, 2, 100] {
            let clock = Arc::new(ManualClock::new(0));
            let policy = policy(strategy, 5, 3_600 * S);
            let limiter = Limiter::builder(policy).capacity(capacity).clock(clock).build();
            assert!(limiter.check_n("a", 5).is_ok_and(|decision| decision.is_allowed()));
            assert!(!limiter.check("a").is_allowed());
            for key in 0..10_000_u64 {
                let _ = limiter.check(key);
                assert!(limiter.len() <= capacity);
            }
            // With room for a single key nothing can be kept beside it.
            let kept = !limiter.check("a").is_allowed();
            assert!(kept || capacity == 1, "{strategy}, capacity {capacity}");
        }
    }
}

#[test]
fn r106_a_set_policy_that_races_with_checks_admits_no_more() {
    let clock = Arc::new(ManualClock::new(0));
    let hour = Duration::from_secs(3_600);
    let policy = Policy::fixed_window(100, hour).expect("a policy");
    let limiter = Limiter::builder(policy).clock(clock).build();
    let admitted = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..2_000 {
                    if limiter.check("k").is_allowed() {
                        admitted.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..500 {
                limiter.set_policy(Policy::fixed_window(10, hour).expect("a policy"));
                limiter.set_policy(policy);
            }
        });
    });
    // The threads may have been done while the limit was the lower one; the rest is left to take.
    let rest = (0..200).filter(|_| limiter.check("k").is_allowed()).count();
    assert_eq!(admitted.into_inner() + rest, 100);
}

/// Adds keys to a full store and tells the shortest time that a batch of them took.
fn shortest_batch(limiter: &Limiter, first: u64) -> Duration {
    let batch = |n: u64| {
        let started = Instant::now();
        (0..500).for_each(|key| assert!(limiter.check(first + 500 * n + key).is_allowed()));
        started.elapsed()
    };
    (0..20).map(batch).min().unwrap_or_default()
}

/// Not a speed goal: to look through every entry would make the larger store a thousand times
/// slower, so a factor of fifty leaves room for caches and for whatever else the machine does.
#[test]
fn r86_to_add_a_key_to_a_full_store_does_not_look_through_it() {
    let full = |capacity: usize| {
        let policy = policy(Strategy::FixedWindow, 5, 1_000_000 * S);
        let limiter = Limiter::builder(policy).capacity(capacity).shards(1).build();
        (0..2 * capacity as u64).for_each(|key| assert!(limiter.check(key).is_allowed()));
        assert_eq!(limiter.len(), capacity);
        limiter
    };
    let (small, large) = (full(500), full(500_000));
    let few = shortest_batch(&small, 1 << 40);
    let many = shortest_batch(&large, 1 << 40);
    assert!(many < 50 * few, "{many:?} for a batch beside {few:?}");
}

#[test]
fn r86_a_sweep_beside_checking_threads_changes_no_answer() {
    const THREADS: u64 = 8;
    let clock = Arc::new(ManualClock::new(1_000 * S));
    let limiter =
        Limiter::builder(policy(Strategy::FixedWindow, 3, S)).clock(clock.clone()).build();
    (0..200_000_u64).for_each(|key| assert!(limiter.check(("old", key)).is_allowed()));
    clock.set(1_010 * S);
    thread::scope(|scope| {
        let limiter = &limiter;
        scope.spawn(|| (0..3).for_each(|_| limiter.sweep()));
        for own in 0..THREADS {
            scope.spawn(move || {
                for key in 0..2_000_u64 {
                    let admitted =
                        (0..5).filter(|_| limiter.check((own, key)).is_allowed()).count();
                    assert_eq!(admitted, 3, "key {key} of thread {own}");
                }
            });
        }
    });
    limiter.sweep();
    assert_eq!(limiter.len() as u64, THREADS * 2_000, "only what is at rest has been forgotten");
}
