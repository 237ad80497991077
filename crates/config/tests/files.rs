//! Configurations that load: GoRL's own, one in three formats, variables, and what they come to.

use std::sync::Arc;
use std::time::Duration;

use gorl::{ManualClock, MemoryStore, MultiPolicy, Policy, ResourcePolicies};
use gorl_config::{Config, Format, HeaderStyle};
use proptest::prelude::*;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn files_of_gorl_load_unchanged() {
    let json = r#"{
  "strategy": "sliding_window", "redis_url": "redis://localhost:6379/0", "fail_open": true,
  "default": {"limit": 100, "window": "1m"},
  "resources": {"login": {"limit": 5, "window": "1m"}, "search": {"limit": 50, "window": "250ms"}}
}"#;
    let flat = Config::parse(json, Format::Json).unwrap();
    assert!(flat.uses_redis());
    let login = Policy::sliding_window(5, 60 * SECOND).unwrap();
    assert_eq!(flat.policies().of("login").get(""), Some(&login));
    assert_eq!(flat.policies().of("search").get("").unwrap().window(), Duration::from_millis(250));
    let nested = Config::parse(&format!("{{\"gorl\": {json}}}"), Format::Json).unwrap();
    assert_eq!(flat, nested);
    let yaml = "
gorl:
  strategy: token_bucket
  default:
    limit: 20
    window: 1h30m
  resources:
    outbound-api:
      limit: 10
      window: .5s
";
    let config = Config::parse(yaml, Format::Yaml).unwrap();
    let policy = Policy::token_bucket(10, Duration::from_millis(500)).unwrap();
    assert_eq!(config.policies().of("outbound-api").get(""), Some(&policy));
    assert_eq!(config.policies().default().get("").unwrap().window(), 5_400 * SECOND);
}

const YAML: &str = "
strategy: token_bucket
failure: local
instances: 4
redis_url: redis://localhost/
redis: {prefix: 'shop:', command_timeout: 50ms, tag_resource: true}
breaker: {failures: 3, wait: 200ms}
denial_cache: {capacity: 500}
headers: [plain, structured]
unknown_resources: 9
default: 100 per minute
resources:
  login: {strategy: sliding_window, limit: 5, window: 1m}
  api:
    limits:
      - {name: second, rate: 10 per second, burst: 20}
      - {name: day, strategy: fixed_window, limit: 5000, window: 1d}
  rates: 2 per second; 30 per 1m
routes:
  POST /login: login
  '/api/{*rest}': api
";

const JSON: &str = r#"{
"strategy": "token_bucket", "failure": "local", "instances": 4, "redis_url": "redis://localhost/",
"redis": {"prefix": "shop:", "command_timeout": "50ms", "tag_resource": true},
"breaker": {"failures": 3, "wait": "200ms"}, "denial_cache": {"capacity": 500},
"headers": ["plain", "structured"], "unknown_resources": 9,
"default": {"limit": 100, "window": "1m"},
"resources": {
  "login": {"strategy": "sliding_window", "rate": "5 per minute"},
  "api": {"limits": [
    {"name": "second", "limit": 10, "window": "1s", "burst": 20},
    {"name": "day", "strategy": "fixed_window", "rate": "5000/day"}
  ]},
  "rates": {"rate": "2 per second; 30 per 60 seconds"}
},
"routes": {"/api/{*rest}": "api", "POST /login": "login"}
}"#;

const TOML: &str = "
strategy = 'token_bucket'
failure = 'local'
instances = 4
redis_url = 'redis://localhost/'
redis = { prefix = 'shop:', command_timeout = '50ms', tag_resource = true }
breaker = { failures = 3, wait = '200ms' }
denial_cache = { capacity = 500 }
headers = ['plain', 'structured']
unknown_resources = 9
default = '100/m'
[resources]
login = { strategy = 'sliding_window', limit = 5, window = '60s' }
rates = '2/s; 30/m'
[[resources.api.limits]]
name = 'second'
rate = '10/s'
burst = 20
[[resources.api.limits]]
name = 'day'
strategy = 'fixed_window'
limit = 5_000
window = '24h'
[routes]
'POST /login' = 'login'
'/api/{*rest}' = 'api'
";

