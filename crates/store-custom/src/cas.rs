//! A store over any backend with a conditional write: right across processes.

use std::future::Future;
use std::time::Duration;

use gorl_core::{DecideError, Decision, KeyRef, Request, Scope, Store, StoreError, StoreErrorKind};

use crate::kept::{Keeps, Write, decide_in, give_back_in, reset_in};
use crate::kv::Locks;
use crate::{Options, Value};

/// A place that keeps sixteen bytes a key and writes only if nobody else did meanwhile.
///
/// See the [crate's documentation](crate) for an example.
pub trait CasBackend: Send + Sync {
    /// What tells whether a value is still the one that was loaded: a token of the server's, a number
    /// of the row's version, or the value itself.
    type Version: Send + Sync;

    /// What is kept for a key, or nothing.
    ///
    /// Keys are printable ASCII without spaces, at most 250 bytes long.
    ///
    /// # Errors
    ///
    /// A [`StoreError`] if the backend has no answer; see [`StoreErrorKind`] for the kinds that failure
    /// policies and breakers know. Give every wait a deadline.
    fn load(
        &self,
        key: &str,
    ) -> impl Future<Output = Result<Option<Loaded<Self::Version>>, StoreError>> + Send;

    /// Writes a value if what is kept is what was `seen`, or if nothing was and nothing is; whether it
    /// did. It must do both in one step, whoever else writes.
    ///
    /// The value need not be kept for longer than `expires_in`; to keep it longer changes no answer,
    /// and to forget it sooner frees whoever is limited.
    ///
    /// # Errors
    ///
    /// As [`load`](Self::load). What failed may have been written: the request ends with the error and
    /// is not repeated.
    fn swap(
        &self,
        key: &str,
        seen: Option<&Self::Version>,
        value: Value,
        expires_in: Duration,
    ) -> impl Future<Output = Result<bool, StoreError>> + Send;
}

/// A value with the version under which it was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loaded<V> {
    /// What is kept.
    pub value: Value,
    /// Its version.
    pub version: V,
}

/// A [`Store`] over a [`CasBackend`], right across all processes that use the same backend.
///
/// A decision is one `load`, and one `swap` if it spends; a denial writes nothing. Who loses a swap
/// waits for the other losers of this process and tries again, so that many callers of one key do not
/// wear each other out. If a key is still not to be had after 100 attempts, the request ends with an error
/// of the kind [`Other`](StoreErrorKind::Other).
///
/// It gives back and resets, both by a swap.
#[derive(Debug)]
pub struct Cas<B> {
    backend: B,
    options: Options,
    losers: Locks,
}

/// Each round has a winner, so this many processes would have to win one after the other.
const ATTEMPTS: u32 = 100;

impl<B: CasBackend> Cas<B> {
    /// A store over `backend`.
    #[must_use]
    pub fn new(backend: B) -> Self {
        Self::with_options(backend, Options::new())
    }

    /// A store over `backend` with a prefix, a clock or hashed keys.
    #[must_use]
    pub fn with_options(backend: B, options: Options) -> Self {
        Self { backend, options, losers: Locks::new() }
    }

    /// The backend.
    pub fn backend(&self) -> &B {
        &self.backend
    }
}

impl<B: CasBackend> Keeps for Cas<B> {
    fn options(&self) -> &Options {
        &self.options
    }

    async fn update<T: Send, E: From<StoreError> + Send>(
        &self,
        key: &str,
        change: impl Fn(Option<Value>, u64) -> Result<(T, Option<Write>), E> + Send + Sync,
    ) -> Result<T, E> {
        let mut _turn = None;
        for attempt in 0..ATTEMPTS {
            if attempt == 1 {
                _turn = Some(self.losers.lock(key).await);
            }
            let loaded = self.backend.load(key).await?;
            let kept = loaded.as_ref().map(|loaded| loaded.value);
            let (answer, write) = change(kept, self.options.now_ns())?;
            let Some(Write { value, expires_in }) = write else {
                return Ok(answer);
            };
            let seen = loaded.as_ref().map(|loaded| &loaded.version);
            if self.backend.swap(key, seen, value, expires_in).await? {
                return Ok(answer);
            }
        }
        Err(contended().into())
    }
}

