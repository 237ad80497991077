//! The connection: deadlines, errors that are typed, and recovery without being asked.

use std::error::Error;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use gorl::{AsyncLimiter, RedisStore, RedisStoreBuilder};
use gorl_core::{
    Action, Key, KeyRef, Policy, Request, Store, StoreError, StoreErrorKind, Strategy,
};
use gorl_tests::{Proxy, RedisServer, runtime};
use redis::Commands;
use tokio::runtime::Runtime;

use super::{DAY, policy};

/// How long a recovery may take before the test calls it none.
const RECOVERY: Duration = Duration::from_secs(10);

fn connect(runtime: &Runtime, url: &str) -> Result<RedisStore, StoreError> {
    runtime.block_on(RedisStore::connect(url))
}

fn limiter(runtime: &Runtime, server: &RedisServer) -> AsyncLimiter {
    let policy = policy(Strategy::LeakyBucket, 100_000, 3_650 * DAY);
    let builder = RedisStore::builder(server.url()).command_timeout(Duration::from_secs(5));
    let store = runtime.block_on(builder.connect()).expect("the server serves");
    bare(policy, store)
}

/// A limiter that asks the store whatever came of it before: it is the store that is looked at here.
fn bare(policy: Policy, store: RedisStore) -> AsyncLimiter {
    AsyncLimiter::builder(policy).without_breaker().build(store)
}

/// Asks until there is an answer; the number of errors before it.
fn errors_until_answered(runtime: &Runtime, limiter: &AsyncLimiter) -> usize {
    let started = Instant::now();
    let mut errors = 0;
    while let Err(error) = runtime.block_on(limiter.peek("k")) {
        assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error:?}");
        assert!(started.elapsed() < RECOVERY, "no recovery after {errors} errors: {error:?}");
        errors += 1;
    }
    errors
}

#[test]
fn building_outside_of_a_runtime_is_an_error() {
    let error = pollster::block_on(RedisStore::connect("redis://127.0.0.1/")).expect_err("none");
    assert_eq!(error.kind(), StoreErrorKind::Other);
    assert!(error.source().expect("a cause").to_string().contains("tokio runtime"));
}

#[test]
fn requests_may_come_from_outside_of_the_runtime() {
    let (server, runtime) = (RedisServer::start(), runtime());
    let limiter = limiter(&runtime, &server);
    assert!(pollster::block_on(limiter.check("k")).expect("the server answers").is_allowed());
}

#[test]
fn a_url_that_is_none_is_an_error_that_does_not_repeat_it() {
    let runtime = runtime();
    for url in ["", "http://u:secret@h/", "redis://u:secret@:x/", "redis+cluster://u:secret@h/3"] {
        let error = connect(&runtime, url).expect_err("no server");
        let text = format!("{error} {error:?} {}", error.source().expect("a cause"));
        assert!(!text.contains("secret"), "{text}");
        assert_eq!(error.kind(), StoreErrorKind::Other, "{url}");
    }
    let long = RedisStore::builder("redis://127.0.0.1/").prefix("p".repeat(257));
    let error = runtime.block_on(long.connect()).expect_err("too long");
    assert!(error.source().expect("a cause").to_string().contains("prefix"));
}

#[test]
fn a_refused_connection_is_unavailable_at_once() {
    let (mut server, runtime) = (RedisServer::start(), runtime());
    server.stop();
    let error = connect(&runtime, &server.url()).expect_err("nobody listens");
    assert_eq!(error.kind(), StoreErrorKind::Unavailable);
}

#[test]
fn a_listener_that_never_answers_costs_the_connect_deadline() {
    let runtime = runtime();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let port = listener.local_addr().expect("an address").port();
    let deadline = Duration::from_millis(100);
    let builder =
        RedisStore::builder(format!("redis://127.0.0.1:{port}/")).connect_timeout(deadline);
    let started = Instant::now();
    let error = runtime.block_on(builder.connect()).expect_err("nobody answers");
    assert_eq!(error.kind(), StoreErrorKind::Timeout);
    assert!(started.elapsed() >= deadline && started.elapsed() < RECOVERY);
}

