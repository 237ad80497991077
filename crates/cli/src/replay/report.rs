//! Everything a comparison shows, computed once for the table, the JSON and the page.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::time::Duration;

use gorl::{Policy, Strategy};

use super::advice;
use super::demand::{self, Bin, Peak};
use super::drive::Outcome;
use super::exact::{self, ExactReport};
use super::input::Reading;
use super::limits::{self, LimitReport};
use super::plan::Plan;
use super::series::{self, Series};
use super::traffic::Traffic;
use crate::args::ReplayArgs;
use crate::engine::ENTRY_BYTES;
use crate::number::printable_bytes;

/// A whole comparison.
#[derive(Debug)]
pub(crate) struct Report {
    pub(crate) sources: Vec<String>,
    pub(crate) lines: u64,
    pub(crate) failed: u64,
    pub(crate) without_key: u64,
    /// What the keys are, in the words of the command line.
    pub(crate) key_field: String,
    pub(crate) resource_field: Option<String>,
    pub(crate) limit: u64,
    pub(crate) window: Duration,
    pub(crate) burst: Option<u64>,
    pub(crate) requests: u64,
    pub(crate) keys: u64,
    pub(crate) from_ns: u64,
    pub(crate) to_ns: u64,
    /// Keys that ask for more than the limit in some span of a window's length.
    pub(crate) keys_over: u64,
    /// The key that asks for most in such a span.
    pub(crate) busiest_name: KeyName,
    pub(crate) busiest_demand: u64,
    pub(crate) histogram: Vec<Bin>,
    pub(crate) strategies: Vec<StrategyReport>,
    /// What each limit did, when there are several.
    pub(crate) limits: Vec<LimitReport>,
    /// How far they are from an exact log, when that was asked for.
    pub(crate) exact: Option<ExactReport>,
    pub(crate) top_denied: Vec<TopKey>,
    /// The busiest keys over time; filled only for a page.
    pub(crate) busy: Vec<BusyKey>,
    /// What the figures say, in plain words, with the conclusion last.
    pub(crate) advice: Vec<String>,
}

/// What one strategy did.
#[derive(Clone, Debug)]
pub(crate) struct StrategyReport {
    pub(crate) policy: Policy,
    pub(crate) admitted: u64,
    pub(crate) denied: u64,
    pub(crate) keys_limited: u64,
    /// The most requests of one key that were admitted in any span of a window's length.
    pub(crate) worst: Peak,
    pub(crate) worst_key: KeyName,
    pub(crate) wait_p50: Option<u64>,
    pub(crate) wait_p99: Option<u64>,
    /// One entry for each key that a limit counted, which all strategies keep alike.
    pub(crate) state_bytes: u64,
    pub(crate) decisions_per_second: u64,
}

impl StrategyReport {
    pub(crate) fn strategy(&self) -> Strategy {
        self.policy.strategy()
    }
}

/// A key as text that is safe to show, with its resource when those are counted apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeyName {
    pub(crate) key: String,
    pub(crate) resource: Option<String>,
}

impl std::fmt::Display for KeyName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.resource {
            Some(resource) => write!(f, "{} on {resource}", self.key),
            None => f.write_str(&self.key),
        }
    }
}

/// One of the most denied keys.
#[derive(Debug)]
pub(crate) struct TopKey {
    pub(crate) name: KeyName,
    pub(crate) requests: u64,
    pub(crate) demand: u64,
    /// Denials by each strategy.
    pub(crate) denied: Vec<u64>,
}

/// One of the busiest keys.
#[derive(Debug)]
pub(crate) struct BusyKey {
    pub(crate) name: KeyName,
    pub(crate) requests: u64,
    pub(crate) demand: u64,
    pub(crate) series: Series,
}

/// How many keys the page shows over time.
const BUSY_KEYS: usize = 6;

