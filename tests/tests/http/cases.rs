//! What holds in every framework: the reports, and what clients are told.

use std::net::Ipv4Addr;
use std::time::Duration;

use gorl::{MultiPolicy, Policy, ResourcePolicies};
use gorl_http::{BodyStyle, ClientIp, HeaderStyles, OnMissing, RequestKey};

use super::{Adaptor, Connection, Keyed, Response, Setup, ask};

/// Runs a case in every framework.
fn everywhere(case: impl Fn(Adaptor)) {
    for adaptor in Adaptor::ALL {
        println!("{adaptor:?}");
        case(adaptor);
    }
}

/// Runs a case that needs pages.
fn wherever_there_are_pages(case: impl Fn(Adaptor)) {
    for adaptor in Adaptor::WITH_PAGES {
        println!("{adaptor:?}");
        case(adaptor);
    }
}

fn statuses(responses: &[Response]) -> Vec<u16> {
    responses.iter().map(|response| response.status).collect()
}

/// So many admissions, and then denials.
fn admits(responses: &[Response], count: usize) {
    let expected: Vec<u16> =
        (0..responses.len()).map(|at| if at < count { 200 } else { 429 }).collect();
    assert_eq!(statuses(responses), expected);
}

#[test]
fn r31_a_wait_below_a_second_is_told_as_one() {
    everywhere(|adaptor| {
        let bucket = Policy::token_bucket(5, Duration::from_secs(1)).expect("a valid policy");
        let setup = Setup::of(bucket.with_burst(1).expect("a valid burst"));
        let server = adaptor.serve(&setup);
        assert_eq!(ask(server.address, "/", &[]).status, 200);
        let denied = ask(server.address, "/", &[]);
        assert_eq!((denied.status, denied.number("retry-after")), (429, 1));
        setup.advance(Duration::from_nanos(199_999_999));
        assert_eq!(ask(server.address, "/", &[]).status, 429);
        setup.advance(Duration::from_nanos(1));
        assert_eq!(ask(server.address, "/", &[]).status, 200);
    });
}

#[test]
fn r33_the_wait_is_what_is_left_of_the_window() {
    everywhere(|adaptor| {
        let setup = Setup::fixed(10);
        let server = adaptor.serve(&setup);
        for left in (0..10).rev() {
            let response = ask(server.address, "/", &[]);
            assert_eq!(response.status, 200);
            assert_eq!(response.number("ratelimit-remaining"), left);
            assert_eq!(response.field("retry-after"), None);
            setup.advance(Duration::from_secs(2));
        }
        let denied = ask(server.address, "/", &[]);
        assert_eq!(denied.status, 429);
        assert_eq!(denied.number("retry-after"), 40);
        assert_eq!(denied.number("ratelimit-limit"), 10);
        assert_eq!(denied.number("ratelimit-remaining"), 0);
        assert_eq!(denied.number("ratelimit-reset"), 40);
    });
}

#[test]
fn r39_preflights_pass_and_other_options_count() {
    everywhere(|adaptor| {
        let setup = Setup { skips_preflight: true, ..Setup::fixed(10) };
        let server = adaptor.serve(&setup);
        let mut connection = Connection::open(server.address);
        let origin: (&str, &[u8]) = ("origin", b"https://example.org");
        let wanted: (&str, &[u8]) = ("access-control-request-method", b"POST");
        for _ in 0..20 {
            let preflight = connection.ask("OPTIONS", "/", &[origin, wanted]);
            assert_ne!(preflight.status, 429);
            assert_eq!(preflight.field("ratelimit-limit"), None);
        }
        let plain = connection.ask("OPTIONS", "/", &[origin]);
        assert_eq!(plain.number("ratelimit-remaining"), 9);
        // Nor is another method a preflight for having the fields of one.
        let other = connection.ask("GET", "/", &[origin, wanted]);
        assert_eq!(other.number("ratelimit-remaining"), 8);
        let rest: Vec<_> = (0..10).map(|_| connection.ask("GET", "/", &[])).collect();
        admits(&rest, 8);
    });
}

