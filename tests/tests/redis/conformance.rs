//! The suite that any store can run, on the Redis store.

use std::sync::Arc;
use std::time::Duration;

use gorl_core::ManualClock;
use gorl_store_redis::RedisStore;
use gorl_testkit::Suite;
use gorl_tests::{RedisServer, runtime};

#[test]
fn the_redis_store_conforms() {
    let server = RedisServer::start();
    let runtime = runtime();
    let clock = Arc::new(ManualClock::new(0));
    let builder = RedisStore::builder(server.url())
        .clock(Arc::clone(&clock))
        .command_timeout(Duration::from_secs(60))
        .keep_rested(Duration::from_secs(86_400));
    let store = runtime.block_on(builder.connect()).expect("the server serves");
    let long = std::env::var("GORL_LONG").is_ok_and(|value| value == "1");
    let suite = Suite::new(clock).in_micros().seed(31).traces(if long { 2_000 } else { 100 });
    let passed = suite
        .run(&store, |future| runtime.block_on(future))
        .unwrap_or_else(|failure| panic!("{failure}"));
    assert!(passed.left_out().is_empty(), "{:?}", passed.left_out());
}
