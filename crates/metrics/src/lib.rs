//! The metrics and log events of gorl, by the facades [`metrics`] and `tracing`.
//!
//! ```
//! use std::time::Duration;
//! use gorl::{Policy, ResourceLimiter, ResourcePolicies};
//! use gorl_metrics::Metrics;
//!
//! let policies = ResourcePolicies::new(Policy::sliding_window(100, Duration::from_secs(60))?);
//! let limiter = ResourceLimiter::builder(policies).observer(Metrics::new()).build();
//! assert!(limiter.check("search", "user-1").is_allowed());
//! # Ok::<(), gorl::PolicyError>(())
//! ```
//!
//! Install a recorder, such as that of `metrics-exporter-prometheus`, before [`Metrics::new`] is called: the
//! facade's handles go to the recorder that is there when they are made.
//!
//! # What there is
//!
//! | metric | kind | labels | meaning |
//! |---|---|---|---|
//! | `gorl_decisions_total` | counter | `resource`, `outcome`, `origin` | decisions; the outcome is `allowed` or `denied`, the origin `store`, `denial_cache`, `local` or `open` (the last two are degraded) |
//! | `gorl_denials_by_limit_total` | counter | `resource`, `limit` | denials of resources with several limits, by the one that binds |
//! | `gorl_decision_duration_seconds` | histogram | `resource` | how long a decision took, the store's part in it |
//! | `gorl_failures_total` | counter | `resource`, `kind` | requests that ended with the store's error |
//! | `gorl_store_errors_total` | counter | `resource`, `kind` | failures of the store, whatever became of the request; `circuit_open` are those that were not asked |
//! | `gorl_breaker_state` | gauge | `resource` | 0 closed, 1 probing, 2 open; set when it changes and by [`Metrics::publish_breaker`] |
//! | `gorl_breaker_changes_total` | counter | `resource`, `state` | changes to a state |
//! | `gorl_keys` | gauge | `limiter` | keys in memory ([`Metrics::publish_store`]) |
//! | `gorl_memory_bytes` | gauge | `limiter` | bytes that they take |
//! | `gorl_evictions_total` | counter | `limiter` | keys that still counted and were given up for lack of room |
//! | `gorl_unknown_resources` | gauge | `limiter` | resources without a policy that are counted apart |
//! | `gorl_http_requests_total` | counter | `limit`, `outcome` | requests over HTTP under a limit (feature `http`, [`Metrics::http`]) |
//!
//! Failures and the breaker are of the store, which all resources of a limiter share: their `resource` is
//! the limiter's name, which is `default` for one that has policies by resource.
//!
//! No label holds a key, and none holds a name that a caller chose: a resource without policies of its own
//! is called `default`. So there are no more series than there are policies, times a few.
//!
//! GoRL's collector has three, which are here: `allow_total` is `gorl_decisions_total{outcome="allowed"}`,
//! `deny_total` is the same of `denied`, `request_duration_seconds` is `gorl_decision_duration_seconds`.
#![forbid(unsafe_code)]

mod by_name;
mod observer;
mod publish;
#[cfg(feature = "tracing")]
mod traced;

pub use observer::Metrics;
#[cfg(feature = "tracing")]
pub use traced::Traced;

/// The names of all metrics, for whoever checks a dashboard against them.
pub const NAMES: [&str; 12] = [
    "gorl_decisions_total",
    "gorl_denials_by_limit_total",
    "gorl_decision_duration_seconds",
    "gorl_failures_total",
    "gorl_store_errors_total",
    "gorl_breaker_state",
    "gorl_breaker_changes_total",
    "gorl_keys",
    "gorl_memory_bytes",
    "gorl_evictions_total",
    "gorl_unknown_resources",
    "gorl_http_requests_total",
];
