//! The demo service: limited by its file, measured, reloaded, and served by a local fallback while Redis is gone.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use gorl_demo::Demo;
use gorl_tests::{RedisServer, Scratch, runtime};
use tokio::net::TcpListener;

/// Far longer than any step takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// The limits of the demo's own file, of a Redis of the test's own, and one more login.
fn limits(url: &str, login: &str) -> String {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/demo/limits.yaml");
    let text = std::fs::read_to_string(file).expect("the demo's limits");
    assert!(text.contains("login: 5 per minute") && text.contains("${REDIS_URL:-}"));
    let text = text.replace("command_timeout: 50ms", "command_timeout: 5s");
    text.replace("login: 5 per minute", login).replace("${REDIS_URL:-}", url)
}

/// The status and the text of a page.
fn ask(address: SocketAddr, request: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).expect("the service listens");
    write!(stream, "{request} HTTP/1.1\r\nhost: demo\r\nconnection: close\r\n\r\n").expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.expect("a status"), answer)
}

/// The value of a series, zero if there is none.
fn scraped(address: SocketAddr, series: &str) -> f64 {
    let (_, text) = ask(address, "GET /metrics");
    let line = text.lines().find_map(|line| line.strip_prefix(series));
    line.map_or(0.0, |value| value.trim().parse().expect("a number"))
}

/// Asks until something is so.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "{what}");
        std::thread::yield_now();
    }
}

#[test]
fn it_serves_through_a_reload_and_the_loss_of_redis() {
    let mut redis = RedisServer::start();
    let folder = Scratch::new();
    let file = folder.file("limits.yaml", limits(&redis.url(), "login: 5 per minute"));
    let runtime = runtime();
    let demo = runtime.block_on(Demo::new(file.as_ref())).expect("the demo starts");
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("a free port");
    let address = listener.local_addr().expect("an address");
    let reloader = demo.reloader().clone();
    let serving = runtime.spawn(async move { demo.serve(listener).await });

    let log_in = || ask(address, "POST /login").0;
    let statuses: Vec<_> = (0..6).map(|_| log_in()).collect();
    assert_eq!(statuses, [200, 200, 200, 200, 200, 429]);
    let (_, page) = ask(address, "GET /search");
    assert!(
        page.contains(r#"ratelimit: "second";r=39;"#) && page.contains(r#""hour";r=9999;"#),
        "{page}"
    );
    assert_eq!(ask(address, "GET /").0, 200);

    // One more is allowed, and what was counted stays.
    let _ = folder.file("limits.yaml", limits(&redis.url(), "login: 6 per minute"));
    until("the file is followed", || reloader.config().policies().of("login").capacity() == 6);
    assert_eq!([log_in(), log_in()], [200, 429]);
    let _ = folder.file("limits.yaml", "nonsense");
    until("the error is noticed", || reloader.last_error().is_some());
    assert_eq!(log_in(), 429);

    let of = |outcome: &str, origin: &str| {
        let labels = format!(r#"resource="login",outcome="{outcome}",origin="{origin}""#);
        scraped(address, &format!("gorl_decisions_total{{{labels}}}"))
    };
    assert!((of("allowed", "store") - 6.0).abs() < 0.5);

    // Half of six while this process counts alone; the cache of denials may know the address still.
    redis.stop();
    until("the local limiter answers", || {
        let _ = log_in();
        of("denied", "local") > 0.5
    });
    assert!(of("allowed", "local") < 3.5);
    until("the breaker opens", || {
        let _ = log_in();
        scraped(address, r#"gorl_breaker_state{resource="default"}"#) > 0.5
    });

    redis.restart();
    let before = of("allowed", "store");
    until("redis is found again", || {
        let _ = log_in();
        of("allowed", "store") > before
    });
    let (_, top) = ask(address, "GET /top");
    assert!(top.contains("  login  #"), "{top}");
    serving.abort();
}
