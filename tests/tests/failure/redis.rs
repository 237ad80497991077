//! Faults that users of rate limiters have met, on a real server: what the limiter makes of them.

use std::time::Duration;

use gorl::{AsyncLimiter, DenialCache, Policy, RedisStore};
use gorl_tests::{RedisServer, runtime};

#[test]
fn a_denied_key_is_answered_here_and_stays_denied() {
    let (server, runtime) = (RedisServer::start(), runtime());
    let policy = Policy::token_bucket(1, Duration::from_secs(3_600)).expect("a valid policy");
    let store = runtime.block_on(RedisStore::connect(server.url())).expect("the server serves");
    let limiter = AsyncLimiter::builder(policy).denial_cache(DenialCache::new()).build(store);
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