#[test]
fn one_configuration_is_the_same_in_three_formats() {
    let yaml = Config::parse(YAML, Format::Yaml).unwrap();
    assert_eq!(yaml, Config::parse(JSON, Format::Json).unwrap());
    assert_eq!(yaml, Config::parse(TOML, Format::Toml).unwrap());
    let second = Policy::token_bucket(10, SECOND).unwrap().with_burst(20).unwrap();
    let day = Policy::fixed_window(5_000, 86_400 * SECOND).unwrap();
    let (two, thirty) = (Policy::token_bucket(2, SECOND), Policy::token_bucket(30, 60 * SECOND));
    let rates = MultiPolicy::named("1s", two.unwrap()).unwrap().and("1m", thirty.unwrap());
    let expected = ResourcePolicies::new(Policy::token_bucket(100, 60 * SECOND).unwrap())
        .resource("login", Policy::sliding_window(5, 60 * SECOND).unwrap())
        .resource("api", MultiPolicy::named("second", second).unwrap().and("day", day).unwrap())
        .resource("rates", rates.unwrap());
    assert_eq!(*yaml.policies(), expected);
    assert_eq!(yaml.headers(), Some(&[HeaderStyle::Plain, HeaderStyle::Structured][..]));
    assert_eq!(yaml.routes().find("POST", "/login"), Some("login"));
    assert_eq!(yaml.routes().find("GET", "/login"), None);
}

#[test]
fn a_configuration_tells_in_words_what_it_allows() {
    let told = Config::parse(YAML, Format::Yaml).unwrap().to_string();
    let expected = "\
api        second: bursts of 20, then 10 every 1s, evenly (token_bucket)
  and      day: 5000 in each window of 1d, counted from the epoch (fixed_window)
login      5 in any 1m, by a weighted estimate (sliding_window)
rates      1s: bursts of 2, then 2 every 1s, evenly (token_bucket)
  and      1m: bursts of 30, then 30 every 1m, evenly (token_bucket)
any other  bursts of 100, then 100 every 1m, evenly (token_bucket)

routes, the most specific first:
  /api/{*rest} → api
  POST /login → login

counts are shared over Redis; when it is gone, each process counts by itself, with its share of each limit
";
    assert_eq!(told, expected);
}

