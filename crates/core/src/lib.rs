//! The exact rate-limiting math of gorl: pure functions on integers, told the time by the caller.
//!
//! Most users want the `gorl` crate, which brings stores, a clock and a front door. This crate is
//! for those who have a place of their own to keep sixteen bytes a key: [`decide`] takes what is
//! stored and the present, and returns a [`Decision`] with the state to store next.
//!
//! It is `no_std`, allocates nothing, uses no floating point and no `unsafe`, and cannot panic.
//!
//! ```
//! use std::time::Duration;
//! use gorl_core::{Policy, State, decide};
//!
//! let policy = Policy::sliding_window(2, Duration::from_secs(10))?;
//! let mut stored: Option<State> = None;
//!
//! let now = 1_700_000_000_000_000_000; // nanoseconds since the Unix epoch
//! for expected in [true, true, false] {
//!     let decision = decide(&policy, stored, now, 1)?;
//!     assert_eq!(decision.is_allowed(), expected);
//!     if decision.changes_state() {
//!         stored = Some(decision.state());
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
//! - `std`: [`StoreError`] can carry its cause, and an `Arc` of a [`Clock`] is a clock.
#![no_std]
#![forbid(unsafe_code)]
#![deny(
    clippy::arithmetic_side_effects,
    clippy::float_arithmetic,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used
)]
#![cfg_attr(
    test,
    allow(
        clippy::arithmetic_side_effects,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::unwrap_used,
        clippy::expect_used
    )
)]

#[cfg(any(test, feature = "std"))]
extern crate std;

mod clock;
mod decision;
mod key;
mod origin;
mod policy;
mod state;
mod step;
mod store;
mod strategy;

pub use clock::{Clock, ManualClock};
pub use decision::{Decision, Figures};
pub use key::{Key, KeyPart, KeyRef, Part};
pub use origin::Origin;
pub use policy::{Policy, PolicyError, Tick};
pub use state::{State, StateError};
pub use step::{
    CostExceedsLimit, check_cost, decide, decide_adopted, give_back, is_rested, peek, rested_at,
    spent_at,
};
pub use store::{
    Action, DecideError, LocalStore, Request, Scope, Store, StoreError, StoreErrorKind,
};
pub use strategy::{Strategy, UnknownStrategy};
