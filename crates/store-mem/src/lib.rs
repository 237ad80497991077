//! The in-process store of gorl: exact decisions in some tens of nanoseconds.
//!
//! [`MemoryStore`] keeps sixteen bytes of state a key in a sharded table and runs the arithmetic of
//! `gorl_core` on them. It allocates nothing for a key, has no background thread, and a panic in a
//! caller's code cannot poison it. Most users reach it through `gorl::Limiter`.
//!
//! What is kept of a key is a keyed hash of 127 bits; sixteen of them choose the shard and the
//! other 111 are stored. Two keys that agree in all of them would share a count. The key of the
//! hash is drawn at random for each store and never shown, so nobody can look for such a pair, and
//! among a billion keys the chance that there is one is below one in 10^15.

#![deny(unsafe_code)]

mod builder;
mod clock;
mod evict;
mod fingerprint;
mod policies;
mod room;
mod shard;
mod store;
mod sync;
mod table;
mod together;

pub use builder::MemoryStoreBuilder;
pub use clock::SystemClock;
pub use store::MemoryStore;
