//! What `gorl replay` promises, seen from outside.

mod support;

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use support::{file, gorl, here, line};

fn json(args: &[&str], input: impl AsRef<[u8]>) -> Value {
    let all: Vec<&str> = ["replay", "--json"].into_iter().chain(args.iter().copied()).collect();
    let ran = gorl(&all, input);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    serde_json::from_str(&ran.stdout).expect("the output is one JSON object")
}

/// Admitted and denied by each strategy.
fn counts(report: &Value) -> Vec<(&str, u64, u64)> {
    report["strategies"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            let count = |name: &str| one[name].as_u64().unwrap();
            (one["strategy"].as_str().unwrap(), count("admitted"), count("denied"))
        })
        .collect()
}

fn burst() -> String {
    (0..5)
        .map(|_| line(59, "10.0.0.1", "ann", "/a"))
        .chain((0..5).map(|_| line(60, "10.0.0.1", "bob", "/b")))
        .collect()
}

#[test]
fn the_website_log_prints_the_comparison_by_default() {
    let ran = gorl(&["replay", &here("data/website.access.log")], "");
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    assert!(ran.stdout.starts_with("10,000 requests by 1,753 keys (ip), 2015-05-17 10:05:00 to"));
    for name in ["fixed_window", "sliding_window", "token_bucket", "leaky_bucket"] {
        let row = ran.stdout.lines().find(|row| row.starts_with(&format!("{name} ")));
        assert!(row.is_some_and(|row| row.contains('×') && row.contains("KiB")), "{}", ran.stdout);
    }
    assert!(!ran.stdout.contains('\u{1b}'), "no colour without a terminal");
}

#[test]
fn figures_are_exact_for_a_burst_across_a_windows_edge() {
    let report = json(&["--limit", "5", "--window", "1m", "-"], burst());
    let expected = [
        ("fixed_window", 10, 0),
        ("sliding_window", 5, 5),
        ("token_bucket", 5, 5),
        ("leaky_bucket", 5, 5),
    ];
    assert_eq!(counts(&report), expected);
    let fixed = &report["strategies"][0];
    assert_eq!(fixed["worst_burst"]["admitted"], 10);
    assert_eq!(fixed["worst_burst"]["times_limit"], 2.0);
    assert_eq!(fixed["denied_wait_p50_ns"], Value::Null);
    let token = &report["strategies"][2];
    assert_eq!((&token["worst_burst"]["admitted"], &token["keys_limited"]), (&5.into(), &1.into()));
    // One of five a minute comes back after 12 s, of which 1 s has passed.
    assert_eq!(token["denied_wait_p50_ns"], 11_000_000_000_u64);
    assert_eq!(token["denied_wait_p99_ns"], 11_000_000_000_u64);
    assert!(token["decisions_per_second"].as_u64() > Some(0));
}

#[test]
fn state_is_an_entry_for_each_key_under_every_strategy_and_in_every_run() {
    let log = here("data/website.access.log");
    for _ in 0..2 {
        let report = json(&[&log], "");
        let expected = report["input"]["keys"].as_u64().unwrap() * 32;
        for one in report["strategies"].as_array().unwrap() {
            assert_eq!(one["state_bytes"], expected, "{one}");
        }
    }
    let help = gorl(&["replay", "--help"], "").stdout;
    assert!(help.contains("32 bytes for each key counted"), "{help}");
}

#[test]
fn figures_of_a_real_log_are_those_of_an_independent_count() {
    // Counted with rational arithmetic by a program that shares no code with this one.
    let report = json(&[&here("data/scanner.access.log")], "");
    let second = 1_000_000_000_u64;
    let expected = [
        (1_382, 4_984, 109, Some((24 * second, 50 * second))),
        (1_319, 5_047, 60, None),
        (1_400, 4_966, 119, Some((second, second))),
        (1_400, 4_966, 119, Some((second, second))),
    ];
    for (one, (admitted, denied, worst, waits)) in
        report["strategies"].as_array().unwrap().iter().zip(expected)
    {
        assert_eq!((&one["admitted"], &one["denied"]), (&admitted.into(), &denied.into()), "{one}");
        assert_eq!(one["worst_burst"]["admitted"], worst, "{one}");
        if let Some((p50, p99)) = waits {
            assert_eq!(one["denied_wait_p50_ns"], p50, "{one}");
            assert_eq!(one["denied_wait_p99_ns"], p99, "{one}");
        }
    }
}