#[test]
fn variables_are_values_and_never_structure_and_never_shown() {
    let yaml = "
strategy: ${STRATEGY:-fixed_window}
redis_url: redis://:${PASSWORD}@host/
default: {limit: '${LIMIT}', window: '${WINDOW}'}
";
    let with = |limit: &'static str| {
        Config::parse_with(yaml, Format::Yaml, &move |name| match name {
            "PASSWORD" => Some("hunter2: [".to_owned()),
            "LIMIT" => Some(limit.to_owned()),
            "WINDOW" => Some("1m".to_owned()),
            _ => None,
        })
    };
    let config = with("12").unwrap();
    assert_eq!(config.policies().default().capacity(), 12);
    assert!(!format!("{config:?} {config}").contains("hunter2"));
    let error = with("s3cret").unwrap_err().to_string();
    assert!(error.contains("default.limit") && error.contains("the value of ${LIMIT}"), "{error}");
    assert!(!error.contains("s3cret"), "{error}");
    let unset = Config::parse_with(yaml, Format::Yaml, &|_| None).unwrap_err().to_string();
    assert!(unset.contains("redis_url: the environment variable PASSWORD is not set"), "{unset}");
    let dollars = "strategy: fixed_window\ndefault: 1 per hour\nresources: {a: '$${X}'}\n";
    let error = Config::parse_with(dollars, Format::Yaml, &|_| None).unwrap_err().to_string();
    assert!(error.contains("`${X}` is no rate"), "{error}");
    // Not even a part of it.
    for yaml in [
        "strategy: fixed_window\ndefault: ${X}\n",
        "strategy: fixed_window\ndefault: {rate: '${X}'}\n",
        "strategy: ${X}\ndefault: 1 per hour\n",
        "strategy: fixed_window\ndefault: 1 per hour\nfailure: ${X}\n",
        "strategy: fixed_window\ndefault: 1 per hour\nroutes: {/a: '${X}'}\n",
        "strategy: fixed_window\ndefault: 1 per hour\nbreaker: {wait: '${X}'}\n",
    ] {
        let held = |_: &str| Some("1 per hour; 2 per hunter2".to_owned());
        let error = Config::parse_with(yaml, Format::Yaml, &held).unwrap_err().to_string();
        assert!(error.contains("the value of ${X}") && !error.contains("hunter2"), "{error}");
    }
    // Nor what was made of it, nor as a name.
    for (yaml, held) in [
        ("strategy: fixed_window\ndefault: {limit: '${X}', window: 1m}\n", "0987654321"),
        ("strategy: fixed_window\ndefault: '${X}/s'\n", "99999999999"),
        ("strategy: fixed_window\ndefault: {limit: 1, window: '${X}'}\n", "100000d"),
        (
            "strategy: fixed_window\ndefault: {limits: [{name: '${X}', rate: 1/s}]}\n",
            "redis://:hunter2@host",
        ),
    ] {
        let lookup = |_: &str| Some(held.to_owned());
        let error = Config::parse_with(yaml, Format::Yaml, &lookup).unwrap_err().to_string();
        assert!(error.contains("the value of ${X} does not fit here"), "{error}");
        assert!(
            ["987654321", "99999999999", "8640000000", "hunter2"]
                .iter()
                .all(|part| !error.contains(part)),
            "{error}"
        );
    }
    for wrong in ["${", "${}", "${1X}", "${A-B}"] {
        let yaml = format!("strategy: fixed_window\ndefault: '{wrong}'\n");
        assert!(Config::parse_with(&yaml, Format::Yaml, &|_| Some("1".to_owned())).is_err());
    }
}

#[test]
fn a_byte_order_mark_and_crlf_change_nothing() {
    let text = "\u{feff}strategy: fixed_window\r\ndefault: 1 per hour\r\n";
    assert!(Config::parse(text, Format::Yaml).is_ok());
    let error = Config::parse("strategy: fixed_window\r\ndefault: 0 per hour\r\n", Format::Yaml);
    assert_eq!(error.unwrap_err().line(), Some(2));
}

#[test]
fn a_limiter_over_memory_is_refused_where_counts_are_to_be_shared() {
    let config = Config::parse(YAML, Format::Yaml).unwrap();
    let error = config.memory_limiter().unwrap_err();
    assert_eq!(error.field(), Some("redis_url"));
    let local = "strategy: fixed_window\ndefault: 2 per hour\nmemory: {capacity: 10}\n";
    let config = Config::parse(local, Format::Yaml).unwrap();
    let limiter = pollster::block_on(config.connect()).unwrap();
    assert!(pollster::block_on(limiter.check("x", "a")).unwrap().is_allowed());
    assert_eq!(config.memory_limiter().unwrap().store().capacity(), Some(10));
}

#[test]
fn an_empty_url_is_none_so_that_the_environment_can_decide() {
    let yaml = "strategy: fixed_window\nredis_url: ${REDIS_URL:-}\nredis: {prefix: x}\ndefault: 1 per hour\n";
    let with = |url: Option<&'static str>| {
        let config = Config::parse_with(yaml, Format::Yaml, &move |_| url.map(str::to_owned));
        config.unwrap().uses_redis()
    };
    assert_eq!([with(None), with(Some("")), with(Some("redis://h/"))], [false, false, true]);
}

