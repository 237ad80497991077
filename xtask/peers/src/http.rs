//! `cargo xtask bench http`: an axum service with and without a limit, under wrk.

mod load;
mod serve;

use anyhow::Result;
use lexopt::Arg::{Long, Short};
use serde_json::json;

use crate::machine;
use crate::report::{Goal, Report};
use crate::stats::median;
use load::Round;
pub(crate) use serve::serve;

const HELP: &str = "\
usage: cargo xtask bench http [OPTIONS]

  --quick   fewer and shorter rounds: indicative figures in half a minute
  --json    print figures for programs
";

/// What is measured, in the order of the rows.
const SUBJECTS: [&str; 5] = ["plain", "gorl", "gorl-bare", "governor", "governor-bare"];

/// What a subject did: medians of the rounds.
struct Row {
    subject: &'static str,
    rate: f64,
    server_ns: f64,
}

pub(crate) fn run(mut parser: lexopt::Parser) -> Result<()> {
    let (mut quick, mut json) = (false, false);
    while let Some(arg) = parser.next()? {
        match arg {
            Long("quick") => quick = true,
            Long("json") => json = true,
            Long("help") | Short('h') => {
                print!("{HELP}");
                return Ok(());
            }
            other => return Err(other.unexpected().into()),
        }
    }
    let (rounds, seconds) = if quick { (5, 1) } else { (25, 1) };
    let mut measured: Vec<Vec<Round>> = SUBJECTS.iter().map(|_| Vec::new()).collect();
    // The first round warms up and is not looked at. Each has servers of its own, for how a process
    // happens to lie in memory makes more difference than a limit.
    for round in 0..=rounds {
        for (subject, measured) in SUBJECTS.iter().zip(&mut measured) {
            let figures = load::Server::start(subject)?.load(seconds)?;
            if round > 0 {
                measured.push(figures);
            }
        }
    }
    let of = |rounds: &[Round], figure: fn(&Round) -> f64| {
        median(&rounds.iter().map(figure).collect::<Vec<_>>())
    };
    let rows: Vec<Row> = SUBJECTS
        .iter()
        .zip(&measured)
        .map(|(subject, rounds)| Row {
            subject,
            rate: of(rounds, |round| round.rate),
            server_ns: of(rounds, |round| round.server_ns),
        })
        .collect();
    let mut report = Report::default();
    report.section(&text(&rows, rounds), ("http", to_json(&rows)));
    report.goals = goals(&rows);
    report.print(&machine::describe(), json);
    Ok(())
}

fn text(rows: &[Row], rounds: usize) -> String {
    let mut text = format!(
        "axum, hello world, one thread; wrk, one thread, {} connections; medians of {rounds} interleaved \
         rounds\nbare: without header fields; added: the server's own time beyond plain\n\n\
         {:<16}{:>12}{:>22}{:>12}{:>10}\n",
        load::CONNECTIONS,
        "subject",
        "requests/s",
        "server, ns a request",
        "added, ns",
        "added",
    );
    let plain = rows.first().map_or(f64::NAN, |row| row.server_ns);
    for row in rows {
        let added = row.server_ns - plain;
        text.push_str(&format!(
            "{:<16}{:>12.0}{:>22.0}{:>12.0}{:>9.1}%\n",
            row.subject,
            row.rate,
            row.server_ns,
            added,
            100.0 * added / plain
        ));
    }
    text
}

fn to_json(rows: &[Row]) -> serde_json::Value {
    let row = |row: &Row| {
        json!({
            "subject": row.subject, "requests_per_second": row.rate,
            "server_ns_per_request": row.server_ns,
        })
    };
    rows.iter().map(row).collect()
}

fn goals(rows: &[Row]) -> Vec<Goal> {
    let row = |name: &str| rows.iter().find(|row| row.subject == name);
    let (Some(plain), Some(ours), Some(governor)) = (row("plain"), row("gorl"), row("governor"))
    else {
        return Vec::new();
    };
    let goal = |what: &str, at_most, measured| Goal {
        what: what.to_owned(),
        at_most,
        measured,
        note: String::new(),
    };
    vec![
        goal(
            "requests/s without a limit as a share of those with gorl's",
            1.03,
            plain.rate / ours.rate,
        ),
        goal(
            "server time that gorl adds as a share of what tower_governor adds",
            1.0,
            (ours.server_ns - plain.server_ns) / (governor.server_ns - plain.server_ns),
        ),
    ]
}
