//! The Redis store of gorl: decisions that many processes share, exact to the microsecond.
//!
//! [`RedisStore`] implements [`gorl_core::Store`]. Most users reach it through `gorl::AsyncLimiter`,
//! with the facade's feature `redis`.
//!
//! # What is stored
//!
//! One string a key and strategy, such as `1 1735689600000000 3 0`: the version of the layout, an
//! instant in microseconds and two counts. Its key is the prefix, the strategy with the version,
//! and the parts of the key: `gorl:tb1:tenant-7:=42`. Text stays readable; a long or binary key is
//! a tilde and a digest. It is written only by an admission that spends, and expires when it is at
//! rest. A value that gorl did not write is an error that names the key, and is left as it is.
//!
//! # Features
//!
//! - `client`: `RedisStoreBuilder::from_client` makes a store from a client that you already have.
//! - `pool`: connections out of a pool, in place of a shared one.
//! - `tls`: `rediss://`, by rustls.
#![forbid(unsafe_code)]

mod address;
mod builder;
mod caller;
mod cluster;
mod coalesce;
mod connector;
mod failure;
mod key;
mod link;
mod many;
#[cfg(feature = "pool")]
mod pool;
mod question;
mod script;
mod slot;
mod store;
mod transport;
mod value;

pub use builder::RedisStoreBuilder;
pub use store::RedisStore;
