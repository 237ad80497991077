//! What `gorl replay --config` promises, seen from outside.

mod support;

use serde_json::{Value, json};
use support::{file, gorl, line};

const LIMITS: &str = "
strategy: fixed_window
default: 3 per minute
redis_url: redis://nowhere.invalid/0
resources:
  export: 1 per day
  login: 1 per minute
  search:
    limits:
      - {name: second, rate: 2 per second}
      - {name: hour, rate: 3 per hour}
routes:
  POST /login: login
  /search/{*rest}: search
  /export: export
";

fn get(second: u32, ip: &str, path: &str) -> String {
    line(second, ip, "-", path)
}

/// Two logins, a look at the login's page, and searches: three at 0, two at 1, one by another.
fn traffic() -> String {
    let post = get(0, "h", "/login").replace("GET", "POST");
    let first = post.repeat(2) + &get(0, "h", "/login") + &get(0, "h", "/search/a?q=1").repeat(3);
    first + &get(1, "h", "/search") + &get(1, "h", "/search/b") + &get(2, "g", "/search/a")
}

fn report(config: &str, args: &[&str], input: &str) -> Value {
    let config = file("limits.yaml", config);
    let all = [&["replay", "--json", "--config", &config], args].concat();
    let ran = gorl(&all, input);
    assert_eq!((ran.status, ran.stderr.as_str()), (Some(0), ""));
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn routes_choose_the_limits_of_each_request() {
    let report = report(LIMITS, &["-"], &traffic());
    let of = |at: usize, names: &[&str]| -> Vec<Value> {
        names.iter().map(|name| report["resources"][at][*name].clone()).collect()
    };
    let names = ["resource", "requests", "denied", "keys", "keys_limited", "denied_wait_p99_ns"];
    let second = 1_000_000_000_u64;
    // By name, and the rest at the end.
    assert_eq!(
        of(0, &names),
        [json!("export"), 0.into(), 0.into(), 0.into(), 0.into(), json!(null)]
    );
    let login = [json!("login"), 2.into(), 1.into(), 1.into(), 1.into(), (60 * second).into()];
    assert_eq!(of(1, &names), login);
    // The third search at 0 is denied by the second and spends nothing of the hour; the hour then has its
    // three by the first at 1, and denies the next until the hour ends.
    let wait = 3_599 * second;
    assert_eq!(
        of(2, &names),
        [json!("search"), 6.into(), 2.into(), 2.into(), 1.into(), wait.into()]
    );
    assert_eq!(of(2, &["denied_wait_p50_ns"]), [second]);
    assert_eq!(of(3, &names[..4]), [json!(null), 1.into(), 0.into(), 1.into()]);
    for (at, name) in ["second", "hour"].into_iter().enumerate() {
        let limit = &report["resources"][2]["limits"][at];
        assert_eq!(limit["name"], name);
        assert_eq!((&limit["binding"], &limit["denied"]), (&json!(1), &json!(1)), "{name}");
    }
    assert_eq!(report["top_denied"][0]["resource"], "search");
    assert_eq!(report["top_denied"][0]["denied"], 2);
}

#[test]
fn the_table_has_each_resource_and_its_limits() {
    let config = file("limits.yaml", LIMITS);
    let ran = gorl(&["replay", "--config", &config, "-"], traffic());
    let expected = format!(
        "\
9 requests by 4 keys (ip on each resource), 2024-03-01 00:00:00 to 2024-03-01 00:00:02 UTC
limits of {config}

resource                           requests  denied         binds  keys limited  of  wait p50  wait p99
export                                    0       0     0%                    0   0         -         -
  1 per 1d (fixed_window)
login                                     2       1  50.0%                    1   1    1m 00s    1m 00s
  1 per 1m (fixed_window)
search                                    6       2  33.3%                    1   2       1 s   59m 59s
  second: 2 per 1s (fixed_window)                 1  16.7%      1             1
  hour: 3 per 1h (fixed_window)                   1  16.7%      1             1
any other                                 1       0     0%                    0   1         -         -
  3 per 1m (fixed_window)

Most denied keys
key          requests  denied
h on search         5       2
h on login          2       1

No request was for export.
The file would have denied 3 of 9 requests (33.3%).
"
    );
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(0), expected.as_str()));
}

