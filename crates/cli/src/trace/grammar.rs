//! What a line of a trace may say: a policy or a step, told apart and checked field by field.

use std::time::Duration;

use gorl::{MultiPolicy, Policy, Strategy};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::engine::Step;
use crate::json_log::without_position;
use crate::number::{parse_count, shortened};
use gorl_config::parse_duration;

/// One line, understood.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Input {
    Policy(Policy),
    /// Several that must all admit.
    Policies(MultiPolicy),
    Step(Step),
}

/// The key of steps that name none.
const DEFAULT_KEY: &str = "k";

/// How much of a bad value an error repeats.
const SHOWN: usize = 40;

// Every field is kept as written: numbers must not pass through floats, and an error can then name
// the field, which the library's own type errors do not.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LineFields<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    policy: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    policies: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    at_ns: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    key: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    cost: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    peek: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyFields<'a> {
    /// What a policy is called among several.
    #[serde(borrow, default, deserialize_with = "present")]
    name: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    strategy: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    limit: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    window_ns: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    window: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    burst: Option<&'a RawValue>,
}

/// Keeps an explicit `null` as a value, so that it is refused like any other wrong value.
fn present<'de, D: Deserializer<'de>>(input: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(input).map(Some)
}

/// Reads one line that is not blank.
///
/// # Errors
///
/// A message that names the field at fault and what it may be.
pub(crate) fn parse(line: &[u8]) -> Result<Input, String> {
    // The library would also take an array with the fields in order.
    if line.trim_ascii_start().first() != Some(&b'{') {
        return Err("expected a JSON object".to_owned());
    }
    let fields: LineFields<'_> = serde_json::from_slice(line).map_err(|error| {
        let column = error.column();
        format!("{} (column {column})", without_position(&error))
    })?;
    let step_fields = [
        ("at_ns", fields.at_ns),
        ("key", fields.key),
        ("cost", fields.cost),
        ("peek", fields.peek),
    ];
    let first_of_step = step_fields.iter().find(|(_, raw)| raw.is_some()).map(|(name, _)| name);
    let policy = fields.policy.map(|_| "policy").or(fields.policies.map(|_| "policies"));
    if let (Some(policy), Some(name)) = (policy, first_of_step) {
        return Err(format!(
            "a line is either a policy or a step, this one has both `{policy}` and `{name}`"
        ));
    }
    match (fields.policy, fields.policies) {
        (Some(_), Some(_)) => Err("give `policy` or `policies`, not both".to_owned()),
        (Some(policy), None) => parse_policy(policy).map(Input::Policy),
        (None, Some(policies)) => parse_policies(policies).map(Input::Policies),
        (None, None) => parse_step(&fields).map(Input::Step),
    }
}

/// Several policies, each by its name or, without one, by its number.
fn parse_policies(raw: &RawValue) -> Result<MultiPolicy, String> {
    let policies: Vec<&RawValue> = serde_json::from_str(raw.get())
        .map_err(|_| format!("policies must be a list of policies, got {}", shown(raw)))?;
    let mut all: Option<MultiPolicy> = None;
    for (index, raw) in policies.into_iter().enumerate() {
        let number = index + 1;
        let at = |error: String| format!("policies, number {number}: {error}");
        let fields = policy_fields(raw).map_err(at)?;
        let name = fields.name.map_or_else(|| Ok(number.to_string()), |raw| text("name", raw));
        let (name, policy) = (name.map_err(at)?, policy_of(&fields).map_err(at)?);
        let added = match all.take() {
            None => MultiPolicy::named(&name, policy),
            Some(all) => all.and(&name, policy),
        };
        all = Some(added.map_err(|error| at(error.to_string()))?);
    }
    all.ok_or_else(|| "policies must be a list of at least one policy".to_owned())
}

fn parse_step(fields: &LineFields<'_>) -> Result<Step, String> {
    let at_ns = fields.at_ns.ok_or("expected a policy, or a step with `at_ns`")?;
    Ok(Step {
        at_ns: whole("at_ns", at_ns)?,
        key: fields.key.map_or_else(|| Ok(DEFAULT_KEY.to_owned()), |raw| text("key", raw))?,
        cost: fields.cost.map_or(Ok(1), |raw| whole("cost", raw))?,
        peek: fields.peek.map_or(Ok(false), |raw| flag("peek", raw))?,
    })
}

fn parse_policy(raw: &RawValue) -> Result<Policy, String> {
    let fields = policy_fields(raw)?;
    if fields.name.is_some() {
        return Err(
            "policy: unknown field `name`; only one of several `policies` has one".to_owned()
        );
    }
    policy_of(&fields)
}

