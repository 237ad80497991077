//! A store over any backend with get and set: right within one process.

use std::collections::hash_map::RandomState;
use std::future::Future;
use std::hash::BuildHasher;
use std::time::Duration;

use async_lock::{Mutex, MutexGuard};
use gorl_core::{DecideError, Decision, KeyRef, Request, Scope, Store, StoreError};

use crate::kept::{Keeps, Write, decide_in, give_back_in, reset_in};
use crate::{Options, Value};

/// A place that keeps sixteen bytes a key, and nothing more is known of it.
///
/// # Examples
///
/// ```
/// # pollster::block_on(async {
/// use std::collections::HashMap;
/// use std::sync::Mutex;
/// use std::time::Duration;
///
/// use gorl_core::{Scope, Store, StoreError};
/// use gorl_store_custom::{KvBackend, Locked, Value};
///
/// #[derive(Default)]
/// struct Map(Mutex<HashMap<String, Value>>);
///
/// impl KvBackend for Map {
///     async fn get(&self, key: &str) -> Result<Option<Value>, StoreError> {
///         Ok(self.0.lock().unwrap().get(key).copied())
///     }
///
///     async fn set(&self, key: &str, value: Value, _: Duration) -> Result<(), StoreError> {
///         self.0.lock().unwrap().insert(key.to_owned(), value);
///         Ok(())
///     }
/// }
///
/// let store = Locked::new(Map::default());
/// assert_eq!(store.scope(), Scope::Process);
/// # });
/// ```
pub trait KvBackend: Send + Sync {
    /// What is kept for a key, or nothing.
    ///
    /// Keys are printable ASCII without spaces, at most 250 bytes long.
    ///
    /// # Errors
    ///
    /// A [`StoreError`] if the backend has no answer. Give every wait a deadline.
    fn get(&self, key: &str) -> impl Future<Output = Result<Option<Value>, StoreError>> + Send;

    /// Keeps a value, whatever was there.
    ///
    /// It need not be kept for longer than `expires_in`; to keep it longer changes no answer, and to
    /// forget it sooner frees whoever is limited.
    ///
    /// # Errors
    ///
    /// As [`get`](Self::get).
    fn set(
        &self,
        key: &str,
        value: Value,
        expires_in: Duration,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;
}

/// A [`Store`] over a [`KvBackend`] that no other process writes to.
///
/// Requests for one key take turns, by locks of this process. If several processes use the same
/// backend, two of them can read the same state and both spend what it has left: with N processes up to
/// N times the limit is admitted. Its [`scope`](Store::scope) says so. For limits that processes share,
/// use [`Cas`](crate::Cas).
///
/// Keys that share one of the 4 096 locks wait for each other, as long as a `get` and a `set` take.
#[derive(Debug)]
pub struct Locked<B> {
    backend: B,
    options: Options,
    locks: Locks,
}

impl<B: KvBackend> Locked<B> {
    /// A store over `backend`.
    #[must_use]
    pub fn new(backend: B) -> Self {
        Self::with_options(backend, Options::new())
    }

    /// A store over `backend` with a prefix, a clock or hashed keys.
    #[must_use]
    pub fn with_options(backend: B, options: Options) -> Self {
        Self { backend, options, locks: Locks::new() }
    }

    /// The backend.
    pub fn backend(&self) -> &B {
        &self.backend
    }
}

impl<B: KvBackend> Keeps for Locked<B> {
    fn options(&self) -> &Options {
        &self.options
    }

    async fn update<T: Send, E: From<StoreError> + Send>(
        &self,
        key: &str,
        change: impl Fn(Option<Value>, u64) -> Result<(T, Option<Write>), E> + Send + Sync,
    ) -> Result<T, E> {
        let _turn = self.locks.lock(key).await;
        let kept = self.backend.get(key).await?;
        let (answer, write) = change(kept, self.options.now_ns())?;
        if let Some(Write { value, expires_in }) = write {
            self.backend.set(key, value, expires_in).await?;
        }
        Ok(answer)
    }
}

impl<B: KvBackend> Store for Locked<B> {
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
        Scope::Process
    }
}

/// Locks that are held while a backend is awaited, each for the keys that hash to it.
#[derive(Debug)]
pub(crate) struct Locks {
    locks: Box<[Mutex<()>]>,
    hasher: RandomState,
}

/// So many that of a thousand requests under way few meet by accident; they take some 64 KiB.
const LOCKS: usize = 4096;

impl Locks {
    pub(crate) fn new() -> Self {
        Self { locks: (0..LOCKS).map(|_| Mutex::new(())).collect(), hasher: RandomState::new() }
    }

    /// Waits for the key's turn; those who wait longest go first.
    pub(crate) async fn lock(&self, key: &str) -> MutexGuard<'_, ()> {
        let place = self.hasher.hash_one(key) % LOCKS as u64;
        // Below the number of locks.
        self.locks[usize::try_from(place).unwrap_or(0)].lock().await
    }
}
