//! Tests of gorl that need more than one crate: what they share.
#![forbid(unsafe_code)]

mod driver;
mod redis_driver;
mod redis_server;
mod vectors;

pub use driver::{CoreDriver, Driver, LimiterDriver, ModelDriver, StoreDriver, on_every_engine};
pub use redis_driver::{RedisDriver, runtime};
pub use redis_server::RedisServer;
pub use vectors::{Case, Expect, Step, read_vectors};
