//! The exact rate-limiting math of gorl.
#![no_std]
#![forbid(unsafe_code)]

mod policy;
mod state;
mod strategy;

pub use policy::{Policy, PolicyError, Tick};
pub use state::{State, StateError};
pub use strategy::{Strategy, UnknownStrategy};
