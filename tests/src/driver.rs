//! One limiter over each engine, so that one table of checks runs on all of them.

use std::collections::HashMap;
use std::sync::Arc;

use gorl::Limiter;
use gorl_core::{Action, Key, KeyRef, LocalStore, ManualClock, Policy, Request, State};
use gorl_core::{decide, give_back, peek};
use gorl_store_mem::MemoryStore;
use gorl_testkit::{Answer, Figures, Model};

/// A limiter of one policy whose clock the test sets.
pub trait Driver {
    /// The engine, for messages.
    fn name(&self) -> &'static str;
    /// Sets the clock, in nanoseconds.
    fn at(&mut self, now_ns: u64);
    /// Spends `cost` if it is admitted.
    ///
    /// # Errors
    ///
    /// If the cost is above the capacity.
    fn take(&mut self, key: &str, cost: u32) -> Answer;
    /// Answers as `take`, before the cost.
    ///
    /// # Errors
    ///
    /// As `take`.
    fn peek(&mut self, key: &str, cost: u32) -> Answer;
    /// Gives `cost` back.
    fn give_back(&mut self, key: &str, cost: u32);
    /// Forgets a key.
    fn reset(&mut self, key: &str);
    /// Replaces the policy.
    fn set_policy(&mut self, policy: Policy);

    /// Whether one is admitted to the key at an instant.
    fn admits(&mut self, now_ns: u64, key: &str) -> bool {
        self.figures(now_ns, key, 1).allowed
    }

    /// The figures of spending `cost`, which the capacity allows, at an instant.
    fn figures(&mut self, now_ns: u64, key: &str, cost: u32) -> Figures {
        self.at(now_ns);
        self.take(key, cost).expect("the cost is within the capacity")
    }

    /// What is left to the key at an instant.
    fn remaining(&mut self, now_ns: u64, key: &str) -> u32 {
        self.at(now_ns);
        self.peek(key, 0).expect("zero is within the capacity").remaining
    }

    /// How many of `count` checks of cost one are admitted at an instant.
    fn admitted_of(&mut self, count: usize, now_ns: u64, key: &str) -> usize {
        (0..count).filter(|_| self.admits(now_ns, key)).count()
    }
}

/// Runs a check on every engine, each starting with no key.
pub fn on_every_engine(policy: Policy, check: impl Fn(&mut dyn Driver)) {
    let engines: [Box<dyn Driver>; 4] = [
        Box::new(CoreDriver::new(policy)),
        Box::new(ModelDriver::new(policy)),
        Box::new(LimiterDriver::new(policy)),
        Box::new(StoreDriver::new(policy)),
    ];
    for mut engine in engines {
        // Shown only when the check panics: which engine it was.
        eprintln!("on {}", engine.name());
        check(&mut *engine);
    }
}

/// Core over a map of states.
#[derive(Debug)]
pub struct CoreDriver {
    policy: Policy,
    states: HashMap<String, State>,
    now: u64,
}

/// The exact model.
#[derive(Debug)]
pub struct ModelDriver {
    policy: Policy,
    model: Model<String>,
    now: u64,
}

/// The limiter over memory.
#[derive(Debug)]
pub struct LimiterDriver {
    limiter: Limiter,
    clock: Arc<ManualClock>,
}

/// The memory store, asked as any store is.
#[derive(Debug)]
pub struct StoreDriver {
    policy: Policy,
    store: MemoryStore,
    clock: Arc<ManualClock>,
}

impl CoreDriver {
    /// A driver that knows no key.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self { policy, states: HashMap::new(), now: 0 }
    }
}

impl Driver for CoreDriver {
    fn name(&self) -> &'static str {
        "core"
    }

    fn at(&mut self, now_ns: u64) {
        self.now = now_ns;
    }

    fn take(&mut self, key: &str, cost: u32) -> Answer {
        let state = self.states.get(key).copied();
        let decision = decide(&self.policy, state, self.now, cost)?;
        if decision.changes_state() {
            self.states.insert(key.to_owned(), decision.state());
        }
        Ok(Figures::of(&decision))
    }

    fn peek(&mut self, key: &str, cost: u32) -> Answer {
        let state = self.states.get(key).copied();
        peek(&self.policy, state, self.now, cost).map(|decision| Figures::of(&decision))
    }

    fn give_back(&mut self, key: &str, cost: u32) {
        let Some(&state) = self.states.get(key) else {
            return;
        };
        match give_back(&self.policy, state, self.now, cost) {
            Some(state) => self.states.insert(key.to_owned(), state),
            None => self.states.remove(key),
        };
    }

    fn reset(&mut self, key: &str) {
        self.states.remove(key);
    }

    fn set_policy(&mut self, policy: Policy) {
        if policy.strategy() != self.policy.strategy() {
            self.states.clear();
        }
        self.policy = policy;
    }
}