#[test]
fn the_first_and_the_last_instant_there_can_be_are_no_trouble() {
    let page = support::scratch("ends.html");
    let log = "{\"ts\":0,\"ip\":\"h\"}\n{\"ts\":18446744073709551615,\"ip\":\"h\"}\n";
    let report = json(&["--window", "3650d", "--html", page.to_str().unwrap(), "-"], log);
    assert_eq!(report["input"]["last_ns"], u64::MAX);
    assert!(counts(&report).iter().all(|&(_, admitted, denied)| (admitted, denied) == (2, 0)));
}

#[test]
fn requests_are_ordered_by_the_logs_clock_across_files() {
    let late: String = (0..3).map(|second| line(120 + second, "h", "-", "/")).collect();
    let early: String = (0..3).rev().map(|second| line(second, "h", "-", "/")).collect();
    let (late, early) = (file("late.log", late), file("early.log", early));
    let report = json(&["--limit", "3", &late, &early], "");
    assert_eq!(counts(&report)[0], ("fixed_window", 6, 0));
    let first = report["input"]["first_ns"].as_u64().unwrap();
    assert_eq!(report["input"]["last_ns"].as_u64().unwrap() - first, 122_000_000_000);
}

#[test]
fn keys_and_resources_come_from_the_named_fields() {
    let by = |args: &[&str]| {
        let all: Vec<&str> = args.iter().copied().chain(["--limit", "5", "-"]).collect();
        json(&all, burst())["input"]["keys"].as_u64().unwrap()
    };
    assert_eq!(by(&["--key", "ip"]), 1);
    assert_eq!(by(&["--key", "user"]), 2);
    assert_eq!(by(&["--key", "path"]), 2);
    assert_eq!(by(&["--key", "ip", "--resource", "path"]), 2);
    let report = json(&["--resource", "path", "--limit", "1", "-"], burst());
    assert_eq!(report["top_denied"][0]["key"], "10.0.0.1");
    assert_eq!(report["top_denied"][0]["resource"], "/a");
}

#[test]
fn requests_without_the_key_are_left_out_and_counted() {
    let log = line(0, "h", "-", "/") + &line(1, "h", "ann", "/");
    let report = json(&["--key", "user", "-"], &log);
    assert_eq!(report["input"]["requests_without_key"], 1);
    assert_eq!(report["input"]["requests"], 1);
    let ran = gorl(&["replay", "--key", "x-api-key", "-"], &log);
    assert_eq!(ran.status, Some(2));
    assert!(
        ran.stderr.starts_with("error: no request has the field `x-api-key`"),
        "{}",
        ran.stderr
    );
}

#[test]
fn json_lines_are_read_by_named_fields() {
    let log = concat!(
        r#"{"at":"2024-03-01T00:00:01Z","who":{"id":7},"url":"/a?b"}"#,
        "\n",
        r#"{"at":1709251202,"who":{"id":7},"url":"/a?c"}"#,
        "\n",
        r#"{"at":1709251203.5,"who":{"id":8},"url":"/a","headers":{"X-Api-Key":"k"}}"#,
    );
    let names = ["--time-field", "at", "--user-field", "who.id", "-"];
    let report = json(&[&["--key", "user", "--resource", "path"], &names[..]].concat(), log);
    assert_eq!((&report["input"]["requests"], &report["input"]["keys"]), (&3.into(), &2.into()));
    let report = json(&[&["--key", "headers.x-api-key"], &names[..]].concat(), log);
    assert_eq!(report["input"]["requests_without_key"], 2);
}

#[test]
fn gzipped_logs_are_read_from_files_and_standard_input() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(burst().as_bytes()).unwrap();
    let packed = encoder.finish().unwrap();
    let path = file("access.log.gz", &packed);
    assert_eq!(json(&[&path], "")["input"]["requests"], 10);
    assert_eq!(json(&["-"], &packed)["input"]["requests"], 10);
    let ran = gorl(&["replay", "-"], &packed[..packed.len() - 9]);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.starts_with("error: standard input: "), "{}", ran.stderr);
}

#[test]
fn unreadable_lines_are_counted_and_the_first_shown_with_their_numbers() {
    let log = format!("{}nonsense \x1b[31m\n\n{}", line(0, "h", "-", "/"), "bad\n".repeat(20));
    let path = file("mixed.log", log);
    let ran = gorl(&["replay", &path], "");
    assert_eq!(ran.status, Some(0));
    let shown: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(shown.len(), 6, "{}", ran.stderr);
    assert!(
        shown[0].contains("mixed.log:2: ") && shown[1].contains("mixed.log:4: "),
        "{}",
        ran.stderr
    );
    assert_eq!(shown[5], "21 of 22 lines could not be read (16 more not shown)");
}

