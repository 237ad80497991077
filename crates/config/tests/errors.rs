//! What is wrong is told with the line, the field and what would be right, in every format.

use gorl_config::{Config, ConfigError, Format};

fn error(text: &str, format: Format) -> ConfigError {
    match Config::parse_with(text, format, &|_| None) {
        Ok(config) => panic!("loaded:\n{text}\n{config}"),
        Err(error) => error,
    }
}

/// Checks place, field and a part of the message.
#[track_caller]
fn says(text: &str, format: Format, line: usize, field: Option<&str>, part: &str) {
    let error = error(text, format);
    assert!(error.message().contains(part), "{error}");
    assert_eq!((error.line(), error.field()), (Some(line), field), "{error}");
}

#[test]
fn r112_typos_name_the_field_and_what_was_meant() {
    let yaml = "strategy: fixed_window\ndefault: 10 per hour\nresources:\n  login:\n    limt: 5\n    window: 1m\n";
    says(yaml, Format::Yaml, 5, Some("resources.login.limt"), "did you mean `limit`?");
    let json = "{\"strategy\": \"fixed_window\",\n \"default\": {\"limit\": 1, \"window\": \"1m\"},\n \"resorces\": {}}";
    says(json, Format::Json, 3, Some("resorces"), "did you mean `resources`?");
    let toml = "strategy = 'fixed_windw'\ndefault = '1 per hour'\n";
    says(toml, Format::Toml, 1, Some("strategy"), "did you mean `fixed_window`?");
    let toml = "strategy = 'fixed_window'\n[default]\nlimit = 1\nwindow = '10 per horu'\n";
    says(toml, Format::Toml, 4, Some("default.window"), "is no duration");
    for (rate, part) in [
        ("10 per horu", "did you mean `hour`?"),
        ("10/secnd", "did you mean `second`?"),
        ("1 per hour; 10 perr day", "`10 perr day` is no rate"),
    ] {
        let yaml = format!("strategy: fixed_window\ndefault: {rate}\n");
        says(&yaml, Format::Yaml, 2, Some("default"), part);
        let json =
            format!("{{\"strategy\": \"fixed_window\", \"default\": {{\n\"rate\": \"{rate}\"}}}}");
        says(&json, Format::Json, 2, Some("default.rate"), part);
    }
}

#[test]
fn r114_numbers_that_are_none_and_out_of_range_are_errors() {
    for (limit, part) in [
        ("0", "limit must be from 1 to 4294967295, got 0"),
        ("4294967296", "limit must be from 1 to 4294967295"),
        ("1e20", "whole number"),
        ("1.0", "whole number"),
        ("-1", "whole number"),
        (".nan", "whole number"),
        (".inf", "whole number"),
        ("+5", "whole number"),
        ("1_000", "whole number"),
        ("0x10", "whole number"),
        ("0o10", "whole number"),
        ("010", "read as octal by some"),
        ("99999999999999999999999", "too large"),
        ("ten", "whole number"),
        ("true", "whole number"),
        ("'5'", "without quotes"),
        ("[5]", "found a list"),
        ("", "`limit` is missing"),
    ] {
        let yaml = format!("strategy: fixed_window\ndefault:\n  window: 1m\n  limit: {limit}\n");
        let error = error(&yaml, Format::Yaml);
        assert!(error.to_string().contains(part), "{limit}: {error}");
        let line = if limit.is_empty() { 3 } else { 4 };
        assert_eq!(error.line(), Some(line), "{limit}: {error}");
    }
    for (window, part) in [
        ("60", "a unit after each number"),
        ("0s", "window must be from 1ns to 10 years"),
        ("-1s", "a number before each unit"),
        ("11y", "a unit after each number"),
        ("4000d", "window must be from 1ns to 10 years"),
        ("1e20s", "is no duration"),
        (".inf", "is no duration"),
        ("1 m", "is no duration"),
        ("1min", "is no duration"),
    ] {
        let yaml = format!("strategy: fixed_window\ndefault:\n  limit: 1\n  window: {window}\n");
        says(&yaml, Format::Yaml, 4, Some("default.window"), part);
    }
    let json = "{\"strategy\": \"fixed_window\", \"default\": {\"limit\": 1, \"window\": 60}}";
    says(json, Format::Json, 1, Some("default.window"), "expected a duration such as 30s");
    let toml = "strategy = 'fixed_window'\ndefault = { limit = nan, window = '1m' }\n";
    says(toml, Format::Toml, 2, Some("default.limit"), "whole number");
    let toml = "strategy = 'fixed_window'\ndefault = { limit = 0x10, window = '1m' }\n";
    says(toml, Format::Toml, 2, Some("default.limit"), "decimal digits");
}

