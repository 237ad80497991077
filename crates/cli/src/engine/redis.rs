//! The engine of a trace over Redis: the scripts decide, at the times of the trace.

use std::collections::HashMap;
use std::error::Error;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use gorl::{AsyncLimiter, DecideError, Decision, ManualClock, Policy, RedisStore, Strategy};
use tokio::runtime::{Builder, Runtime};

use super::{Answer, Engine, NO_POLICY, Step};

/// Keys under a prefix of their own, which are removed at the end.
pub(super) struct RedisEngine {
    // Before the runtime, which its connection lives on.
    limiter: AsyncLimiter,
    clock: Arc<ManualClock>,
    runtime: Runtime,
    has_policy: bool,
    /// The keys that were asked for, and the strategy that spent last, if any has.
    keys: HashMap<String, Option<Strategy>>,
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
        let limiter = AsyncLimiter::new(Policy::MOST, store);
        Ok(Self { limiter, clock, runtime, has_policy: false, keys: HashMap::new() })
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
    fn set_policy(&mut self, policy: Policy) -> Result<(), String> {
        let policy = policy.in_micros().map_err(|error| error.to_string())?;
        self.limiter.set_policy(policy);
        self.has_policy = true;
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<Answer, String> {
        if !self.has_policy {
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
        match self.decide(&step.key, cost, step.peek) {
            Ok(decision) => Ok(decision.into()),
            Err(DecideError::Cost(_)) => Ok(Answer::CostExceedsLimit),
            Err(error) => Err(told(&error)),
        }
    }

    fn finish(&mut self) -> Result<(), String> {
        for key in std::mem::take(&mut self.keys).into_keys() {
            let removed = self.runtime.block_on(self.limiter.reset(key));
            removed.map_err(|error| format!("keys may be left in Redis: {}", told(&error)))?;
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
