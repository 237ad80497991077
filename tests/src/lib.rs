//! Tests of gorl that need more than one crate: what they share.
#![forbid(unsafe_code)]

#[cfg(doctest)]
mod book;
mod driver;
mod memcached_server;
mod postgres_server;
mod proxy;
mod redis_cluster;
mod redis_driver;
mod redis_sentinel;
mod redis_server;
mod scratch;
mod vectors;

pub use driver::{CoreDriver, Driver, LimiterDriver, ModelDriver, StoreDriver, on_every_engine};
pub use memcached_server::MemcachedServer;
pub use postgres_server::PostgresServer;
pub use proxy::Proxy;
pub use redis_cluster::{RedisCluster, count_keys, wait};
pub use redis_driver::{RedisDriver, runtime};
pub use redis_sentinel::{RedisSentinel, SENTINELS_TAKE};
pub use redis_server::RedisServer;
pub use scratch::Scratch;
pub use vectors::{Case, Expect, Step, read_vectors};
