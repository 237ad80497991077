//! Time a decision: all limiters in turn, round after round, and the median of the rounds.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use serde_json::{Value, json};

use crate::stats::median;
use crate::subject::{GOVERNOR, NOTHING, Outcome, Subject, names};
use crate::workload::{Workload, keys};

/// The figures of one workload.
pub(crate) struct Row {
    pub(crate) keys: usize,
    pub(crate) shape: &'static str,
    pub(crate) outcome: Outcome,
    pub(crate) threads: usize,
    /// Nanoseconds a decision for each of [`names`], and last for [`NOTHING`].
    pub(crate) times: Vec<Times>,
}

/// Nanoseconds a decision.
#[derive(Clone, Copy)]
pub(crate) struct Times {
    /// From the first thread's start to the last one's end, over the decisions of all threads.
    pub(crate) wall: f64,
    /// What the thread itself ran, which leaves out what other programs took from it. Of several
    /// threads it would leave out what they did to each other.
    pub(crate) own: Option<f64>,
}

impl Times {
    /// The time that is held against the goals.
    pub(crate) fn judged(self) -> f64 {
        self.own.unwrap_or(self.wall)
    }
}

impl Row {
    /// The judged times of our strategies, with their names.
    pub(crate) fn ours(&self) -> impl Iterator<Item = (&'static str, f64)> {
        let times = self.times.iter().map(|times| times.judged());
        names().into_iter().zip(times).skip(1)
    }

    /// The strategy that takes longest, with its time.
    pub(crate) fn slowest(&self) -> (&'static str, f64) {
        let slowest = self.ours().max_by(|a, b| a.1.total_cmp(&b.1));
        slowest.unwrap_or((GOVERNOR, f64::NAN))
    }

    /// The slowest strategy's time as a share of governor's.
    pub(crate) fn ratio(&self) -> f64 {
        self.slowest().1 / self.times[0].judged()
    }
}

/// Measures every workload, and returns the number of rounds with the rows.
pub(crate) fn measure(quick: bool) -> (usize, Vec<Row>) {
    let (rounds, few_passes) = if quick { (5, 4) } else { (15, 8) };
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
            .flat_map(|outcome| columns().into_iter().map(move |name| (outcome, name)))
            .map(|(outcome, name)| (outcome, Subject::new(name, outcome, count)))
            .collect();
        for (_, subject) in &subjects {
            subject.fill(&all_keys);
        }
        for workload in &workloads {
            for threads in [1, 2] {
                eprintln!("speed: {count} keys, {}, {threads} threads", workload.shape);
                let times = interleaved(&subjects, workload, Run { rounds, passes, threads });
                for (outcome, times) in Outcome::ALL.into_iter().zip(times.chunks(columns().len()))
                {
                    rows.push(Row {
                        keys: workload.key_count,
                        shape: workload.shape,
                        outcome,
                        threads,
                        times: times.to_vec(),
                    });
                }
            }
        }
    }
    rows.sort_by_key(|row| (row.keys, row.shape, row.threads, row.outcome.as_str()));
    (rounds, rows)
}

/// What is measured: the limiters, and the loop without one.
fn columns() -> Vec<&'static str> {
    let mut columns = names();
    columns.push(NOTHING);
    columns
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
fn interleaved(subjects: &[(Outcome, Subject)], workload: &Workload, run: Run) -> Vec<Times> {
    let mut times = vec![Vec::new(); subjects.len()];
    // One more round than is counted warms the caches and the branch predictors.
    for round in 0..=run.rounds {
        for ((outcome, subject), times) in subjects.iter().zip(&mut times) {
            let block = block(subject, *outcome, workload, run);
            if round > 0 {
                times.push(block);
            }
        }
    }
    times.iter().map(|times| medians(times)).collect()
}

fn medians(times: &[Times]) -> Times {
    let wall: Vec<f64> = times.iter().map(|times| times.wall).collect();
    let own: Option<Vec<f64>> = times.iter().map(|times| times.own).collect();
    Times { wall: median(&wall), own: own.map(|own| median(&own)) }
}

