//! Limits by resource, over memory and Redis: policies, counts apart, several limits, changes.

mod changes;
mod on_both;
mod together;

use std::sync::Arc;
use std::time::Duration;

use gorl::{
    AsyncResourceLimiter, Clock, ManualClock, MemoryStore, MultiDecision, Policy, RedisStore,
    ResourceLimiter, ResourcePolicies,
};
use gorl_tests::{RedisServer, runtime};
use tokio::runtime::Runtime;

/// Noon of some day, so that no window ends by accident.
const NOON: u64 = 1_800_014_400_000_000_000;

/// One limiter, whatever it is over.
enum Subject {
    Memory(ResourceLimiter),
    Any(AsyncResourceLimiter, Runtime),
}

impl Subject {
    fn check(&self, resource: &str, key: &str) -> MultiDecision {
        self.check_n(resource, key, 1)
    }

    fn check_n(&self, resource: &str, key: &str, cost: u32) -> MultiDecision {
        match self {
            Self::Memory(limiter) => limiter.check_n(resource, key, cost).expect("it fits"),
            Self::Any(limiter, runtime) => {
                runtime.block_on(limiter.check_n(resource, key, cost)).expect("an answer")
            }
        }
    }

    fn peek(&self, resource: &str, key: &str) -> MultiDecision {
        match self {
            Self::Memory(limiter) => limiter.peek(resource, key),
            Self::Any(limiter, runtime) => {
                runtime.block_on(limiter.peek(resource, key)).expect("an answer")
            }
        }
    }

    fn give_back(&self, resource: &str, key: &str, cost: u32) {
        match self {
            Self::Memory(limiter) => limiter.give_back(resource, key, cost),
            Self::Any(limiter, runtime) => {
                runtime.block_on(limiter.give_back(resource, key, cost)).expect("given back");
            }
        }
    }

    fn reset(&self, resource: &str, key: &str) {
        match self {
            Self::Memory(limiter) => limiter.reset(resource, key),
            Self::Any(limiter, runtime) => {
                runtime.block_on(limiter.reset(resource, key)).expect("forgotten");
            }
        }
    }

    fn set_policies(&self, policies: ResourcePolicies) {
        match self {
            Self::Memory(limiter) => limiter.set_policies(policies),
            Self::Any(limiter, _) => limiter.set_policies(policies),
        }
    }
}

/// How many of so many checks are admitted.
fn admitted(subject: &Subject, resource: &str, key: &str, checks: usize) -> usize {
    (0..checks).filter(|_| subject.check(resource, key).is_allowed()).count()
}

/// Runs a story on each kind of limiter, each on a clock of its own.
fn on_each(policies: &ResourcePolicies, tell: impl Fn(&Subject, &ManualClock)) {
    let clock = Arc::new(ManualClock::new(NOON));
    let memory =
        ResourceLimiter::builder(policies.clone()).clock(Arc::clone(&clock)).unknown_resources(3);
    tell(&Subject::Memory(memory.build()), &clock);

    let clock = Arc::new(ManualClock::new(NOON));
    let store = MemoryStore::builder().clock(Arc::clone(&clock)).build();
    let builder = AsyncResourceLimiter::builder(policies.clone()).unknown_resources(3);
    tell(&Subject::Any(builder.build(store), runtime()), &clock);

    let (server, runtime) = (RedisServer::start(), runtime());
    let clock = Arc::new(ManualClock::new(NOON));
    let store = RedisStore::builder(server.url())
        .clock(Arc::clone(&clock))
        .command_timeout(Duration::from_secs(30))
        .keep_rested(Duration::from_secs(86_400));
    let store = runtime.block_on(store.connect()).expect("the server serves");
    let builder = AsyncResourceLimiter::builder(policies.clone()).unknown_resources(3);
    tell(&Subject::Any(builder.build(store), runtime), &clock);
    drop(server);
    assert!(clock.now_ns() >= NOON);
}

fn fixed(limit: u64, seconds: u64) -> Policy {
    Policy::fixed_window(limit, Duration::from_secs(seconds)).expect("a valid policy")
}
