//! Custom stores: both easy roads, on maps and on real servers, and a store that races.

#[path = "../../../crates/gorl/examples/memcached/backend.rs"]
mod memcached_backend;
#[path = "../../../crates/gorl/examples/postgres/backend.rs"]
mod postgres_backend;

mod conformance;
mod exact;
mod faults;
mod map;
mod racy;
