//! `gorl trace --store redis://…` on a server of the test's own.
#![cfg(feature = "redis")]

#[path = "../../../tests/src/redis_server.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the tests of several crates")]
mod redis_server;
#[path = "../../../tests/src/scratch.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the tests of several crates")]
mod scratch;
mod support;

use redis_server::RedisServer;
use scratch::Scratch;
use support::{Ran, gorl};

fn trace(server: &RedisServer, lines: &[&str]) -> Ran {
    gorl(&["trace", "--store", &server.url()], lines.join("\n"))
}

/// How many keys the server holds.
fn keys(server: &RedisServer) -> usize {
    redis::cmd("DBSIZE").query(&mut server.look()).expect("the server answers")
}

const TOKENS: &str = r#"{"policy":{"strategy":"token_bucket","limit":7,"window":"1s","burst":3}}"#;
const FIXED: &str = r#"{"policy":{"strategy":"fixed_window","limit":3,"window":"1s"}}"#;
const FIXED_MORE: &str =
    r#"{"policy":{"strategy":"fixed_window","limit":5,"window_ns":2000000000}}"#;

#[test]
fn redis_answers_as_memory_does_and_no_key_stays() {
    let server = RedisServer::start();
    let at = |ns: u64, rest: &str| format!(r#"{{"at_ns":{ns}{rest}}}"#);
    let mut lines = Vec::new();
    for policy in [TOKENS, FIXED, FIXED_MORE, TOKENS, FIXED, TOKENS] {
        lines.push(policy.to_owned());
        for step in 0..40_u64 {
            // In whole microseconds, and such that waits are rounded up to nothing finer.
            let ns = 1_735_689_600_000_000_000 + step * 125_000_000;
            let rest = match step % 5 {
                0 => r#","cost":3"#,
                1 => r#","peek":true"#,
                2 => r#","key":"other""#,
                3 => r#","cost":9"#,
                _ => "",
            };
            lines.push(at(ns, rest));
        }
    }
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let redis = trace(&server, &lines);
    assert_eq!((redis.status, redis.stderr.as_str()), (Some(0), ""));
    let memory = gorl(&["trace"], lines.join("\n"));
    assert_eq!(redis.stdout.lines().count(), 240);
    // Memory rounds a wait up to a nanosecond, Redis to a microsecond.
    assert_eq!(redis.stdout, in_micros(&memory.stdout));
    assert_eq!(keys(&server), 0);
}

#[test]
fn several_policies_answer_as_in_memory_and_no_key_stays() {
    let server = RedisServer::start();
    let policies = |second: u32| {
        format!(
            r#"{{"policies":[{{"name":"second","strategy":"token_bucket","limit":{second},"window":"1s"}},{{"strategy":"sliding_window","limit":9,"window":"10s"}}]}}"#
        )
    };
    let mut lines = Vec::new();
    for second in [3, 5, 2] {
        lines.push(policies(second));
        let rests = ["", r#","cost":2"#, r#","peek":true"#, r#","key":"other""#];
        for (step, rest) in (0..40_u64).zip(rests.into_iter().cycle()) {
            let ns = 1_735_689_600_000_000_000 + step * 125_000_000;
            lines.push(format!(r#"{{"at_ns":{ns}{rest}}}"#));
        }
    }
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let redis = trace(&server, &lines);
    assert_eq!((redis.status, redis.stderr.as_str()), (Some(0), ""));
    let memory = gorl(&["trace"], lines.join("\n"));
    assert_eq!(redis.stdout.lines().count(), 120);
    assert_eq!(in_micros(&redis.stdout), in_micros(&memory.stdout));
    assert_eq!(keys(&server), 0);
}

/// The answers with every wait rounded up to a whole microsecond.
fn in_micros(answers: &str) -> String {
    let mut text = String::new();
    for line in answers.lines() {
        let fields: Vec<String> = line
            .split(',')
            .map(|field| match field.trim_end_matches(['}', ']']).split_once("_ns\":") {
                Some((name, wait)) if wait != "null" => {
                    let wait: u128 = wait.parse().expect("a wait");
                    let end = &field[field.trim_end_matches(['}', ']']).len()..];
                    format!("{name}_ns\":{}{end}", wait.div_ceil(1_000) * 1_000)
                }
                _ => field.to_owned(),
            })
            .collect();
        text.push_str(&fields.join(","));
        text.push('\n');
    }
    text
}

#[test]
fn what_is_finer_than_a_microsecond_is_an_error_with_its_line_and_no_key_stays() {
    let server = RedisServer::start();
    let ran = trace(&server, &[FIXED, r#"{"at_ns":1000}"#, r#"{"at_ns":1001}"#]);
    assert_eq!(ran.status, Some(2));
    assert_eq!(ran.stdout.lines().count(), 1);
    assert!(ran.stderr.contains("line 3: at_ns must be whole microseconds"), "{}", ran.stderr);
    let fine = r#"{"policy":{"strategy":"fixed_window","limit":3,"window_ns":1500}}"#;
    let ran = trace(&server, &[FIXED, r#"{"at_ns":1000}"#, fine]);
    assert_eq!(ran.status, Some(2));
    assert!(
        ran.stderr.contains("line 3: window must be a whole number of micro"),
        "{}",
        ran.stderr
    );
    let ran = trace(&server, &[r#"{"at_ns":1000}"#]);
    assert!(ran.stderr.contains("line 1: a step needs a policy before it"), "{}", ran.stderr);
    let late = r#"{"at_ns":18446744073709551000}"#;
    let ran = trace(&server, &[FIXED, late]);
    assert!(ran.stderr.contains("line 2: "), "{}", ran.stderr);
    assert!(ran.stderr.contains("after the year 2255"), "{}", ran.stderr);
    assert_eq!(keys(&server), 0);
}

#[test]
fn a_server_that_is_not_there_is_an_error_without_the_password() {
    let mut server = RedisServer::start();
    server.stop();
    let url = server.url().replace("redis://", "redis://someone:secret@");
    let ran = gorl(&["trace", "--store", &url], FIXED);
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains("the store cannot be reached"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("secret"), "{}", ran.stderr);
}
