//! `gorl replay`: the same arrivals through every strategy, and what each would have done.

mod advice;
mod demand;
mod drive;
mod exact;
mod gzip;
mod input;
mod json;
mod overwrite;
mod progress;
mod rehearsal;
mod report;
#[cfg(test)]
mod sample;
mod series;
mod table;
mod traffic;

use std::fs;
use std::io::{self, Write};

use gorl::{Policy, Strategy};

use crate::args::ReplayArgs;
use crate::failure::Failure;
use crate::html;
use crate::number::{grouped, printable};
use gorl_config::format_duration;

use input::Reading;
use progress::Progress;

pub(crate) use demand::Bin;
pub use rehearsal::{Rehearsal, rehearse};
pub(crate) use report::{BusyKey, Report, StrategyReport};
#[cfg(test)]
pub(crate) use sample::sample;
pub(crate) use series::Series;

/// Runs the command on the given logs and standard output.
pub(crate) fn run(args: &ReplayArgs) -> Result<(), Failure> {
    let policies = policies(args)?;
    if let Some(page) = &args.html {
        overwrite::refuse(page, &args.logs)?;
    }
    let progress = Progress::new();
    let read = input::read(args, &progress);
    progress.clear();
    let reading = read?;
    tell_unreadable(&reading);
    require_arrivals(args, &reading)?;

    let outcomes = drive::all(&reading.traffic, &policies, &progress);
    progress.clear();
    let report = report::build(args, &reading, &outcomes);

    if let Some(path) = &args.html {
        fs::write(path, html::page(&report))
            .map_err(|error| Failure::new(format!("cannot write {}: {error}", path.display())))?;
    }
    let text = if args.json { json::render(&report) } else { table::render(&report) };
    let mut output = io::stdout().lock();
    output.write_all(text.as_bytes()).and_then(|()| output.flush()).map_err(Failure::from_output)
}

/// One policy for each chosen strategy, all with the same limit and window.
fn policies(args: &ReplayArgs) -> Result<Vec<Policy>, Failure> {
    let chosen =
        |strategy: &Strategy| args.strategies.is_empty() || args.strategies.contains(strategy);
    let strategies = Strategy::ALL.into_iter().filter(chosen);
    let mut bursts = false;
    let mut policies = Vec::new();
    for strategy in strategies {
        let mut policy = Policy::new(strategy, args.limit, args.window);
        if let (Some(burst), true) = (args.burst, strategy.has_burst()) {
            bursts = true;
            policy = policy.and_then(|policy| policy.with_burst(burst));
        }
        policies.push(policy.map_err(|error| Failure::new(error.to_string()))?);
    }
    if args.burst.is_some() && !bursts {
        return Err(Failure::new(
            "--burst applies to token_bucket and leaky_bucket, and neither is chosen",
        ));
    }
    Ok(policies)
}

/// Tells on standard error how many lines could not be read, and why the first of them could not.
fn tell_unreadable(reading: &Reading) {
    let mut errors = io::stderr().lock();
    // As in `failure::report`, a standard error that is gone changes nothing.
    for failure in reading.first_failures.iter().chain(&reading.notes) {
        let _ = writeln!(errors, "{}", printable(failure));
    }
    if reading.failed > 0 {
        let more = reading.failed.saturating_sub(reading.first_failures.len() as u64);
        let rest =
            if more > 0 { format!(" ({} more not shown)", grouped(more)) } else { String::new() };
        let (failed, lines) = (grouped(reading.failed), grouped(reading.lines));
        let _ = writeln!(errors, "{failed} of {lines} lines could not be read{rest}");
    }
}

/// A log that is no log is more likely a mistake than meant, and without a single arrival there is
/// nothing to compare.
fn require_arrivals(args: &ReplayArgs, reading: &Reading) -> Result<(), Failure> {
    if let Some(unusable) = &reading.unusable {
        return Err(Failure::new(unusable.as_str()));
    }
    if reading.traffic.requests() > 0 {
        return Ok(());
    }
    Err(Failure::new(format!(
        "no request has the field `{}`; access logs carry ip, user, path, method, status, referer \
         and user-agent, JSON lines the fields they name",
        args.key
    )))
}

/// `60 per 1m`, the part of the policy that all strategies share.
pub(crate) fn rate(limit: u64, window: std::time::Duration) -> String {
    format!("{} per {}", grouped(limit), format_duration(window))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    fn policies_of(line: &str) -> Result<Vec<String>, Failure> {
        let cli = Cli::try_parse_from(line.split(' ')).unwrap();
        let Command::Replay(args) = cli.command else { panic!("not a replay") };
        policies(&args).map(|list| list.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_burst_is_for_the_buckets() {
        let all = policies_of("gorl replay x --limit 5 --window 1s --burst 9").unwrap();
        let expected = [
            "fixed_window, 5 per 1s",
            "sliding_window, 5 per 1s",
            "token_bucket, 5 per 1s, burst 9",
            "leaky_bucket, 5 per 1s, burst 9",
        ];
        assert_eq!(all, expected);
        assert!(policies_of("gorl replay x --burst 9 --strategy fixed_window").is_err());
    }

    #[test]
    fn a_strategy_named_twice_runs_once() {
        let line =
            "gorl replay x --strategy leaky_bucket --strategy fixed_window --strategy leaky_bucket";
        assert_eq!(policies_of(line).unwrap().len(), 2);
    }
}
