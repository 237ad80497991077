//! Connections out of a pool.

use std::time::{Duration, Instant};

use gorl_core::StoreErrorKind;
use gorl_tests::{RedisServer, runtime};

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

/// Four connections and a server that serves nothing for a while: all that cannot be served in time
/// ends in time, and no connection is made beyond the four.
#[test]
fn r74_a_pool_that_is_too_small_costs_errors_in_time_and_no_further_connections() {
    let (server, runtime) = (RedisServer::start(), runtime());
    let limiter = limiter(&runtime, for_ever(1_000_000), store(server.url()).pool(4));
    assert!(runtime.block_on(limiter.check("k")).expect("answered").is_allowed());
    let mut look = server.look();
    // Each command of the store's is answered fifty milliseconds late.
    let slow = std::thread::spawn({
        let mut admin = server.look();
        move || {
            let started = Instant::now();
            while started.elapsed() < Duration::from_millis(1_500) {
                let () = redis::cmd("CLIENT")
                    .arg("PAUSE")
                    .arg(50)
                    .arg("WRITE")
                    .query(&mut admin)
                    .expect("paused");
                // Until the pause is over, of which there is no signal, and somewhat longer.
                std::thread::park_timeout(Duration::from_millis(80));
            }
        }
    });
    let tasks: Vec<_> = (0..5_000)
        .map(|number| {
            let limiter = limiter.clone();
            runtime.spawn(async move {
                let started = Instant::now();
                let answer = limiter.check(number % 100).await;
                (started.elapsed(), answer.map(|decision| decision.is_allowed()))
            })
        })
        .collect();
    let clients: String = redis::cmd("CLIENT")
        .arg("LIST")
        .arg("TYPE")
        .arg("normal")
        .query(&mut look)
        .expect("a list");
    // Beside those of the store there are the two of this test.
    assert!(clients.lines().count() <= 4 + 2, "{clients}");
    let mut answered = 0;
    for task in tasks {
        let (took, answer) = runtime.block_on(task).expect("no panic");
        assert!(took <= DEADLINE + GRACE, "{took:?}");
        match answer {
            Ok(allowed) => answered += usize::from(allowed),
            Err(error) => assert_eq!(error.kind(), StoreErrorKind::Timeout, "{error:?}"),
        }
    }
    slow.join().expect("no panic");
    assert!(answered > 0, "nothing was served");
}
