//! A tower layer for outgoing calls: each waits until the limit admits it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use gorl::Key;
use tower_layer::Layer;
use tower_service::Service;

use crate::{Decides, Timer, WaitError, Waiting};

/// Makes the calls of a client wait until a limit admits them.
///
/// A closure finds the key of a request: the host that is called, say. The wait begins when the inner
/// service is ready and holds that readiness, so put this outside of what has few places, such as a
/// concurrency limit.
///
/// # Examples
///
/// ```
/// # #[cfg(feature = "tokio")]
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::convert::Infallible;
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// use gorl::{Limiter, Policy};
/// use gorl_wait::{ThrottleLayer, TokioClock, TokioTimer, Waiting};
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
///
/// let policy = Policy::token_bucket(1, Duration::from_secs(1))?;
/// let limiter = Limiter::builder(policy).clock(TokioClock::new()).build();
/// let waiting = Arc::new(Waiting::new(limiter, TokioTimer));
/// let client = ServiceBuilder::new()
///     .layer(ThrottleLayer::new(waiting, |host: &&'static str| *host))
///     .service(service_fn(async |host: &'static str| Ok::<_, Infallible>(host.len())));
///
/// let begun = tokio::time::Instant::now();
/// for _ in 0..3 {
///     assert_eq!(client.clone().oneshot("a.example").await?, 9);
/// }
/// assert_eq!(begun.elapsed(), Duration::from_secs(2));
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "tokio"))]
/// # fn main() {}
/// ```
#[derive(Debug)]
pub struct ThrottleLayer<L, T, F> {
    waiting: Arc<Waiting<L, T>>,
    key: F,
}

/// A service whose calls wait; made by [`ThrottleLayer`].
#[derive(Debug)]
pub struct Throttle<S, L, T, F> {
    inner: S,
    waiting: Arc<Waiting<L, T>>,
    key: F,
}

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ThrottleError<E> {
    /// It was not made, for the limit did not come to admit it.
    #[error(transparent)]
    Wait(WaitError),
    /// It was made, and the service failed.
    #[error("the service failed")]
    Service(#[source] E),
}

impl<L, T, F> ThrottleLayer<L, T, F> {
    /// Waits by the key that a closure finds in a request.
    pub const fn new(waiting: Arc<Waiting<L, T>>, key: F) -> Self {
        Self { waiting, key }
    }
}

impl<L, T, F: Clone> Clone for ThrottleLayer<L, T, F> {
    fn clone(&self) -> Self {
        Self { waiting: Arc::clone(&self.waiting), key: self.key.clone() }
    }
}

impl<S: Clone, L, T, F: Clone> Clone for Throttle<S, L, T, F> {
    fn clone(&self) -> Self {
        let (inner, key) = (self.inner.clone(), self.key.clone());
        Self { inner, waiting: Arc::clone(&self.waiting), key }
    }
}

impl<S, L, T, F: Clone> Layer<S> for ThrottleLayer<L, T, F> {
    type Service = Throttle<S, L, T, F>;

    fn layer(&self, inner: S) -> Self::Service {
        Throttle { inner, waiting: Arc::clone(&self.waiting), key: self.key.clone() }
    }
}

/// A call that waits, and then is made.
type Call<T, E> = Pin<Box<dyn Future<Output = Result<T, ThrottleError<E>>> + Send>>;

impl<S, L, T, F, K, Q> Service<Q> for Throttle<S, L, T, F>
where
    S: Service<Q> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Send + 'static,
    L: Decides + 'static,
    T: Timer + 'static,
    F: Fn(&Q) -> K,
    K: Key + Send + Sync + 'static,
    Q: Send + 'static,
{
    type Response = S::Response;
    type Error = ThrottleError<S::Error>;
    type Future = Call<S::Response, S::Error>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context).map_err(ThrottleError::Service)
    }

    fn call(&mut self, request: Q) -> Self::Future {
        let (waiting, key) = (Arc::clone(&self.waiting), (self.key)(&request));
        // The one that was found ready is called; its clone has to be asked again.
        let clone = self.inner.clone();
        let mut ready = std::mem::replace(&mut self.inner, clone);
        Box::pin(async move {
            waiting.until_ready(key).await.map_err(ThrottleError::Wait)?;
            ready.call(request).await.map_err(ThrottleError::Service)
        })
    }
}