#[test]
fn r93_a_report_is_believed_from_trusted_proxies_alone() {
    everywhere(|adaptor| {
        let behind = ClientIp::behind(["127.0.0.1"]).expect("a network");
        let server = adaptor.serve(&Setup::fixed(5).by(Keyed::Client(behind)));
        let forwarded = |at: usize| {
            let report = format!("198.51.100.{at}, 203.0.113.7");
            ask(server.address, "/", &[("x-forwarded-for", report.as_bytes())])
        };
        admits(&(0..20).map(forwarded).collect::<Vec<_>>(), 5);
        // Somebody who is no proxy is counted by himself, whatever he claims.
        let claims = |at: usize| {
            let report = format!("198.51.100.{at}");
            let mut connection = Connection::open_from(server.address, Ipv4Addr::new(127, 0, 0, 2));
            connection.ask("GET", "/", &[("x-forwarded-for", report.as_bytes())])
        };
        admits(&(0..20).map(claims).collect::<Vec<_>>(), 5);
        // And takes nothing from whom he claims to be.
        let honest = ask(server.address, "/", &[("x-forwarded-for", b"198.51.100.3")]);
        assert_eq!(honest.number("ratelimit-remaining"), 4);
    });
}

#[test]
fn r95_an_address_has_one_budget_whatever_its_ports() {
    everywhere(|adaptor| {
        let server = adaptor.serve(&Setup::fixed(5));
        admits(&(0..20).map(|_| ask(server.address, "/", &[])).collect::<Vec<_>>(), 5);
        let mut other = Connection::open_from(server.address, Ipv4Addr::new(127, 0, 0, 3));
        assert_eq!(other.ask("GET", "/", &[]).status, 200);
    });
}

#[test]
fn r97_a_network_of_version_6_has_one_budget() {
    everywhere(|adaptor| {
        let behind = ClientIp::behind(["127.0.0.0/8"]).expect("a network");
        let server = adaptor.serve(&Setup::fixed(5).by(Keyed::Client(behind)));
        let mut connection = Connection::open(server.address);
        let mut from =
            |report: String| connection.ask("GET", "/", &[("x-forwarded-for", report.as_bytes())]);
        let responses: Vec<_> =
            (0..1_000).map(|at| from(format!("2001:db8:0:1::{at:x}"))).collect();
        admits(&responses, 5);
        assert_eq!(from("2001:db8:0:2::1".to_owned()).status, 200);
        // An address of version 4 is the same in either form.
        let forms =
            ["203.0.113.9", "::ffff:203.0.113.9", "[::ffff:203.0.113.9]:80", "203.0.113.9:1"];
        let mapped: Vec<_> =
            forms.iter().cycle().take(8).map(|form| from((*form).to_owned())).collect();
        admits(&mapped, 5);
    });
}

#[test]
fn r101_a_page_has_one_budget_however_its_path_is_written() {
    everywhere(|adaptor| {
        let server = adaptor.serve(&Setup::fixed(3).by(Keyed::Path));
        let mut connection = Connection::open(server.address);
        let first: Vec<_> = (0..3).map(|_| connection.ask("GET", "/login", &[])).collect();
        admits(&first, 3);
        for path in
            ["/login", "//login", "/login/", "/./login", "/%6cogin", "/login?x=1", "/a/../login"]
        {
            assert_eq!(connection.ask("GET", path, &[]).status, 429, "{path}");
        }
        assert_eq!(connection.ask("GET", "/", &[]).status, 200);
    });
}

#[test]
fn a_route_has_one_budget_for_all_its_paths() {
    for adaptor in [Adaptor::Axum, Adaptor::Actix] {
        let server = adaptor.serve(&Setup::fixed(3).by(Keyed::RouteAndPeer));
        let users: Vec<_> =
            (0..6).map(|at| ask(server.address, &format!("/users/{at}"), &[])).collect();
        admits(&users, 3);
        assert_eq!(ask(server.address, "/login", &[]).status, 200);
    }
}

#[test]
fn r103_connections_and_workers_share_the_budget() {
    everywhere(|adaptor| {
        let setup = Setup::fixed(5);
        let server = adaptor.serve(&setup);
        admits(&(0..100).map(|_| ask(server.address, "/", &[])).collect::<Vec<_>>(), 5);
        setup.advance(Duration::from_secs(60));
        let mut connection = Connection::open(server.address);
        admits(&(0..100).map(|_| connection.ask("GET", "/", &[])).collect::<Vec<_>>(), 5);
    });
}

#[test]
fn callers_with_keys_of_their_own_share_nothing_and_who_has_none_is_told() {
    everywhere(|adaptor| {
        let server = adaptor.serve(&Setup::fixed(2).by(Keyed::ApiKey));
        for key in ["one", "two"] {
            let asks = (0..4).map(|_| ask(server.address, "/", &[("x-api-key", key.as_bytes())]));
            admits(&asks.collect::<Vec<_>>(), 2);
        }
        for _ in 0..4 {
            let response = ask(server.address, "/", &[]);
            assert_eq!(response.status, 400);
            assert!(response.body.contains("x-api-key"), "{}", response.body);
        }
        let twice: [(&str, &[u8]); 2] = [("x-api-key", b"three"), ("x-api-key", b"four")];
        assert_eq!(ask(server.address, "/", &twice).status, 400);
    });
}