#[test]
fn what_is_said_twice_is_an_error_in_every_format() {
    let yaml = "strategy: fixed_window\ndefault: 1 per hour\nresources:\n  a: 1 per hour\n  a: 2 per hour\n";
    let twice = error(yaml, Format::Yaml);
    assert_eq!(twice.line(), Some(5));
    assert!(twice.message().contains("defined twice, first on line 4"), "{twice}");
    let json = "{\"strategy\": \"fixed_window\",\n\"strategy\": \"fixed_window\"}";
    says(json, Format::Json, 2, Some("strategy"), "defined twice, first on line 1");
    let toml = "strategy = 'fixed_window'\nstrategy = 'fixed_window'\n";
    assert_eq!(error(toml, Format::Toml).line(), Some(2));
    let both = "strategy: fixed_window\nfail_open: true\nfailure: open\ndefault: 1 per hour\n";
    says(both, Format::Yaml, 2, Some("fail_open"), "keep `failure`");
    let both = "strategy: fixed_window\ndefault: {limit: 1, window: 1m, rate: 1 per hour}\n";
    says(both, Format::Yaml, 2, Some("default.rate"), "keep one of the two ways");
    let both = "strategy: fixed_window\ndefault: 1 per hour; 2 per hour\n";
    says(both, Format::Yaml, 2, Some("default"), "two rates for a window of 1h");
}

#[test]
fn yaml_surprises_are_errors_or_what_was_written() {
    for word in ["on", "off", "yes", "no", "True", "FALSE", "1", "'true'", "~~"] {
        let yaml = format!("strategy: fixed_window\ndefault: 1 per hour\nfail_open: {word}\n");
        says(&yaml, Format::Yaml, 3, Some("fail_open"), "expected `true` or `false`");
    }
    // Names are the words that were written.
    let yaml = "strategy: fixed_window\ndefault: 1 per hour\nresources: {on: 2 per hour, 010: 3 per hour, 1e3: 4 per hour, null: 5 per hour}\n";
    let config = Config::parse(yaml, Format::Yaml).unwrap();
    assert!(config.policies().names().eq(["010", "1e3", "null", "on"]));
    let merged = "a: &a {limit: 1}\ndefault:\n  <<: *a\n  window: 1m\n";
    let merged = error(merged, Format::Yaml);
    assert!(
        merged.message().contains("write the fields out") && merged.line() == Some(3),
        "{merged}"
    );
    let two = "strategy: fixed_window\ndefault: 1 per hour\n---\ndefault: 2 per hour\n";
    assert!(error(two, Format::Yaml).message().contains("second document"));
    let tagged = "strategy: !weird fixed_window\ndefault: 1 per hour\n";
    assert!(error(tagged, Format::Yaml).message().contains("not supported"));
    // An alias repeats what it refers to.
    let alias = "strategy: fixed_window\ndefault: &a {limit: 3, window: 1m}\nresources: {x: *a}\n";
    assert_eq!(Config::parse(alias, Format::Yaml).unwrap().policies().of("x").capacity(), 3);
}

#[test]
fn a_bomb_of_aliases_ends_at_once() {
    let mut yaml = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..40 {
        let before = format!("*a{}", level - 1);
        let again = [&*before; 9].join(", ");
        yaml = format!("{yaml}a{level}: &a{level} [{again}]\n");
    }
    assert!(error(&yaml, Format::Yaml).message().contains("too many values"));
    let deep = "[".repeat(10_000);
    assert!(error(&deep, Format::Yaml).line().is_some());
    let within = "[".repeat(100) + &"]".repeat(100);
    assert!(error(&within, Format::Yaml).message().contains("too many collections"));
    assert!(error(&deep, Format::Json).line().is_some());
    assert!(error(&format!("a = {deep}"), Format::Toml).line().is_some());
}

/// Checks what is told of each of these, after a strategy and a default.
#[track_caller]
fn each_says(cases: &[(&str, &str)]) {
    for (rest, expected) in cases {
        let text = format!("strategy: fixed_window\ndefault: 1 per hour\n{rest}");
        let error = error(&text, Format::Yaml).to_string();
        assert!(error.contains(expected), "{rest}\n  {error}\n  {expected}");
    }
}