#[test]
fn the_resource_can_be_a_field_of_the_log() {
    let log = concat!(
        r#"{"ts":1,"ip":"h","op":"login"}"#,
        "\n",
        r#"{"ts":2,"ip":"h","op":"login"}"#,
        "\n",
        r#"{"ts":2,"ip":"h","op":"home"}"#,
        "\n",
        r#"{"ts":2,"ip":"h","op":"help"}"#,
    );
    let report = report(LIMITS, &["--resource", "op", "-"], log);
    assert_eq!(report["resources"][1]["denied"], 1);
    // Two resources that the file does not name, each with a count of its own.
    assert_eq!(
        (&report["resources"][3]["requests"], &report["resources"][3]["keys"]),
        (&2.into(), &2.into())
    );
}

#[test]
fn a_file_of_a_default_alone_holds_everything_by_it() {
    let report = report("strategy: fixed_window\ndefault: 3 per minute\n", &["-"], &traffic());
    let all = &report["resources"][0];
    assert_eq!((&all["requests"], &all["denied"], &all["keys"]), (&9.into(), &5.into(), &2.into()));
    assert_eq!(report["top_denied"][0].get("resource"), None);
    let config = file("default.yaml", "strategy: fixed_window\ndefault: 3 per minute\n");
    let ran = gorl(&["replay", "--config", &config, "-"], traffic());
    assert!(ran.stdout.starts_with("9 requests by 2 keys (ip), "), "{}", ran.stdout);
}

#[test]
fn a_limit_that_never_denies_beside_one_that_does_is_told() {
    let wide = LIMITS.replace("rate: 3 per hour", "rate: 300 per hour");
    let report = report(&wide, &["-"], &traffic());
    let told = "Of search never denies hour: 300 per 1h (fixed_window).";
    assert!(report["advice"].as_array().unwrap().contains(&json!(told)), "{report}");
}

#[test]
fn the_page_has_the_same_and_keeps_hostile_names_harmless() {
    // The quotes of a name, and no route by it.
    let (named, _) = LIMITS.split_once("routes:").unwrap();
    let named = named.replace("login", "\"<script>\"");
    let page = support::scratch("file.html");
    let args = ["--resource", "path", "--html", page.to_str().unwrap(), "-"];
    let log = get(0, "h", "<script>").repeat(2) + &get(0, "<script>", "search").repeat(4);
    let report = report(&named, &args, &log);
    assert_eq!(report["resources"][0]["denied"], 1);
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.starts_with("<!doctype html>") && !html.contains("<script"), "{html}");
    for part in [
        "<strong>&lt;script&gt;</strong></th><td>2</td><td>1 <small>50.0%</small>",
        "second: 2 per 1s (fixed_window)</th><td></td><td>2 <small>50.0%</small></td><td>2</td><td>1</td>",
        "&lt;script&gt; on search",
    ] {
        assert!(html.contains(part), "{part} in {html}");
    }
    for tag in ["section", "table", "tr", "td", "th", "div", "main", "ul", "li"] {
        let opened =
            html.matches(&format!("<{tag}>")).count() + html.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, html.matches(&format!("</{tag}>")).count(), "{tag}");
    }
}

#[test]
fn what_cannot_be_replayed_says_what_to_write() {
    let bad = file("bad.yaml", LIMITS.replace("login: 1", "login: one"));
    let without = file("without.yaml", LIMITS.split("routes:").next().unwrap());
    let good = file("good.yaml", LIMITS);
    for (args, says) in [
        (&["--config", &*bad][..], "line 7"),
        (&["--config", &without], "no routes say which requests are for `export`"),
        (&["--config", "/nowhere.yaml"], "/nowhere.yaml"),
        (&["--config", &good, "--limit", "5"], "cannot be used with"),
        (
            &["--config", &good, "--html", &good],
            "is the configuration to read and would be overwritten",
        ),
        (&["--config", &good, "--key", "x-api-key"], "no request has the field `x-api-key`"),
    ] {
        let ran = gorl(&[&["replay", "-"], args].concat(), traffic());
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{args:?}");
        assert!(ran.stderr.starts_with("error: ") && ran.stderr.contains(says), "{}", ran.stderr);
    }
}
