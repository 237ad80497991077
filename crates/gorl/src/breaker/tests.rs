//! The breaker by a clock of the test's own.

use super::*;

const MS: u64 = 1_000_000;

fn failure(kind: StoreErrorKind) -> StoreError {
    StoreError::with_source(kind, "the reason")
}

fn unavailable() -> StoreError {
    failure(StoreErrorKind::Unavailable)
}

/// A breaker that opened at `now_ns`.
fn opened(now_ns: u64) -> Arc<Breaker> {
    let breaker = Arc::new(Breaker::new());
    for _ in 1..FAILURES {
        assert!(!breaker.failed(&unavailable(), now_ns));
    }
    assert!(breaker.failed(&unavailable(), now_ns));
    breaker
}

fn probe(breaker: &Arc<Breaker>, now_ns: u64) -> Option<Probe> {
    match breaker.pass(|| now_ns) {
        Pass::Probe(probe) => Some(probe),
        Pass::TurnedAway => None,
        Pass::Through => panic!("the breaker is closed"),
    }
}

#[test]
fn it_opens_after_failures_in_a_row_and_not_before() {
    let breaker = Arc::new(Breaker::new());
    for _ in 0..100 {
        for _ in 1..FAILURES {
            assert!(!breaker.failed(&unavailable(), 0));
        }
        breaker.answered();
    }
    assert_eq!(breaker.state(), BreakerState::Closed);
    assert_eq!(opened(0).state(), BreakerState::Open);
    let first = Arc::new(Breaker::new().failures(0));
    assert!(first.failed(&unavailable(), 0));
}

#[test]
fn failures_that_say_nothing_of_the_store_do_not_count() {
    let breaker = Breaker::new();
    let kinds = [StoreErrorKind::ForeignValue, StoreErrorKind::Policy, StoreErrorKind::Unsupported];
    for kind in kinds {
        for _ in 0..100 {
            assert!(!breaker.failed(&failure(kind), 0));
        }
    }
    assert_eq!(breaker.state(), BreakerState::Closed);
}

#[test]
fn waits_double_to_the_longest_and_start_anew_after_an_answer() {
    let start = 7 * MS;
    let breaker = opened(start);
    let mut now = start;
    for wait in [500, 1_000, 2_000, 4_000, 4_000, 4_000] {
        assert!(probe(&breaker, now + (wait - 1) * MS).is_none(), "{wait}");
        now += wait * MS;
        let probe = probe(&breaker, now).expect("the wait is over");
        assert_eq!(breaker.state(), BreakerState::Probing);
        probe.settle(Some(&unavailable()), now);
        assert_eq!(breaker.state(), BreakerState::Open);
    }
    probe(&breaker, now + 4_000 * MS).expect("the wait is over").settle(None, now);
    assert_eq!(breaker.state(), BreakerState::Closed);
    for _ in 0..FAILURES {
        breaker.failed(&unavailable(), now);
    }
    assert!(probe(&breaker, now + 499 * MS).is_none());
    assert!(probe(&breaker, now + 500 * MS).is_some());
}

#[test]
fn one_request_probes_at_a_time() {
    let breaker = opened(0);
    let first = probe(&breaker, 500 * MS).expect("the wait is over");
    for _ in 0..10 {
        assert!(probe(&breaker, 600 * MS).is_none());
    }
    // Its caller went away without an answer: another may.
    drop(first);
    let second = probe(&breaker, 600 * MS).expect("nobody probes");
    // A request from before the breaker opened was answered after all.
    breaker.answered();
    second.settle(Some(&unavailable()), 700 * MS);
    assert_eq!(breaker.state(), BreakerState::Closed);
}

#[test]
fn a_probe_of_which_nothing_is_heard_is_followed_by_another() {
    let breaker = opened(0);
    std::mem::forget(probe(&breaker, 500 * MS));
    assert!(probe(&breaker, (500 + PROBE_IS_LOST_MS) * MS).is_none());
    assert!(probe(&breaker, (501 + PROBE_IS_LOST_MS) * MS).is_some());
}

#[test]
fn a_clock_that_steps_back_prolongs_no_wait() {
    let breaker = opened(1_000_000_000 * MS);
    assert!(probe(&breaker, 0).is_some());
}

#[test]
fn a_foreign_value_found_by_a_probe_is_an_answer() {
    let breaker = opened(0);
    let probe = probe(&breaker, 500 * MS).expect("the wait is over");
    probe.settle(Some(&failure(StoreErrorKind::ForeignValue)), 500 * MS);
    assert_eq!(breaker.state(), BreakerState::Closed);
}

#[test]
fn who_is_turned_away_is_told_the_last_failure() {
    let error = opened(0).turned_away();
    assert_eq!(error.kind(), StoreErrorKind::CircuitOpen);
    let source = std::error::Error::source(&error).expect("a cause").to_string();
    assert_eq!(source, "the last failure was: the store cannot be reached: the reason");
}

#[test]
fn many_threads_send_one_probe() {
    let breaker = opened(0);
    let probes = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..1_000 {
                    if let Some(probe) = probe(&breaker, 500 * MS) {
                        probes.fetch_add(1, Ordering::Relaxed);
                        std::mem::forget(probe);
                    }
                }
            });
        }
    });
    assert_eq!(probes.into_inner(), 1);
}

#[test]
fn a_word_says_what_was_packed() {
    let most = Word::Closed { failed: u32::MAX };
    for word in [
        most,
        Word::Open { round: MOST_ROUNDS, until_ms: MS_MASK },
        Word::Probing { round: 1, since_ms: 5 },
    ] {
        assert_eq!(Word::unpack(word.pack()), word);
    }
}
