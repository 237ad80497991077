//! Reports made from a few arrivals, for the tests of what is made from reports.

use clap::Parser;

use super::input::Reading;
use super::plan::Plan;
use super::progress::Progress;
use super::report::Report;
use super::traffic::TrafficBuilder;
use super::{drive, report};
use crate::args::{Cli, Command};

/// The report on requests at these seconds by these keys, under these options.
pub(crate) fn sample(options: &str, arrivals: &[(u64, &str)]) -> Report {
    let line = ["gorl", "replay", "x.log", "--html", "x.html"].into_iter();
    let cli = Cli::try_parse_from(line.chain(options.split_whitespace())).unwrap();
    let Command::Replay(args) = cli.command else { panic!("not a replay") };
    let plan = Plan::of(&args).unwrap();
    let mut builder = TrafficBuilder::new(false, plan.columns.len());
    for &(second, key) in arrivals {
        builder.push(second * 1_000_000_000, key.as_bytes(), b"").unwrap();
        for column in 0..plan.columns.len() {
            // What counts all requests together; there are no other fields here.
            builder.push_also(column, Some(b"")).unwrap();
        }
    }
    let reading = Reading {
        traffic: builder.build(),
        sources: vec!["x.log".to_owned()],
        lines: arrivals.len() as u64,
        failed: 0,
        first_failures: Vec::new(),
        notes: Vec::new(),
        unusable: None,
        without_key: 0,
    };
    let outcomes = drive::all(&reading.traffic, &plan, &Progress::new());
    report::build(&args, &plan, &reading, &outcomes)
}
