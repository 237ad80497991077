//! What `gorl replay --exact` promises, seen from outside.

mod support;

use serde_json::{Value, json};
use support::{gorl, here, line};

/// Two of a minute at each of three instants; the log of a single caller.
fn three_pairs() -> String {
    [59, 59, 60, 60, 119, 119].map(|second| line(second, "10.0.0.1", "-", "/")).concat()
}

fn exact(args: &[&str], input: &str) -> Value {
    let all: Vec<&str> =
        ["replay", "--json", "--exact"].into_iter().chain(args.iter().copied()).collect();
    let ran = gorl(&all, input);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    serde_json::from_str::<Value>(&ran.stdout).unwrap()["exact"].clone()
}

#[test]
fn each_strategy_is_held_against_the_log_request_by_request() {
    let told = exact(&["--limit", "2", "--window", "1m", "-"], &three_pairs());
    // The log admits both at 59, none at 60, and both at 119, when those of 59 are a minute old.
    assert_eq!((&told["admitted"], &told["denied"]), (&json!(4), &json!(2)));
    // One key of 16 bytes that held two instants of 8.
    assert_eq!(told["state_bytes"], 32);
    let rows: Vec<_> = told["strategies"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            (one["admitted_wrongly"].as_u64().unwrap(), one["denied_wrongly"].as_u64().unwrap())
        })
        .collect();
    // The fixed window starts anew at 60 and is used up at 119. The sliding window has a window from 59
    // to 119, whose two still count in full at 119. A bucket of two has 1/30 back at 60, and both at 119.
    assert_eq!(rows, [(2, 2), (0, 2), (0, 0), (0, 0)]);
    assert_eq!(told["strategies"][0]["wrong_percent"], json!(4.0 * 100.0 / 6.0));
    assert_eq!(told["strategies"][2]["keys"], 0);
}

#[test]
fn the_burst_is_no_part_of_the_log() {
    let told = exact(&["--limit", "2", "--burst", "6", "-"], &three_pairs());
    assert_eq!(told["admitted"], 4);
    assert_eq!(told["strategies"][2]["admitted_wrongly"], 2);
}

#[test]
fn the_table_stands_below_that_of_the_strategies() {
    let ran = gorl(&["replay", "--limit", "2", "--exact", "-"], three_pairs());
    let expected = "
Against an exact log of timestamps, which admits 4, denies 2 and takes 32 B
strategy        admitted wrongly           denied wrongly           wrong in all  keys
fixed_window                   2  33.333%               2  33.333%       66.667%     1
sliding_window                 0   0.000%               2  33.333%       33.333%     1
token_bucket                   0   0.000%               0   0.000%        0.000%     0
leaky_bucket                   0   0.000%               0   0.000%        0.000%     0
";
    assert!(ran.stdout.contains(expected), "{}", ran.stdout);
    let without = gorl(&["replay", "--limit", "2", "-"], three_pairs());
    assert!(!without.stdout.contains("exact log"), "{}", without.stdout);
}

#[test]
fn what_differs_accounts_for_the_difference_in_admissions_on_a_real_log() {
    let log = here("data/website.access.log");
    let ran = gorl(&["replay", "--json", "--exact", "--limit", "20", &log], "");
    let report: Value = serde_json::from_str(&ran.stdout).unwrap();
    let count = |value: &Value| value.as_u64().unwrap();
    let exact = &report["exact"];
    let pairs = report["strategies"].as_array().unwrap().iter();
    for (one, other) in pairs.zip(exact["strategies"].as_array().unwrap()) {
        assert_eq!(
            count(&one["admitted"]) + count(&other["denied_wrongly"]),
            count(&exact["admitted"]) + count(&other["admitted_wrongly"]),
            "{one} {other}"
        );
    }
}
