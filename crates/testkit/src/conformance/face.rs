//! One face for every store: the checks are plain code, whether the store waits or not.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::thread::{self, Thread};

use gorl_core::{DecideError, Decision, KeyRef, LocalStore, Request, Store, StoreError};

/// A store as the checks see it.
pub(super) trait Face: Sync {
    fn decide(&self, request: Request<'_>) -> Result<Decision, DecideError>;
    fn give_back(&self, request: Request<'_>) -> Result<(), StoreError>;
    fn reset(&self, key: KeyRef<'_>) -> Result<(), StoreError>;
}

/// A store that answers at once.
pub(super) struct Local<'a, S>(pub(super) &'a S);

/// A store that answers by futures, and what runs them.
pub(super) struct Async<'a, S, B> {
    pub(super) store: &'a S,
    pub(super) block_on: B,
}

impl<S: LocalStore> Face for Local<'_, S> {
    fn decide(&self, request: Request<'_>) -> Result<Decision, DecideError> {
        self.0.decide_now(request).map_err(DecideError::from)
    }

    fn give_back(&self, request: Request<'_>) -> Result<(), StoreError> {
        self.0.give_back_now(request);
        Ok(())
    }

    fn reset(&self, key: KeyRef<'_>) -> Result<(), StoreError> {
        self.0.reset_now(key);
        Ok(())
    }
}

impl<S, B> Async<'_, S, B>
where
    S: Store,
    B: Fn(Pin<Box<dyn Future<Output = ()> + '_>>) + Sync,
{
    fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        let mut output = None;
        (self.block_on)(Box::pin(async { output = Some(future.await) }));
        output.expect("block_on runs the future to its end")
    }
}

impl<S, B> Face for Async<'_, S, B>
where
    S: Store,
    B: Fn(Pin<Box<dyn Future<Output = ()> + '_>>) + Sync,
{
    fn decide(&self, request: Request<'_>) -> Result<Decision, DecideError> {
        self.wait(self.store.decide(request))
    }

    fn give_back(&self, request: Request<'_>) -> Result<(), StoreError> {
        self.wait(self.store.give_back(request))
    }

    fn reset(&self, key: KeyRef<'_>) -> Result<(), StoreError> {
        self.wait(self.store.reset(key))
    }
}

/// Runs a future on this thread, which sleeps until it is woken.
pub(super) fn block_on(future: Pin<Box<dyn Future<Output = ()> + '_>>) {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    while future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
        thread::park();
    }
}