impl<B: CasBackend> Store for Cas<B> {
    async fn decide(&self, request: Request<'_>) -> Result<Decision, DecideError> {
        decide_in(self, request).await
    }

    async fn give_back(&self, request: Request<'_>) -> Result<(), StoreError> {
        give_back_in(self, request).await
    }

    async fn reset(&self, key: KeyRef<'_>) -> Result<(), StoreError> {
        reset_in(self, key).await
    }

    fn scope(&self) -> Scope {
        Scope::Shared
    }
}

#[cold]
fn contended() -> StoreError {
    let why = format!("others wrote the key {ATTEMPTS} times while this request tried to");
    StoreError::with_source(StoreErrorKind::Other, why)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicU32, Ordering};

    use gorl_core::{Action, Key, Policy};

    use super::*;

    /// A map in which somebody else wins so many swaps.
    #[derive(Default)]
    struct Rival {
        map: Mutex<HashMap<String, Value>>,
        wins: AtomicU32,
        swaps: AtomicU32,
    }

    impl CasBackend for Rival {
        type Version = Value;

        async fn load(&self, key: &str) -> Result<Option<Loaded<Value>>, StoreError> {
            let value = self.map.lock().unwrap().get(key).copied();
            Ok(value.map(|value| Loaded { value, version: value }))
        }

        async fn swap(
            &self,
            key: &str,
            seen: Option<&Value>,
            value: Value,
            expires_in: Duration,
        ) -> Result<bool, StoreError> {
            assert!(expires_in >= Duration::from_secs(3600));
            self.swaps.fetch_add(1, Ordering::Relaxed);
            let won = |wins: u32| wins.checked_sub(1);
            if self.wins.fetch_update(Ordering::Relaxed, Ordering::Relaxed, won).is_ok() {
                return Ok(false);
            }
            let mut map = self.map.lock().unwrap();
            if map.get(key) != seen {
                return Ok(false);
            }
            map.insert(key.to_owned(), value);
            Ok(true)
        }
    }

    fn take(store: &Cas<Rival>) -> Result<Decision, DecideError> {
        let policy = Policy::fixed_window(2, Duration::from_secs(3600)).unwrap();
        let parts = "a".parts();
        let key = KeyRef::new(&parts);
        let request = Request { policy: &policy, key, cost: 1, action: Action::Take };
        pollster::block_on(store.decide(request))
    }

    #[test]
    fn a_lost_swap_is_tried_again_and_spends_once() {
        let store = Cas::new(Rival { wins: AtomicU32::new(7), ..Rival::default() });
        assert_eq!(take(&store).unwrap().remaining(), 1);
        assert_eq!(store.backend().swaps.load(Ordering::Relaxed), 8);
        assert_eq!(take(&store).unwrap().remaining(), 0);
        assert!(!take(&store).unwrap().is_allowed());
        assert_eq!(store.backend().swaps.load(Ordering::Relaxed), 9, "a denial writes nothing");
    }

    #[test]
    fn a_key_that_is_never_to_be_had_is_an_error_in_the_end() {
        let store = Cas::new(Rival { wins: AtomicU32::new(u32::MAX), ..Rival::default() });
        let Err(DecideError::Store(error)) = take(&store) else { panic!("a decision") };
        assert_eq!(error.kind(), StoreErrorKind::Other);
        assert_eq!(store.backend().swaps.load(Ordering::Relaxed), ATTEMPTS);
    }

    #[test]
    fn a_policy_of_microseconds_is_refused() {
        let store = Cas::new(Rival::default());
        let policy = Policy::fixed_window(2, Duration::from_secs(1)).unwrap().in_micros().unwrap();
        let parts = "a".parts();
        let key = KeyRef::new(&parts);
        let request = Request { policy: &policy, key, cost: 1, action: Action::Take };
        let answer = pollster::block_on(store.decide(request));
        let Err(DecideError::Store(error)) = answer else { panic!("a decision") };
        assert_eq!(error.kind(), StoreErrorKind::Policy);
    }
}
