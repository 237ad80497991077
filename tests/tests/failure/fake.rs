//! A store that counts in memory and fails when it is told to.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use gorl_core::{
    Action, DecideError, Decision, KeyRef, LocalStore, ManualClock, Policy, Request, Store,
    StoreError, StoreErrorKind,
};
use gorl_store_mem::MemoryStore;

/// The store; clones are the same.
#[derive(Clone)]
pub(crate) struct Fake {
    inner: Arc<Inner>,
}

struct Inner {
    memory: MemoryStore,
    failure: Mutex<Option<StoreErrorKind>>,
    silent: AtomicBool,
    asked: AtomicU64,
    taken: AtomicU64,
}

impl Fake {
    pub(crate) fn new(clock: &Arc<ManualClock>) -> Self {
        let inner = Inner {
            memory: MemoryStore::builder().clock(Arc::clone(clock)).build(),
            failure: Mutex::new(None),
            silent: AtomicBool::new(false),
            asked: AtomicU64::new(0),
            taken: AtomicU64::new(0),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Fails every request from now on.
    pub(crate) fn fail(&self, kind: StoreErrorKind) {
        *self.inner.failure.lock().expect("no panic") = Some(kind);
    }

    /// Never answers from now on.
    pub(crate) fn fall_silent(&self) {
        self.inner.silent.store(true, Ordering::SeqCst);
    }

    /// Serves again.
    pub(crate) fn heal(&self) {
        *self.inner.failure.lock().expect("no panic") = None;
        self.inner.silent.store(false, Ordering::SeqCst);
    }

    /// How many requests have come here.
    pub(crate) fn asked(&self) -> u64 {
        self.inner.asked.load(Ordering::SeqCst)
    }

    /// How many of them were to spend.
    pub(crate) fn taken(&self) -> u64 {
        self.inner.taken.load(Ordering::SeqCst)
    }

    /// The counts, as another process would reach them.
    pub(crate) fn memory(&self) -> &MemoryStore {
        &self.inner.memory
    }

    async fn arrive(&self) -> Result<(), StoreError> {
        self.inner.asked.fetch_add(1, Ordering::SeqCst);
        if self.inner.silent.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
        let failure = *self.inner.failure.lock().expect("no panic");
        failure.map_or(Ok(()), |kind| Err(StoreError::with_source(kind, "told to fail")))
    }
}

impl Store for Fake {
    async fn decide(&self, request: Request<'_>) -> Result<Decision, DecideError> {
        if request.action == Action::Take {
            self.inner.taken.fetch_add(1, Ordering::SeqCst);
        }
        self.arrive().await?;
        Ok(self.inner.memory.decide_now(request)?)
    }

    async fn decide_all(
        &self,
        requests: &[Request<'_>],
        decisions: &mut [Option<Decision>],
    ) -> Result<(), DecideError> {
        self.arrive().await?;
        let looked: Result<Vec<_>, _> =
            requests.iter().map(|request| self.inner.memory.decide_now(look(request))).collect();
        let all = looked?.iter().all(Decision::is_allowed);
        for (request, decision) in requests.iter().zip(decisions) {
            let request = if all { *request } else { look(request) };
            *decision = Some(self.inner.memory.decide_now(request)?);
        }
        Ok(())
    }

    async fn give_back(&self, request: Request<'_>) -> Result<(), StoreError> {
        self.arrive().await?;
        self.inner.memory.give_back_now(request);
        Ok(())
    }

    async fn reset(&self, key: KeyRef<'_>) -> Result<(), StoreError> {
        self.arrive().await?;
        self.inner.memory.reset_now(key);
        Ok(())
    }

    fn policy_replaced(&self, old: &Policy, new: &Policy) {
        self.inner.memory.policy_replaced(old, new);
    }
}

fn look<'a>(request: &Request<'a>) -> Request<'a> {
    Request { action: Action::Peek, ..*request }
}
