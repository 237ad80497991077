//! The comparison as plain text.

use std::fmt::Write as _;

use super::exact::ExactReport;
use super::rate;
use super::report::{Report, StrategyReport, TopKey};
use crate::duration::human;
use crate::number::{
    bytes, counted, fine_percent, grouped, multiple, percent, printable, short, shortened,
};
use crate::timestamp::readable;

/// Wider keys are shortened in their middle.
pub(crate) const KEY_WIDTH: usize = 44;

/// Renders the whole comparison.
pub(crate) fn render(report: &Report) -> String {
    let mut out = String::new();
    heading(&mut out, report);
    out.push('\n');
    let rows: Vec<_> =
        report.strategies.iter().map(|strategy| strategy_row(report, strategy)).collect();
    columns(&mut out, &STRATEGY_HEAD, &rows);
    if !report.limits.is_empty() {
        out.push('\n');
        which_binds(&mut out, report);
    }
    if let Some(exact) = &report.exact {
        against_exact(&mut out, report, exact);
    }
    if !report.top_denied.is_empty() {
        out.push_str("\nMost denied keys\n");
        top_keys(&mut out, report);
    }
    out.push('\n');
    for line in &report.advice {
        let _ = writeln!(out, "{line}");
    }
    out
}

fn heading(out: &mut String, report: &Report) {
    let mut key = report.key_field.clone();
    if let Some(resource) = &report.resource_field {
        let _ = write!(key, " on each {resource}");
    }
    let _ = writeln!(
        out,
        "{} by {} ({key}), {} to {} UTC",
        counted(report.requests, "request"),
        counted(report.keys, "key"),
        readable(report.from_ns),
        readable(report.to_ns),
    );
    if report.without_key > 0 {
        let _ = writeln!(
            out,
            "{} without {} left out",
            counted(report.without_key, "request"),
            report.key_field
        );
    }
    let burst = report.burst.map(|burst| format!(", buckets hold {}", grouped(burst)));
    let _ = writeln!(
        out,
        "limit {} for each key{}",
        rate(report.limit, report.window),
        burst.unwrap_or_default()
    );
    for limit in report.limits.iter().skip(1) {
        let _ = writeln!(out, "  and {}", limit.limit.name());
    }
}

const STRATEGY_HEAD: [&str; 10] = [
    "strategy",
    "admitted",
    "denied",
    "",
    "keys limited",
    "worst burst",
    "wait p50",
    "wait p99",
    "state",
    "decisions/s",
];

fn strategy_row(report: &Report, strategy: &StrategyReport) -> Vec<String> {
    let wait = |wait: Option<u64>| wait.map_or_else(|| "-".to_owned(), human);
    let worst = strategy.worst.count;
    vec![
        strategy.strategy().to_string(),
        grouped(strategy.admitted),
        grouped(strategy.denied),
        percent(strategy.denied, report.requests),
        grouped(strategy.keys_limited),
        format!("{} {:>6}", grouped(worst), multiple(worst, report.limit)),
        wait(strategy.wait_p50),
        wait(strategy.wait_p99),
        bytes(strategy.state_bytes),
        short(strategy.decisions_per_second),
    ]
}

const LIMITS_HEAD: [&str; 7] =
    ["which limit binds", "binds", "", "denies", "keys limited", "of", "worst burst"];

fn which_binds(out: &mut String, report: &Report) {
    let mut rows = Vec::new();
    for limit in &report.limits {
        rows.push(vec![shortened(&printable(&limit.limit.name()), KEY_WIDTH)]);
        for (one, all) in limit.strategies.iter().zip(&report.strategies) {
            rows.push(vec![
                format!("  {}", one.strategy),
                grouped(one.binding),
                percent(one.binding, all.denied),
                grouped(one.denied),
                grouped(one.keys_limited),
                grouped(limit.keys),
                format!("{} {:>6}", grouped(one.worst), multiple(one.worst, limit.limit.most)),
            ]);
        }
    }
    columns(out, &LIMITS_HEAD, &rows);
}

const EXACT_HEAD: [&str; 7] =
    ["strategy", "admitted wrongly", "", "denied wrongly", "", "wrong in all", "keys"];

fn against_exact(out: &mut String, report: &Report, exact: &ExactReport) {
    let _ = writeln!(
        out,
        "\nAgainst an exact log of timestamps, which admits {}, denies {} and takes {}",
        grouped(exact.admitted),
        grouped(exact.denied),
        bytes(exact.state_bytes)
    );
    let share = |count: u64| fine_percent(count, report.requests);
    let rows: Vec<Vec<String>> = exact
        .strategies
        .iter()
        .map(|one| {
            vec![
                one.strategy.to_string(),
                grouped(one.admitted_wrongly),
                share(one.admitted_wrongly),
                grouped(one.denied_wrongly),
                share(one.denied_wrongly),
                share(one.wrong()),
                grouped(one.keys),
            ]
        })
        .collect();
    columns(out, &EXACT_HEAD, &rows);
}

fn top_keys(out: &mut String, report: &Report) {
    let mut head = vec!["key", "requests", "busiest window"];
    head.extend(report.strategies.iter().map(|strategy| strategy.strategy().as_str()));
    let row = |top: &TopKey| {
        let mut row = vec![
            shortened(&top.name.to_string(), KEY_WIDTH),
            grouped(top.requests),
            grouped(top.demand),
        ];
        row.extend(top.denied.iter().map(|&denied| grouped(denied)));
        row
    };
    let rows: Vec<_> = report.top_denied.iter().map(row).collect();
    columns(out, &head, &rows);
}

/// Aligns rows under their heads: the first column to the left, figures to the right.
pub(crate) fn columns(out: &mut String, head: &[&str], rows: &[Vec<String>]) {
    let head: Vec<String> = head.iter().map(|&name| name.to_owned()).collect();
    let width = |column: usize| {
        let cells = rows.iter().chain([&head]).filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    for row in [&head].into_iter().chain(rows) {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            if column == 0 {
                let _ = write!(line, "{cell:<width$}");
            } else {
                let _ = write!(line, "  {cell:>width$}");
            }
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_by_characters() {
        let mut out = String::new();
        columns(
            &mut out,
            &["k", "n"],
            &[vec!["é".to_owned(), "10×".to_owned()], vec!["long".to_owned(), "7".to_owned()]],
        );
        assert_eq!(out, "k       n\né     10×\nlong    7\n");
    }
}
