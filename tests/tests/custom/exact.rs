//! Many callers of one key over a shared server, as from several processes: exactly the limit.

use std::sync::Arc;
use std::time::Duration;

use gorl::{AsyncLimiter, Cas, CasBackend, Locked, Policy, Scope, Strategy};
use gorl_tests::{MemcachedServer, PostgresServer, runtime};

use crate::map::Map;
use crate::memcached_backend::Memcached;
use crate::postgres_backend::Postgres;

const DEADLINE: Duration = Duration::from_secs(60);
const PROCESSES: usize = 4;
const TASKS: usize = 16;
const CHECKS: usize = 25;
const LIMIT: u64 = 100;

/// How many of all requests are admitted, when each limiter knows nothing of the others but by
/// the server.
fn admitted(strategy: Strategy, make: impl Fn() -> AsyncLimiter) -> usize {
    runtime().block_on(async {
        let limiters: Vec<_> = (0..PROCESSES).map(|_| make()).collect();
        let tasks: Vec<_> = limiters
            .iter()
            .flat_map(|limiter| (0..TASKS).map(move |_| limiter.clone()))
            .map(|limiter| {
                tokio::spawn(async move {
                    let mut admitted = 0;
                    for _ in 0..CHECKS {
                        let decision = limiter.check(("exact", strategy.as_str())).await;
                        admitted += usize::from(decision.expect("an answer").is_allowed());
                    }
                    admitted
                })
            })
            .collect();
        let mut sum = 0;
        for task in tasks {
            sum += task.await.expect("a task that ends");
        }
        sum
    })
}

fn exactly_the_limit<B: CasBackend + 'static>(backend: impl Fn() -> B) {
    for strategy in Strategy::ALL {
        let policy = Policy::new(strategy, LIMIT, Duration::from_secs(100 * 86_400)).unwrap();
        let make = || AsyncLimiter::new(policy, Cas::new(backend()));
        assert_eq!(make().scope(), Scope::Shared);
        assert_eq!(admitted(strategy, make), 100, "{strategy}");
    }
}

#[test]
fn exactly_the_limit_over_memcached() {
    let server = MemcachedServer::start();
    exactly_the_limit(|| Memcached::new(server.address(), DEADLINE));
}

#[test]
fn exactly_the_limit_over_postgresql() {
    let server = PostgresServer::start();
    exactly_the_limit(|| Postgres::new(server.config(), DEADLINE));
}

#[test]
fn get_and_set_are_exact_within_a_process_and_say_so() {
    for strategy in Strategy::ALL {
        let policy = Policy::new(strategy, LIMIT, Duration::from_secs(100 * 86_400)).unwrap();
        let store: Arc<dyn gorl::DynStore> = Arc::new(Locked::new(Map::default()));
        let make = || AsyncLimiter::over(policy, Arc::clone(&store));
        assert_eq!(make().scope(), Scope::Process);
        assert_eq!(admitted(strategy, make), 100, "{strategy}");
    }
}
