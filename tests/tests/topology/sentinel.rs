//! A master that sentinels watch.

use gorl_core::StoreErrorKind;
use gorl_tests::{RedisSentinel, SENTINELS_TAKE, runtime};

use super::{for_ever, limiter, store, until_settled};

#[test]
fn the_master_is_found_by_its_name_and_another_name_is_an_error() {
    let (mut watched, runtime) = (RedisSentinel::start(), runtime());
    // Two of three may be gone, and the first of them is asked first.
    watched.sentinel(0).stop();
    watched.sentinel(1).freeze();
    let limiter = limiter(&runtime, for_ever(2), store(watched.url()));
    for allowed in [true, true, false] {
        let decision = runtime.block_on(limiter.check("k")).expect("answered");
        assert_eq!(decision.is_allowed(), allowed);
    }
    watched.sentinel(1).thaw();
    let other = watched.url().replace("/main", "/other");
    let error = runtime.block_on(store(other).connect()).expect_err("no such master");
    assert_eq!(error.kind(), StoreErrorKind::Unavailable);
    let source = std::error::Error::source(&error).expect("a cause").to_string();
    assert!(source.contains("\"other\""), "{source}");
}

#[test]
fn a_failover_by_an_operator_is_followed() {
    let (watched, runtime) = (RedisSentinel::start(), runtime());
    let limiter = limiter(&runtime, for_ever(1_000_000), store(watched.url()));
    assert!(runtime.block_on(limiter.check("k")).expect("answered").is_allowed());
    watched.fail_over();
    let (last, errors) = until_settled(&runtime, &limiter, |_| "k".to_owned(), SENTINELS_TAKE);
    println!("{errors} errors, the last after {last:?}");
    // What was counted before is counted on the new master as well.
    assert!(runtime.block_on(limiter.peek("k")).expect("answered").remaining() < 1_000_000 - 1);
}

#[test]
fn a_killed_master_is_replaced_by_its_replica() {
    let (mut watched, runtime) = (RedisSentinel::start(), runtime());
    let limiter = limiter(&runtime, for_ever(1_000_000), store(watched.url()));
    assert!(runtime.block_on(limiter.check("k")).expect("answered").is_allowed());
    watched.node(0).stop();
    let (last, errors) = until_settled(&runtime, &limiter, |_| "k".to_owned(), SENTINELS_TAKE);
    assert!(errors > 0, "somebody served while nobody could");
    println!("{errors} errors, the last after {last:?}");
    // The old master comes back as a replica, which is not asked.
    watched.node(0).restart();
    let (_, errors) = until_settled(&runtime, &limiter, |_| "k".to_owned(), SENTINELS_TAKE);
    assert_eq!(errors, 0);
}
