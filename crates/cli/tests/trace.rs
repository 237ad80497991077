//! What `gorl trace` promises, seen from outside.

mod support;

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use support::gorl;

const POLICY: &str = r#"{"policy":{"strategy":"fixed_window","limit":3,"window":"1s"}}"#;

fn trace(lines: &[&str]) -> support::Ran {
    gorl(&["trace"], lines.join("\n"))
}

#[test]
fn each_step_gets_one_line_in_order_and_policies_and_blank_lines_none() {
    let ran = trace(&[POLICY, "", r#"{"at_ns":0}"#, "  ", r#"{"at_ns":0,"cost":9}"#, POLICY]);
    let expected = concat!(
        r#"{"allowed":true,"limit":3,"remaining":2,"reset_ns":1000000000,"retry_after_ns":null}"#,
        "\n",
        r#"{"error":"cost_exceeds_limit"}"#,
        "\n"
    );
    assert_eq!((ran.status, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), expected, ""));
}

#[test]
fn a_denial_tells_the_wait_in_nanoseconds() {
    let ran = trace(&[POLICY, r#"{"at_ns":0,"cost":3}"#, r#"{"at_ns":1}"#]);
    let last = ran.stdout.lines().last().unwrap();
    let expected = r#"{"allowed":false,"limit":3,"remaining":0,"reset_ns":999999999,"retry_after_ns":999999999}"#;
    assert_eq!(last, expected);
}

#[test]
fn a_peek_spends_nothing_and_keys_are_counted_apart() {
    let peek = r#"{"at_ns":0,"peek":true,"cost":3}"#;
    let ran = trace(&[POLICY, peek, peek, r#"{"at_ns":0,"key":"other","cost":3}"#, peek]);
    let allowed = ran.stdout.lines().filter(|line| line.contains(r#""allowed":true"#)).count();
    assert_eq!(allowed, 4);
}

#[test]
fn a_later_policy_replaces_the_first_and_counts_are_kept() {
    let more = r#"{"policy":{"strategy":"fixed_window","limit":5,"window_ns":1000000000}}"#;
    let ran = trace(&[POLICY, r#"{"at_ns":0,"cost":3}"#, more, r#"{"at_ns":0,"peek":true}"#]);
    let last = ran.stdout.lines().last().unwrap();
    assert!(last.contains(r#""limit":5,"remaining":2"#), "{last}");
}

#[test]
fn costs_are_any_u64_and_zero_is_free() {
    let ran = trace(&[
        POLICY,
        r#"{"at_ns":0,"cost":4294967296}"#,
        r#"{"at_ns":0,"cost":18446744073709551615}"#,
        r#"{"at_ns":0,"cost":0}"#,
        r#"{"at_ns":18446744073709551615,"cost":3}"#,
    ]);
    let error = "{\"error\":\"cost_exceeds_limit\"}\n";
    assert!(ran.stdout.starts_with(&format!("{error}{error}")), "{}", ran.stdout);
    assert_eq!((ran.stdout.lines().count(), ran.status), (4, Some(0)));
}

#[test]
fn bad_lines_end_the_run_with_their_number_and_earlier_answers_stay() {
    for (bad, says) in [
        (r#"{"at_ns":0,"kye":"a"}"#, "unknown field `kye`"),
        (r#"{"at_ns":-1}"#, "at_ns must be a whole number"),
        (r#"{"at_ns":1.5}"#, "at_ns must be a whole number"),
        (r#"{"at_ns":0,"cost":18446744073709551616}"#, "cost must be a whole number"),
        (r#"{"at_ns":0,"at_ns":1}"#, "duplicate field `at_ns`"),
        (r#"{"cost":1}"#, "expected a policy, or a step with `at_ns`"),
        (r#"{"policy":{"strategy":"fixed_window","limit":0,"window":"1s"}}"#, "limit must be"),
        (r#"{"policy":{"strategy":"fixed_window","limit":1,"window":"1 s"}}"#, "window \"1 s\""),
        (r#"{"policy":{"strategy":"fixed_window","limit":1}}"#, "window_ns"),
        (r#"{"policy":{},"at_ns":0}"#, "both `policy` and `at_ns`"),
        ("at_ns 0", "expected a JSON object"),
    ] {
        let ran = trace(&[POLICY, r#"{"at_ns":0}"#, "", bad, r#"{"at_ns":0}"#]);
        assert_eq!((ran.status, ran.stdout.lines().count()), (Some(2), 1), "{bad}");
        assert!(
            ran.stderr.starts_with("error: line 4: ") && ran.stderr.contains(says),
            "{}",
            ran.stderr
        );
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    }
}

#[test]
fn a_step_before_any_policy_is_an_error() {
    let ran = trace(&[r#"{"at_ns":0}"#]);
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""));
    assert_eq!(ran.stderr, "error: line 1: a step needs a policy before it\n");
}

#[test]
fn an_error_shows_no_bytes_that_steer_a_terminal() {
    let ran = trace(&["{\"at_ns\":\"\u{202e}\"}"]);
    assert!(ran.stderr.contains("\\u{202e}") && !ran.stderr.contains('\u{202e}'), "{}", ran.stderr);
}

#[test]
fn an_answer_comes_before_the_next_step_is_written() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_gorl"))
        .arg("trace")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    writeln!(input, "{POLICY}").unwrap();
    for remaining in [2, 1, 0] {
        writeln!(input, "{{\"at_ns\":0}}").unwrap();
        let mut answer = String::new();
        output.read_line(&mut answer).unwrap();
        assert!(answer.contains(&format!(r#""remaining":{remaining},"#)), "{answer}");
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_reader_that_leaves_early_ends_the_program_quietly() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_gorl"))
        .arg("trace")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut input = child.stdin.take().unwrap();
    // The program may be gone before all of this is written; that is what is being tested.
    let _ = writeln!(input, "{POLICY}\n{}", "{\"at_ns\":0}\n".repeat(100_000));
    drop(input);
    let ended = support::ran(&child.wait_with_output().unwrap());
    assert_eq!((ended.status, ended.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_store_that_this_build_lacks_is_an_error_that_hides_its_password() {
    for store in ["redis://user:secret@localhost/0", "postgres://user:secret@localhost"] {
        let ran = gorl(&["trace", "--store", store], "");
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""));
        assert!(
            ran.stderr.starts_with("error: ") && !ran.stderr.contains("secret"),
            "{}",
            ran.stderr
        );
    }
    assert_eq!(gorl(&["trace", "--store", "memory"], "").status, Some(0));
}

#[test]
fn the_example_in_the_help_is_true() {
    let help = gorl(&["trace", "--help"], "").stdout;
    let (example, rest) = help.split_once("answers").unwrap();
    let input: Vec<&str> =
        example.lines().map(str::trim).filter(|line| line.starts_with('{')).collect();
    let (answers, _) = rest.split_once("A policy line").unwrap();
    let answers: Vec<&str> =
        answers.lines().map(str::trim).filter(|line| line.starts_with('{')).collect();
    assert_eq!(trace(&input).stdout.lines().collect::<Vec<_>>(), answers);
    assert_eq!(answers.len(), 3);
}

const TWO: &str = concat!(
    r#"{"policies":[{"name":"second","strategy":"fixed_window","limit":2,"window":"1s"},"#,
    r#"{"name":"hour","strategy":"token_bucket","limit":3,"window":"1h"}]}"#
);

#[test]
fn several_policies_admit_together_and_the_binding_one_is_named() {
    let ran = trace(&[TWO, r#"{"at_ns":0,"cost":2}"#, r#"{"at_ns":0}"#, r#"{"at_ns":0,"cost":3}"#]);
    let expected = concat!(
        r#"{"allowed":true,"limit":2,"remaining":0,"reset_ns":2400000000000,"retry_after_ns":null,"binding":"second","policies":["#,
        r#"{"name":"second","allowed":true,"limit":2,"remaining":0,"reset_ns":1000000000,"retry_after_ns":null},"#,
        r#"{"name":"hour","allowed":true,"limit":3,"remaining":1,"reset_ns":2400000000000,"retry_after_ns":null}]}"#,
        "\n",
        r#"{"allowed":false,"limit":2,"remaining":0,"reset_ns":2400000000000,"retry_after_ns":1000000000,"binding":"second","policies":["#,
        r#"{"name":"second","allowed":false,"limit":2,"remaining":0,"reset_ns":1000000000,"retry_after_ns":1000000000},"#,
        r#"{"name":"hour","allowed":true,"limit":3,"remaining":1,"reset_ns":2400000000000,"retry_after_ns":null}]}"#,
        "\n",
        r#"{"error":"cost_exceeds_limit"}"#,
        "\n"
    );
    assert_eq!((ran.status, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), expected, ""));
}

#[test]
fn several_policies_are_told_what_is_wrong_with_which() {
    for (line, part) in [
        (r#"{"policies":[]}"#, "at least one policy"),
        (r#"{"policies":{}}"#, "must be a list"),
        (
            r#"{"policies":[{"strategy":"fixed_window","limit":0,"window":"1s"}]}"#,
            "policies, number 1: limit",
        ),
        (
            r#"{"policies":[{"name":"a","strategy":"fixed_window","limit":1,"window":"1s"},{"name":"a","strategy":"fixed_window","limit":1,"window":"1s"}]}"#,
            "number 2: there are two limits of the name",
        ),
        (r#"{"policies":[],"at_ns":0}"#, "both `policies` and `at_ns`"),
        (
            r#"{"policy":{"name":"a","strategy":"fixed_window","limit":1,"window":"1s"}}"#,
            "unknown field `name`",
        ),
    ] {
        let ran = trace(&[line]);
        assert_eq!(ran.status, Some(2), "{line}");
        assert!(
            ran.stderr.contains("error: line 1: ") && ran.stderr.contains(part),
            "{}",
            ran.stderr
        );
    }
    let ran = trace(&[TWO, POLICY]);
    assert!(ran.stderr.contains("error: line 2: a trace has `policy` lines or `policies` lines"));
}
