//! Values that gorl did not write: an error that names the key, and the value stays.

use std::error::Error;

use gorl_core::{Action, DecideError, Key, KeyRef, Store, StoreError, StoreErrorKind, Strategy};
use gorl_tests::{Driver, RedisDriver};
use redis::Commands;

use super::{S, policy, tokens};

const K: &str = "its key";

fn expect_foreign(error: &StoreError, name: &str) {
    assert_eq!(error.kind(), StoreErrorKind::ForeignValue);
    let cause = error.source().expect("a cause").to_string();
    assert!(cause.contains(name), "{cause} does not name {name}");
}

/// Each request that could touch the value is refused.
fn expect_refusals(engine: &RedisDriver) {
    let name = engine.redis_key(K);
    for action in [Action::Take, Action::Peek] {
        match engine.ask(K, 1, action) {
            Err(DecideError::Store(error)) => expect_foreign(&error, &name),
            other => panic!("{action:?}: {other:?}"),
        }
    }
    expect_foreign(&engine.ask_give_back(K, 1).expect_err("not given back"), &name);
    let reset = engine.wait(engine.store().reset(KeyRef::new(&K.parts())));
    expect_foreign(&reset.expect_err("not deleted"), &name);
}

#[test]
fn a_text_that_is_not_ours_is_named_and_left() {
    let mut engine = RedisDriver::new(tokens(10, 10, S));
    for strategy in Strategy::ALL {
        engine.set_policy(policy(strategy, 10, S));
        let name = engine.redis_key(K);
        let foreign = [
            "",
            "5",
            "hello",
            "2 1735689600000000 3 0",
            "1 2 3",
            "1 2 3 4 5",
            "1 -2 3 4",
            "1 1e3 1 0",
        ];
        for value in foreign {
            let () = engine.look().set(&name, value).expect("the server answers");
            expect_refusals(&engine);
            let left: String = engine.look().get(&name).expect("the server answers");
            assert_eq!(left, value);
            let expires: i64 = engine.look().pttl(&name).expect("the server answers");
            assert_eq!(expires, -1);
        }
        let () = engine.look().del(&name).expect("the server answers");
    }
}

#[test]
fn numbers_out_of_range_are_not_ours() {
    let mut engine = RedisDriver::new(tokens(10, 10, S));
    let name = engine.redis_key(K);
    let longer = format!("1 {} 0 0", "9".repeat(400));
    for value in ["1 9007199254740992 0 0", "1 0 4294967296 0", "1 0 0 4294967296", &longer] {
        let () = engine.look().set(&name, value).expect("the server answers");
        for action in [Action::Take, Action::Peek] {
            match engine.ask(K, 1, action) {
                Err(DecideError::Store(error)) => expect_foreign(&error, &name),
                other => panic!("{value}: {other:?}"),
            }
        }
        let left: String = engine.look().get(&name).expect("the server answers");
        assert_eq!(left, value);
    }
}

#[test]
fn a_value_of_another_type_is_named_and_left() {
    let mut engine = RedisDriver::new(tokens(10, 10, S));
    for strategy in Strategy::ALL {
        engine.set_policy(policy(strategy, 10, S));
        let name = engine.redis_key(K);
        let () = engine.look().rpush(&name, "an item").expect("the server answers");
        expect_refusals(&engine);
        let left: usize = engine.look().llen(&name).expect("the server answers");
        assert_eq!(left, 1);
        let () = engine.look().del(&name).expect("the server answers");
    }
}

#[test]
fn a_reset_that_meets_one_foreign_value_deletes_none() {
    let mut engine = RedisDriver::new(policy(Strategy::FixedWindow, 10, S));
    engine.at(S);
    assert_eq!(engine.take(K, 4).map(|figures| figures.remaining), Ok(6));
    engine.set_policy(policy(Strategy::LeakyBucket, 10, S));
    let name = engine.redis_key(K);
    let () = engine.look().set(&name, "theirs").expect("the server answers");
    let reset = engine.wait(engine.store().reset(KeyRef::new(&K.parts())));
    expect_foreign(&reset.expect_err("not deleted"), &name);
    engine.set_policy(policy(Strategy::FixedWindow, 10, S));
    assert_eq!(engine.remaining(S, K), 6);
}