#[test]
fn a_log_that_cannot_be_read_is_an_error() {
    for (args, input, says) in [
        (["replay", "-"], "one\ntwo\n", "error: standard input: no line could be read"),
        (["replay", "-"], "", "error: standard input: no lines to read"),
        (["replay", "/nonexistent/log"], "", "error: /nonexistent/log: "),
        (["replay", "/"], "", "error: /: "),
    ] {
        let ran = gorl(&args, input);
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{args:?}");
        let last = ran.stderr.lines().last().unwrap_or_default();
        assert!(last.starts_with(says), "{}", ran.stderr);
    }
}

#[test]
fn options_choose_strategies_bursts_and_how_many_keys_to_list() {
    let args = [
        "--strategy",
        "token_bucket",
        "--strategy",
        "fixed_window",
        "--burst",
        "2",
        "--limit",
        "4",
        "--top",
        "0",
        "-",
    ];
    let report = json(&args, burst());
    assert_eq!(
        counts(&report).iter().map(|row| row.0).collect::<Vec<_>>(),
        ["fixed_window", "token_bucket"]
    );
    assert_eq!(report["strategies"][1]["capacity"], 2);
    assert_eq!(report["top_denied"].as_array().unwrap().len(), 0);
    let ran = gorl(&["replay", "--burst", "2", "--strategy", "fixed_window", "-"], burst());
    assert_eq!(ran.status, Some(2));
}

#[test]
fn bad_options_are_errors_like_all_others() {
    for args in [
        &["replay"][..],
        &["replay", "--limit", "0", "-"],
        &["replay", "--limit", "-5", "-"],
        &["replay", "--window", "1 minute", "-"],
        &["replay", "--window", "20000d", "-"],
        &["replay", "--strategy", "leaky", "-"],
        &["replay", "--colour", "-"],
        &["reply"],
    ] {
        let ran = gorl(args, burst());
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{args:?}");
        assert!(ran.stderr.starts_with("error: "), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn a_number_out_of_range_names_its_option() {
    for option in ["--limit", "--burst", "--top"] {
        for value in ["-1", "x", "1.5", "99999999999999999999"] {
            let ran = gorl(&["replay", option, value, "-"], burst());
            assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{option} {value}");
            let says = format!("error: invalid value '{value}' for '{option} <N>': ");
            assert!(ran.stderr.starts_with(&says), "{}", ran.stderr);
        }
    }
    for option in ["--limit", "--burst"] {
        let ran = gorl(&["replay", option, "0", "-"], burst());
        assert!(ran.stderr.contains("from 1 to 4294967295"), "{}", ran.stderr);
    }
}

#[test]
fn without_a_command_the_error_comes_first_and_then_how_to_get_help() {
    let ran = gorl(&[], "");
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
    assert!(ran.stderr.contains("replay") && ran.stderr.contains("--help"), "{}", ran.stderr);
}

#[test]
fn the_page_is_written_and_keeps_hostile_text_harmless() {
    let page = support::scratch("page.html");
    let log: String =
        (0..9).map(|second| line(second, "<script>alert(1)</script>", "-", "/")).collect();
    let ran = gorl(&["replay", "--limit", "2", "--html", page.to_str().unwrap(), "-"], log);
    assert_eq!(ran.status, Some(0), "{}", ran.stderr);
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(
        html.starts_with("<!doctype html>") && html.contains("<svg") && !html.contains("<script")
    );
    let ran = gorl(&["replay", "--html", "/nonexistent/page.html", "-"], burst());
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""));
}

#[test]
fn help_tells_how_long_a_line_may_be() {
    for command in ["replay", "trace"] {
        let help = gorl(&[command, "--help"], "").stdout;
        assert!(help.contains("1 MiB (1048576 bytes)"), "{help}");
    }
}

#[test]
fn help_teaches_by_example() {
    for (args, example) in [
        (&["--help"][..], "gorl replay access.log"),
        (&["replay", "--help"], "gorl replay access.log access.log.*.gz"),
        (&["trace", "--help"], "{\"at_ns\":0,\"cost\":2}"),
    ] {
        let ran = gorl(args, "");
        assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
        assert!(ran.stdout.contains(example), "{}", ran.stdout);
    }
}
