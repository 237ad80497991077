//! What a configuration file did, as plain text.

use std::fmt::Write as _;

use super::{FileLimit, FileReport, ResourceReport, span};
use crate::duration::human;
use crate::number::{counted, grouped, percent, printable, shortened};
use crate::replay::input::Reading;
use crate::replay::table::{KEY_WIDTH, columns};
use crate::timestamp::readable;

const HEAD: [&str; 9] =
    ["resource", "requests", "denied", "", "binds", "keys limited", "of", "wait p50", "wait p99"];

/// Renders the whole report.
pub(crate) fn render(report: &FileReport, reading: &Reading) -> String {
    let mut out = String::new();
    let (requests, keys, from_ns, to_ns) = span(reading);
    let has_resources = reading.traffic.name(0).1.is_some();
    let _ = writeln!(
        out,
        "{} by {} ({}{}), {} to {} UTC",
        counted(requests, "request"),
        counted(keys, "key"),
        report.key_field,
        if has_resources { " on each resource" } else { "" },
        readable(from_ns),
        readable(to_ns),
    );
    if reading.without_key > 0 {
        let left_out = counted(reading.without_key, "request");
        let _ = writeln!(out, "{left_out} without {} left out", report.key_field);
    }
    let _ = writeln!(out, "limits of {}\n", printable(&report.file));
    let mut rows = Vec::new();
    for resource in &report.resources {
        rows.push(resource_row(resource));
        rows.extend(resource.limits.iter().map(|limit| limit_row(resource, limit)));
    }
    columns(&mut out, &HEAD, &rows);
    if !report.top_denied.is_empty() {
        out.push_str("\nMost denied keys\n");
        let row = |top: &super::DeniedKey| {
            let name = shortened(&top.name.to_string(), KEY_WIDTH);
            vec![name, grouped(top.requests), grouped(top.denied)]
        };
        let rows: Vec<_> = report.top_denied.iter().map(row).collect();
        columns(&mut out, &["key", "requests", "denied"], &rows);
    }
    out.push('\n');
    for line in &report.advice {
        let _ = writeln!(out, "{line}");
    }
    out
}

fn resource_row(resource: &ResourceReport) -> Vec<String> {
    let wait = |wait: Option<u64>| wait.map_or_else(|| "-".to_owned(), human);
    vec![
        shortened(&resource.shown(), KEY_WIDTH),
        grouped(resource.requests),
        grouped(resource.denied),
        percent(resource.denied, resource.requests),
        String::new(),
        grouped(resource.keys_limited),
        grouped(resource.keys),
        wait(resource.wait_p50),
        wait(resource.wait_p99),
    ]
}

/// A limit and what it did; of a limit alone its resource has told that.
fn limit_row(resource: &ResourceReport, limit: &FileLimit) -> Vec<String> {
    let text = format!("  {}", limit.text());
    if resource.limits.len() == 1 {
        return vec![text];
    }
    vec![
        text,
        String::new(),
        grouped(limit.denied),
        percent(limit.denied, resource.requests),
        grouped(limit.binding),
        grouped(limit.keys_limited),
    ]
}
