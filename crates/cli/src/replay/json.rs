//! The comparison as one JSON object, for scripts.

use serde::Serialize;

use super::exact::{Divergence, ExactReport};
use super::limits::{LimitOutcome, LimitReport};
use super::plan::Who;
use super::report::{KeyName, Report, StrategyReport, TopKey};

#[derive(Serialize)]
struct Document<'a> {
    input: Input<'a>,
    policy: PolicyPart,
    strategies: Vec<StrategyPart<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    limits: Vec<LimitPart<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exact: Option<ExactPart>,
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
    resource: Option<&'a str>,
    first_ns: u64,
    last_ns: u64,
    keys_over_limit: u64,
    busiest_key: NamePart<'a>,
    /// The most that key asks for in any span of a window's length.
    busiest_demand: u64,
}

#[derive(Serialize)]
struct PolicyPart {
    limit: u64,
    window_ns: u64,
    burst: Option<u64>,
}

#[derive(Serialize)]
struct NamePart<'a> {
    key: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource: Option<&'a str>,
}

#[derive(Serialize)]
struct StrategyPart<'a> {
    strategy: &'static str,
    capacity: u32,
    admitted: u64,
    denied: u64,
    keys_limited: u64,
    worst_burst: WorstBurst<'a>,
    denied_wait_p50_ns: Option<u64>,
    denied_wait_p99_ns: Option<u64>,
    state_bytes: u64,
    decisions_per_second: u64,
}

/// One of several limits, all of which must admit; that of `policy` is the first.
#[derive(Serialize)]
struct LimitPart<'a> {
    /// `key`, `all` or a field.
    who: &'a str,
    limit: u64,
    window_ns: u64,
    keys: u64,
    strategies: Vec<LimitOutcomePart>,
}

#[derive(Serialize)]
struct LimitOutcomePart {
    strategy: &'static str,
    binding: u64,
    denied: u64,
    denied_alone: u64,
    keys_limited: u64,
    worst_burst: u64,
}

/// What an exact log of timestamps did, and what each strategy decided otherwise.
#[derive(Serialize)]
struct ExactPart {
    admitted: u64,
    denied: u64,
    state_bytes: u64,
    strategies: Vec<DivergencePart>,
}

#[derive(Serialize)]
struct DivergencePart {
    strategy: &'static str,
    admitted_wrongly: u64,
    denied_wrongly: u64,
    /// Of all requests, in percent.
    wrong_percent: f64,
    keys: u64,
}

#[derive(Serialize)]
struct WorstBurst<'a> {
    admitted: u64,
    times_limit: f64,
    #[serde(flatten)]
    name: NamePart<'a>,
    from_ns: u64,
}

#[derive(Serialize)]
struct TopPart<'a> {
    #[serde(flatten)]
    name: NamePart<'a>,
    requests: u64,
    busiest_window: u64,
    denied: serde_json::Map<String, serde_json::Value>,
}

/// Renders the whole comparison, indented, with a line break at its end.
pub(crate) fn render(report: &Report) -> String {
    let document = Document {
        input: Input {
            sources: &report.sources,
            lines: report.lines,
            unreadable_lines: report.failed,
            requests_without_key: report.without_key,
            requests: report.requests,
            keys: report.keys,
            key: &report.key_field,
            resource: report.resource_field.as_deref(),
            first_ns: report.from_ns,
            last_ns: report.to_ns,
            keys_over_limit: report.keys_over,
            busiest_key: name(&report.busiest_name),
            busiest_demand: report.busiest_demand,
        },
        policy: PolicyPart {
            limit: report.limit,
            window_ns: u64::try_from(report.window.as_nanos()).unwrap_or(u64::MAX),
            burst: report.burst,
        },
        strategies: report.strategies.iter().map(|part| strategy(report, part)).collect(),
        limits: report.limits.iter().map(limit).collect(),
        exact: report.exact.as_ref().map(|part| exact(report, part)),
        top_denied: report.top_denied.iter().map(|part| top(report, part)).collect(),
        advice: &report.advice,
    };
    // Only maps with keys that are no text fail to serialise, and there is none above.
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}

fn name(name: &KeyName) -> NamePart<'_> {
    NamePart { key: &name.key, resource: name.resource.as_deref() }
}

fn strategy<'a>(report: &Report, part: &'a StrategyReport) -> StrategyPart<'a> {
    // Scripts get the exact count beside it, so the quotient may be a float.
    #[allow(clippy::cast_precision_loss)]
    let times_limit = part.worst.count as f64 / report.limit as f64;
    StrategyPart {
        strategy: part.strategy().as_str(),
        capacity: part.policy.capacity(),
        admitted: part.admitted,
        denied: part.denied,
        keys_limited: part.keys_limited,
        worst_burst: WorstBurst {
            admitted: part.worst.count,
            times_limit,
            name: name(&part.worst_key),
            from_ns: part.worst.from_ns,
        },
        denied_wait_p50_ns: part.wait_p50,
        denied_wait_p99_ns: part.wait_p99,
        state_bytes: part.state_bytes,
        decisions_per_second: part.decisions_per_second,
    }
}

fn limit(part: &LimitReport) -> LimitPart<'_> {
    let of = |one: &LimitOutcome| LimitOutcomePart {
        strategy: one.strategy.as_str(),
        binding: one.binding,
        denied: one.denied,
        denied_alone: one.denied_alone,
        keys_limited: one.keys_limited,
        worst_burst: one.worst,
    };
    LimitPart {
        who: match &part.limit.who {
            Who::Key => "key",
            Who::All => "all",
            Who::Each(field) => field,
        },
        limit: part.limit.most,
        window_ns: part.limit.window_ns(),
        keys: part.keys,
        strategies: part.strategies.iter().map(of).collect(),
    }
}

fn exact(report: &Report, part: &ExactReport) -> ExactPart {
    // As above: the counts beside it are exact.
    #[allow(clippy::cast_precision_loss)]
    let percent = |wrong: u64| wrong as f64 * 100.0 / report.requests.max(1) as f64;
    let of = |one: &Divergence| DivergencePart {
        strategy: one.strategy.as_str(),
        admitted_wrongly: one.admitted_wrongly,
        denied_wrongly: one.denied_wrongly,
        wrong_percent: percent(one.wrong()),
        keys: one.keys,
    };
    ExactPart {
        admitted: part.admitted,
        denied: part.denied,
        state_bytes: part.state_bytes,
        strategies: part.strategies.iter().map(of).collect(),
    }
}

fn top<'a>(report: &Report, part: &'a TopKey) -> TopPart<'a> {
    let strategies = report.strategies.iter().map(|part| part.strategy().as_str().to_owned());
    TopPart {
        name: name(&part.name),
        requests: part.requests,
        busiest_window: part.demand,
        denied: strategies.zip(part.denied.iter().map(|&denied| denied.into())).collect(),
    }
}
