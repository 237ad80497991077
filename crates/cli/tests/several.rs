//! What `gorl replay --and` promises, seen from outside.

mod support;

use serde_json::{Value, json};
use support::{file, gorl, here, line};

fn json(args: &[&str], input: &str) -> Value {
    let all: Vec<&str> = ["replay", "--json"].into_iter().chain(args.iter().copied()).collect();
    let ran = gorl(&all, input);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    serde_json::from_str(&ran.stdout).unwrap()
}

/// Of a limit under a strategy: binding, denied, denied alone, keys limited.
fn figures(report: &Value, limit: usize, strategy: usize) -> [u64; 4] {
    let one = &report["limits"][limit]["strategies"][strategy];
    ["binding", "denied", "denied_alone", "keys_limited"].map(|name| one[name].as_u64().unwrap())
}

/// Three by ann from one address at second 0, one by bob and one by nobody from another.
fn offices() -> String {
    let ann = line(0, "10.0.0.1", "ann", "/a").repeat(3);
    ann + &line(1, "10.0.0.2", "bob", "/a") + &line(1, "10.0.0.2", "-", "/b")
}

#[test]
fn a_denied_request_spends_nothing_of_the_limits_that_would_admit_it() {
    let args = ["--limit", "2", "--and", "all:4/1m", "--strategy", "fixed_window", "-"];
    let report = json(&args, &offices());
    // Ann's third is denied by the two of her address. The four of all are spent by her two and by the
    // two from the other address, and so nobody else is denied.
    assert_eq!(report["strategies"][0]["admitted"], 4);
    assert_eq!(figures(&report, 0, 0), [1, 1, 1, 1]);
    assert_eq!(figures(&report, 1, 0), [0, 0, 0, 0]);
    assert_eq!(report["limits"][1]["who"], "all");
    assert_eq!(report["limits"][1]["strategies"][0]["worst_burst"], 4);
    let advice = report["advice"].as_array().unwrap();
    let needless =
        "4 per 1m for all together never denies anything on this traffic, whichever the strategy.";
    assert!(advice.contains(&json!(needless)), "{advice:?}");
}

#[test]
fn a_limit_by_another_field_holds_each_of_its_values_and_not_requests_without_it() {
    let args = ["--limit", "9", "--and", "path:3/1m", "--and", "user:1/1h", "-"];
    for strategy in 0..4 {
        let report = json(&args, &offices());
        // Ann gets one, which the hour gives back last; bob gets one; nobody's is not held by it.
        assert_eq!(report["strategies"][strategy]["admitted"], 3);
        assert_eq!(figures(&report, 2, strategy), [2, 2, 2, 1]);
        assert_eq!(figures(&report, 1, strategy), [0, 0, 0, 0]);
        let keys: Vec<_> = (0..3).map(|at| report["limits"][at]["keys"].as_u64()).collect();
        assert_eq!(keys, [Some(2), Some(2), Some(2)]);
        assert_eq!(report["strategies"][strategy]["state_bytes"], 6 * 32);
    }
}

#[test]
fn a_limit_without_a_name_counts_as_the_key_does() {
    let args = ["--resource", "path", "--limit", "9", "--and", "1/1h", "-"];
    let report = json(&args, &offices());
    // Ann on /a, bob on /a and nobody on /b, by their two addresses: three keys, each with one an hour.
    assert_eq!(report["limits"][1]["keys"], 3);
    assert_eq!(report["strategies"][0]["admitted"], 3);
}

#[test]
fn the_order_of_the_log_does_not_matter_to_any_limit() {
    let lines = offices();
    let mut turned: Vec<&str> = lines.split_inclusive('\n').collect();
    turned.sort_by_key(|line| std::cmp::Reverse(line.contains(":01 +0000")));
    let turned = turned.concat();
    let args = ["--limit", "2", "--and", "all:4/1m", "--and", "user:1/1h", "--exact"];
    let of = |log: &str| {
        let path = file("turned.log", log);
        let all: Vec<&str> = args.iter().copied().chain([&*path]).collect();
        let report = json(&all, "");
        (report["limits"].clone(), report["exact"].clone())
    };
    assert_eq!(of(&lines), of(&turned));
}

#[test]
fn the_table_has_each_limit_with_its_strategies() {
    let args =
        ["replay", "--limit", "2", "--and", "all:3 per minute", "--strategy", "fixed_window"];
    let ran = gorl(&[&args[..], &["-"]].concat(), offices());
    // The third of ann is her own limit's, the last of all is that of all together.
    let expected = "
which limit binds          binds         denies  keys limited  of  worst burst
2 per 1m for each key
  fixed_window                 1  50.0%       1             1   2     2  1.00×
3 per 1m for all together
  fixed_window                 1  50.0%       1             1   1     3  1.00×
";
    assert!(ran.stdout.contains(expected), "{}", ran.stdout);
    let heading = "limit 2 per 1m for each key\n  and 3 per 1m for all together\n";
    assert!(ran.stdout.contains(heading), "{}", ran.stdout);
    let alone = gorl(&["replay", "--limit", "2", "-"], offices());
    assert!(!alone.stdout.contains("binds"), "{}", alone.stdout);
}

#[test]
fn binding_limits_account_for_every_denial_of_a_real_log() {
    let log = here("data/website.access.log");
    let args = ["--limit", "5", "--window", "10s", "--and", "50/1h", "--and", "all:100/1m", &log];
    let report = json(&args, "");
    let alone = json(&["--limit", "5", "--window", "10s", &log], "");
    for strategy in 0..4 {
        let denied = report["strategies"][strategy]["denied"].as_u64().unwrap();
        let each: Vec<[u64; 4]> = (0..3).map(|limit| figures(&report, limit, strategy)).collect();
        assert_eq!(each.iter().map(|one| one[0]).sum::<u64>(), denied);
        assert!(each.iter().all(|one| one[0] <= one[1] && one[2] <= one[0]), "{each:?}");
        // More for the windows; the buckets spread what they admit, so the minute holds nobody back.
        assert!(denied >= alone["strategies"][strategy]["denied"].as_u64().unwrap());
    }
}

#[test]
fn what_is_no_limit_is_an_error_that_says_what_to_write() {
    for (limit, says) in [
        ("1000", "write a number and a window"),
        (":5/1m", "write who is held before the colon"),
        ("all:5/mintue", "did you mean `minute`?"),
        ("0/1m", "limit"),
    ] {
        let ran = gorl(&["replay", "--and", limit, "-"], offices());
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{limit}");
        let starts = format!("error: invalid value '{limit}' for '--and <[WHO:]RATE>': ");
        assert!(ran.stderr.starts_with(&starts) && ran.stderr.contains(says), "{}", ran.stderr);
    }
    let ran = gorl(&["replay", "--and", "x-api-key:5/1m", "-"], offices());
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""));
    assert!(
        ran.stderr.starts_with("error: no request has the field `x-api-key` that --and counts by"),
        "{}",
        ran.stderr
    );
}
