//! A [tower](https://docs.rs/tower) layer that limits requests: for axum, hyper and tonic.
//!
//! ```
//! use std::time::Duration;
//! use gorl::{Limiter, Policy};
//! use gorl_tower::{ClientIp, HeaderStyles, KeySource, Limit, RateLimit, RateLimitLayer};
//!
//! // Ten a second and bursts of thirty, for each client behind our load balancer.
//! let policy = Policy::token_bucket(10, Duration::from_secs(1))?.with_burst(30)?;
//! let key = KeySource::client_ip(ClientIp::behind(["10.0.0.0/8"])?);
//! let rate_limit = RateLimit::new(Limit::new("api", Limiter::new(policy), key))
//!     .skip_preflight()
//!     .skip_paths(["/healthz"])
//!     .headers(HeaderStyles::PLAIN.and(HeaderStyles::STRUCTURED));
//! let layer = RateLimitLayer::new(rate_limit);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Add it with `Router::layer` of axum, `Server::layer` of tonic, or a `ServiceBuilder`. All clones of
//! a layer, and all services that it makes, share the counts. For counts that many processes share,
//! give the limit an `AsyncLimiter` over a shared store in place of a `Limiter`.
//!
//! # Where it belongs
//!
//! - **Outside of what is expensive**: authentication that asks a database, bodies that are parsed.
//! - **Inside of CORS**, so that a browser may read a refusal: `.layer(limits).layer(cors)` in
//!   axum, where the layer that is added last is the outermost.
//! - **Inside of what finds the user**, if the key is a user: that layer comes after this one in axum's
//!   order. A limit by address further out then protects the look-up itself.
//!
//! # Who is asking
//!
//! The address of the peer has to come from the server: with axum serve with
//! `into_make_service_with_connect_info::<SocketAddr>()` and enable the feature `axum`; with tonic enable
//! the feature `tonic`; with another server put a [`Peer`] into the extensions of each request. A
//! request whose address is not known is answered with 500 and a text that says this, and never
//! counted with others.
#![forbid(unsafe_code)]

mod body;
mod future;
mod response;
mod service;
mod view;

use http::request::Parts;

pub use body::LimitedBody;
pub use future::ResponseFuture;
pub use gorl_http::{
    Answer, BodyStyle, ClientIp, Decider, Event, HeaderStyles, MissingKey, NotANetwork, OnMissing,
    Outcome, Refusal, RequestKey, RequestView, ResourceDecider, Tally,
};
pub use service::{RateLimitLayer, RateLimitService};
pub use view::Peer;

/// The limits of a service; see [`gorl_http::RateLimit`].
pub type RateLimit = gorl_http::RateLimit<Parts>;

/// One limit; see [`gorl_http::Limit`].
pub type Limit = gorl_http::Limit<Parts>;

/// Where the key of a request comes from; see [`gorl_http::KeySource`].
pub type KeySource = gorl_http::KeySource<Parts>;

/// A key out of what an earlier layer has put into the request's extensions, such as the user.
///
/// # Examples
///
/// ```
/// #[derive(Clone)]
/// struct User { id: u64 }
///
/// let key = gorl_tower::key_of_extension(|user: &User| user.id);
/// ```
pub fn key_of_extension<T, K>(key: impl Fn(&T) -> K + Send + Sync + 'static) -> KeySource
where
    T: Clone + Send + Sync + 'static,
    K: Into<RequestKey>,
{
    KeySource::by(move |parts: &Parts| parts.extensions.get::<T>().map(&key))
}
