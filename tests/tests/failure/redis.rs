//! Faults that users of rate limiters have met, on a real server: what the limiter makes of them.

use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use gorl::{
    AsyncLimiter, AsyncLimiterBuilder, BreakerState, DenialCache, FailurePolicy, Origin, Policy,
    RedisStore, RedisStoreBuilder,
};
use gorl_core::{StoreError, StoreErrorKind};
use gorl_tests::{RedisServer, runtime};
use redis::Commands;
use tokio::runtime::Runtime;

/// How long a request may take.
const DEADLINE: Duration = Duration::from_millis(250);

/// How much later than its deadline a request may end: the machine has other things to do.
const GRACE: Duration = Duration::from_millis(50);

fn policy(limit: u64) -> Policy {
    Policy::token_bucket(limit, Duration::from_secs(3_650 * 86_400)).expect("a valid policy")
}

fn store(server: &RedisServer) -> RedisStoreBuilder {
    RedisStore::builder(server.url()).command_timeout(DEADLINE)
}

fn build(
    runtime: &Runtime,
    server: &RedisServer,
    limit: u64,
    options: impl FnOnce(AsyncLimiterBuilder) -> AsyncLimiterBuilder,
) -> AsyncLimiter {
    let builder = options(AsyncLimiter::builder(policy(limit)));
    runtime.block_on(builder.connect(store(server))).expect("the server serves")
}

/// Asks so often at a time; how long each took, and what came of it.
fn at_once(
    runtime: &Runtime,
    limiter: &AsyncLimiter,
    times: usize,
) -> Vec<(Duration, Result<gorl::Decision, StoreError>)> {
    let tasks: Vec<_> = (0..times)
        .map(|_| {
            let limiter = limiter.clone();
            runtime.spawn(async move {
                let started = Instant::now();
                let answer = limiter.check("k").await;
                (started.elapsed(), answer)
            })
        })
        .collect();
    tasks.into_iter().map(|task| runtime.block_on(task).expect("no panic")).collect()
}

/// Asks until the store answers; how long that took.
fn until_it_answers(runtime: &Runtime, limiter: &AsyncLimiter, at_most: Duration) -> Duration {
    let started = Instant::now();
    loop {
        let answer = runtime.block_on(async {
            // A caller is not the only one at work, and probes are to have their turn.
            tokio::time::sleep(Duration::from_millis(1)).await;
            limiter.check("other").await
        });
        if answer.is_ok_and(|decision| !decision.is_degraded()) {
            return started.elapsed();
        }
        assert!(started.elapsed() < at_most, "{:?}", limiter.stats());
    }
}

#[test]
fn a_denied_key_is_answered_here_and_stays_denied() {
    let (server, runtime) = (RedisServer::start(), runtime());
    let limiter = build(&runtime, &server, 1, |builder| builder.denial_cache(DenialCache::new()));
    assert!(runtime.block_on(limiter.check("k")).expect("answered").is_allowed());
    let tasks: Vec<_> = (0..256)
        .map(|_| {
            let limiter = limiter.clone();
            runtime.spawn(async move {
                for _ in 0..2_000 {
                    let decision = limiter.check("k").await.expect("answered");
                    assert!(!decision.is_allowed(), "{decision:?}");
                }
            })
        })
        .collect();
    for task in tasks {
        runtime.block_on(task).expect("denied each time");
    }
    let stats = limiter.stats();
    assert_eq!(stats.allowed + stats.denied, 512_001);
    assert!(stats.denial_cache_hits > 500_000, "{stats:?}");
}

