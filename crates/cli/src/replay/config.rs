//! What a configuration file does to the traffic: its limits, resource by resource.

mod json;
mod table;

use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use gorl::{ManualClock, MultiDecision, Policy};
use gorl_config::Config;

use super::demand;
use super::drive::wait_ns;
use super::input::{self, Reading, Wanted};
use super::progress::Progress;
use super::report::{self, KeyName};
use super::traffic::Traffic;
use crate::args::ReplayArgs;
use crate::failure::Failure;
use crate::html;
use crate::number::{counted, grouped, percent, printable};

/// What the file did to the requests of all its resources.
#[derive(Debug)]
pub(crate) struct FileReport {
    pub(crate) file: String,
    pub(crate) key_field: String,
    /// The resources with limits of their own by name, and at the end all others.
    pub(crate) resources: Vec<ResourceReport>,
    pub(crate) top_denied: Vec<DeniedKey>,
    /// What the figures say, in plain words, with what matters most last.
    pub(crate) advice: Vec<String>,
}

/// One resource.
#[derive(Debug)]
pub(crate) struct ResourceReport {
    /// Absent for all that have no limits of their own.
    pub(crate) name: Option<String>,
    pub(crate) requests: u64,
    pub(crate) denied: u64,
    pub(crate) keys: u64,
    pub(crate) keys_limited: u64,
    pub(crate) wait_p50: Option<u64>,
    pub(crate) wait_p99: Option<u64>,
    pub(crate) limits: Vec<FileLimit>,
}

/// One limit of a resource.
#[derive(Debug)]
pub(crate) struct FileLimit {
    /// Empty when it is the only one.
    pub(crate) name: String,
    pub(crate) policy: Policy,
    /// Denied requests for which it was the limit with the longest wait.
    pub(crate) binding: u64,
    pub(crate) denied: u64,
    pub(crate) keys_limited: u64,
}

/// One of the most denied keys.
#[derive(Debug)]
pub(crate) struct DeniedKey {
    pub(crate) name: KeyName,
    pub(crate) requests: u64,
    pub(crate) denied: u64,
}

impl FileReport {
    pub(crate) fn denied(&self) -> u64 {
        self.resources.iter().map(|one| one.denied).sum()
    }
}

impl ResourceReport {
    /// The name to show.
    pub(crate) fn shown(&self) -> String {
        self.name.as_deref().map_or_else(|| "any other".to_owned(), printable)
    }
}

impl FileLimit {
    /// `hour: 1,000 per 1h, burst 20 (token_bucket)`.
    pub(crate) fn text(&self) -> String {
        let policy = &self.policy;
        let name = if self.name.is_empty() {
            String::new()
        } else {
            format!("{}: ", printable(&self.name))
        };
        let rate = super::rate(u64::from(policy.limit()), policy.window());
        let burst = if policy.strategy().has_burst() {
            format!(", burst {}", grouped(u64::from(policy.capacity())))
        } else {
            String::new()
        };
        format!("{name}{rate}{burst} ({})", policy.strategy())
    }
}

/// Reads the logs, replays them under the file's limits and renders what came of it.
pub(crate) fn run(args: &ReplayArgs, file: &Path) -> Result<String, Failure> {
    let config = Config::from_file(file).map_err(|error| Failure::new(error.to_string()))?;
    let routes = Some(config.routes()).filter(|_| args.resource.is_none());
    let routes = routes.filter(|routes| !routes.is_empty());
    if let (Some(name), None, None) = (config.policies().names().next(), routes, &args.resource) {
        return Err(Failure::new(format!(
            "{}: no routes say which requests are for `{name}`; write `routes` such as `POST /{name}: {name}`, \
             or name the field of the log that has the resource by --resource",
            file.display()
        )));
    }
    let progress = Progress::new();
    let read = input::read(args, Wanted { columns: &[], routes }, &progress);
    progress.clear();
    let reading = read?;
    super::tell_unreadable(&reading);
    super::require_arrivals(args, &[], &reading)?;
    let report = replay(args, &file.display().to_string(), &config, &reading.traffic);
    if let Some(path) = &args.html {
        super::write_page(path, &html::config_page(&report, &reading))?;
    }
    Ok(if args.json { json::render(&report, &reading) } else { table::render(&report, &reading) })
}

/// What is counted of one resource while its requests are decided.
#[derive(Default)]
struct Tally {
    requests: u64,
    waits: Vec<u64>,
    limited: HashSet<u32>,
    limits: Vec<LimitTally>,
}

#[derive(Clone, Default)]
struct LimitTally {
    binding: u64,
    denied: u64,
    limited: HashSet<u32>,
}

