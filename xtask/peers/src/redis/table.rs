//! The figures as a table and as JSON.

use serde_json::{Value, json};

use super::drive::Row;

pub(crate) fn text(rows: &[Row]) -> String {
    let mut text = String::from(
        "medians of interleaved rounds; time to answer and the server's own time in µs, requests to \
         the server a decision\n\n",
    );
    let mut load = None;
    for row in rows {
        let this = (row.callers, row.keys, row.outcome);
        if load != Some(this) {
            load = Some(this);
            text.push_str(&format!(
                "{:<38}  {:>11}  {:>8}  {:>8}  {:>7}  {:>8}\n",
                format!("{} callers, {} keys, {}", row.callers, row.keys, row.outcome.as_str()),
                "decisions/s",
                "p50",
                "p99",
                "server",
                "requests"
            ));
        }
        text.push_str(&format!(
            "  {:<36}  {:>11.0}  {:>8.1}  {:>8.1}  {:>7.2}  {:>8.3}\n",
            row.subject, row.rate, row.p50, row.p99, row.server, row.requests
        ));
    }
    text
}

pub(crate) fn json(rows: &[Row]) -> Value {
    let row = |row: &Row| {
        json!({
            "callers": row.callers, "keys": row.keys, "outcome": row.outcome.as_str(),
            "subject": row.subject, "decisions_per_second": row.rate, "p50_us": row.p50,
            "p99_us": row.p99, "server_us": row.server, "requests": row.requests,
        })
    };
    rows.iter().map(row).collect()
}
