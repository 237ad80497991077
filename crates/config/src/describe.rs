//! A configuration in words.

use std::fmt::{self, Formatter, Write as _};

use gorl::{FailurePolicy, MultiPolicy, Policy, Strategy};

use crate::config::Config;
use crate::format_duration;

pub(crate) fn describe(config: &Config, f: &mut Formatter<'_>) -> fmt::Result {
    let policies = config.policies();
    let names: Vec<&str> = policies.names().collect();
    let widest =
        names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(DEFAULT.len());
    for name in names {
        resource(f, name, widest, policies.of(name))?;
    }
    resource(f, DEFAULT, widest, policies.default())?;
    if !config.routes().is_empty() {
        writeln!(f, "\nroutes, the most specific first:")?;
        for (pattern, resource) in config.routes().iter() {
            writeln!(f, "  {pattern} → {resource}")?;
        }
    }
    writeln!(f, "\n{}", store(config))
}

/// What stands for all that have no limit of their own.
const DEFAULT: &str = "any other";

fn resource(f: &mut Formatter<'_>, name: &str, widest: usize, policy: &MultiPolicy) -> fmt::Result {
    for (index, (limit, policy)) in policy.iter().enumerate() {
        let shown = if index == 0 { name } else { "  and" };
        let limit = if limit.is_empty() { String::new() } else { format!("{limit}: ") };
        writeln!(f, "{shown:widest$}  {limit}{}", in_words(policy))?;
    }
    Ok(())
}

/// What a policy allows.
fn in_words(policy: &Policy) -> String {
    let (limit, window) = (policy.limit(), format_duration(policy.window()));
    let mut text = match policy.strategy() {
        Strategy::FixedWindow => {
            format!("{limit} in each window of {window}, counted from the epoch")
        }
        Strategy::SlidingWindow => format!("{limit} in any {window}, by a weighted estimate"),
        Strategy::TokenBucket => {
            let burst = policy.capacity();
            format!("bursts of {burst}, then {limit} every {window}, evenly")
        }
        _ => {
            let burst = policy.capacity();
            format!("up to {burst} in use at once, which drain at {limit} every {window}")
        }
    };
    let _ = write!(text, " ({})", policy.strategy());
    text
}

fn store(config: &Config) -> String {
    let settled = &config.settled;
    if !config.uses_redis() {
        let capacity = settled.capacity.map_or_else(
            || "as many keys as come".to_owned(),
            |capacity| format!("at most {capacity} keys"),
        );
        return format!("counts are kept in the memory of each process, for {capacity}");
    }
    let gone = match &settled.failure {
        FailurePolicy::Closed => "requests end with an error",
        FailurePolicy::Open => "requests are admitted and not counted",
        _ => "each process counts by itself, with its share of each limit",
    };
    format!("counts are shared over Redis; when it is gone, {gone}")
}
