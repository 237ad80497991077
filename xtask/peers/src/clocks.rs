//! What reading a clock costs, what a decision costs without one, and how exact gorl's clock is.

use std::hint::black_box;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use cpu_time::ThreadTime;
use gorl::{Clock, Limiter, ManualClock, Policy, SystemClock};
use governor::clock::{Clock as _, DefaultClock, FakeRelativeClock};
use governor::{Quota, RateLimiter};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};

use crate::stats::median;

/// The figures of one thing that is done over and over in one thread.
pub(crate) struct Row {
    what: &'static str,
    /// Nanoseconds that the thread ran, the loop's own included.
    ns: f64,
}

/// gorl's clock between two readings of the system's.
pub(crate) struct Deviation {
    readings: u64,
    seconds: f64,
    /// How far the clock was seen to stray, from its lowest to its highest reading against the
    /// system's clock. Negative: not at all, and by how much it could have been seen at best.
    ns: i64,
}

/// Repetitions in a round.
const TIMES: u32 = 200_000;

/// How often the cached clock is set, as coarse as gorl's anchors are.
const TICK: Duration = Duration::from_millis(1);

type Part = (&'static str, Box<dyn Fn()>);

/// Measures every clock in turn, round after round.
pub(crate) fn measure(quick: bool) -> (usize, Vec<Row>, Deviation) {
    eprintln!("clocks");
    let rounds = if quick { 5 } else { 25 };
    let (running, stopped) = mpsc::channel::<()>();
    let cached = Arc::new(AtomicU64::new(0));
    let rows = thread::scope(|scope| {
        let set = Arc::clone(&cached);
        scope.spawn(move || {
            while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                set.store(SystemClock.now_ns(), Ordering::Relaxed);
            }
        });
        let mut parts = clocks(&cached);
        parts.extend(atomics());
        parts.extend(decisions());
        let mut times = vec![Vec::new(); parts.len()];
        for round in 0..=rounds {
            for ((_, part), times) in parts.iter().zip(&mut times) {
                let started = ThreadTime::now();
                part();
                let own = started.elapsed().as_nanos() as f64 / f64::from(TIMES);
                // The first round warms up.
                if round > 0 {
                    times.push(own);
                }
            }
        }
        drop(running);
        let times = times.iter().map(|times| median(times));
        let rows = parts.iter().zip(times);
        rows.map(|(&(what, _), ns)| Row { what, ns }).collect()
    });
    (rounds, rows, deviation(if quick { 0.2 } else { 1.0 }))
}

/// Repeats `act`, compiled into its own loop.
fn part<T>(what: &'static str, act: impl Fn() -> T + 'static) -> Part {
    let repeat = move || {
        for _ in 0..TIMES {
            black_box(act());
        }
    };
    (what, Box::new(repeat))
}

fn clocks(cached: &Arc<AtomicU64>) -> Vec<Part> {
    let cached = Arc::clone(cached);
    let (counter, governors) = (quanta::Clock::new(), DefaultClock::default());
    vec![
        part("nothing, the loop itself", || ()),
        part("std SystemTime::now", SystemTime::now),
        part("std Instant::now", Instant::now),
        part("CLOCK_MONOTONIC_COARSE, by rustix", || clock_gettime(ClockId::MonotonicCoarse)),
        part("the processor's counter, by quanta", move || counter.raw()),
        part("governor's default clock, quanta", move || governors.now()),
        part("an atomic that a thread sets every ms", move || cached.load(Ordering::Relaxed)),
        part("gorl's default clock", || SystemClock.now_ns()),
    ]
}

/// What guards a state, without another thread that wants it.
fn atomics() -> Vec<Part> {
    let flag = AtomicBool::new(false);
    let mutex = Mutex::new(0_u64);
    vec![
        part("a compare-and-swap and a store: a spin lock", move || {
            let taken = flag.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed);
            black_box(&flag).store(false, Ordering::Release);
            taken
        }),
        part("std Mutex, locked and unlocked", move || {
            mutex.lock().map(|mut value| *value += 1).is_ok()
        }),
    ]
}

/// One hot key, allowed.
fn decisions() -> Vec<Part> {
    const LIMIT: u32 = 1_000_000_000;
    let key = || black_box("user-0000000".to_owned());
    let policy = Policy::token_bucket(LIMIT.into(), Duration::from_hours(10 * 365 * 24));
    let policy = policy.expect("a policy in range");
    let stands = Arc::new(ManualClock::new(SystemClock.now_ns()));
    let (ours, ours_still) = (Limiter::new(policy), Limiter::builder(policy).clock(stands).build());
    let quota = Quota::per_hour(NonZeroU32::new(LIMIT).expect("not zero"));
    let (theirs, theirs_still) = (
        RateLimiter::keyed(quota),
        RateLimiter::dashmap_with_clock(quota, FakeRelativeClock::default()),
    );
    let [a, b, c, d] = [key(), key(), key(), key()];
    vec![
        part("gorl's decision (token_bucket), default clock", move || {
            ours.check(black_box(a.as_str())).is_allowed()
        }),
        part("gorl's decision, a clock that stands still", move || {
            ours_still.check(black_box(b.as_str())).is_allowed()
        }),
        part("governor's decision, default clock", move || theirs.check_key(black_box(&c)).is_ok()),
        part("governor's decision, a clock that stands still", move || {
            theirs_still.check_key(black_box(&d)).is_ok()
        }),
    ]
}

/// Reads gorl's clock between two readings of the system's for some time.
///
/// What it tells, less the system's time, lies between two bounds in each reading. A clock that
/// kept pace exactly would have one difference within all of them.
fn deviation(seconds: f64) -> Deviation {
    let start = Instant::now();
    let nanos = |instant: Instant| (instant - start).as_nanos() as i64;
    // The thread's first readings learn the rate.
    while start.elapsed() < Duration::from_millis(5) {
        black_box(SystemClock.now_ns());
    }
    let origin = SystemClock.now_ns();
    let (mut least, mut most, mut readings) = (i64::MIN, i64::MAX, 0);
    let until = start + Duration::from_secs_f64(seconds);
    loop {
        let before = Instant::now();
        let told = SystemClock.now_ns().saturating_sub(origin).cast_signed();
        let after = Instant::now();
        least = least.max(told - nanos(after));
        most = most.min(told - nanos(before));
        readings += 1;
        if after >= until {
            break;
        }
    }
    Deviation { readings, seconds, ns: least - most }
}

/// The rows as text.
pub(crate) fn table((rounds, rows, deviation): &(usize, Vec<Row>, Deviation)) -> String {
    let mut text = format!(
        "ns of the thread's own time, median of {rounds} interleaved rounds of {TIMES}, \
         one thread\n\n"
    );
    for row in rows {
        text.push_str(&format!("{:<48}  {:>7.1}\n", row.what, row.ns));
    }
    let Deviation { readings, seconds, ns } = deviation;
    let strayed = if *ns > 0 {
        format!("strayed by {ns} ns at most")
    } else {
        format!("strayed by nothing that could be seen; {} ns could", -ns)
    };
    text.push_str(&format!(
        "\ngorl's default clock against the system's monotonic clock: {readings} readings in \
         {seconds:.1} s, {strayed}\n"
    ));
    text
}

/// The rows for programs.
pub(crate) fn json((_, rows, deviation): &(usize, Vec<Row>, Deviation)) -> Value {
    let rows: Vec<Value> =
        rows.iter().map(|row| json!({ "what": row.what, "ns": row.ns })).collect();
    json!({ "rows": rows, "strayed_ns": deviation.ns.max(0), "readings": deviation.readings })
}
