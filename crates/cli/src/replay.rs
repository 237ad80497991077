//! `gorl replay`: the same arrivals through every strategy, and what each would have done.

mod advice;
mod config;
mod demand;
mod drive;
mod exact;
mod gzip;
mod input;
mod json;
mod limits;
mod overwrite;
mod plan;
mod progress;
mod rehearsal;
mod report;
#[cfg(test)]
mod sample;
mod series;
mod table;
mod together;
mod traffic;

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use crate::args::ReplayArgs;
use crate::failure::Failure;
use crate::html;
use crate::number::{grouped, printable};
use gorl_config::format_duration;

use plan::Plan;
use progress::Progress;

pub(crate) use config::{FileLimit, FileReport, ResourceReport};
pub(crate) use demand::Bin;
pub(crate) use input::Reading;
pub(crate) use plan::{Limit, Who};
pub use rehearsal::{Rehearsal, rehearse};
pub(crate) use report::{BusyKey, Report, StrategyReport};
#[cfg(test)]
pub(crate) use sample::sample;
pub(crate) use series::Series;

/// Runs the command on the given logs and standard output.
pub(crate) fn run(args: &ReplayArgs) -> Result<(), Failure> {
    if let Some(page) = &args.html {
        overwrite::refuse(page, &args.logs, args.config.as_deref())?;
    }
    let text = match &args.config {
        Some(file) => config::run(args, file)?,
        None => compare(args)?,
    };
    let mut output = io::stdout().lock();
    output.write_all(text.as_bytes()).and_then(|()| output.flush()).map_err(Failure::from_output)
}

/// Runs every strategy over the logs and renders what each did.
fn compare(args: &ReplayArgs) -> Result<String, Failure> {
    let plan = Plan::of(args)?;
    let progress = Progress::new();
    let read = input::read(args, plan.wanted(), &progress);
    progress.clear();
    let reading = read?;
    tell_unreadable(&reading);
    require_arrivals(args, &plan.columns, &reading)?;

    let outcomes = drive::all(&reading.traffic, &plan, &progress);
    progress.clear();
    let report = report::build(args, &plan, &reading, &outcomes);

    if let Some(path) = &args.html {
        write_page(path, &html::page(&report))?;
    }
    Ok(if args.json { json::render(&report) } else { table::render(&report) })
}

fn write_page(path: &Path, page: &str) -> Result<(), Failure> {
    fs::write(path, page)
        .map_err(|error| Failure::new(format!("cannot write {}: {error}", path.display())))
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
fn require_arrivals(args: &ReplayArgs, columns: &[Who], reading: &Reading) -> Result<(), Failure> {
    if let Some(unusable) = &reading.unusable {
        return Err(Failure::new(unusable.as_str()));
    }
    if reading.traffic.requests() == 0 {
        return Err(no_field(&args.key, ""));
    }
    for (column, who) in columns.iter().enumerate() {
        if let (Who::Each(field), 0) = (who, reading.traffic.keys_under(Some(column))) {
            return Err(no_field(field, " that --and counts by"));
        }
    }
    Ok(())
}

fn no_field(field: &str, why: &str) -> Failure {
    Failure::new(format!(
        "no request has the field `{field}`{why}; access logs carry ip, user, path, method, status, \
         referer and user-agent, JSON lines the fields they name"
    ))
}

/// `60 per 1m`, the part of the policy that all strategies share.
pub(crate) fn rate(limit: u64, window: std::time::Duration) -> String {
    format!("{} per {}", grouped(limit), format_duration(window))
}