fn replay(args: &ReplayArgs, file: &str, config: &Config, traffic: &Traffic) -> FileReport {
    let policies = config.policies();
    let names: Vec<&str> = policies.names().collect();
    let mut tallies: Vec<Tally> = names
        .iter()
        .map(|name| policies.of(name))
        .chain([policies.default()])
        .map(|limits| Tally {
            limits: vec![LimitTally::default(); limits.len()],
            ..Tally::default()
        })
        .collect();
    // For each key its resource, and which of the tallies that is.
    let resources: Vec<(String, usize)> = traffic
        .all_keys()
        .map(|key| {
            let name = String::from_utf8_lossy(traffic.name(key).1.unwrap_or_default());
            let tally = names.binary_search(&&*name).unwrap_or(names.len());
            (name.into_owned(), tally)
        })
        .collect();
    let clock = Arc::new(ManualClock::new(0));
    let limiter = config.memory_builder().clock(Arc::clone(&clock)).build();
    let mut denials = vec![0_u64; traffic.keys()];
    for (at_ns, key) in traffic.arrivals() {
        clock.set(at_ns);
        let (resource, tally) = &resources[key as usize];
        let decision = limiter.check(resource, traffic.name(key).0);
        denials[key as usize] += u64::from(!decision.is_allowed());
        tallies[*tally].count(key, &decision);
    }
    let mut keys = vec![0; tallies.len()];
    for (_, tally) in &resources {
        keys[*tally] += 1;
    }
    let with_others = names.iter().map(|name| Some(*name)).chain([None]);
    let mut report = FileReport {
        file: file.to_owned(),
        key_field: args.key.clone(),
        resources: with_others
            .zip(tallies)
            .zip(keys)
            .map(|((name, tally), keys)| tally.report(name, config, keys))
            .collect(),
        top_denied: top_denied(traffic, &denials, args.top),
        advice: Vec::new(),
    };
    report.advice = advice(&report, traffic.requests() as u64);
    report
}

fn advice(report: &FileReport, requests: u64) -> Vec<String> {
    let mut lines = Vec::new();
    let idle = report.resources.iter().filter(|one| one.requests == 0 && one.name.is_some());
    let idle: Vec<String> = idle.map(ResourceReport::shown).collect();
    if !idle.is_empty() {
        lines.push(format!("No request was for {}.", idle.join(", ")));
    }
    for resource in report.resources.iter().filter(|one| one.limits.len() > 1 && one.denied > 0) {
        for limit in resource.limits.iter().filter(|limit| limit.denied == 0) {
            lines.push(format!("Of {} never denies {}.", resource.shown(), limit.text()));
        }
    }
    lines.push(match report.denied() {
        0 => "The file would have denied nothing of this traffic.".to_owned(),
        denied => format!(
            "The file would have denied {} of {} ({}).",
            grouped(denied),
            counted(requests, "request"),
            percent(denied, requests)
        ),
    });
    lines
}

impl Tally {
    fn count(&mut self, key: u32, decision: &MultiDecision) {
        self.requests += 1;
        if decision.is_allowed() {
            return;
        }
        self.waits.push(wait_ns(decision.retry_after()).get());
        self.limited.insert(key);
        let binding = decision.binding().0;
        for (limit, (name, one)) in self.limits.iter_mut().zip(decision.iter()) {
            if !one.is_allowed() {
                limit.denied += 1;
                limit.binding += u64::from(name == binding);
                limit.limited.insert(key);
            }
        }
    }

    fn report(mut self, name: Option<&str>, config: &Config, keys: u64) -> ResourceReport {
        let policies = config.policies();
        let limits = name.map_or(policies.default(), |name| policies.of(name));
        ResourceReport {
            name: name.map(str::to_owned),
            requests: self.requests,
            denied: self.waits.len() as u64,
            keys,
            keys_limited: self.limited.len() as u64,
            wait_p50: demand::quantile(&mut self.waits, 50),
            wait_p99: demand::quantile(&mut self.waits, 99),
            limits: limits
                .iter()
                .zip(self.limits)
                .map(|((name, policy), tally)| FileLimit {
                    name: name.to_owned(),
                    policy: *policy,
                    binding: tally.binding,
                    denied: tally.denied,
                    keys_limited: tally.limited.len() as u64,
                })
                .collect(),
        }
    }
}

fn top_denied(traffic: &Traffic, denials: &[u64], count: usize) -> Vec<DeniedKey> {
    let mut keys: Vec<u32> = traffic.all_keys().filter(|&key| denials[key as usize] > 0).collect();
    keys.sort_by_key(|&key| (Reverse(denials[key as usize]), key));
    keys.into_iter()
        .take(count)
        .map(|key| {
            let mut name = report::name(traffic, key);
            name.resource = name.resource.filter(|resource| !resource.is_empty());
            let requests = traffic.positions(key).len() as u64;
            DeniedKey { name, requests, denied: denials[key as usize] }
        })
        .collect()
}

/// What both renderings say of the input.
fn span(reading: &Reading) -> (u64, u64, u64, u64) {
    let (from_ns, to_ns) = reading.traffic.span();
    (reading.traffic.requests() as u64, reading.traffic.keys() as u64, from_ns, to_ns)
}