#[test]
fn a_frozen_server_costs_the_command_deadline_and_late_replies_are_nobodys() {
    let (server, runtime) = (RedisServer::start(), runtime());
    let deadline = Duration::from_millis(100);
    let builder = RedisStore::builder(server.url()).command_timeout(deadline);
    let store = runtime.block_on(builder.connect()).expect("the server serves");
    let limiter = bare(policy(Strategy::LeakyBucket, 100, 3_650 * DAY), store);
    assert!(runtime.block_on(limiter.check("k")).expect("it answers").is_allowed());
    server.freeze();
    let started = Instant::now();
    let asked: Vec<_> = (0..20)
        .map(|_| {
            let limiter = limiter.clone();
            runtime.spawn(async move { limiter.check("k").await })
        })
        .collect();
    for task in asked {
        let error = runtime.block_on(task).expect("no panic").expect_err("no answer");
        assert_eq!(error.kind(), StoreErrorKind::Timeout);
    }
    assert!(started.elapsed() >= deadline && started.elapsed() < RECOVERY);
    server.thaw();
    // What was asked meanwhile may have been counted, once each; its answers reach nobody else.
    let other = runtime.block_on(limiter.check_n("other", 7)).expect("the server answers");
    assert_eq!(other.remaining(), 93);
    let left = runtime.block_on(limiter.peek("k")).expect("the server answers").remaining();
    assert!((79..=99).contains(&left), "{left}");
}

#[test]
fn a_log_in_that_is_refused_is_unavailable() {
    let runtime = runtime();
    let server = RedisServer::start_with(&["--requirepass", "hunter2"]);
    let error = connect(&runtime, &server.url()).expect_err("no password");
    assert_eq!(error.kind(), StoreErrorKind::Unavailable);
    let wrong = format!("redis://:hunter3@127.0.0.1:{}/", server.port());
    let error = connect(&runtime, &wrong).expect_err("a wrong password");
    assert_eq!(error.kind(), StoreErrorKind::Unavailable);
    assert!(!format!("{error:?}").contains("hunter3"));
    let right = format!("redis://:hunter2@127.0.0.1:{}/5", server.port());
    assert!(connect(&runtime, &right).is_ok());
}

#[test]
fn r62_a_server_that_forgot_the_scripts_counts_each_request_once() {
    let (mut server, runtime) = (RedisServer::start(), runtime());
    let limiter = limiter(&runtime, &server);
    for round in 0..2 {
        assert!(runtime.block_on(limiter.check("k")).expect("it answers").is_allowed());
        let before = runtime.block_on(limiter.peek("k")).expect("it answers").remaining();
        let () = redis::cmd("SCRIPT").arg("FLUSH").query(&mut server.look()).expect("it answers");
        let asked: Vec<_> = (0..100)
            .map(|_| {
                let limiter = limiter.clone();
                runtime.spawn(async move { limiter.check("k").await })
            })
            .collect();
        for task in asked {
            let answer = runtime.block_on(task).expect("no panic");
            assert!(answer.expect("the server answers").is_allowed());
        }
        let after = runtime.block_on(limiter.peek("k")).expect("it answers").remaining();
        assert_eq!(before - after, 100, "round {round}");
        server.restart();
        errors_until_answered(&runtime, &limiter);
    }
}

#[test]
fn a_killed_connection_is_replaced() {
    let (server, runtime) = (RedisServer::start(), runtime());
    let limiter = limiter(&runtime, &server);
    assert!(runtime.block_on(limiter.check("k")).expect("it answers").is_allowed());
    for _ in 0..20 {
        let mut look = server.look();
        let kill = redis::cmd("CLIENT").arg("KILL").arg("TYPE").arg("normal").take();
        let killed: usize = kill.query(&mut look).expect("the server answers");
        assert_eq!(killed, 1, "the store has one connection");
        let errors = errors_until_answered(&runtime, &limiter);
        assert!(errors <= 1, "{errors} requests failed for one lost connection");
    }
    let counted: String = server.look().get("gorl:lb1:k").expect("the server answers");
    assert!(counted.ends_with(" 1 0"), "{counted}");
}

#[test]
fn a_client_of_the_callers_own_serves_as_well() {
    let (server, runtime) = (RedisServer::start(), runtime());
    // It speaks RESP2, which brings no word of a lost connection.
    let client = redis::Client::open(server.url()).expect("a valid URL");
    let builder = RedisStoreBuilder::from_client(client).command_timeout(Duration::from_secs(5));
    let store = runtime.block_on(builder.connect()).expect("the server serves");
    let limiter = bare(policy(Strategy::LeakyBucket, 2, 3_650 * DAY), store);
    for allowed in [true, true, false] {
        let decision = runtime.block_on(limiter.check("k")).expect("it answers");
        assert_eq!(decision.is_allowed(), allowed);
    }
    let kill = redis::cmd("CLIENT").arg("KILL").arg("TYPE").arg("normal").take();
    let killed: usize = kill.query(&mut server.look()).expect("the server answers");
    assert_eq!(killed, 1);
    let errors = errors_until_answered(&runtime, &limiter);
    assert!(errors <= 1, "{errors} requests failed for one lost connection");
    runtime.block_on(limiter.reset("k")).expect("it answers");
}

