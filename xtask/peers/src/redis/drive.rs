//! The closed loop: so many callers, each asking again as soon as it is answered.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::server::Server;
use super::subject::{self, Outcome, Subject};
use crate::stats::{median, percentile};

/// How the subjects are asked.
pub(crate) struct Load {
    pub(crate) callers: usize,
    pub(crate) outcome: Outcome,
    keys: Arc<[String]>,
    rounds: usize,
    lasts: Duration,
}

/// What a subject did under a load: medians of the rounds.
pub(crate) struct Row {
    pub(crate) callers: usize,
    pub(crate) keys: usize,
    pub(crate) outcome: Outcome,
    pub(crate) subject: &'static str,
    /// Decisions a second.
    pub(crate) rate: f64,
    /// Microseconds until an answer.
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    /// Microseconds of the server's own time a decision.
    pub(crate) server: f64,
    /// Requests to the server a decision.
    pub(crate) requests: f64,
}

/// One round of one subject.
struct Round {
    rate: f64,
    p50: f64,
    p99: f64,
    server: f64,
    requests: f64,
}

impl Load {
    pub(crate) fn new(callers: usize, keys: usize, outcome: Outcome, quick: bool) -> Self {
        let (rounds, lasts) = if quick { (3, 200) } else { (7, 500) };
        let keys = (0..keys).map(|number| format!("user-{number}")).collect();
        Self { callers, outcome, keys, rounds, lasts: Duration::from_millis(lasts) }
    }
}

/// Asks every subject in turn, round after round.
pub(crate) async fn rounds(server: &Server, load: &Load) -> Result<Vec<Row>> {
    let subjects: Vec<_> =
        subject::all(server, load.outcome).await?.into_iter().map(Arc::new).collect();
    for subject in &subjects {
        prepare(subject, &load.keys).await?;
    }
    let mut measured: Vec<Vec<Round>> = subjects.iter().map(|_| Vec::new()).collect();
    // The first round warms up and is not looked at.
    for round in 0..=load.rounds {
        for (subject, measured) in subjects.iter().zip(&mut measured) {
            let figures = one_round(server, subject, load).await?;
            if round > 0 {
                measured.push(figures);
            }
        }
    }
    let rows = subjects.iter().zip(&measured).map(|(subject, rounds)| {
        let of = |figure: fn(&Round) -> f64| median(&rounds.iter().map(figure).collect::<Vec<_>>());
        Row {
            callers: load.callers,
            keys: load.keys.len(),
            outcome: load.outcome,
            subject: subject.name,
            rate: of(|round| round.rate),
            p50: of(|round| round.p50),
            p99: of(|round| round.p99),
            server: of(|round| round.server),
            requests: of(|round| round.requests),
        }
    });
    Ok(rows.collect())
}

/// Has many at work, or it would take long.
const PREPARERS: usize = 64;

async fn prepare(subject: &Arc<Subject>, keys: &Arc<[String]>) -> Result<()> {
    let tasks = (0..PREPARERS).map(|first| {
        let (subject, keys) = (Arc::clone(subject), Arc::clone(keys));
        tokio::spawn(async move {
            for key in keys.iter().skip(first).step_by(PREPARERS) {
                subject.prepare(key).await?;
            }
            Ok::<_, anyhow::Error>(())
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await??;
    }
    Ok(())
}

/// How often a caller asks before it lets others have their turn.
const ASKED_IN_A_ROW: usize = 64;

async fn one_round(server: &Server, subject: &Arc<Subject>, load: &Load) -> Result<Round> {
    let (cpu, requests) = (server.cpu()?, server.requests()?);
    let (started, lasts) = (Instant::now(), load.lasts);
    let tasks = (0..load.callers).map(|caller| {
        let (subject, keys, outcome) = (Arc::clone(subject), Arc::clone(&load.keys), load.outcome);
        tokio::spawn(async move {
            let mut draw = caller as u64;
            let mut took = Vec::new();
            let mut asked_at = Instant::now();
            while asked_at.duration_since(started) < lasts {
                draw = draw
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let key = &keys[(draw >> 33) as usize % keys.len()];
                let allowed = subject.ask(key).await.context(subject.name)?;
                ensure!(
                    allowed == (outcome == Outcome::Allowed),
                    "{} answered {allowed} where all should be {}",
                    subject.name,
                    outcome.as_str(),
                );
                let now = Instant::now();
                took.push(now.duration_since(asked_at).as_secs_f64() * 1e6);
                asked_at = now;
                // Who is answered without waiting would never let a connection's task have its turn,
                // as a service does that has other things to do.
                if took.len() % ASKED_IN_A_ROW == 0 {
                    tokio::task::yield_now().await;
                    asked_at = Instant::now();
                }
            }
            Ok::<_, anyhow::Error>(took)
        })
    });
    let mut took = Vec::new();
    for task in tasks.collect::<Vec<_>>() {
        took.extend(task.await??);
    }
    let seconds = started.elapsed().as_secs_f64();
    let count = took.len() as f64;
    Ok(Round {
        rate: count / seconds,
        p50: percentile(&took, 0.5),
        p99: percentile(&took, 0.99),
        server: server.cpu()?.saturating_sub(cpu).as_secs_f64() * 1e6 / count,
        requests: (server.requests()? - requests) as f64 / count,
    })
}
