//! The smallest correct store, a map behind a lock, with a switch for each way to get it wrong.

use std::collections::HashMap;
use std::future::{Future, ready};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use std::thread;

use gorl_core::{
    Action, Clock, CostExceedsLimit, DecideError, Decision, KeyRef, LocalStore, ManualClock, Part,
    Policy, Request, State, Store, StoreError, Strategy, decide, give_back, is_rested, peek,
    rested_at,
};

/// What the store gets wrong.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // Each is one independent fault.
pub(crate) struct Faults {
    pub(crate) unlocks_between_read_and_write: bool,
    pub(crate) counts_one_too_few: bool,
    pub(crate) counts_denials: bool,
    pub(crate) spends_on_peek: bool,
    pub(crate) glues_parts: bool,
    pub(crate) reads_keys_as_text: bool,
    pub(crate) ignores_kinds_of_parts: bool,
    pub(crate) counts_zero_as_one: bool,
    pub(crate) never_lets_the_clock_go_back: bool,
    pub(crate) forgets_a_tick_early: bool,
    pub(crate) reads_states_of_any_strategy: bool,
    pub(crate) rewrites_states_on_sight: bool,
    pub(crate) gives_back_by_forgetting: bool,
    pub(crate) forgets_to_give_back: bool,
    pub(crate) forgets_to_reset: bool,
    pub(crate) resets_everything: bool,
    pub(crate) counts_in_milliseconds: bool,
    /// No fault: what is at rest may be forgotten whenever the store is asked anything.
    pub(crate) forgets_what_is_at_rest: bool,
}

type States = HashMap<Vec<u8>, (Policy, State)>;

pub(crate) struct Plain {
    clock: Arc<ManualClock>,
    states: Mutex<(States, u64)>,
    faults: Faults,
}

impl Plain {
    pub(crate) fn new(clock: Arc<ManualClock>, faults: Faults) -> Self {
        Self { clock, states: Mutex::default(), faults }
    }

    fn lock(&self) -> MutexGuard<'_, (States, u64)> {
        self.states.lock().expect("no test panics under the lock")
    }

    fn now(&self, request: &Request<'_>, latest: &mut u64) -> u64 {
        let mut now = self.clock.now_ns();
        if self.faults.counts_in_milliseconds {
            now -= now % 1_000_000;
        }
        *latest = now.max(*latest);
        let now = if self.faults.never_lets_the_clock_go_back { *latest } else { now };
        now / request.policy.tick().nanos()
    }

    fn find(&self, states: &States, request: &Request<'_>, now: u64) -> Option<State> {
        let &(policy, state) = states.get(&self.bytes(request.key))?;
        let known = policy.strategy() == request.policy.strategy();
        let rested = self.faults.forgets_a_tick_early
            && rested_at(request.policy, state).saturating_sub(1) <= now;
        (!rested && (known || self.faults.reads_states_of_any_strategy)).then_some(state)
    }

    /// The parts one after the other, each with its kind and its length before it.
    fn bytes(&self, key: KeyRef<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        for part in key.parts() {
            let (kind, bytes) = match *part {
                Part::Bytes(bytes) if self.faults.reads_keys_as_text => {
                    (0, String::from_utf8_lossy(bytes).trim().as_bytes().to_vec())
                }
                Part::Bytes(bytes) => (0, bytes.to_vec()),
                Part::Unsigned(number) if self.faults.ignores_kinds_of_parts => {
                    (1, number.to_string().into_bytes())
                }
                Part::Unsigned(number) => (1, number.to_be_bytes().to_vec()),
                Part::Negative(number) => (2, number.to_be_bytes().to_vec()),
                Part::Ip(address) => (3, address.to_string().into_bytes()),
                _ => panic!("a part of a kind that this store does not know"),
            };
            if !self.faults.glues_parts {
                out.extend(bytes.len().to_be_bytes());
                out.push(if self.faults.ignores_kinds_of_parts { 0 } else { kind });
            }
            out.extend(bytes);
        }
        out
    }
}

