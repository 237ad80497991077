//! Instructions a decision, counted by callgrind in runs of two lengths whose difference is taken.

use std::env;
use std::hint::black_box;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::subject::{NOTHING, Outcome, Subject, names};
use crate::workload::keys;

/// Instructions a decision of one limiter on one hot key.
pub(crate) struct Row {
    pub(crate) limiter: &'static str,
    pub(crate) outcome: Outcome,
    /// The loop's own included.
    pub(crate) with_loop: f64,
    /// Less what the same loop takes that decides nothing: the decision's own.
    pub(crate) own: f64,
}

/// The two lengths: whatever a run does once is in both and cancels.
const SHORT: u32 = 20_000;
const LONG: u32 = 120_000;

/// Counts every limiter, allowed and denied, and the loop without one.
pub(crate) fn measure() -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for outcome in Outcome::ALL {
        let empty_loop = a_decision(NOTHING, outcome)?;
        for limiter in names() {
            let with_loop = a_decision(limiter, outcome)?;
            rows.push(Row { limiter, outcome, with_loop, own: with_loop - empty_loop });
        }
        rows.push(Row { limiter: NOTHING, outcome, with_loop: empty_loop, own: 0.0 });
    }
    Ok(rows)
}

fn a_decision(limiter: &str, outcome: Outcome) -> Result<f64> {
    eprintln!("instructions: {limiter}, {}", outcome.as_str());
    let (short, long) = (callgrind(limiter, outcome, SHORT)?, callgrind(limiter, outcome, LONG)?);
    Ok(long.saturating_sub(short) as f64 / f64::from(LONG - SHORT))
}

/// The instructions within [`counted_decisions`], callees included.
fn callgrind(limiter: &str, outcome: Outcome, decisions: u32) -> Result<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .args(["--collect-atstart=no", "--toggle-collect=*counted_decisions*"])
        .arg(env::current_exe()?)
        .args(["instructions-part", limiter, outcome.as_str(), &decisions.to_string()])
        .output()
        .context("cannot start valgrind; on Debian install it with `apt-get install valgrind`")?;
    let text = String::from_utf8_lossy(&output.stderr);
    let collected = text.lines().find_map(|line| line.split_once("Collected : "));
    match collected.and_then(|(_, count)| count.trim().parse().ok()) {
        Some(count) if output.status.success() && count > 0 => Ok(count),
        _ => bail!("callgrind counted nothing for {limiter}:\n{text}"),
    }
}

/// Decides under callgrind, in the process that [`measure`] started.
pub(crate) fn part(words: &[String]) -> Result<()> {
    let [limiter, outcome, decisions] = words else {
        bail!("instructions-part takes a limiter, an outcome and a count");
    };
    let known = Outcome::ALL.into_iter().find(|known| known.as_str() == outcome);
    let subject = Subject::new(limiter, known.context("unknown outcome")?, 1);
    let keys = keys(1);
    subject.fill(&keys);
    let order = vec![0; decisions.parse()?];
    black_box(counted_decisions(&subject, &keys, &order));
    Ok(())
}

/// Its name is what callgrind switches on, so it must stay a function of its own.
#[inline(never)]
fn counted_decisions(subject: &Subject, keys: &[String], order: &[u32]) -> u64 {
    subject.decide(keys, order)
}

/// The rows as text.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut text = format!(
        "instructions a decision, one hot key, counted by callgrind ({SHORT} and {LONG} decisions)\n\
         own: less the same loop without a limiter, {NOTHING}; held against the goal\n\n\
         {:<14}  {:<8}  {:>7}  {:>9}\n",
        "limiter", "outcome", "own", "with loop"
    );
    for Row { limiter, outcome, with_loop, own } in rows {
        let outcome = outcome.as_str();
        text.push_str(&format!("{limiter:<14}  {outcome:<8}  {own:>7.1}  {with_loop:>9.1}\n"));
    }
    text
}

/// The rows for programs.
pub(crate) fn json(rows: &[Row]) -> Value {
    rows.iter()
        .map(|row| {
            json!({
                "limiter": row.limiter, "outcome": row.outcome.as_str(),
                "instructions": row.own, "with_loop": row.with_loop,
            })
        })
        .collect()
}
