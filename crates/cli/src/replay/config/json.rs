//! What a configuration file did, as one JSON object.

use serde::Serialize;

use super::{FileLimit, FileReport, span};
use crate::replay::input::Reading;

#[derive(Serialize)]
struct Document<'a> {
    input: Input<'a>,
    config: &'a str,
    resources: Vec<ResourcePart<'a>>,
    top_denied: Vec<TopPart<'a>>,
    advice: &'a [String],
}

#[derive(Serialize)]
struct Input<'a> {
    sources: &'a [String],
    lines: u64,
    unreadable_lines: u64,
    requests_without_key: u64,
    requests: u64,
    keys: u64,
    key: &'a str,
    first_ns: u64,
    last_ns: u64,
}

#[derive(Serialize)]
struct ResourcePart<'a> {
    /// Null for all that have no limits of their own.
    resource: Option<&'a str>,
    requests: u64,
    admitted: u64,
    denied: u64,
    keys: u64,
    keys_limited: u64,
    denied_wait_p50_ns: Option<u64>,
    denied_wait_p99_ns: Option<u64>,
    limits: Vec<LimitPart<'a>>,
}

#[derive(Serialize)]
struct LimitPart<'a> {
    name: &'a str,
    strategy: &'static str,
    limit: u32,
    window_ns: u64,
    capacity: u32,
    binding: u64,
    denied: u64,
    keys_limited: u64,
}

#[derive(Serialize)]
struct TopPart<'a> {
    key: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource: Option<&'a str>,
    requests: u64,
    denied: u64,
}

/// Renders the whole report, indented, with a line break at its end.
pub(crate) fn render(report: &FileReport, reading: &Reading) -> String {
    let (requests, keys, first_ns, last_ns) = span(reading);
    let resources = report.resources.iter().map(|one| ResourcePart {
        resource: one.name.as_deref(),
        requests: one.requests,
        admitted: one.requests - one.denied,
        denied: one.denied,
        keys: one.keys,
        keys_limited: one.keys_limited,
        denied_wait_p50_ns: one.wait_p50,
        denied_wait_p99_ns: one.wait_p99,
        limits: one.limits.iter().map(limit).collect(),
    });
    let top_denied = report.top_denied.iter().map(|top| TopPart {
        key: &top.name.key,
        resource: top.name.resource.as_deref(),
        requests: top.requests,
        denied: top.denied,
    });
    let document = Document {
        input: Input {
            sources: &reading.sources,
            lines: reading.lines,
            unreadable_lines: reading.failed,
            requests_without_key: reading.without_key,
            requests,
            keys,
            key: &report.key_field,
            first_ns,
            last_ns,
        },
        config: &report.file,
        resources: resources.collect(),
        top_denied: top_denied.collect(),
        advice: &report.advice,
    };
    // Only maps with keys that are no text fail to serialise, and there is none above.
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}

fn limit(limit: &FileLimit) -> LimitPart<'_> {
    LimitPart {
        name: &limit.name,
        strategy: limit.policy.strategy().as_str(),
        limit: limit.policy.limit(),
        window_ns: u64::try_from(limit.policy.window().as_nanos()).unwrap_or(u64::MAX),
        capacity: limit.policy.capacity(),
        binding: limit.binding,
        denied: limit.denied,
        keys_limited: limit.keys_limited,
    }
}