impl LocalStore for Plain {
    fn decide_now(&self, request: Request<'_>) -> Result<Decision, CostExceedsLimit> {
        let Request { policy, cost, action, .. } = request;
        let mut guard = self.lock();
        let (states, latest) = &mut *guard;
        let now = self.now(&request, latest);
        if self.faults.forgets_what_is_at_rest {
            let tick = policy.tick();
            states.retain(|_, (policy, state)| {
                policy.tick() != tick || !is_rested(policy, *state, now)
            });
        }
        let mut state = self.find(states, &request, now);
        if let Some(state) = state.as_mut()
            && self.faults.rewrites_states_on_sight
        {
            *state = state.adopted_by(policy);
            states.insert(self.bytes(request.key), (*policy, *state));
        }
        if action == Action::Peek && !self.faults.spends_on_peek {
            return peek(policy, state, now, cost);
        }
        if self.faults.unlocks_between_read_and_write {
            drop(guard);
            thread::yield_now();
            guard = self.lock();
        }
        let states = &mut guard.0;
        let cost = if self.faults.counts_zero_as_one { cost.max(1) } else { cost };
        let decision = decide(policy, state, now, cost)?;
        let mut next = decision.state();
        if self.faults.counts_one_too_few && decision.remaining() == 0 {
            next.a = match policy.strategy() {
                Strategy::TokenBucket => next.a + 1,
                _ => next.a - 1,
            };
        }
        if self.faults.counts_denials && !decision.is_allowed() {
            next.a = match policy.strategy() {
                Strategy::TokenBucket => 0,
                _ => next.a.saturating_add(cost),
            };
        }
        if decision.changes_state() || self.faults.counts_denials {
            states.insert(self.bytes(request.key), (*policy, next));
        }
        Ok(decision)
    }

    fn give_back_now(&self, request: Request<'_>) {
        let mut guard = self.lock();
        let (states, latest) = &mut *guard;
        let now = self.now(&request, latest);
        let Some(state) = self.find(states, &request, now) else {
            return;
        };
        if self.faults.forgets_to_give_back {
            return;
        }
        let key = self.bytes(request.key);
        let left = give_back(request.policy, state, now, request.cost);
        match left.filter(|_| !self.faults.gives_back_by_forgetting) {
            Some(state) => states.insert(key, (*request.policy, state)),
            None => states.remove(&key),
        };
    }

    fn reset_now(&self, key: KeyRef<'_>) {
        if self.faults.resets_everything {
            self.lock().0.clear();
        } else if !self.faults.forgets_to_reset {
            self.lock().0.remove(&self.bytes(key));
        }
    }
}

impl Store for Plain {
    fn decide(
        &self,
        request: Request<'_>,
    ) -> impl Future<Output = Result<Decision, DecideError>> + Send {
        ready(self.decide_now(request).map_err(DecideError::from))
    }

    fn give_back(
        &self,
        request: Request<'_>,
    ) -> impl Future<Output = Result<(), StoreError>> + Send {
        self.give_back_now(request);
        ready(Ok(()))
    }

    fn reset(&self, key: KeyRef<'_>) -> impl Future<Output = Result<(), StoreError>> + Send {
        self.reset_now(key);
        ready(Ok(()))
    }
}

/// A store whose futures are not ready at once.
pub(crate) struct Yielding(pub(crate) Plain);

impl Store for Yielding {
    async fn decide(&self, request: Request<'_>) -> Result<Decision, DecideError> {
        yield_once().await;
        self.0.decide(request).await
    }

    async fn give_back(&self, request: Request<'_>) -> Result<(), StoreError> {
        yield_once().await;
        self.0.give_back(request).await
    }

    async fn reset(&self, key: KeyRef<'_>) -> Result<(), StoreError> {
        yield_once().await;
        self.0.reset(key).await
    }
}

/// The executor of somebody who has none: polls until the future is ready.
pub(crate) fn spin(future: Pin<Box<dyn Future<Output = ()> + '_>>) {
    let mut future = pin!(future);
    while future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
        thread::yield_now();
    }
}

async fn yield_once() {
    let mut yielded = false;
    std::future::poll_fn(|_| {
        if std::mem::replace(&mut yielded, true) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}