#[test]
fn r65_a_script_that_fails_admits_only_where_failing_admits() {
    let (server, runtime) = (RedisServer::start(), runtime());
    // A server that is full refuses every write, and so the script.
    for (name, value) in [("maxmemory-policy", "noeviction"), ("maxmemory", "1")] {
        let () = redis::cmd("CONFIG")
            .arg(&["SET", name, value])
            .query(&mut server.look())
            .expect("it takes it");
    }
    let closed = build(&runtime, &server, 10, |builder| builder);
    assert!(runtime.block_on(closed.check("k")).is_err());
    let open = build(&runtime, &server, 10, |builder| builder.failure_policy(FailurePolicy::Open));
    let decision = runtime.block_on(open.check("k")).expect("admitted");
    assert!(decision.is_allowed() && decision.is_degraded() && decision.figures().is_none());
    let () = redis::cmd("CONFIG")
        .arg(&["SET", "maxmemory", "0"])
        .query(&mut server.look())
        .expect("it takes it");
    assert!(runtime.block_on(closed.check("k")).expect("it has room again").is_allowed());
}

#[test]
fn r71_a_frozen_server_costs_one_deadline_and_is_right_again_when_it_thaws() {
    let (server, runtime) = (RedisServer::start(), runtime());
    for failure_policy in [FailurePolicy::Closed, FailurePolicy::Open] {
        let limiter = build(&runtime, &server, 1_000_000, |builder| {
            builder.failure_policy(failure_policy.clone())
        });
        assert!(runtime.block_on(limiter.check("k")).expect("answered").is_allowed());
        server.freeze();
        for (took, answer) in at_once(&runtime, &limiter, 100) {
            assert!(took <= DEADLINE + GRACE, "{took:?}");
            match answer {
                Ok(decision) => assert!(matches!(decision.origin(), Origin::Open(_))),
                Err(error) => {
                    let kinds = [StoreErrorKind::Timeout, StoreErrorKind::CircuitOpen];
                    assert!(kinds.contains(&error.kind()), "{error:?}");
                }
            }
        }
        server.thaw();
        let took = until_it_answers(&runtime, &limiter, Duration::from_secs(5));
        assert!(took <= Duration::from_secs(2), "{took:?}");
        // What was asked meanwhile may have been counted, once each, and under its own key.
        let left = runtime.block_on(limiter.peek("k")).expect("answered").remaining();
        assert!(left >= 1_000_000 - 2 * 101, "{left}");
    }
}

#[test]
fn r73_a_server_that_is_down_adds_no_time_and_is_found_when_it_is_back() {
    let (mut server, runtime) = (RedisServer::start(), runtime());
    let limiter =
        build(&runtime, &server, 1_000_000, |builder| builder.failure_policy(FailurePolicy::Open));
    server.stop();
    for _ in 0..5 {
        assert!(runtime.block_on(limiter.check("k")).expect("admitted").is_degraded());
    }
    let mut took: Vec<Duration> = runtime.block_on(async {
        let mut took = Vec::new();
        for _ in 0..2_000 {
            let started = Instant::now();
            let decision = limiter.check("k").await.expect("admitted");
            took.push(started.elapsed());
            assert!(decision.is_degraded());
            tokio::time::sleep(Duration::from_micros(500)).await;
        }
        took
    });
    took.sort_unstable();
    assert!(took[took.len() * 99 / 100] < Duration::from_millis(5), "{:?}", took.last());
    assert_eq!(limiter.breaker().expect("there is one").state(), BreakerState::Open);
    server.restart();
    let found = until_it_answers(&runtime, &limiter, Duration::from_secs(6));
    assert!(found <= Duration::from_secs(5), "{found:?}");
}