impl ModelDriver {
    /// A driver that knows no key.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self { policy, model: Model::new(), now: 0 }
    }
}

impl Driver for ModelDriver {
    fn name(&self) -> &'static str {
        "the model"
    }

    fn at(&mut self, now_ns: u64) {
        self.now = now_ns;
    }

    fn take(&mut self, key: &str, cost: u32) -> Answer {
        self.model.take(&self.policy, &key.to_owned(), self.now, cost)
    }

    fn peek(&mut self, key: &str, cost: u32) -> Answer {
        self.model.peek(&self.policy, &key.to_owned(), self.now, cost)
    }

    fn give_back(&mut self, key: &str, cost: u32) {
        self.model.give_back(&self.policy, &key.to_owned(), self.now, cost);
    }

    fn reset(&mut self, key: &str) {
        self.model.reset(&key.to_owned());
    }

    fn set_policy(&mut self, policy: Policy) {
        if policy.strategy() != self.policy.strategy() {
            self.model.reset_all();
        }
        self.policy = policy;
    }
}

impl LimiterDriver {
    /// A driver that knows no key.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        let clock = Arc::new(ManualClock::new(0));
        let limiter = Limiter::builder(policy).clock(Arc::clone(&clock)).build();
        Self { limiter, clock }
    }

    /// The limiter itself.
    #[must_use]
    pub fn limiter(&self) -> &Limiter {
        &self.limiter
    }
}

impl Driver for LimiterDriver {
    fn name(&self) -> &'static str {
        "the limiter over memory"
    }

    fn at(&mut self, now_ns: u64) {
        self.clock.set(now_ns);
    }

    fn take(&mut self, key: &str, cost: u32) -> Answer {
        self.limiter.check_n(key, cost).map(|decision| Figures::of(&decision))
    }

    fn peek(&mut self, key: &str, cost: u32) -> Answer {
        self.limiter.peek_n(key, cost).map(|decision| Figures::of(&decision))
    }

    fn give_back(&mut self, key: &str, cost: u32) {
        self.limiter.give_back(key, cost);
    }

    fn reset(&mut self, key: &str) {
        self.limiter.reset(key);
    }

    fn set_policy(&mut self, policy: Policy) {
        self.limiter.set_policy(policy);
    }
}

impl StoreDriver {
    /// A driver that knows no key.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        let clock = Arc::new(ManualClock::new(0));
        let store = MemoryStore::builder().clock(Arc::clone(&clock)).build();
        Self { policy, store, clock }
    }

    fn ask(&self, key: &str, cost: u32, action: Action) -> Answer {
        let parts = key.parts();
        let key = KeyRef::new(&parts);
        let request = Request { policy: &self.policy, key, cost, action };
        self.store.decide_now(request).map(|decision| Figures::of(&decision))
    }
}

impl Driver for StoreDriver {
    fn name(&self) -> &'static str {
        "the memory store"
    }

    fn at(&mut self, now_ns: u64) {
        self.clock.set(now_ns);
    }

    fn take(&mut self, key: &str, cost: u32) -> Answer {
        self.ask(key, cost, Action::Take)
    }

    fn peek(&mut self, key: &str, cost: u32) -> Answer {
        self.ask(key, cost, Action::Peek)
    }

    fn give_back(&mut self, key: &str, cost: u32) {
        let parts = key.parts();
        let (policy, key) = (&self.policy, KeyRef::new(&parts));
        self.store.give_back_now(Request { policy, key, cost, action: Action::Take });
    }

    fn reset(&mut self, key: &str) {
        self.store.reset_now(KeyRef::new(&key.parts()));
    }

    fn set_policy(&mut self, policy: Policy) {
        self.policy = policy;
    }
}