/// The times of one block of decisions.
fn block(subject: &Subject, outcome: Outcome, workload: &Workload, run: Run) -> Times {
    let barrier = Barrier::new(run.threads);
    let share = workload.order.len().div_ceil(run.threads);
    let part = |order: &[u32]| {
        // A service's threads are old, so what a clock does first in a thread is not measured.
        let born = Instant::now();
        while born.elapsed() < WARM_UP {
            subject.decide(&workload.keys, &order[..order.len().min(1_000)]);
        }
        barrier.wait();
        let (started, own) = (Instant::now(), ThreadTime::now());
        let mut allowed = 0;
        for _ in 0..run.passes {
            allowed += subject.decide(&workload.keys, order);
        }
        (started, own.elapsed(), Instant::now(), allowed)
    };
    let parts: Vec<(Instant, Duration, Instant, u64)> = thread::scope(|scope| {
        let handles: Vec<_> =
            workload.order.chunks(share).map(|order| scope.spawn(|| part(order))).collect();
        handles.into_iter().map(|handle| handle.join().expect("no decision panics")).collect()
    });
    let decisions = workload.order.len() * run.passes;
    let allowed: u64 = parts.iter().map(|part| part.3).sum();
    assert_eq!(allowed, outcome.allows(decisions), "a wrong answer has no price");
    let first = parts.iter().map(|part| part.0).min().expect("a thread");
    let last = parts.iter().map(|part| part.2).max().expect("a thread");
    let each = |whole: Duration| whole.as_nanos() as f64 / decisions as f64;
    let own = match parts[..] {
        [(_, own, ..)] => Some(each(own)),
        _ => None,
    };
    Times { wall: each(last - first), own }
}

/// The rows as text.
pub(crate) fn table(rounds: usize, rows: &[Row]) -> String {
    let mut text = format!(
        "ns a decision, median of {rounds} interleaved rounds, &str keys, default clocks\n\
         own:  one thread's own time, without what other programs took; held against the goals\n\
         wall: wall time, of two threads over the decisions of both together; held against the \
         goals for two threads\n\
         {NOTHING}: the same loop and keys without a limiter; part of every figure\n\n\
         {:>9}  {:<8}  {:>7}  {:<7}  {:<4}",
        "keys", "order", "threads", "outcome", "time"
    );
    for name in columns() {
        text.push_str(&format!("  {name:>14}"));
    }
    text.push_str("  slowest/governor\n");
    for row in rows {
        let own: Option<Vec<f64>> = row.times.iter().map(|times| times.own).collect();
        if let Some(own) = own {
            line(&mut text, row, "own", &own);
        }
        let wall: Vec<f64> = row.times.iter().map(|times| times.wall).collect();
        line(&mut text, row, "wall", &wall);
    }
    text
}

fn line(text: &mut String, row: &Row, time: &str, ns: &[f64]) {
    text.push_str(&format!(
        "{:>9}  {:<8}  {:>7}  {:<7}  {time:<4}",
        row.keys,
        row.shape,
        row.threads,
        row.outcome.as_str()
    ));
    for ns in ns {
        text.push_str(&format!("  {ns:>14.1}"));
    }
    let ours = ns.iter().take(names().len()).skip(1);
    let slowest = ours.copied().fold(f64::NAN, f64::max);
    text.push_str(&format!("  {:>16.2}\n", slowest / ns[0]));
}

/// The rows for programs.
pub(crate) fn json(rows: &[Row]) -> Value {
    let row = |row: &Row| {
        let by_name = |time: fn(&Times) -> Option<f64>| -> serde_json::Map<String, Value> {
            let times = row.times.iter().map(time);
            let named = columns().into_iter().zip(times);
            named.map(|(name, ns)| (name.to_owned(), json!(ns))).collect()
        };
        json!({
            "keys": row.keys, "order": row.shape, "threads": row.threads,
            "outcome": row.outcome.as_str(),
            "own_ns": by_name(|times| times.own), "wall_ns": by_name(|times| Some(times.wall)),
        })
    };
    rows.iter().map(row).collect()
}
