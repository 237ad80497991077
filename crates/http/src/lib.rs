//! Limits for HTTP requests, whatever the framework: who is asking, and what the answer says.
//!
//! Most users want the crate of their framework: `gorl-tower` for axum, hyper, tonic and anything
//! tower, `gorl-actix` for actix-web. This crate is what they share, and enough to write another.
//!
//! - [`KeySource`] tells who is counted: a [`ClientIp`] behind proxies that you trust, an API key, a
//!   route, a user that an earlier layer found, or several of these together.
//! - [`Limit`] is one limit: its name, its limiter, its key; and [`RateLimit`] is all limits of a
//!   service, what they skip, and what is answered.
//! - [`RequestView`] is what they need to see of a request.
//!
//! # For authors of a middleware
//!
//! ```
//! use std::net::{IpAddr, Ipv4Addr};
//! use std::time::Duration;
//! use gorl::{Limiter, Policy};
//! use gorl_http::{Begin, ClientIp, KeySource, Limit, RateLimit, RequestView, Verdict};
//!
//! struct Request;
//!
//! impl RequestView for Request {
//!     fn method(&self) -> &str { "GET" }
//!     fn path(&self) -> &str { "/" }
//!     fn route(&self) -> Option<&str> { None }
//!     fn peer(&self) -> Option<IpAddr> { Some(Ipv4Addr::LOCALHOST.into()) }
//!     fn visit_header(&self, _name: &str, _visit: &mut dyn FnMut(&[u8])) {}
//!     fn peer_help(&self) -> &'static str { "pass it on" }
//! }
//!
//! let limiter = Limiter::new(Policy::fixed_window(1, Duration::from_secs(3600))?);
//! let key = KeySource::client_ip(ClientIp::peer());
//! let rate_limit = RateLimit::<Request>::new(Limit::new("api", limiter, key));
//!
//! let mut status = Vec::new();
//! for _ in 0..2 {
//!     let verdict = match rate_limit.begin(&Request, &Request) {
//!         Begin::Unlimited => continue,
//!         Begin::Settled(verdict) => verdict,
//!         // The plan holds on to nothing of the request, and may be awaited.
//!         Begin::Ask(plan) => match plan.decide_now() {
//!             Ok(decided) => rate_limit.verdict(&Request, &Request, decided),
//!             Err(_plan) => continue,
//!         },
//!     };
//!     match verdict {
//!         Verdict::Pass(passed) => {
//!             // Serve it. Then settle the charge by the status, and write the fields.
//!             let _ = passed.write(None, &mut |_field, _value| {});
//!             status.push(200);
//!         }
//!         Verdict::Stop(answer, _) => status.push(answer.status),
//!     }
//! }
//! assert_eq!(status, [200, 429]);
//! # Ok::<(), gorl::PolicyError>(())
//! ```
#![forbid(unsafe_code)]

mod answer;
mod asked;
mod client_ip;
mod decider;
mod figures;
mod forwarded;
mod grpc;
mod header_styles;
mod key;
mod key_source;
mod limit;
mod passed;
mod path;
mod rate_limit;
mod skip;
mod tally;
mod view;

pub use answer::{Answer, BodyStyle, Refusal};
pub use asked::{Decided, Plan};
pub use client_ip::{ClientIp, NotANetwork};
pub use decider::{Decider, ResourceDecider};
pub use figures::Told;
pub use grpc::http_status_of_grpc;
pub use header_styles::{Field, FieldValue, HeaderStyles};
pub use key::RequestKey;
pub use key_source::{KeySource, MissingKey};
pub use limit::{Limit, OnMissing};
pub use passed::Passed;
pub use path::normalized_path;
pub use rate_limit::{Begin, RateLimit, Verdict};
pub use tally::{Event, Outcome, Tally};
pub use view::RequestView;
