//! What `gorl config` promises, seen from outside.

mod support;

use support::{file, gorl};

const GOOD: &str = "\
strategy: sliding_window
default: {limit: 100, window: 1m}
resources:
  login: 5 per minute
";

#[test]
fn a_good_file_is_told_in_words() {
    let path = file("good.yaml", GOOD);
    let ran = gorl(&["config", "check", &path], "");
    let expected = "\
login      5 in any 1m, by a weighted estimate (sliding_window)
any other  100 in any 1m, by a weighted estimate (sliding_window)

counts are kept in the memory of each process, for as many keys as come
";
    assert_eq!((ran.status, &*ran.stdout, &*ran.stderr), (Some(0), expected, ""));
    let quiet = gorl(&["config", "check", "--quiet", &path], "");
    assert_eq!((quiet.status, &*quiet.stdout, &*quiet.stderr), (Some(0), "", ""));
}

#[test]
fn a_bad_file_is_told_with_its_line_and_field() {
    let path = file("bad.yaml", GOOD.replace("5 per minute", "{limt: 5, window: 1m}"));
    let ran = gorl(&["config", "check", &path], "");
    let expected = format!(
        "error: {path}: line 4, column 11: resources.login.limt: there is no such field, did you \
         mean `limit`? allowed are strategy, limit, window, burst, rate, limits\n"
    );
    assert_eq!((ran.status, &*ran.stdout, &*ran.stderr), (Some(2), "", &*expected));
}

#[test]
fn all_files_are_read_and_one_error_is_enough() {
    let (good, bad) = (file("a.yaml", GOOD), file("b.json", "{"));
    let ran = gorl(&["config", "check", &bad, &good, "/nowhere.toml"], "");
    assert_eq!(ran.status, Some(2));
    assert!(ran.stdout.contains(&good) && ran.stdout.contains("login"), "{}", ran.stdout);
    assert_eq!(ran.stderr.matches("error: ").count(), 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("this is no JSON") && ran.stderr.contains("/nowhere.toml"));
}

#[test]
fn names_reach_the_terminal_as_text() {
    let path = file(
        "odd.json",
        "{\"strategy\": \"fixed_window\", \"default\": \"1 per hour\", \"resources\": {\"\\u001b[31m\": \"1 per day\"}}",
    );
    let ran = gorl(&["config", "check", &path], "");
    assert_eq!(ran.status, Some(0));
    assert!(!ran.stdout.contains('\u{1b}'), "{:?}", ran.stdout);
}

#[test]
fn the_schema_is_json() {
    let ran = gorl(&["config", "schema"], "");
    assert_eq!(ran.status, Some(0));
    let schema: serde_json::Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert!(schema["properties"]["default"].is_object());
}
