//! The Redis store beside core: each step's decision and what is stored after it are compared.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use gorl_core::{
    Action, DecideError, Decision, Key, KeyRef, ManualClock, Policy, Request, State, Store,
    StoreError, Strategy, decide, give_back, peek,
};
use gorl_store_redis::RedisStore;
use gorl_testkit::{Answer, Figures};
use redis::Commands;
use tokio::runtime::Runtime;

use crate::{Driver, RedisServer};

/// The Redis store under a policy and a clock that the test sets, checked at each step against
/// core over a map of states that forgets nothing.
///
/// Times are given in nanoseconds, of which whole microseconds count. Figures are in microseconds.
pub struct RedisDriver {
    // Ended in this order: the connections, then what they run on, then their server.
    store: RedisStore,
    look: redis::Connection,
    clock: Arc<ManualClock>,
    runtime: Runtime,
    server: RedisServer,
    policy: Policy,
    states: HashMap<(Strategy, String), State>,
    now: u64,
}

/// Longer than any test runs, so that a clock which stands still finds its keys.
const TEST_LASTS: Duration = Duration::from_secs(86_400);

impl RedisDriver {
    /// A driver with a server of its own.
    ///
    /// # Panics
    ///
    /// If the server does not start.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        let server = RedisServer::start();
        let runtime = runtime();
        let clock = Arc::new(ManualClock::new(0));
        let builder = RedisStore::builder(server.url())
            .clock(Arc::clone(&clock))
            .command_timeout(Duration::from_secs(60))
            .keep_rested(TEST_LASTS);
        let store = runtime.block_on(builder.connect()).expect("the server serves");
        let look = server.look();
        let policy = policy.in_micros().expect("a window of whole microseconds");
        Self { store, look, clock, runtime, server, policy, states: HashMap::new(), now: 0 }
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &RedisStore {
        &self.store
    }

    /// The server.
    #[must_use]
    pub fn server(&mut self) -> &mut RedisServer {
        &mut self.server
    }

    /// A connection to look at what is stored.
    #[must_use]
    pub fn look(&mut self) -> &mut redis::Connection {
        &mut self.look
    }

    /// Runs a future on the store's runtime.
    pub fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// The key in Redis of a key under the policy in force.
    #[must_use]
    pub fn redis_key(&self, key: &str) -> String {
        self.store.redis_key(&self.policy, KeyRef::new(&key.parts()))
    }

    /// Asks the store alone.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn ask(&self, key: &str, cost: u32, action: Action) -> Result<Decision, DecideError> {
        let parts = key.parts();
        let request = Request { policy: &self.policy, key: KeyRef::new(&parts), cost, action };
        self.wait(self.store.decide(request))
    }

    /// Gives back in the store alone.
    ///
    /// # Errors
    ///
    /// Those of the store.
    pub fn ask_give_back(&self, key: &str, cost: u32) -> Result<(), StoreError> {
        let (parts, action) = (key.parts(), Action::Take);
        let request = Request { policy: &self.policy, key: KeyRef::new(&parts), cost, action };
        self.wait(self.store.give_back(request))
    }

    /// Puts a state in the place of what is stored, as a fault or another version could.
    ///
    /// # Panics
    ///
    /// If the server does not take it.
    pub fn plant(&mut self, key: &str, state: State) {
        let value = format!("1 {} {} {}", state.at, state.a, state.b);
        let () = self.look.set_ex(self.redis_key(key), value, 86_400).expect("the server answers");
        self.remember(key, Some(state));
    }

    fn known(&self, key: &str) -> Option<State> {
        self.states.get(&(self.policy.strategy(), key.to_owned())).copied()
    }

    fn remember(&mut self, key: &str, state: Option<State>) {
        let key = (self.policy.strategy(), key.to_owned());
        match state {
            Some(state) => self.states.insert(key, state),
            None => self.states.remove(&key),
        };
    }

    /// Fails unless exactly core's state is stored, and with an expiry.
    fn compare_stored(&mut self, key: &str) {
        let expected = self.known(key).map(|s| format!("1 {} {} {}", s.at, s.a, s.b));
        let name = self.redis_key(key);
        let stored: Option<String> = self.look.get(&name).expect("the server answers");
        assert_eq!(stored, expected, "stored under {name} by {} at {}", self.policy, self.now);
        let left: i64 = self.look.pttl(&name).expect("the server answers");
        assert_eq!(left > 0, expected.is_some(), "{name} has {left} ms left");
    }

    fn compare(
        &mut self,
        key: &str,
        cost: u32,
        action: Action,
        expected: Result<Decision, gorl_core::CostExceedsLimit>,
    ) -> Answer {
        let before = self.known(key);
        let seen = match self.ask(key, cost, action) {
            Err(DecideError::Cost(error)) => Err(error),
            Ok(decision) => Ok(decision),
            Err(error) => panic!("{action:?} {cost} by {} at {}: {error:?}", self.policy, self.now),
        };
        let place =
            || format!("{action:?} {cost} by {} at {} after {before:?}", self.policy, self.now);
        assert_eq!(seen, expected, "{}", place());
        if let Ok(decision) = expected
            && decision.changes_state()
        {
            self.remember(key, Some(decision.state()));
        }
        self.compare_stored(key);
        expected.map(|decision| Figures::of(&decision))
    }
}

impl Driver for RedisDriver {
    fn name(&self) -> &'static str {
        "the Redis store"
    }

    fn at(&mut self, now_ns: u64) {
        self.now = now_ns / 1_000;
        self.clock.set(now_ns);
    }

    fn take(&mut self, key: &str, cost: u32) -> Answer {
        let expected = decide(&self.policy, self.known(key), self.now, cost);
        self.compare(key, cost, Action::Take, expected)
    }

    fn peek(&mut self, key: &str, cost: u32) -> Answer {
        let expected = peek(&self.policy, self.known(key), self.now, cost);
        self.compare(key, cost, Action::Peek, expected)
    }

    fn give_back(&mut self, key: &str, cost: u32) {
        self.ask_give_back(key, cost).expect("the server answers");
        if let Some(state) = self.known(key) {
            self.remember(key, give_back(&self.policy, state, self.now, cost));
        }
        self.compare_stored(key);
    }

    fn reset(&mut self, key: &str) {
        self.wait(self.store.reset(KeyRef::new(&key.parts()))).expect("the server answers");
        for strategy in Strategy::ALL {
            self.states.remove(&(strategy, key.to_owned()));
        }
        self.compare_stored(key);
    }

    fn set_policy(&mut self, policy: Policy) {
        self.policy = policy.in_micros().expect("a window of whole microseconds");
    }
}

/// A runtime for the connections of a test.
///
/// # Panics
///
/// If the system gives no threads.
#[must_use]
pub fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime")
}