#[test]
fn a_capacity_has_room_for_every_limit_of_a_key_by_either_way_to_a_limiter() {
    let yaml = "strategy: fixed_window\nmemory: {capacity: 1}\n\
                default: 5 per 1000d; 10 per 2000d; 100 per 3000d\n";
    let config = Config::parse(yaml, Format::Yaml).unwrap();
    let here = config.memory_limiter().unwrap();
    let any = pollster::block_on(config.connect()).unwrap();
    let ask = || pollster::block_on(any.check("x", "a")).unwrap().is_allowed();
    let admitted = (0..100).filter(|_| here.check("x", "a").is_allowed()).count();
    assert_eq!(admitted, 5);
    assert_eq!((0..100).filter(|_| ask()).count(), 5);
}

#[test]
fn the_schema_has_every_field_and_no_more() {
    let schema: serde_json::Value = serde_json::from_str(&gorl_config::json_schema()).unwrap();
    let fields = schema["properties"].as_object().unwrap();
    let mut names: Vec<&str> = fields.keys().map(String::as_str).collect();
    names.sort_unstable();
    // What an error lists is what the loader takes.
    let error = Config::parse("nothing_like_it: 1", Format::Yaml).unwrap_err().to_string();
    let (_, listed) = error.rsplit_once("allowed are ").unwrap();
    let mut listed: Vec<&str> = listed.split(", ").collect();
    listed.sort_unstable();
    assert_eq!(names, listed);
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["required"], serde_json::json!(["default"]));
}

#[test]
fn r105_two_per_second_is_two_in_each_second() {
    for (text, format) in [
        ("strategy: token_bucket\ndefault: {rate: 2 per second, burst: 1}\n", Format::Yaml),
        ("strategy = 'token_bucket'\ndefault = { rate = '2/s', burst = 1 }\n", Format::Toml),
        (
            r#"{"strategy":"token_bucket","default":{"limit":2,"window":"1s","burst":1}}"#,
            Format::Json,
        ),
    ] {
        let config = Config::parse(text, format).unwrap();
        let clock = Arc::new(ManualClock::new(1_800_000_000_000_000_000));
        let store = MemoryStore::builder().clock(Arc::clone(&clock)).build();
        let limiter = config.builder().build(store);
        let mut admitted = 0;
        for _ in 0..600 {
            let decision = pollster::block_on(limiter.check("x", "a")).unwrap();
            admitted += u32::from(decision.is_allowed());
            clock.advance(Duration::from_millis(100));
        }
        assert!((120..=121).contains(&admitted), "{text}: {admitted}");
    }
}

#[test]
fn r47_a_limit_of_zero_is_an_error_in_every_format_and_way() {
    for (text, format) in [
        ("strategy: fixed_window\ndefault: 0 per hour\n", Format::Yaml),
        ("strategy: fixed_window\ndefault: {limit: 0, window: 1h}\n", Format::Yaml),
        ("strategy = 'fixed_window'\ndefault = { rate = '0/h' }\n", Format::Toml),
        (r#"{"strategy":"fixed_window","default":{"limit":0,"window":"1h"}}"#, Format::Json),
    ] {
        let error = Config::parse(text, format).unwrap_err().to_string();
        assert!(error.contains("limit must be from 1 to 4294967295, got 0"), "{error}");
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_loader_panic(text in "\\PC{0,200}|[a-z:\\[\\]{}\"',&*<\\n 0-9.$-]{0,200}") {
        for format in [Format::Json, Format::Yaml, Format::Toml] {
            let _ = Config::parse_with(&text, format, &|name| Some(name.to_owned()));
        }
    }

    #[test]
    fn every_rate_in_range_is_read_exactly(limit in 1_u64..=u64::from(u32::MAX), ns in 1_u64..=315_360_000_000_000_000) {
        let window = gorl_config::format_duration(Duration::from_nanos(ns));
        let text = format!("{{\"strategy\": \"leaky_bucket\", \"default\": \"{limit} per {window}\"}}");
        let config = Config::parse(&text, Format::Json).unwrap();
        let expected = Policy::leaky_bucket(limit, Duration::from_nanos(ns)).unwrap();
        prop_assert_eq!(config.policies().default().get(""), Some(&expected));
    }
}