#[test]
fn what_becomes_of_a_request_without_a_key_is_chosen() {
    everywhere(|adaptor| {
        let skipping = Setup { on_missing: OnMissing::Skip, ..Setup::fixed(1).by(Keyed::ApiKey) };
        let server = adaptor.serve(&skipping);
        for _ in 0..3 {
            let response = ask(server.address, "/", &[]);
            assert_eq!((response.status, response.field("ratelimit-limit")), (200, None));
        }
        let fallback = OnMissing::Fallback(RequestKey::of("anonymous"));
        let counting = Setup { on_missing: fallback, ..Setup::fixed(1).by(Keyed::ApiKey) };
        let server = adaptor.serve(&counting);
        admits(&(0..3).map(|_| ask(server.address, "/", &[])).collect::<Vec<_>>(), 1);
        // Nobody who has such a key is among them.
        assert_eq!(ask(server.address, "/", &[("x-api-key", b"anonymous")]).status, 200);
    });
}

#[test]
fn a_refusal_says_why_in_the_style_that_was_chosen() {
    wherever_there_are_pages(|adaptor| {
        for (body, content_type) in [
            (BodyStyle::Problem, Some("application/problem+json")),
            (BodyStyle::Json, Some("application/json")),
            (BodyStyle::Empty, None),
        ] {
            let setup = Setup { body, ..Setup::fixed(1) };
            let server = adaptor.serve(&setup);
            assert_eq!(ask(server.address, "/", &[]).body, "hello");
            let denied = ask(server.address, "/", &[]);
            assert_eq!(denied.status, 429);
            assert_eq!(denied.field("content-type"), content_type);
            if body == BodyStyle::Empty {
                assert_eq!(denied.body, "");
                continue;
            }
            let told: serde_json::Value = serde_json::from_str(&denied.body).expect("JSON");
            assert_eq!(told["retry_after"], 60);
            if body == BodyStyle::Problem {
                assert_eq!(told["status"], 429);
                assert_eq!(told["violated-policies"], serde_json::json!(["test"]));
                let kind = told["type"].as_str().expect("a type");
                assert!(kind.ends_with("#quota-exceeded"), "{kind}");
            }
        }
    });
}