fn policy_fields(raw: &RawValue) -> Result<PolicyFields<'_>, String> {
    if !raw.get().starts_with('{') {
        return Err(format!("policy must be an object, got {}", shown(raw)));
    }
    serde_json::from_str(raw.get()).map_err(|error| format!("policy: {}", without_position(&error)))
}

fn policy_of(fields: &PolicyFields<'_>) -> Result<Policy, String> {
    let strategy = text("strategy", fields.strategy.ok_or("policy: missing field `strategy`")?)?;
    let strategy: Strategy = strategy
        .parse()
        .map_err(|error| format!("strategy: {error}, got {}", quoted(&strategy)))?;
    let limit = count("limit", fields.limit.ok_or("policy: missing field `limit`")?)?;
    let window = parse_window(fields.window_ns, fields.window)?;
    let policy = Policy::new(strategy, limit, window).map_err(|error| error.to_string())?;
    match fields.burst {
        Some(raw) => policy.with_burst(count("burst", raw)?).map_err(|error| error.to_string()),
        None => Ok(policy),
    }
}

fn parse_window(nanos: Option<&RawValue>, words: Option<&RawValue>) -> Result<Duration, String> {
    match (nanos, words) {
        (Some(raw), None) => whole("window_ns", raw).map(Duration::from_nanos),
        (None, Some(raw)) => {
            let words = text("window", raw)?;
            parse_duration(&words)
                .map_err(|error| format!("window {} is no duration: {error}", quoted(&words)))
        }
        (Some(_), Some(_)) => Err("policy: give `window_ns` or `window`, not both".to_owned()),
        (None, None) => Err("policy: missing field `window_ns` (or `window`)".to_owned()),
    }
}

fn whole(name: &str, raw: &RawValue) -> Result<u64, String> {
    let digits = raw.get();
    let is_whole = digits.bytes().all(|byte| byte.is_ascii_digit());
    is_whole.then(|| digits.parse().ok()).flatten().ok_or_else(|| {
        format!("{name} must be a whole number from 0 to {}, got {}", u64::MAX, shown(raw))
    })
}

/// A limit or a burst, whose range is told whatever is wrong with it.
fn count(name: &str, raw: &RawValue) -> Result<u64, String> {
    parse_count(raw.get()).map_err(|error| format!("{name} {error}, got {}", shown(raw)))
}

fn text(name: &str, raw: &RawValue) -> Result<String, String> {
    serde_json::from_str(raw.get())
        .map_err(|_| format!("{name} must be a text, got {}", shown(raw)))
}

fn flag(name: &str, raw: &RawValue) -> Result<bool, String> {
    serde_json::from_str(raw.get())
        .map_err(|_| format!("{name} must be true or false, got {}", shown(raw)))
}

fn shown(raw: &RawValue) -> String {
    shortened(raw.get(), SHOWN)
}

