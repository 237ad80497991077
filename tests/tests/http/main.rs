//! The middlewares over real connections: one table of cases for every adaptor, and what is one's own.

mod actix_own;
mod axum_own;
mod bounds;
mod cases;
mod client;
mod grpc;
mod hostile;
mod servers;
mod setup;
mod shared_store;

pub(crate) use client::{Connection, Response, ask};
pub(crate) use servers::{Adaptor, Server};
pub(crate) use setup::{Keyed, Setup};
