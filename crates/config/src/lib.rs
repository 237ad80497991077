//! Configuration files of gorl: JSON, YAML and TOML of one schema, and reloading while serving.
//!
//! ```
//! use gorl_config::{Config, Format};
//!
//! let yaml = "
//! strategy: sliding_window
//! default: {limit: 100, window: 1m}
//! resources:
//!   login: {limit: 5, window: 1m}
//! ";
//! let toml = r#"
//! strategy = "sliding_window"
//! default = { limit = 100, window = "1m" }
//! resources.login = "5 per minute"
//! "#;
//! let config = Config::parse(yaml, Format::Yaml)?;
//! assert_eq!(config, Config::parse(toml, Format::Toml)?);
//!
//! let limiter = config.memory_limiter()?;
//! assert!(limiter.check("login", "user-1").is_allowed());
//! # Ok::<(), gorl_config::ConfigError>(())
//! ```
//!
//! # Fields
//!
//! | field | meaning |
//! |---|---|
//! | `strategy` | `fixed_window`, `sliding_window`, `token_bucket` or `leaky_bucket`, for all limits that name none |
//! | `default` | the limit of every resource that has none of its own |
//! | `resources` | limits by name |
//! | `routes` | patterns of requests and the resources that they are for, see [`Routes`] |
//! | `redis_url` | a Redis that shares the counts; without it they are in memory |
//! | `failure` | when the store is gone: `closed` (an error), `open` (admit) or `local` (count here); `fail_open: true` is `failure: open` |
//! | `instances` | among how many processes limits are divided under `failure: local` |
//! | `redis` | `prefix`, `hash_keys`, `tag_resource`, `connect_timeout`, `command_timeout`, `start_degraded` |
//! | `memory` | `capacity`: how many keys are counted at most |
//! | `breaker` | `failures`, `wait`, `longest_wait` |
//! | `denial_cache` | `capacity`, `max_age` |
//! | `headers` | a list of `plain`, `prefixed`, `structured` |
//! | `unknown_resources` | how many resources without a limit of their own are counted apart |
//!
//! A limit is a rate such as `10 per minute`, `100/s` or `10 per second; 1000 per hour`, or a map of
//! `limit` and `window` (or `rate`), `strategy` and, for the buckets, `burst`; or of `limits`, a list of
//! such maps with a `name`, all of which must admit. Files of the Go library GoRL load as they are, also
//! from a section `gorl`.
//!
//! A field that there is not, a unit that is none, a number out of range, something said twice: each is
//! one [`ConfigError`] with the place, the field and what would be right, and nothing is loaded.
#![forbid(unsafe_code)]

mod compile;
mod config;
mod de;
mod describe;
mod document;
mod duration;
mod env;
mod error;
mod limiter;
mod located;
mod node;
mod rate;
mod read;
mod reload;
mod routes;
mod scalar;
mod schema;

pub use config::Config;
pub use document::HeaderStyle;
pub use duration::{DurationError, format_duration, parse_duration};
pub use error::ConfigError;
pub use rate::{RateError, parse_rate};
pub use read::Format;
pub use reload::{Reloadable, Reloaded, Reloader, Watch};
pub use routes::{RouteError, Routes};
pub use schema::json_schema;
