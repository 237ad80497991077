//! An exact, fast rate limiter: *may this key spend this now?*
//!
//! ```
//! # #[cfg(feature = "memory")] {
//! use std::time::Duration;
//! use gorl::{Limiter, Policy};
//!
//! // Five a minute, for each user.
//! let limiter = Limiter::new(Policy::sliding_window(5, Duration::from_secs(60))?);
//!
//! for _ in 0..5 {
//!     assert!(limiter.check("user-123").is_allowed());
//! }
//! let decision = limiter.check("user-123");
//! assert!(!decision.is_allowed());
//! assert!(decision.retry_after() > Duration::ZERO);
//!
//! // Somebody else is counted apart, and a key can have parts.
//! assert!(limiter.check(("tenant-7", 42_u64)).is_allowed());
//! # }
//! # Ok::<(), gorl::PolicyError>(())
//! ```
//!
//! # Which strategy
//!
//! | strategy | allows | choose it when |
//! |---|---|---|
//! | [`Policy::fixed_window`] | `limit` in each window from the epoch; twice that around an edge | quotas: "1 000 a day, reset at midnight UTC" |
//! | [`Policy::sliding_window`] | `limit` by a weighted estimate; nearly twice that in some window-long span, if a caller bunches its requests | limits that users notice, without bursts at edges |
//! | [`Policy::token_bucket`] | bursts up to `burst`, then `limit` per window, evenly | clients that idle and then catch up |
//! | [`Policy::leaky_bucket`] | the same, counted as what is in use | when lowering a limit must not free what is in use |
//!
//! # What a decision tells
//!
//! [`Decision`] is exact in all its figures: [`remaining`](Decision::remaining) more would be
//! admitted now and not one beyond; after [`retry_after`](Decision::retry_after) a denied caller is
//! admitted, and not one nanosecond earlier.
//!
//! # Features
//!
//! - `memory` (default): [`Limiter`], over an in-process store. Its `check` answers at once and
//!   cannot fail.
//! - `redis`: `RedisStore`, whose counts many processes share, for [`AsyncLimiter`]. It counts in
//!   microseconds and needs tokio. With `redis-tls`, `redis-pool` and `redis-client` it has TLS, can
//!   take connections out of a pool, and can be made from a client that you already have.
//! - `custom`: [`Cas`](https://docs.rs/gorl-store-custom) and `Locked`, two easy roads to a store over
//!   a server of your own.
//!
//! [`AsyncLimiter`] runs over any [`Store`], such as one that many processes share; its `check` is
//! awaited and returns a `Result`. What a request gets while the store is gone is for the
//! [`FailurePolicy`] to say, and a [`Breaker`] keeps that from taking long:
//!
//! ```no_run
//! # #[cfg(feature = "redis")] {
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::time::Duration;
//! use gorl::{AsyncLimiter, Policy, RedisStore};
//!
//! let store = RedisStore::connect("redis://127.0.0.1/").await?;
//! let limiter = AsyncLimiter::new(Policy::sliding_window(5, Duration::from_secs(60))?, store);
//! assert!(limiter.check("user-123").await?.is_allowed());
//! # Ok(())
//! # }
//! # }
//! ```
#![forbid(unsafe_code)]

mod asking;
mod async_limiter;
mod async_limiter_builder;
mod async_resource_limiter;
mod breaker;
mod denial_cache;
mod dyn_store;
mod failure_policy;
mod fallback;
#[cfg(feature = "memory")]
mod limiter;
#[cfg(feature = "memory")]
mod limiter_builder;
mod multi_decision;
mod multi_policy;
mod observer;
#[cfg(feature = "redis")]
mod owned_key;
#[cfg(feature = "memory")]
mod resource_limiter;
mod resource_names;
mod resource_policies;
mod stats;
mod steady_clock;
mod together;
mod top_denied;

pub use async_limiter::AsyncLimiter;
pub use async_limiter_builder::AsyncLimiterBuilder;
pub use async_resource_limiter::{AsyncResourceLimiter, AsyncResourceLimiterBuilder};
pub use breaker::{Breaker, BreakerState};
pub use denial_cache::DenialCache;
pub use dyn_store::DynStore;
pub use failure_policy::FailurePolicy;
#[cfg(feature = "memory")]
pub use failure_policy::LocalShare;
pub use gorl_core::{
    Action, Clock, CostExceedsLimit, DecideError, Decision, Figures, Key, KeyPart, KeyRef,
    LocalStore, ManualClock, Origin, Part, Policy, PolicyError, Request, Scope, Store, StoreError,
    StoreErrorKind, Strategy, Tick, UnknownStrategy,
};
#[cfg(feature = "custom")]
pub use gorl_store_custom::{
    Cas, CasBackend, KvBackend, Loaded, Locked, Options as CustomOptions, Value, ValueError,
};
#[cfg(feature = "memory")]
pub use gorl_store_mem::{MemoryStore, MemoryStoreBuilder, SystemClock};
#[cfg(feature = "redis")]
pub use gorl_store_redis::{RedisStore, RedisStoreBuilder};
#[cfg(feature = "memory")]
pub use limiter::Limiter;
#[cfg(feature = "memory")]
pub use limiter_builder::LimiterBuilder;
pub use multi_decision::MultiDecision;
pub use multi_policy::{MultiPolicy, MultiPolicyError};
pub use observer::{Observed, Observer};
#[cfg(feature = "memory")]
pub use resource_limiter::{ResourceLimiter, ResourceLimiterBuilder};
pub use resource_policies::ResourcePolicies;
pub use stats::Stats;
pub use together::Ask;
pub use top_denied::{TopDenied, TopKey};

/// The pure math, for those who keep the states themselves.
pub use gorl_core as core;

/// The README's examples are tests, so that they cannot go stale.
#[cfg(all(doctest, feature = "memory", feature = "redis"))]
#[doc = include_str!("../../../README.md")]
struct Readme;
