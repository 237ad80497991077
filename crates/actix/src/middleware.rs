//! The middleware that asks the limits before the service within.

use std::future::{Future, Ready, ready};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use actix_web::body::{EitherBody, MessageBody};
use actix_web::dev::{Service, ServiceRequest, ServiceResponse, Transform};
use actix_web::{Error, HttpMessage};
use gorl_http::{Begin, Decided, Plan, Verdict};

use crate::RateLimit;
use crate::response::{Within, refused, served};
use crate::view::View;

/// The middleware that limits requests. Its clones share all counts: make it outside of the closure
/// that makes the `App`, which runs once for each worker, and clone it there.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use actix_web::App;
/// use gorl::{Limiter, Policy};
/// use gorl_actix::RateLimitMiddleware;
///
/// let limiter = Limiter::new(Policy::token_bucket(10, Duration::from_secs(1))?);
/// let limits = RateLimitMiddleware::per_ip(limiter);
/// let app = move || App::new().wrap(limits.clone());
/// # let _ = app();
/// # Ok::<(), gorl::PolicyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct RateLimitMiddleware {
    limit: Arc<RateLimit>,
}

/// A service whose requests are limited.
#[derive(Debug)]
pub struct RateLimitService<S> {
    limit: Arc<RateLimit>,
    inner: Rc<S>,
}

impl RateLimitMiddleware {
    /// The middleware of these limits.
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

impl<S, B> Transform<S, ServiceRequest> for RateLimitMiddleware
where
    S: Service<ServiceRequest, Response = ServiceResponse<B>, Error = Error> + 'static,
    S::Future: 'static,
    B: MessageBody + 'static,
{
    type Response = ServiceResponse<EitherBody<B>>;
    type Error = Error;
    type Transform = RateLimitService<S>;
    type InitError = ();
    type Future = Ready<Result<Self::Transform, ()>>;

    fn new_transform(&self, inner: S) -> Self::Future {
        ready(Ok(RateLimitService { limit: Arc::clone(&self.limit), inner: Rc::new(inner) }))
    }
}

impl<S, B> Service<ServiceRequest> for RateLimitService<S>
where
    S: Service<ServiceRequest, Response = ServiceResponse<B>, Error = Error> + 'static,
    S::Future: 'static,
    B: MessageBody + 'static,
{
    type Response = ServiceResponse<EitherBody<B>>;
    type Error = Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Error>>>>;

    fn poll_ready(&self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&self, request: ServiceRequest) -> Self::Future {
        let begin = self.limit.begin(&request, &View::of(&request));
        let (limit, inner) = (Arc::clone(&self.limit), Rc::clone(&self.inner));
        let is_within = request.extensions().contains::<Within>();
        Box::pin(async move {
            let verdict = match begin {
                Begin::Unlimited => {
                    return Ok(inner.call(request).await?.map_into_left_body());
                }
                Begin::Settled(verdict) => verdict,
                Begin::Ask(plan) => {
                    let decided = decide(plan).await;
                    limit.verdict(&request, &View::of(&request), decided)
                }
            };
            let mut passed = match verdict {
                Verdict::Pass(passed) => passed,
                Verdict::Stop(answer, told) => {
                    let told = told.filter(|_| is_within);
                    let response = refused(answer, told).map_into_right_body();
                    return Ok(request.into_response(response));
                }
            };
            if !is_within {
                request.extensions_mut().insert(Within);
            }
            match inner.call(request).await {
                Ok(mut response) => {
                    passed.settle(response.status().as_u16()).await;
                    served(&mut response, passed, is_within);
                    Ok(response.map_into_left_body())
                }
                // A handler's error becomes its response further out, without fields.
                Err(error) => {
                    passed.settle(error.as_response_error().status_code().as_u16()).await;
                    Err(error)
                }
            }
        })
    }
}

async fn decide(plan: Box<Plan>) -> Decided {
    match plan.decide_now() {
        Ok(decided) => decided,
        Err(plan) => plan.decide().await,
    }
}
