//! `cargo xtask ci`: all that CI runs, job by job, timed, with a summary that names what failed.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::command::{self, program};

/// A job: its name and its command line, with variables first as in a shell.
type Job = (&'static str, &'static str);

/// The jobs in the order of `.ci/run`, which a test holds against this list.
const JOBS: [Job; 6] = [
    ("test", "cargo xtask test"),
    ("fmt", "cargo fmt --all --check"),
    ("clippy", "cargo clippy --workspace --all-targets --all-features -- -D warnings"),
    ("doc", "RUSTDOCFLAGS=\"-D warnings\" cargo doc --workspace --no-deps --all-features"),
    ("tidy", "cargo xtask tidy"),
    ("loom", "cargo xtask loom"),
];

/// Runs every job, or the one that is named; a failure does not keep the later ones from running.
pub(crate) fn run(only: Option<&str>) -> Result<()> {
    let jobs: Vec<Job> =
        JOBS.into_iter().filter(|(name, _)| only.is_none_or(|only| only == *name)).collect();
    if jobs.is_empty() {
        let names: Vec<&str> = JOBS.iter().map(|(name, _)| *name).collect();
        bail!("there is no job `{}`; the jobs are {}", only.unwrap_or(""), names.join(", "));
    }
    let results: Vec<(&str, bool, Duration)> = jobs
        .into_iter()
        .map(|(name, line)| {
            let started = Instant::now();
            // The lines are written for a shell, so that they can be pasted into one.
            let passed = command::run(program("bash").args(["-c", line])).is_ok();
            (name, passed, started.elapsed())
        })
        .collect();
    print!("\n{}", summary(&results));
    if results.iter().all(|(_, passed, _)| *passed) { Ok(()) } else { bail!("CI would fail") }
}

fn summary(results: &[(&str, bool, Duration)]) -> String {
    let line = |(name, passed, took): &(&str, bool, Duration)| {
        let verdict = if *passed { "ok" } else { "FAILED" };
        format!("{name:<8} {verdict:<8} {:>7.1} s\n", took.as_secs_f64())
    };
    results.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{JOBS, run, summary};

    /// The script that CI starts.
    const SCRIPT: &str = include_str!("../../.ci/run");

    #[test]
    fn the_jobs_are_those_of_the_script() {
        let is_job = |line: &&str| line.contains("cargo ") && !line.starts_with('#');
        let script: Vec<&str> = SCRIPT.lines().filter(is_job).collect();
        assert_eq!(script, JOBS.map(|(_, line)| line));
    }

    #[test]
    fn an_unknown_job_is_an_error_that_names_the_known_ones() {
        let error = run(Some("tset")).unwrap_err().to_string();
        assert!(error.contains("test, fmt, clippy"), "{error}");
    }

    #[test]
    fn the_summary_names_what_failed() {
        let results = [("a", true, Duration::ZERO), ("b", false, Duration::from_secs(2))];
        let expected = "a        ok           0.0 s\nb        FAILED       2.0 s\n";
        assert_eq!(summary(&results), expected);
    }
}
