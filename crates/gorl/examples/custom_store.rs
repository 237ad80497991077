//! A store of your own: implement `Store`, and `AsyncLimiter` does the rest.
//!
//! `cargo run -p gorl --example custom_store`

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

use gorl::core::{State, give_back};
use gorl::{
    Action, AsyncLimiter, Clock, DecideError, Decision, KeyRef, Policy, Request, Store, StoreError,
    Strategy, SystemClock,
};

/// States in a map, by the key's parts as text. The strategy is kept beside the state, since a state
/// of another strategy means something else.
#[derive(Default)]
struct MapStore {
    states: Mutex<HashMap<String, (Strategy, State)>>,
}

impl MapStore {
    /// The debug form of the parts keeps them apart: `("a", "b:c")` is not `("a:b", "c")`.
    fn name(key: KeyRef<'_>) -> String {
        format!("{:?}", key.parts())
    }

    /// A store may be asked again after a panic elsewhere: what the map holds is whole.
    fn states(&self) -> std::sync::MutexGuard<'_, HashMap<String, (Strategy, State)>> {
        self.states.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Store for MapStore {
    async fn decide(&self, request: Request<'_>) -> Result<Decision, DecideError> {
        let Request { policy, key, cost, action } = request;
        // Instants are in the policy's ticks.
        let now = policy.tick().whole(SystemClock.now_ns());
        let name = Self::name(key);
        // The lock is held from reading to writing, so two callers cannot spend the same unit.
        let mut states = self.states();
        let stored = states.get(&name).filter(|(strategy, _)| *strategy == policy.strategy());
        let stored = stored.map(|(_, state)| *state);
        let decision = match action {
            Action::Take => gorl::core::decide(policy, stored, now, cost)?,
            Action::Peek => gorl::core::peek(policy, stored, now, cost)?,
        };
        // A denial writes nothing.
        if decision.changes_state() {
            states.insert(name, (policy.strategy(), decision.state()));
        }
        Ok(decision)
    }

    async fn give_back(&self, request: Request<'_>) -> Result<(), StoreError> {
        let Request { policy, key, cost, .. } = request;
        let now = policy.tick().whole(SystemClock.now_ns());
        let name = Self::name(key);
        let mut states = self.states();
        if let Some((strategy, state)) = states.get(&name).copied()
            && strategy == policy.strategy()
        {
            match give_back(policy, state, now, cost) {
                Some(state) => states.insert(name, (strategy, state)),
                None => states.remove(&name),
            };
        }
        Ok(())
    }

    async fn reset(&self, key: KeyRef<'_>) -> Result<(), StoreError> {
        self.states().remove(&Self::name(key));
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let policy = Policy::token_bucket(2, Duration::from_secs(60))?;
    let limiter = AsyncLimiter::new(policy, MapStore::default());
    pollster::block_on(async {
        for n in 1..=3 {
            let decision = limiter.check(("tenant-7", "upload")).await?;
            println!(
                "request {n}: allowed {}, {} left, retry after {:?}",
                decision.is_allowed(),
                decision.remaining(),
                decision.retry_after()
            );
        }
        limiter.give_back(("tenant-7", "upload"), 1).await?;
        assert!(limiter.check(("tenant-7", "upload")).await?.is_allowed());
        Ok(())
    })
}
