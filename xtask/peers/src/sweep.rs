//! How long one decision takes while it and its neighbours sweep millions of expired keys.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use cpu_time::ThreadTime;
use gorl::{Limiter, ManualClock, Policy, Strategy};
use serde_json::{Value, json};

use crate::stats::{median, percentile};
use crate::subject::NOTHING;

/// The latencies of one strategy, each the median of the trials.
pub(crate) struct Row {
    pub(crate) strategy: &'static str,
    pub(crate) trials: usize,
    /// Microseconds of wall time.
    pub(crate) p999: f64,
    pub(crate) max: f64,
    /// Microseconds that the thread itself ran in its longest decision: what the decision did,
    /// without what the machine did to it.
    pub(crate) max_cpu: f64,
    /// Keys left in the store after the last decision.
    pub(crate) left: usize,
}

const EXPIRED: u64 = 5_000_000;

/// New keys, one a decision.
const NEW: u64 = 1_000_000;

/// Measures each strategy, or one of them when it has to be quick.
pub(crate) fn measure(quick: bool) -> Result<Vec<Row>> {
    let (strategies, trials) =
        if quick { (&[Strategy::TokenBucket][..], 1) } else { (&Strategy::ALL[..], 3) };
    let mut rows = vec![row(NOTHING, trials, || {
        Ok(time(|key| {
            black_box(key);
        }))
    })?];
    for &strategy in strategies {
        rows.push(row(strategy.as_str(), trials, || trial(strategy))?);
    }
    Ok(rows)
}

fn row(strategy: &'static str, trials: usize, trial: impl Fn() -> Result<Trial>) -> Result<Row> {
    eprintln!("sweep: {strategy}");
    let results: Vec<Trial> = (0..trials).map(|_| trial()).collect::<Result<_>>()?;
    let of = |figure: fn(&Trial) -> f64| median(&results.iter().map(figure).collect::<Vec<_>>());
    Ok(Row {
        strategy,
        trials,
        p999: of(|trial| trial.p999),
        max: of(|trial| trial.max),
        max_cpu: of(|trial| trial.max_cpu),
        left: results.last().map_or(0, |trial| trial.left),
    })
}

struct Trial {
    p999: f64,
    max: f64,
    max_cpu: f64,
    left: usize,
}

fn trial(strategy: Strategy) -> Result<Trial> {
    let clock = Arc::new(ManualClock::new(1_700_000_000_000_000_000));
    let policy = Policy::new(strategy, 10, Duration::from_mins(1))?;
    let limiter = Limiter::builder(policy).clock(Arc::clone(&clock)).build();
    for key in 0..EXPIRED {
        let _ = black_box(limiter.check(key));
    }
    clock.advance(Duration::from_hours(1));
    let timed = time(|key| {
        let _ = black_box(limiter.check(key));
    });
    Ok(Trial { left: limiter.len(), ..timed })
}

/// Times what is done for each new key, one by one.
fn time(decide: impl Fn(u64)) -> Trial {
    // The pages of the list are touched now, for the kernel takes its time to find them.
    let mut wall = vec![1.0; NEW as usize];
    let mut max_cpu = Duration::ZERO;
    for (key, wall) in (EXPIRED..).zip(&mut wall) {
        let cpu = ThreadTime::now();
        let started = Instant::now();
        decide(key);
        let took = started.elapsed();
        max_cpu = max_cpu.max(cpu.elapsed());
        *wall = took.as_nanos() as f64 / 1_000.0;
    }
    Trial {
        p999: percentile(&wall, 0.999),
        max: wall.iter().copied().fold(0.0, f64::max),
        max_cpu: max_cpu.as_nanos() as f64 / 1_000.0,
        left: 0,
    }
}

/// The rows as text.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut text = format!(
        "µs of one decision for a new key while {EXPIRED} expired keys are swept\n\
         ({NEW} decisions, median of {} trials; `own` leaves out the time that the thread was not \
         running)\n\n{:<14}  {:>8}  {:>8}  {:>8}  {:>10}\n",
        rows.first().map_or(0, |row| row.trials),
        "strategy",
        "p99.9",
        "max",
        "max own",
        "keys left"
    );
    for row in rows {
        text.push_str(&format!(
            "{:<14}  {:>8.2}  {:>8.1}  {:>8.1}  {:>10}\n",
            row.strategy, row.p999, row.max, row.max_cpu, row.left
        ));
    }
    text
}

/// The rows for programs.
pub(crate) fn json(rows: &[Row]) -> Value {
    rows.iter()
        .map(|row| {
            json!({
                "strategy": row.strategy, "p999_us": row.p999, "max_us": row.max,
                "max_own_us": row.max_cpu, "left": row.left,
            })
        })
        .collect()
}
