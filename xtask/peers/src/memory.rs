//! Bytes a key, counted by the allocator in a process of its own for each limiter.

use std::env;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::alloc_count::counted;
use crate::subject::{GOVERNOR, Outcome, Subject};
use crate::workload::keys;

/// The bytes that one limiter takes for its keys.
pub(crate) struct Row {
    pub(crate) limiter: &'static str,
    pub(crate) store: &'static str,
    /// Bytes a key once all keys are in.
    pub(crate) live: f64,
    /// The most bytes that lived at once on the way there, over the final number of keys.
    pub(crate) peak: f64,
}

const KEYS: usize = 1_000_000;

/// The limiters and how their store is built. The entry has one size for every strategy.
const PARTS: [(&str, &str); 3] =
    [(GOVERNOR, "growing"), ("token_bucket", "growing"), ("token_bucket", "capacity")];

/// Measures each limiter in a process of its own.
pub(crate) fn measure() -> Result<Vec<Row>> {
    PARTS
        .into_iter()
        .map(|(limiter, store)| {
            eprintln!("memory: {limiter}, {store}");
            let output = Command::new(env::current_exe()?)
                .args(["memory-part", limiter, store])
                .output()
                .context("cannot start this program again")?;
            let text = String::from_utf8_lossy(&output.stdout);
            let mut bytes = text.split_whitespace().map(str::parse::<f64>);
            let (Some(Ok(live)), Some(Ok(peak))) = (bytes.next(), bytes.next()) else {
                bail!("counting {limiter} failed: {}", String::from_utf8_lossy(&output.stderr));
            };
            Ok(Row { limiter, store, live: live / KEYS as f64, peak: peak / KEYS as f64 })
        })
        .collect()
}

/// Counts one limiter, in the process that [`measure`] started for it.
pub(crate) fn part(words: &[String]) -> Result<()> {
    let [limiter, store] = words else { bail!("memory-part takes a limiter and a store") };
    let keys = keys(KEYS);
    let (subject, bytes) = counted(|| {
        let subject = match store.as_str() {
            "capacity" => Subject::with_capacity(limiter, Outcome::Denied, KEYS)?,
            _ => Subject::new(limiter, Outcome::Denied, KEYS),
        };
        subject.fill(&keys);
        Some(subject)
    });
    if subject.is_none() {
        bail!("{limiter} has no store built for a capacity");
    }
    println!("{} {}", bytes.live, bytes.peak);
    Ok(())
}

/// The rows as text.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut text = format!(
        "bytes a key at {KEYS} keys, counted by the allocator (governor with String keys)\n\n\
         {:<14}  {:<9}  {:>8}  {:>16}\n",
        "limiter", "store", "at rest", "peak on the way"
    );
    for row in rows {
        let limiter = if row.limiter == GOVERNOR { GOVERNOR } else { "gorl" };
        text.push_str(&format!(
            "{limiter:<14}  {:<9}  {:>8.1}  {:>16.1}\n",
            row.store, row.live, row.peak
        ));
    }
    text
}

/// The rows for programs.
pub(crate) fn json(rows: &[Row]) -> Value {
    rows.iter()
        .map(|row| {
            json!({ "limiter": row.limiter, "store": row.store, "bytes": row.live, "peak": row.peak })
        })
        .collect()
}