#[test]
fn r78_what_an_outage_means_is_a_choice_and_counted() {
    let (mut server, runtime) = (RedisServer::start(), runtime());
    let four = NonZeroU32::new(4).expect("some");
    let build = |failure_policy| {
        build(&runtime, &server, 8, |builder| {
            builder.failure_policy(failure_policy).without_breaker()
        })
    };
    let (closed, open, local) = (
        build(FailurePolicy::Closed),
        build(FailurePolicy::Open),
        build(FailurePolicy::local(four)),
    );
    server.stop();
    let error = runtime.block_on(closed.check("k")).expect_err("nobody answers");
    assert_eq!(error.kind(), StoreErrorKind::Unavailable);
    assert_eq!(closed.stats().errors(StoreErrorKind::Unavailable), 1);
    let decision = runtime.block_on(open.check("k")).expect("admitted");
    assert!(decision.is_allowed() && decision.figures().is_none());
    assert_eq!(open.stats().errors(StoreErrorKind::Unavailable), 1);
    for allowed in [true, true, false] {
        let decision = runtime.block_on(local.check("k")).expect("answered here");
        assert_eq!((decision.is_allowed(), decision.limit()), (allowed, 2));
    }
    assert_eq!(local.stats().local, 3);
}

#[test]
fn a_limiter_can_start_without_its_server_if_it_knows_what_to_answer() {
    let (mut server, runtime) = (RedisServer::start(), runtime());
    server.stop();
    let connect = |builder: AsyncLimiterBuilder, degraded| {
        runtime.block_on(builder.connect(store(&server).start_degraded(degraded)))
    };
    let builder = || AsyncLimiter::builder(policy(5));
    let open = || builder().failure_policy(FailurePolicy::Open);
    let kind = |answer: Result<AsyncLimiter, StoreError>| answer.expect_err("none").kind();
    assert_eq!(kind(connect(builder(), false)), StoreErrorKind::Unavailable);
    assert_eq!(kind(connect(open(), false)), StoreErrorKind::Unavailable);
    assert_eq!(kind(connect(builder(), true)), StoreErrorKind::Unsupported);
    let limiter = connect(open(), true).expect("it starts");
    assert!(runtime.block_on(limiter.check("k")).expect("admitted").is_degraded());
    server.restart();
    until_it_answers(&runtime, &limiter, Duration::from_secs(5));
}

#[test]
fn a_server_that_pauses_its_clients_is_waited_for_within_the_deadline() {
    let (server, runtime) = (RedisServer::start(), runtime());
    let limiter = build(&runtime, &server, 1_000, AsyncLimiterBuilder::without_breaker);
    assert!(runtime.block_on(limiter.check("k")).expect("answered").is_allowed());
    let pause = |ms: u64| {
        let mut command = redis::cmd("CLIENT");
        let () = command.arg("PAUSE").arg(ms).query(&mut server.look()).expect("it pauses");
    };
    pause(100);
    for (took, answer) in at_once(&runtime, &limiter, 50) {
        assert!(answer.is_ok() && took <= DEADLINE + GRACE, "{took:?} for {answer:?}");
    }
    pause(1_000);
    for (took, answer) in at_once(&runtime, &limiter, 50) {
        assert!(took <= DEADLINE + GRACE, "{took:?}");
        assert_eq!(answer.expect_err("paused").kind(), StoreErrorKind::Timeout);
    }
    let took = until_it_answers(&runtime, &limiter, Duration::from_secs(5));
    assert!(took <= Duration::from_secs(2), "{took:?}");
    let left = runtime.block_on(limiter.peek("k")).expect("answered").remaining();
    assert!((1_000 - 101..=1_000 - 51).contains(&left), "{left}");
}

#[test]
fn a_server_that_evicts_gives_no_more_than_one_capacity_for_each_time() {
    let (server, runtime) = (RedisServer::start(), runtime());
    let limiter = build(&runtime, &server, 5, |builder| builder);
    let mut admitted = 0;
    for _ in 0..3 {
        for _ in 0..20 {
            let decision = runtime.block_on(limiter.check("k")).expect("answered");
            admitted += u32::from(decision.is_allowed());
        }
        // As `maxmemory` with `allkeys-lru` does to a key that it needs the room of.
        let removed: u32 = server.look().del("gorl:tb1:k").expect("it answers");
        assert_eq!(removed, 1);
    }
    assert_eq!(admitted, 3 * 5);
}
