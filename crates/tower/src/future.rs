//! The response that is to come: the limits are asked, the service within serves, the charge settles.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use gorl_http::{Decided, Passed, RateLimit, Verdict};
use http::request::Parts;
use http::{Request, Response};
use tower_service::Service;

use crate::body::LimitedBody;
use crate::response::{refused, served, status_of};
use crate::view::View;

/// What has to be waited for.
type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

pin_project_lite::pin_project! {
    /// The future of [`RateLimitService`](crate::RateLimitService).
    pub struct ResponseFuture<S, B, RB>
    where
        S: Service<Request<B>>,
    {
        #[pin]
        state: State<S, B, RB, S::Future>,
    }
}

pin_project_lite::pin_project! {
    #[project = StateProjection]
    pub(crate) enum State<S, B, RB, F> {
        /// The limits are being asked.
        Asking { deciding: Boxed<Decided>, waiting: Option<Box<Waiting<S, B>>> },
        /// The service within serves.
        Serving { #[pin] serving: F, passed: Option<Passed>, is_within: bool },
        /// The charge is being settled.
        Settling { settling: Boxed<Passed>, response: Option<Response<RB>>, is_within: bool },
        /// There is a response.
        Done { response: Option<Response<LimitedBody<RB>>> },
    }
}

/// A request that waits for the limits, and the service that is ready for it.
pub(crate) struct Waiting<S, B> {
    pub(crate) limit: Arc<RateLimit<Parts>>,
    pub(crate) service: S,
    pub(crate) parts: Parts,
    pub(crate) body: B,
    pub(crate) is_within: bool,
}

impl<S, B, RB> ResponseFuture<S, B, RB>
where
    S: Service<Request<B>>,
{
    pub(crate) fn asking(
        deciding: impl Future<Output = Decided> + Send + 'static,
        waiting: Waiting<S, B>,
    ) -> Self {
        let deciding = Box::pin(deciding);
        Self { state: State::Asking { deciding, waiting: Some(Box::new(waiting)) } }
    }

    pub(crate) const fn serving(
        serving: S::Future,
        passed: Option<Passed>,
        is_within: bool,
    ) -> Self {
        Self { state: State::Serving { serving, passed, is_within } }
    }

    pub(crate) const fn done(response: Response<LimitedBody<RB>>) -> Self {
        Self { state: State::Done { response: Some(response) } }
    }
}

impl<S, B, RB> Future for ResponseFuture<S, B, RB>
where
    S: Service<Request<B>, Response = Response<RB>>,
{
    type Output = Result<Response<LimitedBody<RB>>, S::Error>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.project().state;
        loop {
            let next = match state.as_mut().project() {
                StateProjection::Asking { deciding, waiting } => {
                    let decided = ready!(deciding.as_mut().poll(context));
                    let waiting = waiting.take().expect("polled once after it was ready");
                    let Waiting { limit, mut service, parts, body, is_within } = *waiting;
                    match limit.verdict(&parts, &View(&parts), decided) {
                        Verdict::Pass(passed) => {
                            let serving = service.call(Request::from_parts(parts, body));
                            State::Serving { serving, passed: Some(passed), is_within }
                        }
                        Verdict::Stop(answer, told) => {
                            return Poll::Ready(Ok(refused(answer, told, is_within)));
                        }
                    }
                }
                StateProjection::Serving { serving, passed, is_within } => {
                    let response = ready!(serving.poll(context))?;
                    let Some(mut passed) = passed.take() else {
                        return Poll::Ready(Ok(response.map(LimitedBody::served)));
                    };
                    let status = status_of(&response);
                    if passed.settle_now(status) {
                        return Poll::Ready(Ok(served(response, passed, *is_within)));
                    }
                    let settling = Box::pin(async move {
                        passed.settle(status).await;
                        passed
                    });
                    let (response, is_within) = (Some(response), *is_within);
                    State::Settling { settling, response, is_within }
                }
                StateProjection::Settling { settling, response, is_within } => {
                    let passed = ready!(settling.as_mut().poll(context));
                    let response = response.take().expect("polled once after it was ready");
                    return Poll::Ready(Ok(served(response, passed, *is_within)));
                }
                StateProjection::Done { response } => {
                    let response = response.take().expect("not polled after it was ready");
                    return Poll::Ready(Ok(response));
                }
            };
            state.set(next);
        }
    }
}
