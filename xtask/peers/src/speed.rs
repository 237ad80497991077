//! Time a decision: all limiters in turn, round after round, and the median of the rounds.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::stats::median;
use crate::subject::{GOVERNOR, Outcome, Subject, names};
use crate::workload::{Workload, keys};

/// The figures of one workload.
pub(crate) struct Row {
    pub(crate) keys: usize,
    pub(crate) shape: &'static str,
    pub(crate) outcome: Outcome,
    pub(crate) threads: usize,
    /// Nanoseconds a decision for each of [`names`].
    pub(crate) ns: Vec<f64>,
}

impl Row {
    /// The strategy that takes longest, with its time.
    pub(crate) fn slowest(&self) -> (&'static str, f64) {
        let ours = names().into_iter().zip(self.ns.iter().copied()).skip(1);
        ours.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((GOVERNOR, f64::NAN))
    }

    /// The slowest strategy's time as a share of governor's.
    pub(crate) fn ratio(&self) -> f64 {
        self.slowest().1 / self.ns[0]
    }
}

/// Measures every workload, and returns the number of rounds with the rows.
pub(crate) fn measure(quick: bool) -> (usize, Vec<Row>) {
    let (rounds, few_passes) = if quick { (5, 4) } else { (11, 16) };
    let mut rows = Vec::new();
    for count in [1, 1_000, 1_000_000] {
        let workloads = match count {
            1 => vec![Workload::one()],
            count => vec![Workload::uniform(count), Workload::zipf(count)],
        };
        let passes = if count > 1_000 { 1 } else { few_passes };
        let all_keys = keys(count);
        // Both outcomes share the rounds, for denials are held against admissions.
        let subjects: Vec<(Outcome, Subject)> = Outcome::ALL
            .into_iter()
            .flat_map(|outcome| names().into_iter().map(move |name| (outcome, name)))
            .map(|(outcome, name)| (outcome, Subject::new(name, outcome, count)))
            .collect();
        for (_, subject) in &subjects {
            subject.fill(&all_keys);
        }
        for workload in &workloads {
            for threads in [1, 2] {
                eprintln!("speed: {count} keys, {}, {threads} threads", workload.shape);
                let ns = interleaved(&subjects, workload, Run { rounds, passes, threads });
                for (outcome, ns) in Outcome::ALL.into_iter().zip(ns.chunks(names().len())) {
                    rows.push(Row {
                        keys: workload.key_count,
                        shape: workload.shape,
                        outcome,
                        threads,
                        ns: ns.to_vec(),
                    });
                }
            }
        }
    }
    rows.sort_by_key(|row| (row.keys, row.shape, row.threads, row.outcome.as_str()));
    (rounds, rows)
}

/// Some times longer than a clock takes to learn the rate of the processor's counter.
const WARM_UP: Duration = Duration::from_millis(5);

/// How a workload is run.
#[derive(Clone, Copy)]
struct Run {
    rounds: usize,
    /// How often the order is gone through in a round.
    passes: usize,
    threads: usize,
}

/// The median time a decision of each subject; every round runs all of them once, so that whatever
/// else the machine does hits them alike.
fn interleaved(subjects: &[(Outcome, Subject)], workload: &Workload, run: Run) -> Vec<f64> {
    let mut times = vec![Vec::new(); subjects.len()];
    // One more round than is counted warms the caches and the branch predictors.
    for round in 0..=run.rounds {
        for ((outcome, subject), times) in subjects.iter().zip(&mut times) {
            let ns = block(subject, *outcome, workload, run);
            if round > 0 {
                times.push(ns);
            }
        }
    }
    times.iter().map(|times| median(times)).collect()
}

/// Wall time a decision of one block: from the first thread's start to the last one's end, over
/// the decisions of all threads together.
fn block(subject: &Subject, outcome: Outcome, workload: &Workload, run: Run) -> f64 {
    let barrier = Barrier::new(run.threads);
    let share = workload.order.len().div_ceil(run.threads);
    let part = |order: &[u32]| {
        // A service's threads are old, so what a clock does first in a thread is not measured.
        let born = Instant::now();
        while born.elapsed() < WARM_UP {
            subject.decide(&workload.keys, &order[..order.len().min(1_000)]);
        }
        barrier.wait();
        let started = Instant::now();
        let mut allowed = 0;
        for _ in 0..run.passes {
            allowed += subject.decide(&workload.keys, order);
        }
        (started, Instant::now(), allowed)
    };
    let parts: Vec<(Instant, Instant, u64)> = thread::scope(|scope| {
        let handles: Vec<_> =
            workload.order.chunks(share).map(|order| scope.spawn(|| part(order))).collect();
        handles.into_iter().map(|handle| handle.join().expect("no decision panics")).collect()
    });
    let decisions = workload.order.len() * run.passes;
    let allowed: u64 = parts.iter().map(|part| part.2).sum();
    assert_eq!(allowed, outcome.allows(decisions), "a wrong answer has no price");
    let first = parts.iter().map(|part| part.0).min().expect("a thread");
    let last = parts.iter().map(|part| part.1).max().expect("a thread");
    (last - first).as_nanos() as f64 / decisions as f64
}

/// The rows as text.
pub(crate) fn table(rounds: usize, rows: &[Row]) -> String {
    let mut text = format!(
        "ns a decision, median of {rounds} interleaved rounds, &str keys, default clocks\n\
         (2 threads: wall time over the decisions of both together)\n\n\
         {:>9}  {:<8}  {:>7}  {:<7}",
        "keys", "order", "threads", "outcome"
    );
    for name in names() {
        text.push_str(&format!("  {name:>14}"));
    }
    text.push_str("  slowest/governor\n");
    for row in rows {
        text.push_str(&format!(
            "{:>9}  {:<8}  {:>7}  {:<7}",
            row.keys,
            row.shape,
            row.threads,
            row.outcome.as_str()
        ));
        for ns in &row.ns {
            text.push_str(&format!("  {ns:>14.1}"));
        }
        text.push_str(&format!("  {:>16.2}\n", row.ratio()));
    }
    text
}

/// The rows for programs.
pub(crate) fn json(rows: &[Row]) -> Value {
    let row = |row: &Row| {
        let ns: serde_json::Map<String, Value> =
            names().iter().zip(&row.ns).map(|(name, ns)| ((*name).to_owned(), json!(ns))).collect();
        json!({
            "keys": row.keys, "order": row.shape, "threads": row.threads,
            "outcome": row.outcome.as_str(), "ns": ns,
        })
    };
    rows.iter().map(row).collect()
}