#[test]
fn every_style_of_fields_tells_the_same() {
    everywhere(|adaptor| {
        let all = HeaderStyles::PLAIN.and(HeaderStyles::PREFIXED).and(HeaderStyles::STRUCTURED);
        let mut setup = Setup { styles: all, ..Setup::fixed(10) };
        let day = Policy::fixed_window(100, Duration::from_secs(86_400)).expect("a valid policy");
        setup.policies.push(("day", day));
        let server = adaptor.serve(&setup);
        let response = ask(server.address, "/", &[]);
        for prefix in ["", "x-"] {
            assert_eq!(response.number(&format!("{prefix}ratelimit-limit")), 10);
            assert_eq!(response.number(&format!("{prefix}ratelimit-remaining")), 9);
            assert_eq!(response.number(&format!("{prefix}ratelimit-reset")), 60);
        }
        let policies = response.field("ratelimit-policy");
        assert_eq!(policies, Some(r#""test";q=10;w=60, "day";q=100;w=86400"#));
        let told = response.field("ratelimit").expect("a field");
        assert!(told.starts_with(r#""test";r=9;t=60, "day";r=99;t="#), "{told}");
        let none = adaptor.serve(&Setup { styles: HeaderStyles::NONE, ..Setup::fixed(1) });
        assert!(ask(none.address, "/", &[]).fields.iter().all(|(name, _)| !name.contains("limit")));
        let denied = ask(none.address, "/", &[]);
        assert_eq!((denied.status, denied.number("retry-after")), (429, 60));
        assert_eq!(denied.field("ratelimit-limit"), None);
    });
}

#[test]
fn of_several_limits_all_admit_or_none_is_charged() {
    everywhere(|adaptor| {
        let mut setup = Setup::fixed(5);
        let day = Policy::fixed_window(7, Duration::from_secs(86_400)).expect("a valid policy");
        setup.policies.push(("day", day));
        let server = adaptor.serve(&setup);
        admits(&(0..9).map(|_| ask(server.address, "/", &[])).collect::<Vec<_>>(), 5);
        // What the minute denied cost nothing of the day, which has two left.
        setup.advance(Duration::from_secs(60));
        let next: Vec<_> = (0..4).map(|_| ask(server.address, "/", &[])).collect();
        admits(&next, 2);
        // The day denies now, and its wait is told.
        assert!(next[3].number("retry-after") > 60);
        assert_eq!(next[3].number("ratelimit-limit"), 7);
    });
}

#[test]
fn only_what_is_to_be_charged_stays_charged() {
    wherever_there_are_pages(|adaptor| {
        let failures = |status: u16| status == 401;
        let setup = Setup { charge_if: Some(failures), ..Setup::fixed(3) };
        let server = adaptor.serve(&setup);
        for _ in 0..10 {
            let response = ask(server.address, "/status/200", &[]);
            assert_eq!((response.status, response.number("ratelimit-remaining")), (200, 3));
        }
        for left in [2, 1, 0] {
            let response = ask(server.address, "/status/401", &[]);
            assert_eq!((response.status, response.number("ratelimit-remaining")), (401, left));
        }
        assert_eq!(ask(server.address, "/status/200", &[]).status, 429);
        let refunds = |status: u16| status < 500;
        let server = adaptor.serve(&Setup { charge_if: Some(refunds), ..Setup::fixed(1) });
        for _ in 0..5 {
            assert_eq!(ask(server.address, "/status/503", &[]).status, 503);
        }
        assert_eq!(ask(server.address, "/", &[]).status, 200);
        assert_eq!(ask(server.address, "/", &[]).status, 429);
    });
}

#[test]
fn a_limit_in_the_shadow_counts_and_denies_nobody() {
    everywhere(|adaptor| {
        let server = adaptor.serve(&Setup { is_shadow: true, ..Setup::fixed(1) });
        for _ in 0..5 {
            let response = ask(server.address, "/", &[]);
            assert_eq!((response.status, response.field("ratelimit-limit")), (200, None));
        }
    });
}

#[test]
fn some_paths_and_some_clients_are_not_limited() {
    everywhere(|adaptor| {
        let setup = Setup {
            skipped_paths: vec!["/status/204", "/users/7"],
            skipped_clients: vec!["127.0.0.4/30"],
            ..Setup::fixed(1)
        };
        let server = adaptor.serve(&setup);
        for _ in 0..3 {
            assert_eq!(ask(server.address, "/users/7", &[]).status, 200);
            let mut listed = Connection::open_from(server.address, Ipv4Addr::new(127, 0, 0, 5));
            assert_eq!(listed.ask("GET", "/", &[]).status, 200);
        }
        admits(&(0..3).map(|_| ask(server.address, "/", &[])).collect::<Vec<_>>(), 1);
    });
}

#[test]
fn one_key_for_everybody_is_one_budget() {
    everywhere(|adaptor| {
        let server = adaptor.serve(&Setup::fixed(4).by(Keyed::Everybody));
        let from = |at: u8| {
            let from = Ipv4Addr::new(127, 0, 1, at);
            Connection::open_from(server.address, from).ask("GET", "/", &[])
        };
        admits(&(1..8).map(from).collect::<Vec<_>>(), 4);
    });
}

#[test]
fn each_resource_has_its_policies_and_the_tightest_of_them_is_told() {
    let policy = |limit, seconds| {
        Policy::fixed_window(limit, Duration::from_secs(seconds)).expect("a valid policy")
    };
    let login = MultiPolicy::named("minute", policy(2, 60))
        .and_then(|one| one.and("day", policy(3, 86_400)));
    let resources =
        ResourcePolicies::new(policy(4, 60)).resource("/login", login.expect("two names"));
    wherever_there_are_pages(|adaptor| {
        let mut setup = Setup::fixed(1);
        setup.resources = Some(resources.clone());
        setup.styles = HeaderStyles::PLAIN.and(HeaderStyles::STRUCTURED);
        let server = adaptor.serve(&setup);
        let ask = |path: &str| ask(server.address, path, &[]);
        let first = ask("/login");
        assert_eq!((first.number("ratelimit-limit"), first.number("ratelimit-remaining")), (2, 1));
        let items = first.field("ratelimit").expect("a field");
        assert!(items.contains(r#""minute";r=1"#) && items.contains(r#""day";r=2"#), "{items}");
        assert_ne!(ask("//login").status, 429);
        let denied = ask("/login/");
        assert_eq!((denied.status, denied.number("retry-after")), (429, 60));
        assert!(denied.field("ratelimit").expect("a field").contains(r#""day";r=1"#));
        // Another page has the default, and a count of its own.
        admits(&(0..6).map(|_| ask("/")).collect::<Vec<_>>(), 4);
        setup.advance(Duration::from_secs(60));
        assert_eq!(ask("/login").status, 200);
        let denied = ask("/login");
        assert_eq!(denied.status, 429);
        assert!(denied.number("retry-after") > 60, "the day is what denies");
    });
}
