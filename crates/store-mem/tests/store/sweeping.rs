//! What is at rest is forgotten and its memory given back; what counts stays.

use std::time::Duration;

use gorl_core::Strategy;

use crate::{Subject, policy};

const WINDOW: Duration = Duration::from_secs(1);

/// Enough for any grace that a store may grant to what is at rest.
const LONG_NS: u64 = 20 * 1_000_000_000;

/// Keys of a peak.
const PEAK: u32 = 20_000;

#[test]
fn a_sweep_of_an_idle_store_forgets_all_and_gives_the_memory_back() {
    for strategy in Strategy::ALL {
        let subject = Subject::new(|builder| builder.shards(4));
        let empty = subject.store.memory_bytes();
        let policy = policy(strategy, 3, WINDOW);
        (0..PEAK).for_each(|key| assert!(subject.take(&policy, key)));
        let full = subject.store.memory_bytes();
        assert!(full > 32 * PEAK as usize);
        subject.store.sweep();
        assert_eq!(subject.store.len(), PEAK as usize, "{strategy}: nothing is at rest yet");
        subject.advance(LONG_NS);
        subject.store.sweep();
        assert!(subject.store.is_empty(), "{strategy}");
        // All but the short lists of policies.
        assert!(subject.store.memory_bytes() < empty + full / 100);
    }
}

#[test]
fn a_sweep_leaves_the_few_that_count_and_shrinks_around_them() {
    let subject = Subject::new(|builder| builder.shards(1));
    let short = policy(Strategy::SlidingWindow, 3, WINDOW);
    let long = policy(Strategy::SlidingWindow, 3, 100 * WINDOW);
    for key in 0..PEAK {
        let policy = if key % 100 == 0 { &long } else { &short };
        subject.exhaust(policy, key);
    }
    let full = subject.store.memory_bytes();
    subject.advance(LONG_NS);
    subject.store.sweep();
    assert_eq!(subject.store.len(), PEAK as usize / 100);
    assert!(subject.store.memory_bytes() < full / 10);
    for key in (0..PEAK).step_by(100) {
        assert!(!subject.take(&long, key), "key {key}");
    }
}

/// No thread sweeps and nobody calls `sweep`: each new key forgets a few old ones.
#[test]
fn new_keys_forget_old_ones() {
    for strategy in Strategy::ALL {
        let subject = Subject::new(|builder| builder.shards(1));
        let policy = policy(strategy, 3, WINDOW);
        for generation in 0..5 {
            let first = generation * PEAK;
            (first..first + PEAK).for_each(|key| assert!(subject.take(&policy, key)));
            subject.advance(LONG_NS);
        }
        let len = subject.store.len();
        assert!(len < 2 * PEAK as usize, "{strategy}: {len} keys of five times {PEAK} are left");
    }
}