#[test]
fn what_is_wrong_between_two_fields_is_told_at_one_of_them() {
    each_says(&[
        (
            "resources: {a: {rate: 1 per hour, burst: 3}}",
            "line 3, column 42: resources.a.burst: burst applies to token_bucket and leaky_bucket only",
        ),
        (
            "resources: {a: {limit: 3}}",
            "line 3, column 16: resources.a: the field `window` is missing",
        ),
        ("resources: {a: {limits: []}}", "resources.a.limits: the list is empty"),
        (
            "resources: {a: {limits: [{rate: 1 per day}]}}",
            "resources.a.limits[0]: the field `name` is missing",
        ),
        (
            "resources: {a: {limits: [{name: x, rate: 1 per day}, {name: x, rate: 1 per hour}]}}",
            "resources.a.limits[1].name: there are two limits of the name \"x\"",
        ),
        (
            "resources: {a: {limits: [{name: x, rate: 1 per day; 2 per hour}]}}",
            "resources.a.limits[0].rate: one of several limits has one rate",
        ),
        ("resources: {a: {limit: 1, limits: []}}", "put all into `limits`"),
        ("resources: {'': 1 per day}", "a resource needs a name"),
        ("resources: {a: }", "resources.a: expected a rate such as"),
        ("routes: {/login: login}", "routes./login: `login`: there is no such resource"),
        (
            "resources: {a: 1 per day}\nroutes: {login: a}",
            "line 4, column 17: routes.login: `login` is no route",
        ),
        ("failure: local", "with `failure: local` set `instances` as well"),
        ("instances: 3", "this is for `failure: local` only"),
        ("failure: local\ninstances: 0", "there is at least one process"),
        ("failure: shut", "`shut`: there is no such value; allowed are closed, open, local"),
        ("redis: {prefix: a}", "there is no `redis_url`"),
        (
            "redis_url: redis://x/\nredis: {start_degraded: true}",
            "redis.start_degraded: a service that starts without its store",
        ),
        (
            "redis_url: redis://x/\nredis: {command_timeout: 0s}",
            "redis.command_timeout: a deadline is above zero",
        ),
        (
            "redis_url: redis://x/\nresources: {a: {limit: 1, window: 1500ns}}",
            "resources.a.window: window must be a whole number of microseconds",
        ),
    ]);
}

#[test]
fn what_no_limiter_could_be_made_of_is_told() {
    each_says(&[
        (
            "memory: {capacity: 1000000000000}",
            "memory.capacity: capacity must be at most 100000000",
        ),
        (
            "redis_url: 'not a url: hunter2'",
            "redis_url: this is no URL of Redis; it begins with redis://",
        ),
        (
            "resources: {default: 1 per day}",
            "resources.default: `default` is what all other resources",
        ),
        ("resources: {a: 010 per day}", "without zeros before it"),
        ("resources: {a: }", "found nothing"),
        ("headers: plain", "headers: expected a list, found `plain`"),
        ("memory: {capacity: 0}", "memory.capacity: capacity must be at least 1"),
        (
            "headers: [plain, fancy]",
            "headers[1]: `fancy`: there is no such value; allowed are plain, prefixed, structured",
        ),
        ("breaker: {wait: soon}", "breaker.wait: `soon` is no duration"),
    ]);
    let none = error("default: 1 per hour\n", Format::Yaml).to_string();
    assert!(
        none.contains("default: there is no strategy; set `strategy` here or for all"),
        "{none}"
    );
    let none = error("strategy: fixed_window\n", Format::Yaml).to_string();
    assert!(none.contains("the field `default` is missing"), "{none}");
}

#[test]
fn what_is_no_configuration_at_all_says_so() {
    for format in [Format::Json, Format::Yaml, Format::Toml] {
        let empty = error("", format);
        assert!(
            empty.message().contains("empty") || empty.message().contains("`default` is missing"),
            "{empty}"
        );
    }
    assert!(error("[1, 2]", Format::Json).message().contains("expected a map of fields"));
    assert!(error("just words", Format::Yaml).message().contains("expected a map of fields"));
    says("{\"a\": 1,}", Format::Json, 1, None, "this is no JSON");
    says("{// no\n}", Format::Json, 1, None, "this is no JSON");
    assert!(error("a: [1, 2", Format::Yaml).message().contains("this is no YAML"));
    says("a = \n", Format::Toml, 1, None, "this is no TOML");
    let file = Config::from_file("/nowhere/limits.yaml").unwrap_err().to_string();
    assert!(file.starts_with("/nowhere/limits.yaml: the file cannot be read: "), "{file}");
    let file = Config::from_file("limits.ini").unwrap_err().to_string();
    assert!(file.contains("ends with .json, .yaml, .yml or .toml"), "{file}");
}

#[test]
fn the_section_is_named_and_what_is_beside_it_is_not_ours() {
    let yaml =
        "server: {port: 80}\ngorl:\n  strategy: fixed_window\n  default: 1 per hour\n  limt: 3\n";
    says(yaml, Format::Yaml, 5, Some("gorl.limt"), "there is no such field");
    let ok = "server: {port: 80}\ngorl:\n  strategy: fixed_window\n  default: 7 per hour\n";
    assert_eq!(Config::parse(ok, Format::Yaml).unwrap().policies().default().capacity(), 7);
    let two = "gorl:\n  strategy: fixed_window\n  default: 7 per hour\nresources: {}\n";
    says(two, Format::Yaml, 4, Some("resources"), "move it into it");
}
