//! An [actix-web](https://docs.rs/actix-web) middleware that limits requests by gorl.
//!
//! ```
//! use std::time::Duration;
//! use actix_web::{App, web};
//! use gorl::{Limiter, Policy};
//! use gorl_actix::{ClientIp, KeySource, Limit, RateLimit, RateLimitMiddleware};
//!
//! // Ten a second and bursts of thirty, for each client behind our load balancer.
//! let policy = Policy::token_bucket(10, Duration::from_secs(1))?.with_burst(30)?;
//! let key = KeySource::client_ip(ClientIp::behind(["10.0.0.0/8"])?);
//! let rate_limit = RateLimit::new(Limit::new("api", Limiter::new(policy), key))
//!     .skip_preflight()
//!     .skip_paths(["/healthz"]);
//! // Outside of the closure, which runs once for each worker: so the workers share the counts.
//! let limits = RateLimitMiddleware::new(rate_limit);
//! let app = move || App::new().wrap(limits.clone()).route("/", web::get().to(|| async { "hello" }));
//! # let _ = app();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Wrap an `App`, a `Scope` or a `Resource`. For counts that many processes share, give the limit an
//! `AsyncLimiter` over a shared store in place of a `Limiter`.
//!
//! # Where it belongs
//!
//! The middleware that is wrapped last runs first. Wrap this one *before* `Cors`, so that CORS is
//! outside and a browser may read a refusal; before what finds the user, if the key is not a user,
//! and after it otherwise.
//!
//! # Who is asking
//!
//! The peer of the connection, unless the key says otherwise. The forwarding headers are read by
//! [`ClientIp`] alone, from proxies that it was told to trust; actix-web's own
//! `realip_remote_addr` believes anybody, and is not used.
#![forbid(unsafe_code)]

mod middleware;
mod response;
mod view;

use actix_web::HttpMessage;
use actix_web::dev::ServiceRequest;

pub use gorl_http::{
    Answer, BodyStyle, ClientIp, Decider, Event, HeaderStyles, MissingKey, NotANetwork, OnMissing,
    Outcome, Refusal, RequestKey, RequestView, ResourceDecider, Tally,
};
pub use middleware::{RateLimitMiddleware, RateLimitService};

/// The limits of a service; see [`gorl_http::RateLimit`].
pub type RateLimit = gorl_http::RateLimit<ServiceRequest>;

/// One limit; see [`gorl_http::Limit`].
pub type Limit = gorl_http::Limit<ServiceRequest>;

/// Where the key of a request comes from; see [`gorl_http::KeySource`].
pub type KeySource = gorl_http::KeySource<ServiceRequest>;

/// A key out of what an earlier middleware has put into the request's extensions, such as the user.
///
/// # Examples
///
/// ```
/// struct User { id: u64 }
///
/// let key = gorl_actix::key_of_extension(|user: &User| user.id);
/// ```
pub fn key_of_extension<T, K>(key: impl Fn(&T) -> K + Send + Sync + 'static) -> KeySource
where
    T: 'static,
    K: Into<RequestKey>,
{
    KeySource::by(move |request: &ServiceRequest| request.extensions().get::<T>().map(&key))
}
