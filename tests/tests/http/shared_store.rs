//! Limits over Redis: shared by processes, and honest when it is gone.

use std::time::{Duration, Instant};

use gorl::{AsyncLimiter, BreakerState, FailurePolicy, Policy, RedisStore, StoreErrorKind};
use gorl_tests::{RedisServer, runtime};

use super::{Adaptor, Setup, ask};

fn limiter(server: &RedisServer, failure_policy: FailurePolicy) -> AsyncLimiter {
    let policy = Policy::fixed_window(5, Duration::from_secs(3_600)).expect("a valid policy");
    let connecting = AsyncLimiter::builder(policy)
        .failure_policy(failure_policy)
        .connect(RedisStore::builder(server.url()));
    RUNTIME.with(|runtime| runtime.block_on(connecting)).expect("the server serves")
}

thread_local! {
    /// The connections live as long as the test.
    static RUNTIME: tokio::runtime::Runtime = runtime();
}

#[test]
fn two_services_share_what_redis_counts() {
    for adaptor in Adaptor::ALL {
        let redis = RedisServer::start();
        let services = [(), ()].map(|()| {
            let shared = Some(limiter(&redis, FailurePolicy::Closed));
            adaptor.serve(&Setup { shared, ..Setup::fixed(5) })
        });
        let statuses: Vec<_> =
            (0..8).map(|at| ask(services[at % 2].address, "/", &[]).status).collect();
        assert_eq!(statuses, [200, 200, 200, 200, 200, 429, 429, 429], "{adaptor:?}");
        let denied = ask(services[0].address, "/", &[]);
        assert_eq!(denied.number("ratelimit-remaining"), 0);
    }
}

#[test]
fn r78_without_redis_closed_is_503_and_open_is_served_without_figures() {
    for adaptor in Adaptor::ALL {
        let mut redis = RedisServer::start();
        let [closed, open] = [FailurePolicy::Closed, FailurePolicy::Open].map(|policy| {
            let limiter = limiter(&redis, policy);
            (adaptor.serve(&Setup { shared: Some(limiter.clone()), ..Setup::fixed(5) }), limiter)
        });
        assert_eq!(ask(closed.0.address, "/", &[]).status, 200);
        redis.stop();
        let refused = ask(closed.0.address, "/", &[]);
        assert_eq!(refused.status, 503, "{adaptor:?}");
        assert_eq!(refused.field("ratelimit-limit"), None);
        assert!(!refused.body.contains("127.0.0.1"), "{}", refused.body);
        assert_eq!(closed.1.stats().failed, 1);
        let served = ask(open.0.address, "/", &[]);
        assert_eq!(served.status, 200);
        assert!(served.fields.iter().all(|(name, _)| !name.contains("ratelimit")), "{served:?}");
        assert_eq!(open.1.stats().open, 1);
        let errors: u64 = open.1.stats().all_errors().map(|(_, count)| count).sum();
        assert_eq!(errors, 1);
    }
}

#[test]
fn r73_after_some_failures_a_store_that_is_gone_costs_no_time() {
    for adaptor in Adaptor::ALL {
        let mut redis = RedisServer::start();
        let limiter = limiter(&redis, FailurePolicy::Open);
        let server = adaptor.serve(&Setup { shared: Some(limiter.clone()), ..Setup::fixed(5) });
        redis.stop();
        for _ in 0..5 {
            assert_eq!(ask(server.address, "/", &[]).status, 200);
        }
        assert_ne!(limiter.breaker().expect("one").state(), BreakerState::Closed);
        let mut took: Vec<Duration> = (0..300)
            .map(|_| {
                let started = Instant::now();
                assert_eq!(ask(server.address, "/", &[]).status, 200);
                started.elapsed()
            })
            .collect();
        took.sort();
        assert!(took[296] < Duration::from_millis(20), "p99 {:?}", took[296]);
        assert!(limiter.stats().errors(StoreErrorKind::CircuitOpen) >= 290);
        redis.restart();
        let started = Instant::now();
        while ask(server.address, "/", &[]).field("ratelimit-limit").is_none() {
            assert!(started.elapsed() < Duration::from_secs(5), "it is not found");
        }
    }
}

#[test]
fn what_is_not_charged_is_given_back_in_redis() {
    for adaptor in Adaptor::WITH_PAGES {
        let redis = RedisServer::start();
        let shared = Some(limiter(&redis, FailurePolicy::Closed));
        let failures = |status: u16| status == 401;
        let setup = Setup { shared, charge_if: Some(failures), ..Setup::fixed(5) };
        let server = adaptor.serve(&setup);
        for _ in 0..10 {
            let response = ask(server.address, "/status/200", &[]);
            assert_eq!((response.status, response.number("ratelimit-remaining")), (200, 5));
        }
        let failed = ask(server.address, "/status/401", &[]);
        assert_eq!((failed.status, failed.number("ratelimit-remaining")), (401, 4));
    }
}

#[test]
fn limits_over_one_store_are_charged_together_or_not_at_all() {
    use gorl::DynStore;
    use gorl_tower::{KeySource, Limit, RateLimit, RateLimitLayer};
    use std::sync::Arc;

    let redis = RedisServer::start();
    let store = RUNTIME.with(|runtime| runtime.block_on(RedisStore::connect(&redis.url())));
    let store: Arc<dyn DynStore> = Arc::new(store.expect("the server serves"));
    let policy = |limit| Policy::token_bucket(limit, Duration::from_secs(3_650 * 86_400));
    let limit = |name, limit| {
        let limiter =
            AsyncLimiter::over(policy(limit).expect("a valid policy"), Arc::clone(&store));
        (Limit::new(name, limiter.clone(), KeySource::everybody()), limiter)
    };
    let ((minute, tight), (day, wide)) = (limit("minute", 40), limit("day", 100));
    let limits = RateLimitLayer::new(RateLimit::new(day).and(minute));
    let server = super::Server::axum(super::servers::router().layer(limits));
    let admitted: usize = std::thread::scope(|scope| {
        let ask = || (0..20).filter(|_| ask(server.address, "/", &[]).status == 200).count();
        let asking: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        asking.into_iter().map(|asking| asking.join().expect("asked")).sum()
    });
    assert_eq!(admitted, 40);
    // What the tight limit denied was never taken from the wide one.
    let left = |limiter: &AsyncLimiter, name: &str| {
        let peeked = RUNTIME.with(|runtime| runtime.block_on(limiter.peek((name, "everybody"))));
        peeked.expect("answered").remaining()
    };
    assert_eq!((left(&tight, "minute"), left(&wide, "day")), (0, 60));
}
