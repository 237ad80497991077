//! Which log events there are after a story, and that none of them holds a key.

#![cfg(feature = "tracing")]

use std::fmt::{Debug, Write};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gorl::{AsyncLimiter, BreakerState, MemoryStore, Observed, Observer, Policy, StoreErrorKind};
use gorl_metrics::Traced;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Keeps each event as a line.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {}={value:?}", field.name()).expect("text can be added to");
    }
}

impl Subscriber for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        self.0.lock().expect("no test panics here").push(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Which events anybody wants is known of the whole process, so one story is told at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn events(story: impl FnOnce(Traced)) -> Vec<String> {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let lines = Lines::default();
    tracing::subscriber::with_default(lines.clone(), || story(Traced::new()));
    std::mem::take(&mut *lines.0.lock().expect("the story is over"))
}

#[test]
fn denials_are_told_without_their_keys() {
    let lines = events(|traced| {
        let policy = Policy::fixed_window(1, Duration::from_secs(86_400 * 1_000));
        let limiter = AsyncLimiter::builder(policy.expect("a valid policy"))
            .observer("login", traced)
            .build(MemoryStore::new());
        for _ in 0..3 {
            let _ = pollster::block_on(limiter.check("the key")).expect("memory answers");
        }
    });
    assert_eq!(lines.len(), 2);
    for line in lines {
        assert!(line.starts_with("DEBUG") && line.contains(r#" resource="login""#), "{line}");
        assert!(line.contains(r#" origin="store""#) && line.contains(" retry_after_ms="), "{line}");
        assert!(!line.contains("the key"), "{line}");
    }
}

#[test]
fn a_rare_failure_is_told_however_many_there_are_of_another_kind() {
    let lines = events(|traced| {
        for _ in 0..1_000 {
            traced.store_error("login", StoreErrorKind::Timeout);
            traced.store_error("login", StoreErrorKind::CircuitOpen);
        }
        traced.store_error("login", StoreErrorKind::ForeignValue);
    });
    let of = |kind: &str| lines.iter().filter(|line| line.contains(kind)).count();
    // The 1st, 2nd, 4th and so on to the 512th.
    assert_eq!((of("timeout"), of("foreign_value"), of("circuit_open")), (10, 1, 0));
    assert!(lines.iter().all(|line| line.starts_with("WARN")));
}

#[test]
fn the_breaker_is_told_with_its_state() {
    let lines = events(|traced| {
        for state in [BreakerState::Open, BreakerState::Probing, BreakerState::Closed] {
            traced.breaker_changed("login", state);
        }
    });
    let expected = [("WARN", "open"), ("INFO", "probing"), ("INFO", "closed")];
    assert_eq!(lines.len(), expected.len());
    for (line, (level, state)) in lines.iter().zip(expected) {
        assert!(line.starts_with(level) && line.contains(state), "{line}");
    }
}

/// Counts what it hears.
#[derive(Default)]
struct Heard(AtomicU32);

impl Observer for Heard {
    fn decided(&self, _: &Observed<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn failed(&self, _: &str, _: StoreErrorKind, _: Duration) {
        self.0.fetch_add(10, Ordering::Relaxed);
    }

    fn store_error(&self, _: &str, _: StoreErrorKind) {
        self.0.fetch_add(100, Ordering::Relaxed);
    }

    fn breaker_changed(&self, _: &str, _: BreakerState) {
        self.0.fetch_add(1_000, Ordering::Relaxed);
    }
}

#[test]
fn the_next_observer_hears_all_of_it() {
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let heard = Arc::new(Heard::default());
    let traced = Arc::new(Traced::and(Arc::clone(&heard)));
    traced.failed("login", StoreErrorKind::Timeout, Duration::ZERO);
    traced.store_error("login", StoreErrorKind::Timeout);
    traced.breaker_changed("login", BreakerState::Open);
    let policy = Policy::fixed_window(1, Duration::from_secs(1)).expect("a valid policy");
    let limiter = AsyncLimiter::builder(policy).observer("login", traced).build(MemoryStore::new());
    assert!(pollster::block_on(limiter.check("a")).is_ok_and(|decision| decision.is_allowed()));
    assert_eq!(heard.0.load(Ordering::Relaxed), 1_111);
}
