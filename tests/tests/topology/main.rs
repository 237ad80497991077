//! The Redis store on every topology, through the faults of each, with servers of the tests' own.

mod access;
mod cluster;
mod cluster_faults;
mod pool;
mod sentinel;
mod tls;

use std::time::{Duration, Instant};

use gorl::{AsyncLimiter, Decision, Policy, RedisStore, RedisStoreBuilder};
use gorl_core::{StoreError, StoreErrorKind};
use tokio::runtime::Runtime;

/// How long a request may take.
const DEADLINE: Duration = Duration::from_millis(250);

/// How much later than its deadline a request may end: the machine has other things to do.
const GRACE: Duration = Duration::from_millis(50);

/// `limit` in ten years, so that nothing comes back while a test looks.
fn for_ever(limit: u64) -> Policy {
    Policy::token_bucket(limit, Duration::from_secs(3_650 * 86_400)).expect("a valid policy")
}

/// A limiter that asks the store whatever came of it before: it is the store that is looked at here.
fn limiter(runtime: &Runtime, policy: Policy, store: RedisStoreBuilder) -> AsyncLimiter {
    let store = runtime.block_on(store.connect()).expect("the servers serve");
    AsyncLimiter::builder(policy).without_breaker().build(store)
}

fn store(url: impl Into<String>) -> RedisStoreBuilder {
    RedisStore::builder(url).command_timeout(DEADLINE)
}

/// One check, which must end in time, one way or the other.
async fn check_in_time(limiter: &AsyncLimiter, key: &str) -> Result<Decision, StoreError> {
    let started = Instant::now();
    let answer = limiter.check(key).await;
    assert!(started.elapsed() <= DEADLINE + GRACE, "{:?} for {answer:?}", started.elapsed());
    if let Err(error) = &answer {
        let kinds = [StoreErrorKind::Unavailable, StoreErrorKind::Timeout];
        assert!(kinds.contains(&error.kind()), "{error:?}");
    }
    answer
}

/// Checks a hundred times a second until a check has been answered each time for a second; how long
/// the last error was after the start, and how many there were.
fn until_settled(
    runtime: &Runtime,
    limiter: &AsyncLimiter,
    key: impl Fn(usize) -> String,
    at_most: Duration,
) -> (Duration, usize) {
    runtime.block_on(async {
        let mut pace = tokio::time::interval(Duration::from_millis(10));
        let started = Instant::now();
        let (mut last, mut errors, mut number) = (Duration::ZERO, 0, 0);
        loop {
            pace.tick().await;
            number += 1;
            if let Err(error) = check_in_time(limiter, &key(number)).await {
                last = started.elapsed();
                errors += 1;
                assert!(last < at_most, "still failing after {last:?}: {error:?}");
            }
            if started.elapsed() > last + Duration::from_secs(1) {
                return (last, errors);
            }
        }
    })
}
