//! No decision allocates: counted by the allocator itself, in a program of its own.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use gorl::{Key, Limiter, ManualClock, Policy};
use gorl_core::Strategy;

/// The system's allocator, which counts what this thread asks it for.
struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

/// Notes one allocation; one at the very end of a thread, when its cell is gone, is not ours.
fn note() {
    let _ = COUNT.try_with(|count| count.set(count.get() + 1));
}

// An allocator cannot be written without.
#[allow(unsafe_code)]
// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note();
        // SAFETY: the caller keeps the promises of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the promises of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note();
        // SAFETY: the caller keeps the promises of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(run: impl FnOnce()) -> usize {
    let before = COUNT.get();
    run();
    COUNT.get() - before
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 1);
    assert_eq!(allocations(|| ()), 0);
}

fn use_all(limiter: &Limiter, key: impl Key + Copy) {
    for _ in 0..3 {
        let _ = limiter.check(key);
        let _ = limiter.check_n(key, 2);
        let _ = limiter.peek(key);
    }
    limiter.give_back(key, 1);
    limiter.reset(key);
    let _ = limiter.check(key);
}

#[test]
fn no_decision_allocates_whatever_the_key() {
    let text = "a key that is much longer than any that could be kept in place".to_owned();
    for strategy in Strategy::ALL {
        let policy = Policy::new(strategy, 3, Duration::from_secs(60)).expect("a policy");
        let clock = Arc::new(ManualClock::new(0));
        let limiter = Limiter::builder(policy).capacity(10_000).clock(clock).build();
        // The list of policies of each shard has room for one after its first key.
        for key in 0..1_000_u64 {
            let _ = limiter.check(key);
        }
        // A thread that reads a policy for the first time is entered in a list of readers.
        use_all(&limiter, 0_u64);
        let count = allocations(|| {
            use_all(&limiter, text.as_str());
            use_all(&limiter, text.as_bytes());
            use_all(&limiter, 7_u64);
            use_all(&limiter, Ipv4Addr::LOCALHOST);
            use_all(&limiter, (text.as_str(), 7_u64, "c", -1_i32));
            // Far beyond the capacity: new keys, sweeps and evictions.
            for key in 0..50_000_u64 {
                let _ = limiter.check(key);
            }
            limiter.sweep();
        });
        assert_eq!(count, 0, "{strategy}");
    }
}

#[test]
fn a_growing_store_allocates_only_its_tables() {
    let policy = Policy::fixed_window(3, Duration::from_secs(60)).expect("a policy");
    let clock = Arc::new(ManualClock::new(0));
    let limiter = Limiter::builder(policy).shards(1).clock(clock).build();
    let count = allocations(|| {
        for key in 0..1_000_000_u64 {
            let _ = limiter.check(key);
        }
    });
    // Half as large again each time: some dozens of tables for a million keys.
    assert!(count < 200, "{count} allocations");
}