#[test]
fn a_server_that_comes_back_is_found_at_once_and_not_sought_all_the_time() {
    let (mut server, runtime) = (RedisServer::start(), runtime());
    let limiter = limiter(&runtime, &server);
    assert!(runtime.block_on(limiter.check("k")).expect("it answers").is_allowed());
    server.stop();
    // In the server's place somebody who counts, and takes no connection.
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, server.port())).expect("a free port");
    let came = Arc::new(AtomicUsize::new(0));
    let counting = Arc::clone(&came);
    listener.set_nonblocking(true).expect("it can");
    let ended = Arc::new(AtomicBool::new(false));
    let until = Arc::clone(&ended);
    let counter = std::thread::spawn(move || {
        while !until.load(Ordering::Relaxed) {
            match listener.accept() {
                Ok(_) => counting.fetch_add(1, Ordering::Relaxed),
                Err(_) => {
                    std::thread::yield_now();
                    0
                }
            };
        }
    });
    let (started, mut asked) = (Instant::now(), 0);
    while started.elapsed() < Duration::from_secs(1) {
        let error = runtime.block_on(limiter.check("k")).expect_err("nobody serves");
        assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error:?}");
        asked += 1;
    }
    ended.store(true, Ordering::Relaxed);
    counter.join().expect("no panic");
    let came = came.load(Ordering::Relaxed);
    assert!(asked > 1_000 && (3..=30).contains(&came), "{asked} requests, {came} connections");
    server.restart();
    let started = Instant::now();
    errors_until_answered(&runtime, &limiter);
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
}

#[test]
fn a_connection_that_went_silent_is_given_up() {
    let (server, runtime) = (RedisServer::start(), runtime());
    let proxy = Proxy::start(server.port());
    let builder = RedisStore::builder(format!("redis://127.0.0.1:{}/", proxy.port()))
        .connect_timeout(Duration::from_millis(200))
        .command_timeout(Duration::from_millis(100));
    let store = runtime.block_on(builder.connect()).expect("the server serves");
    let limiter = bare(policy(Strategy::LeakyBucket, 100, 3_650 * DAY), store);
    assert!(runtime.block_on(limiter.check("k")).expect("it answers").is_allowed());
    // Nobody closes the connection; what is sent on it arrives nowhere.
    proxy.lose_the_first(1);
    let started = Instant::now();
    let mut errors = 0;
    while let Err(error) = runtime.block_on(limiter.check("k")) {
        assert_eq!(error.kind(), StoreErrorKind::Timeout, "{error:?}");
        assert!(started.elapsed() < RECOVERY, "the connection was kept");
        errors += 1;
    }
    assert!(errors > 0, "the connection was not silent");
}

#[test]
fn the_commands_that_the_book_grants_are_enough() {
    let runtime = runtime();
    let book = include_str!("../../../docs/src/redis-production.md");
    let grant = book.lines().find(|line| line.starts_with("ACL SETUSER")).expect("in the book");
    let server = RedisServer::start();
    let mut words = grant.split(' ');
    let mut setuser = redis::cmd(words.next().expect("a command"));
    words.for_each(|word| {
        setuser.arg(word);
    });
    let () = setuser.query(&mut server.look()).expect("the server takes it");
    let url = format!("redis://limiter:PASSWORD@127.0.0.1:{}/", server.port());
    let builder = RedisStore::builder(&url).command_timeout(Duration::from_secs(5));
    let store = runtime.block_on(builder.connect()).expect("the user is let in");
    let limiter = bare(policy(Strategy::TokenBucket, 2, 3_650 * DAY), store);
    for allowed in [true, true, false] {
        let decision = runtime.block_on(limiter.check("k")).expect("it answers");
        assert_eq!(decision.is_allowed(), allowed);
    }
    let () = server.look().persist("gorl:tb1:k").expect("the server answers");
    assert!(!runtime.block_on(limiter.check("k")).expect("it answers").is_allowed());
    assert!(!runtime.block_on(limiter.peek("k")).expect("it answers").is_allowed());
    runtime.block_on(limiter.give_back("k", 1)).expect("given back");
    runtime.block_on(limiter.give_back("k", 5)).expect("given back");
    runtime.block_on(limiter.reset("k")).expect("reset");
    // All or nothing, with a key that is new, one that is not, and one that only is looked at.
    let store = RedisStore::builder(url).connect();
    let store = runtime.block_on(store).expect("the user is let in");
    let (old, new) = ("old".parts(), "new".parts());
    let policy = limiter.policy();
    let ask = |parts, action| Request { policy: &policy, key: KeyRef::new(parts), cost: 1, action };
    for (first, all) in [(Action::Take, true), (Action::Take, true), (Action::Take, false)] {
        let requests = [ask(&old, first), ask(&new, Action::Peek)];
        let mut decisions = [None; 2];
        runtime.block_on(store.decide_all(&requests, &mut decisions)).expect("it is granted");
        assert_eq!(decisions.iter().flatten().all(gorl_core::Decision::is_allowed), all);
    }
}
