//! A whole replay of bytes at hand that prints nothing, for those who feed it any bytes.

use std::time::Duration;

use super::plan::Plan;
use super::progress::Progress;
use super::{drive, input, json, report, table};
use crate::args::{FieldNames, ReplayArgs};
use crate::html;

/// What a replay counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rehearsal {
    /// Lines that are not blank.
    pub lines: u64,
    /// Those of them that are no line of a log.
    pub failed: u64,
    /// Good lines without the key's field.
    pub without_key: u64,
    /// Good lines with it.
    pub requests: u64,
    /// How many keys they have.
    pub keys: u64,
    /// What each strategy admitted and denied.
    pub decided: [(u64, u64); 4],
}

/// Replays the bytes of a log, plain or gzipped, by this key and resource, at three in ten seconds
/// by every strategy, and makes all three kinds of report; `None` for bytes that cannot be read.
pub fn rehearse(bytes: &[u8], key: &str, resource: Option<&str>) -> Option<Rehearsal> {
    let args = ReplayArgs {
        logs: Vec::new(),
        limit: 3,
        window: Duration::from_secs(10),
        burst: None,
        and: Vec::new(),
        strategies: Vec::new(),
        exact: true,
        config: None,
        key: key.to_owned(),
        resource: resource.map(str::to_owned),
        names: FieldNames::default(),
        top: 5,
        html: Some("page.html".into()),
        json: false,
    };
    let progress = Progress::new();
    let plan = Plan::of(&args).ok()?;
    let reading = input::read_bytes(&args, plan.wanted(), bytes, &progress).ok()?;
    let mut counts = Rehearsal {
        lines: reading.lines,
        failed: reading.failed,
        without_key: reading.without_key,
        requests: reading.traffic.requests() as u64,
        keys: reading.traffic.keys() as u64,
        decided: [(0, 0); 4],
    };
    // Without a request there is nothing to compare, and `replay` ends here too.
    if counts.requests > 0 {
        // Once each: times are of no interest here.
        let outcomes: Vec<_> = plan
            .policies
            .iter()
            .map(|each| drive::one(&reading.traffic, &plan, each, &progress))
            .collect();
        let report = report::build(&args, &plan, &reading, &outcomes);
        let _ = (html::page(&report), json::render(&report), table::render(&report));
        for (decided, strategy) in counts.decided.iter_mut().zip(&report.strategies) {
            *decided = (strategy.admitted, strategy.denied);
        }
    }
    Some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_counted_once() {
        let log = concat!(
            "\n",
            "no line of a log\n",
            r#"{"time":1500000000,"ip":"a"}"#,
            "\n",
            r#"{"time":1500000000}"#,
            "\n",
            r#"b - - [22/Dec/2016:16:30:52 +0300] "GET / HTTP/1.1" 200 7"#,
        );
        let seen = rehearse(log.as_bytes(), "ip", None).unwrap();
        let expected = Rehearsal {
            lines: 4,
            failed: 1,
            without_key: 1,
            requests: 2,
            keys: 2,
            decided: [(2, 0); 4],
        };
        assert_eq!(seen, expected);
        assert_eq!(rehearse(b"\x1f\x8bno gzip", "ip", None), None);
    }
}
