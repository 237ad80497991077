//! The service that asks the limits before the service within.

use std::sync::Arc;
use std::task::{Context, Poll};

use gorl_http::{Begin, Verdict};
use http::request::Parts;
use http::{Request, Response};
use tower_layer::Layer;
use tower_service::Service;

use crate::RateLimit;
use crate::body::LimitedBody;
use crate::future::{ResponseFuture, Waiting};
use crate::response::{Within, refused};
use crate::view::View;

/// The layer that limits requests. Its clones, and the services made of them, share all counts.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use gorl::{Limiter, Policy};
/// use gorl_tower::RateLimitLayer;
///
/// let limiter = Limiter::new(Policy::token_bucket(10, Duration::from_secs(1))?);
/// let layer = RateLimitLayer::per_ip(limiter);
/// # Ok::<(), gorl::PolicyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct RateLimitLayer {
    limit: Arc<RateLimit>,
}

/// A service whose requests are limited.
#[derive(Clone, Debug)]
pub struct RateLimitService<S> {
    limit: Arc<RateLimit>,
    inner: S,
}

impl RateLimitLayer {
    /// The layer of these limits.
    #[must_use]
    pub fn new(limit: RateLimit) -> Self {
        Self { limit: Arc::new(limit) }
    }

    /// The limit of [`RateLimit::per_ip`](gorl_http::RateLimit::per_ip).
    #[must_use]
    pub fn per_ip(decider: impl Into<gorl_http::Decider>) -> Self {
        Self::new(RateLimit::per_ip(decider))
    }

    /// The limits, to look at their totals.
    #[must_use]
    pub fn rate_limit(&self) -> &RateLimit {
        &self.limit
    }
}

impl<S> Layer<S> for RateLimitLayer {
    type Service = RateLimitService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        RateLimitService { limit: Arc::clone(&self.limit), inner }
    }
}

impl<S, B, RB> Service<Request<B>> for RateLimitService<S>
where
    S: Service<Request<B>, Response = Response<RB>> + Clone,
{
    type Response = Response<LimitedBody<RB>>;
    type Error = S::Error;
    type Future = ResponseFuture<S, B, RB>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (mut parts, body) = request.into_parts();
        let is_within = parts.extensions.get::<Within>().is_some();
        let verdict = match self.limit.begin(&parts, &View(&parts)) {
            Begin::Unlimited => return self.serve(parts, body, None, is_within),
            Begin::Settled(verdict) => verdict,
            Begin::Ask(plan) => match plan.decide_now() {
                Ok(decided) => self.limit.verdict(&parts, &View(&parts), decided),
                Err(plan) => {
                    mark(&mut parts, is_within);
                    // The one that is ready goes with the request, and a clone has to become so.
                    let clone = self.inner.clone();
                    let service = std::mem::replace(&mut self.inner, clone);
                    let limit = Arc::clone(&self.limit);
                    let waiting = Waiting { limit, service, parts, body, is_within };
                    return ResponseFuture::asking(plan.decide(), waiting);
                }
            },
        };
        match verdict {
            Verdict::Pass(passed) => {
                mark(&mut parts, is_within);
                self.serve(parts, body, Some(passed), is_within)
            }
            Verdict::Stop(answer, told) => ResponseFuture::done(refused(answer, told, is_within)),
        }
    }
}

/// Has layers within know of this one.
fn mark(parts: &mut Parts, is_within: bool) {
    if !is_within {
        parts.extensions.insert(Within);
    }
}

impl<S> RateLimitService<S> {
    fn serve<B, RB>(
        &mut self,
        parts: Parts,
        body: B,
        passed: Option<gorl_http::Passed>,
        is_within: bool,
    ) -> ResponseFuture<S, B, RB>
    where
        S: Service<Request<B>, Response = Response<RB>>,
    {
        let serving = self.inner.call(Request::from_parts(parts, body));
        ResponseFuture::serving(serving, passed, is_within)
    }
}
