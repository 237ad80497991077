//! Connections out of a pool.

use std::time::{Duration, Instant};

use gorl_core::StoreErrorKind;
use gorl_tests::{Proxy, RedisServer, runtime};

use super::{DEADLINE, GRACE, for_ever, limiter, store};

#[test]
fn a_pool_serves_and_heals() {
    let (mut server, runtime) = (RedisServer::start(), runtime());
    let limiter = limiter(&runtime, for_ever(3), store(server.url()).pool(2));
    for allowed in [true, true, true, false] {
        let decision = runtime.block_on(limiter.check("k")).expect("answered");
        assert_eq!(decision.is_allowed(), allowed);
    }
    server.restart();
    let started = Instant::now();
    while let Err(error) = runtime.block_on(limiter.check("k")) {
        assert!(started.elapsed() < Duration::from_secs(5), "{error:?}");
    }
    assert!(runtime.block_on(store(server.url()).pool(0).connect()).is_err());
}

/// Four connections, each of which brings an answer after fifty milliseconds: some twenty of the five
/// thousand can be served before the deadline. All others end in time, and nothing connects beyond
/// the four.
#[test]
fn r74_a_pool_that_is_too_small_costs_errors_in_time_and_no_further_connections() {
    let (server, runtime) = (RedisServer::start(), runtime());
    let late = Duration::from_millis(50);
    let proxy = Proxy::start_late(server.port(), late);
    let pooled = store(format!("redis://127.0.0.1:{}/", proxy.port())).pool(4);
    let limiter = limiter(&runtime, for_ever(1_000_000), pooled);
    let ask = |count: usize| {
        let ask = |number| {
            let limiter = limiter.clone();
            runtime.spawn(async move {
                let started = Instant::now();
                let answer = limiter.check(number % 100).await;
                (started.elapsed(), answer.map(|decision| decision.is_allowed()))
            })
        };
        (0..count).map(ask).collect::<Vec<_>>()
    };
    // The connections are made, each of which takes several answers.
    while !ask(4).into_iter().all(|task| runtime.block_on(task).expect("no panic").1.is_ok()) {}
    let tasks = ask(5_000);
    let clients: String = redis::cmd("CLIENT")
        .arg(&["LIST", "TYPE", "normal"])
        .query(&mut server.look())
        .expect("a list");
    // Beside those of the store there is this test's.
    assert_eq!(clients.lines().count(), 4 + 1, "{clients}");
    let mut answered = 0;
    for task in tasks {
        let (took, answer) = runtime.block_on(task).expect("no panic");
        assert!(took <= DEADLINE + GRACE, "{took:?}");
        match answer {
            Ok(allowed) => answered += usize::from(allowed),
            Err(error) => assert_eq!(error.kind(), StoreErrorKind::Timeout, "{error:?}"),
        }
    }
    assert!((4..=20).contains(&answered), "{answered} were served");
}

#[test]
fn a_call_waits_for_the_pool_as_long_as_for_its_answer() {
    let (server, runtime) = (RedisServer::start(), runtime());
    let proxy = Proxy::start_late(server.port(), Duration::from_millis(400));
    let url = format!("redis://127.0.0.1:{}/", proxy.port());
    let patient = store(&url).pool(1).connect_timeout(Duration::from_secs(9));
    let limiter = limiter(&runtime, for_ever(9), patient.command_timeout(Duration::from_secs(9)));
    // The second has to wait for the first, longer than the deadlines that are the defaults.
    let (one, other) =
        runtime.block_on(async { tokio::join!(limiter.check("a"), limiter.check("b")) });
    assert!(one.is_ok() && other.is_ok(), "{one:?} {other:?}");
}
