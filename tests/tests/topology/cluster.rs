//! A cluster that is well: keys, slots and what needs one of them.

use gorl::{Policy, RedisStore, Strategy};
use gorl_core::{Action, DecideError, Decision, Key, KeyRef, Request, Store, StoreErrorKind};
use gorl_tests::{RedisCluster, count_keys, runtime};
use std::time::Duration;

use super::{for_ever, limiter, store};

#[test]
fn r65_every_key_of_every_strategy_is_served_wherever_it_is() {
    let (mut cluster, runtime) = (RedisCluster::start(3), runtime());
    // By one node alone: it tells of the others.
    let url = cluster.url();
    for strategy in Strategy::ALL {
        let policy = Policy::new(strategy, 2, Duration::from_secs(3_600)).expect("a valid policy");
        let limiter = limiter(&runtime, policy, store(&url));
        runtime.block_on(async {
            for number in 0..1_000 {
                let key = format!("user-{number}");
                let first = limiter.check(&*key).await.expect("the cluster answers");
                assert_eq!((first.is_allowed(), first.remaining()), (true, 1), "{strategy} {key}");
            }
            let limiter = &limiter;
            for key in ["user-1", "user-2", "user-3", "user-4"] {
                assert!(limiter.check(key).await.expect("answered").is_allowed());
                assert!(!limiter.check(key).await.expect("answered").is_allowed());
                limiter.give_back(key, 1).await.expect("given back");
                assert_eq!(limiter.peek(key).await.expect("answered").remaining(), 1);
                limiter.reset(key).await.expect("reset");
                assert_eq!(limiter.peek(key).await.expect("answered").remaining(), 2);
            }
        });
    }
    let counts: Vec<usize> = (0..3).map(|place| count_keys(cluster.node(place))).collect();
    assert!(counts.iter().all(|count| *count > 1_000), "{counts:?}");
}

#[test]
fn keys_that_begin_alike_are_decided_on_together_and_others_are_not() {
    let (cluster, runtime) = (RedisCluster::start(1), runtime());
    let (user, all) = (for_ever(1), for_ever(3));
    let together = |store: &RedisStore, one: (&str, &str), other: (&str, &str)| {
        let (one, other) = (one.parts(), other.parts());
        let request = |policy, parts| Request {
            policy,
            key: KeyRef::new(parts),
            cost: 1,
            action: Action::Take,
        };
        let requests = [request(&user, &one), request(&all, &other)];
        let mut decisions = [None; 2];
        runtime.block_on(store.decide_all(&requests, &mut decisions))?;
        Ok::<_, DecideError>(decisions.iter().flatten().all(Decision::is_allowed))
    };
    let tagged = runtime.block_on(store(cluster.url()).tag_first_part(true).connect());
    let tagged = tagged.expect("the cluster serves");
    let users = ["a", "a", "b", "c", "d"];
    let admitted =
        users.map(|user| together(&tagged, ("t1", user), ("t1", "all")).expect("answered"));
    assert_eq!(admitted, [true, false, true, true, false]);
    let error = together(&tagged, ("t1", "a"), ("t2", "all")).expect_err("two slots");
    let DecideError::Store(error) = error else { panic!("{error:?}") };
    assert_eq!(error.kind(), StoreErrorKind::Unsupported);
    let source = std::error::Error::source(&error).expect("a cause").to_string();
    assert!(source.contains("same slot") && source.contains("tag_first_part"), "{source}");
    let plain = runtime.block_on(store(cluster.url()).connect()).expect("the cluster serves");
    assert!(together(&plain, ("t1", "a"), ("t1", "all")).is_err());
}

#[test]
fn a_cluster_that_is_none_is_an_error_that_says_so() {
    let runtime = runtime();
    let alone = gorl_tests::RedisServer::start();
    let url = format!("redis+cluster://127.0.0.1:{}", alone.port());
    let error = runtime.block_on(store(url).connect()).expect_err("no cluster");
    assert_eq!(error.kind(), StoreErrorKind::Unavailable);
}

#[test]
fn nodes_behind_another_address_are_reached_by_it() {
    let (cluster, runtime) = (RedisCluster::start(1), runtime());
    let store = store(cluster.url()).map_addresses(|host, port| {
        assert_eq!(host, "127.0.0.1");
        ("localhost".to_owned(), port)
    });
    let limiter = limiter(&runtime, for_ever(1), store);
    assert!(runtime.block_on(limiter.check("a")).expect("answered").is_allowed());
    assert!(!runtime.block_on(limiter.check("a")).expect("answered").is_allowed());
}
