//! The engine of a trace over Redis: the scripts decide, at the times of the trace.

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use gorl::{
    AsyncLimiter, AsyncResourceLimiter, DecideError, Decision, DynStore, ManualClock, MultiPolicy,
    Policy, RedisStore, ResourcePolicies, Strategy,
};
use tokio::runtime::{Builder, Runtime};

use super::{Answer, EITHER, Engine, NO_POLICY, RESOURCE, Step};

/// Keys under a prefix of their own, which are removed at the end.
pub(super) struct RedisEngine {
    // Before the runtime, which its connection lives on.
    limiter: AsyncLimiter,
    several: Option<AsyncResourceLimiter>,
    store: Arc<dyn DynStore>,
    clock: Arc<ManualClock>,
    runtime: Runtime,
    has_policy: bool,
    /// The keys that were asked for, and the strategy that spent last, if any has.
    keys: HashMap<String, Option<Strategy>>,
    /// The names that policies had, under each of which a key may count.
    names: HashSet<String>,
}

/// A person at a terminal does not mind a wait that would be too long in a service.
const DEADLINE: Duration = Duration::from_secs(10);

/// The clock of a trace stands still between its lines, while Redis lets keys expire by its own.
/// Should the program be ended from outside, they do so this long after they are at rest.
const KEPT: Duration = Duration::from_secs(3_600);

impl RedisEngine {
    /// Connects; the message of a failure never repeats the URL, which may hold a password.
    pub(super) fn new(url: &str) -> Result<Self, String> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| format!("cannot start the runtime: {error}"))?;
        let clock = Arc::new(ManualClock::new(0));
        let random = RandomState::new().build_hasher().finish();
        let builder = RedisStore::builder(url)
            .prefix(format!("gorl-trace:{random:016x}:"))
            .clock(Arc::clone(&clock))
            .keep_rested(KEPT)
            .connect_timeout(DEADLINE)
            .command_timeout(DEADLINE);
        let store = runtime.block_on(builder.connect()).map_err(|error| told(&error))?;
        let store: Arc<dyn DynStore> = Arc::new(store);
        let limiter = AsyncLimiter::over(Policy::MOST, Arc::clone(&store));
        let (keys, names) = (HashMap::new(), HashSet::new());
        Ok(Self { limiter, several: None, store, clock, runtime, has_policy: false, keys, names })
    }

    fn decide_several(&mut self, step: &Step, cost: u32) -> Result<Answer, DecideError> {
        let Some(limiter) = &self.several else {
            return Ok(Answer::CostExceedsLimit);
        };
        self.keys.entry(step.key.clone()).or_default();
        let key = step.key.as_str();
        let decided = if step.peek {
            self.runtime.block_on(limiter.peek_n(RESOURCE, key, cost))?
        } else {
            self.runtime.block_on(limiter.check_n(RESOURCE, key, cost))?
        };
        Ok(decided.into())
    }

    fn decide(&mut self, key: &str, cost: u32, peek: bool) -> Result<Decision, DecideError> {
        let last = self.keys.entry(key.to_owned()).or_default();
        let strategy = self.limiter.policy().strategy();
        if peek || cost == 0 {
            return self.runtime.block_on(self.limiter.peek_n(key, cost));
        }
        // Redis counts each strategy apart. A trace has one count a key, as memory has: the first
        // that a new strategy spends takes the place of what the one before it has counted.
        if last.is_some_and(|last| last != strategy)
            && self.runtime.block_on(self.limiter.peek_n(key, cost))?.is_allowed()
        {
            self.runtime.block_on(self.limiter.reset(key))?;
        }
        let decision = self.runtime.block_on(self.limiter.check_n(key, cost))?;
        if decision.is_allowed() {
            *last = Some(strategy);
        }
        Ok(decision)
    }
}

impl Engine for RedisEngine {
    fn set_policies(&mut self, policies: MultiPolicy) -> Result<(), String> {
        if self.has_policy {
            return Err(EITHER.to_owned());
        }
        for (name, policy) in policies.iter() {
            policy.in_micros().map_err(|error| format!("policy {name:?}: {error}"))?;
            self.names.insert(name.to_owned());
        }
        let policies = ResourcePolicies::new(policies);
        match &self.several {
            Some(limiter) => limiter.set_policies(policies),
            None => {
                let builder = AsyncResourceLimiter::builder(policies).without_breaker();
                self.several = Some(builder.build_over(Arc::clone(&self.store)));
            }
        }
        Ok(())
    }

    fn set_policy(&mut self, policy: Policy) -> Result<(), String> {
        if self.several.is_some() {
            return Err(EITHER.to_owned());
        }
        let policy = policy.in_micros().map_err(|error| error.to_string())?;
        self.limiter.set_policy(policy);
        self.has_policy = true;
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<Answer, String> {
        if !self.has_policy && self.several.is_none() {
            return Err(NO_POLICY.to_owned());
        }
        if !step.at_ns.is_multiple_of(1_000) {
            let at_ns = step.at_ns;
            return Err(format!("at_ns must be whole microseconds on Redis, got {at_ns}"));
        }
        // No limit is above u32::MAX, so a cost that is exceeds them all.
        let Ok(cost) = u32::try_from(step.cost) else {
            return Ok(Answer::CostExceedsLimit);
        };
        self.clock.set(step.at_ns);
        let answer = if self.several.is_some() {
            self.decide_several(step, cost)
        } else {
            self.decide(&step.key, cost, step.peek).map(Answer::from)
        };
        match answer {
            Ok(answer) => Ok(answer),
            Err(DecideError::Cost(_)) => Ok(Answer::CostExceedsLimit),
            Err(error) => Err(told(&error)),
        }
    }

    fn finish(&mut self) -> Result<(), String> {
        let left = |error| format!("keys may be left in Redis: {}", told(&error));
        for key in std::mem::take(&mut self.keys).into_keys() {
            for name in &self.names {
                let key = (RESOURCE, name.as_str(), key.as_str());
                self.runtime.block_on(self.limiter.reset(key)).map_err(left)?;
            }
            let removed = self.runtime.block_on(self.limiter.reset(key));
            removed.map_err(left)?;
        }
        Ok(())
    }
}

/// An error with its causes.
fn told(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