fn quoted(words: &str) -> String {
    format!("{:?}", shortened(words, SHOWN))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(line: &str) -> String {
        parse(line.as_bytes()).unwrap_err()
    }

    fn policy_error(fields: &str) -> String {
        error(&format!("{{\"policy\":{{{fields}}}}}"))
    }

    #[test]
    fn steps_have_defaults_and_take_every_u64() {
        let step = |line: &str| match parse(line.as_bytes()) {
            Ok(Input::Step(step)) => step,
            other => panic!("{other:?}"),
        };
        let plain = Step { at_ns: 0, key: "k".to_owned(), cost: 1, peek: false };
        assert_eq!(step(r#"{"at_ns":0}"#), plain);
        let full =
            step(r#" {"peek":true,"cost":0,"key":"\u00e9\n","at_ns":18446744073709551615} "#);
        let expected = Step { at_ns: u64::MAX, key: "é\n".to_owned(), cost: 0, peek: true };
        assert_eq!(full, expected);
        assert_eq!(step(r#"{"at_ns":9007199254740993}"#).at_ns, 9_007_199_254_740_993);
    }

    #[test]
    fn policies_take_their_window_in_either_form() {
        let policy = |fields: &str| match parse(format!("{{\"policy\":{{{fields}}}}}").as_bytes()) {
            Ok(Input::Policy(policy)) => policy,
            other => panic!("{other:?}"),
        };
        let one =
            policy(r#""strategy":"leaky_bucket","limit":7,"window_ns":5400000000000,"burst":9"#);
        let other = policy(r#""window":"1h30m","burst":9,"strategy":"leaky_bucket","limit":7"#);
        assert_eq!(one, other);
        assert_eq!((one.limit(), one.capacity()), (7, 9));
    }

    #[test]
    fn bad_numbers_name_their_field() {
        for bad in ["-1", "1.0", "1e3", "18446744073709551616", "\"1\"", "null", "true", "-0", "[]"]
        {
            let message = error(&format!("{{\"at_ns\":{bad}}}"));
            let end = format!("from 0 to 18446744073709551615, got {bad}");
            assert!(message.starts_with("at_ns must be a whole number") && message.ends_with(&end));
            let message = error(&format!("{{\"at_ns\":0,\"cost\":{bad}}}"));
            assert!(message.starts_with("cost must be"), "{message}");
        }
        assert!(error(r#"{"at_ns":0,"key":5}"#).starts_with("key must be a text"));
        assert!(error(r#"{"at_ns":0,"key":"\ud800"}"#).starts_with("key must be a text"));
        assert!(error(r#"{"at_ns":0,"peek":1}"#).starts_with("peek must be true or false"));
    }

    #[test]
    fn unknown_and_repeated_fields_are_refused() {
        assert!(error(r#"{"at_ns":0,"kye":"a"}"#).contains("unknown field `kye`"));
        assert!(error(r#"{"at_ns":0,"at_ns":0}"#).contains("duplicate field `at_ns`"));
        assert!(policy_error(r#""limt":1"#).contains("unknown field `limt`"));
        assert!(policy_error(r#""limit":1,"limit":1"#).contains("duplicate field `limit`"));
    }

    #[test]
    fn a_line_is_one_thing() {
        assert!(error(r#"{"policy":{},"cost":1}"#).contains("both `policy` and `cost`"));
        assert!(error("{}").contains("expected a policy, or a step"));
        assert!(error(r#"{"cost":1}"#).contains("expected a policy, or a step"));
        for line in ["[0]", "7", "null", "\"x\"", "x"] {
            assert_eq!(error(line), "expected a JSON object");
        }
        assert!(error(r#"{"at_ns":0"#).contains("EOF while parsing an object (column 10)"));
        assert!(error(r#"{"at_ns":0} {"at_ns":0}"#).contains("trailing characters"));
        assert!(parse(b"{\"key\":\"\xff\",\"at_ns\":0}").is_err());
    }

    #[test]
    fn bad_policies_name_their_field() {
        let good = r#""strategy":"fixed_window","limit":1"#;
        assert_eq!(error(r#"{"policy":[1]}"#), "policy must be an object, got [1]");
        assert_eq!(error(r#"{"policy":null}"#), "policy must be an object, got null");
        assert!(policy_error(r#""limit":1,"window":"1s""#).contains("missing field `strategy`"));
        assert!(
            policy_error(r#""strategy":"fixed_window","window":"1s""#)
                .contains("missing field `limit`")
        );
        assert!(policy_error(good).contains("missing field `window_ns`"));
        assert!(
            policy_error(&format!(r#"{good},"window":"1s","window_ns":1"#)).contains("not both")
        );
        assert!(
            policy_error(&format!(r#"{good},"window":"5 minutes""#))
                .contains("ns, us, ms, s, m, h, d")
        );
        assert!(
            policy_error(&format!(r#"{good},"window":"0s""#)).contains("window must be from 1ns")
        );
        assert!(
            policy_error(&format!(r#"{good},"window":"1s","burst":2"#))
                .contains("burst applies to")
        );
        assert!(
            policy_error(r#""strategy":"fixed","limit":1,"window":"1s""#)
                .contains("fixed_window, sliding")
        );
        assert!(
            policy_error(r#""strategy":"fixed_window","limit":0,"window":"1s""#)
                .contains("limit must be a whole number from 1 to 4294967295, got 0")
        );
    }

    #[test]
    fn limits_and_bursts_name_their_field_and_their_range() {
        for bad in ["-1", "0", "1.5", "1e3", "4294967296", "18446744073709551616", "\"1\"", "null"]
        {
            for (name, policy) in [
                ("limit", format!(r#""strategy":"token_bucket","limit":{bad},"window":"1s""#)),
                (
                    "burst",
                    format!(r#""strategy":"token_bucket","limit":1,"window":"1s","burst":{bad}"#),
                ),
            ] {
                let expected =
                    format!("{name} must be a whole number from 1 to 4294967295, got {bad}");
                assert_eq!(policy_error(&policy), expected);
            }
        }
    }
}