/// Counts everything.
pub(crate) fn build(
    args: &ReplayArgs,
    plan: &Plan,
    reading: &Reading,
    outcomes: &[Outcome],
) -> Report {
    let traffic = &reading.traffic;
    let window_ns = plan.limits[0].window_ns();
    let mut recent = VecDeque::new();
    let demands: Vec<u64> = traffic
        .all_keys()
        .map(|key| demand::peak(traffic.times(key), window_ns, &mut recent).count)
        .collect();
    let denials: Vec<Vec<u64>> = outcomes.iter().map(|outcome| denials(traffic, outcome)).collect();
    let busiest = keys_by(traffic, |key| demands[key as usize]);
    let busiest_key = busiest.first().copied().unwrap_or_default();
    let (from_ns, to_ns) = traffic.span();
    let busy = if args.html.is_some() { &busiest[..busiest.len().min(BUSY_KEYS)] } else { &[] };
    let mut report = Report {
        sources: reading.sources.clone(),
        lines: reading.lines,
        failed: reading.failed,
        without_key: reading.without_key,
        key_field: args.key.clone(),
        resource_field: args.resource.clone(),
        limit: args.limit,
        window: args.window,
        burst: args.burst,
        requests: traffic.requests() as u64,
        keys: traffic.keys() as u64,
        from_ns,
        to_ns,
        keys_over: demands.iter().filter(|&&demand| demand > args.limit).count() as u64,
        busiest_name: name(traffic, busiest_key),
        busiest_demand: demands.get(busiest_key as usize).copied().unwrap_or_default(),
        histogram: demand::histogram(demands.iter().copied(), args.limit),
        strategies: outcomes
            .iter()
            .zip(&denials)
            .map(|(outcome, denials)| strategy_report(traffic, plan, outcome, denials))
            .collect(),
        limits: limits::of(traffic, plan, outcomes),
        exact: args.exact.then(|| exact::compare(traffic, plan, outcomes)),
        top_denied: top_denied(traffic, &demands, &denials, args.top),
        busy: busy
            .iter()
            .map(|&key| BusyKey {
                name: name(traffic, key),
                requests: traffic.positions(key).len() as u64,
                demand: demands[key as usize],
                series: series::of_key(traffic, key, outcomes),
            })
            .collect(),
        advice: Vec::new(),
    };
    report.advice = advice::lines(&report);
    report
}

fn strategy_report(
    traffic: &Traffic,
    plan: &Plan,
    outcome: &Outcome,
    denials: &[u64],
) -> StrategyReport {
    let window_ns = plan.limits[0].window_ns();
    let mut waits: Vec<u64> = outcome.waits.iter().flatten().map(|wait| wait.get()).collect();
    let mut recent = VecDeque::new();
    let mut worst = (Peak::default(), 0);
    for key in traffic.all_keys() {
        let admitted = traffic
            .positions(key)
            .iter()
            .filter(|&&position| outcome.waits[position as usize].is_none())
            .map(|&position| traffic.at(position));
        let peak = demand::peak(admitted, window_ns, &mut recent);
        if peak.count > worst.0.count {
            worst = (peak, key);
        }
    }
    let denied = waits.len() as u64;
    let decided = traffic.requests() as u64;
    let entries = plan.limits.iter().map(|limit| traffic.keys_under(plan.column(limit)) as u64);
    StrategyReport {
        policy: outcome.policy,
        admitted: decided - denied,
        denied,
        keys_limited: denials.iter().filter(|&&denied| denied > 0).count() as u64,
        worst: worst.0,
        worst_key: name(traffic, worst.1),
        wait_p50: demand::quantile(&mut waits, 50),
        wait_p99: demand::quantile(&mut waits, 99),
        state_bytes: entries.sum::<u64>() * ENTRY_BYTES,
        decisions_per_second: per_second(decided, outcome.elapsed),
    }
}

fn per_second(count: u64, elapsed: Duration) -> u64 {
    let rate = u128::from(count) * 1_000_000_000 / elapsed.as_nanos().max(1);
    u64::try_from(rate).unwrap_or(u64::MAX)
}

/// How often each key was denied.
fn denials(traffic: &Traffic, outcome: &Outcome) -> Vec<u64> {
    let mut denials = vec![0; traffic.keys()];
    for ((_, key), wait) in traffic.arrivals().zip(&outcome.waits) {
        denials[key as usize] += u64::from(wait.is_some());
    }
    denials
}

/// The keys with the largest figure first; of equals the one with more requests, then the older.
fn keys_by(traffic: &Traffic, figure: impl Fn(u32) -> u64) -> Vec<u32> {
    let mut keys: Vec<u32> = traffic.all_keys().collect();
    keys.sort_by_key(|&key| (Reverse(figure(key)), Reverse(traffic.positions(key).len()), key));
    keys
}

fn top_denied(
    traffic: &Traffic,
    demands: &[u64],
    denials: &[Vec<u64>],
    count: usize,
) -> Vec<TopKey> {
    let most = |key: u32| denials.iter().map(|row| row[key as usize]).max().unwrap_or_default();
    keys_by(traffic, most)
        .into_iter()
        .take(count)
        .take_while(|&key| most(key) > 0)
        .map(|key| TopKey {
            name: name(traffic, key),
            requests: traffic.positions(key).len() as u64,
            demand: demands[key as usize],
            denied: denials.iter().map(|row| row[key as usize]).collect(),
        })
        .collect()
}

pub(crate) fn name(traffic: &Traffic, key: u32) -> KeyName {
    let (key, resource) = traffic.name(key);
    KeyName { key: printable_bytes(key), resource: resource.map(printable_bytes) }
}
