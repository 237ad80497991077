//! The suite that any store can run, on custom stores over maps, memcached and PostgreSQL.

use std::sync::Arc;
use std::time::Duration;

use gorl::{Cas, CustomOptions, Locked, ManualClock, Store};
use gorl_testkit::{Failure, Passed, Suite};
use gorl_tests::{MemcachedServer, PostgresServer, runtime};

use crate::map::Map;
use crate::memcached_backend::Memcached;
use crate::postgres_backend::Postgres;

/// Longer than any machine is busy: what is late here is lost.
const DEADLINE: Duration = Duration::from_secs(60);

pub(crate) fn run<S: Store>(make: impl FnOnce(CustomOptions) -> S) -> Result<Passed, Box<Failure>> {
    let clock = Arc::new(ManualClock::new(0));
    let store = make(CustomOptions::new().clock(Arc::clone(&clock)));
    let runtime = runtime();
    let long = std::env::var("GORL_LONG").is_ok_and(|value| value == "1");
    let suite = Suite::new(clock).traces(if long { 2_000 } else { 200 });
    suite.run(&store, |future| runtime.block_on(future))
}

fn conforms<S: Store>(make: impl FnOnce(CustomOptions) -> S) {
    let passed = run(make).unwrap_or_else(|failure| panic!("{failure}"));
    assert!(passed.left_out().is_empty(), "{:?}", passed.left_out());
}

#[test]
fn compare_and_swap_on_a_map_conforms() {
    conforms(|options| Cas::with_options(Map::default(), options));
}

#[test]
fn get_and_set_on_a_map_conforms() {
    conforms(|options| Locked::with_options(Map::default(), options));
}

#[test]
fn hashed_keys_conform() {
    conforms(|options| Locked::with_options(Map::default(), options.hash_keys(true)));
}

#[test]
fn memcached_conforms() {
    let server = MemcachedServer::start();
    conforms(|options| Cas::with_options(Memcached::new(server.address(), DEADLINE), options));
}

#[test]
fn postgresql_conforms() {
    let server = PostgresServer::start();
    conforms(|options| Cas::with_options(Postgres::new(server.config(), DEADLINE), options));
}
