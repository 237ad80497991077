//! What policies by resource cost that can be replaced while serving, and whether replacing them is felt.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use cpu_time::ThreadTime;
use gorl::{
    Action, Limiter, MemoryStore, MultiPolicy, Observed, Observer, Policy, ResourceLimiter,
    ResourcePolicies, TopDenied,
};
use serde_json::{Value, json};

use crate::stats::median;

/// One way to decide.
pub(crate) struct Row {
    what: &'static str,
    /// Nanoseconds of the thread's own time a decision, the loop's included.
    ns: f64,
}

/// Decisions in a round.
const TIMES: u32 = 200_000;

/// How often another thread replaces the policies.
const PAUSE: Duration = Duration::from_millis(1);

/// So high that every request is admitted, which writes.
const LIMIT: u64 = 4_000_000_000;

fn policy(seconds: u64) -> Policy {
    Policy::token_bucket(LIMIT, Duration::from_secs(seconds)).expect("a valid policy")
}

/// Policies of which only what nobody here asks for differs.
fn policies(other: u64) -> ResourcePolicies {
    let both =
        MultiPolicy::named("second", policy(1)).and_then(|one| one.and("hour", policy(3_600)));
    ResourcePolicies::new(policy(1))
        .resource("login", policy(1))
        .resource("two", both.expect("two names"))
        .resource("other", policy(other))
}

/// What an observer costs that does next to nothing.
#[derive(Default)]
struct Counting(AtomicU64);

impl Observer for Counting {
    fn decided(&self, observed: &Observed<'_>) {
        self.0.fetch_add(u64::from(observed.is_allowed), Ordering::Relaxed);
    }
}

/// Measures each way in turn, round after round.
pub(crate) fn measure(quick: bool) -> (usize, Vec<Row>) {
    eprintln!("reload");
    let rounds = if quick { 5 } else { 25 };
    let limiter = Limiter::new(policy(1));
    let store = MemoryStore::new();
    let still = ResourceLimiter::new(policies(1));
    let observed = ResourceLimiter::builder(policies(1)).observer(Counting::default()).build();
    let topped = ResourceLimiter::builder(policies(1)).top_denied(Arc::new(TopDenied::new(100)));
    let topped = topped.build();
    let moving = Arc::new(ResourceLimiter::new(policies(1)));
    let one = policy(1);
    let (running, stopped) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let changed = Arc::clone(&moving);
        scope.spawn(move || {
            let mut seconds = 1;
            while stopped.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                seconds = 3 - seconds;
                changed.set_policies(policies(seconds));
            }
        });
        let parts: [(&'static str, &dyn Fn() -> bool); 8] = [
            ("one policy: Limiter", &|| limiter.check("user-1").is_allowed()),
            ("one policy, a key of three parts: MemoryStore", &|| {
                let key = ("login", "", "user-1");
                store
                    .decide_key(&one, &key, 1, Action::Take)
                    .is_ok_and(|decision| decision.is_allowed())
            }),
            ("by resource: ResourceLimiter", &|| still.check("login", "user-1").is_allowed()),
            ("by resource, replaced every millisecond", &|| {
                moving.check("login", "user-1").is_allowed()
            }),
            ("by resource, with an observer that counts", &|| {
                observed.check("login", "user-1").is_allowed()
            }),
            ("by resource, with counts of who is denied most", &|| {
                topped.check("login", "user-1").is_allowed()
            }),
            ("by resource, two policies", &|| still.check("two", "user-1").is_allowed()),
            ("by resource, two policies, replaced every millisecond", &|| {
                moving.check("two", "user-1").is_allowed()
            }),
        ];
        let mut times = vec![Vec::new(); parts.len()];
        for round in 0..=rounds {
            for ((_, decide), times) in parts.iter().zip(&mut times) {
                let started = ThreadTime::now();
                for _ in 0..TIMES {
                    black_box(decide());
                }
                // The first round warms up.
                if round > 0 {
                    times.push(started.elapsed().as_nanos() as f64 / f64::from(TIMES));
                }
            }
        }
        drop(running);
        let rows = parts.iter().zip(times);
        (rounds, rows.map(|((what, _), times)| Row { what, ns: median(&times) }).collect())
    })
}

/// The rows as text.
pub(crate) fn table(rounds: usize, rows: &[Row]) -> String {
    let mut text = format!(
        "policies that can be replaced while serving: one key, admitted, medians of {rounds} rounds\n\n\
         {:<55}  {:>11}\n",
        "", "ns/decision"
    );
    for Row { what, ns } in rows {
        text.push_str(&format!("{what:<55}  {ns:>11.1}\n"));
    }
    text
}

/// The rows for programs.
pub(crate) fn json(rows: &[Row]) -> Value {
    rows.iter().map(|row| json!({ "what": row.what, "ns": row.ns })).collect()
}
