//! The limiter that both commands drive, behind what a command needs of it.

#[cfg(feature = "redis")]
mod redis;

use std::sync::Arc;

use gorl::{
    Decision, Limiter, ManualClock, MultiDecision, MultiPolicy, Policy, ResourceLimiter,
    ResourcePolicies,
};

/// What decides the steps of a trace; each store that `--store` can name is one.
pub(crate) trait Engine {
    /// Puts the policy in force; counts stay.
    ///
    /// # Errors
    ///
    /// A message when the engine cannot count under this policy.
    fn set_policy(&mut self, policy: Policy) -> Result<(), String>;

    /// Puts several policies in force, which must all admit; counts stay by their names.
    ///
    /// # Errors
    ///
    /// A message when the engine cannot count under one of them.
    fn set_policies(&mut self, policies: MultiPolicy) -> Result<(), String>;

    /// Decides one request.
    ///
    /// # Errors
    ///
    /// A message when there is no answer: no policy yet, or the engine failed.
    fn step(&mut self, step: &Step) -> Result<Answer, String>;

    /// Removes what the steps left in a store that outlives the program.
    ///
    /// # Errors
    ///
    /// A message when something may be left.
    fn finish(&mut self) -> Result<(), String> {
        Ok(())
    }
}

/// One request at a time the caller chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) at_ns: u64,
    pub(crate) key: String,
    pub(crate) cost: u64,
    pub(crate) peek: bool,
}

/// What an engine answers; every figure is exact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Of several policies: what they say together, the one that binds, and each.
    Several {
        together: Box<Answer>,
        binding: String,
        each: Vec<(String, Answer)>,
    },
    Decided {
        allowed: bool,
        limit: u32,
        remaining: u32,
        reset_ns: u128,
        /// Absent when the request is allowed.
        retry_after_ns: Option<u128>,
    },
    CostExceedsLimit,
}

impl From<Decision> for Answer {
    fn from(decision: Decision) -> Self {
        let allowed = decision.is_allowed();
        Self::Decided {
            allowed,
            limit: decision.limit(),
            remaining: decision.remaining(),
            reset_ns: decision.reset_after().as_nanos(),
            retry_after_ns: (!allowed).then(|| decision.retry_after().as_nanos()),
        }
    }
}

impl From<MultiDecision> for Answer {
    fn from(decision: MultiDecision) -> Self {
        let allowed = decision.is_allowed();
        let together = Self::Decided {
            allowed,
            limit: decision.limit(),
            remaining: decision.remaining(),
            reset_ns: decision.reset_after().as_nanos(),
            retry_after_ns: (!allowed).then(|| decision.retry_after().as_nanos()),
        };
        let each = decision.iter().map(|(name, one)| (name.to_owned(), Self::from(*one)));
        Self::Several {
            together: Box::new(together),
            binding: decision.binding().0.to_owned(),
            each: each.collect(),
        }
    }
}

/// What the memory store keeps of one key: a fingerprint and sixteen bytes of state.
pub(crate) const ENTRY_BYTES: u64 = 32;

/// The in-process limiter on a clock that is moved by hand.
pub(crate) struct Memory {
    limiter: Limiter,
    clock: Arc<ManualClock>,
}

impl Memory {
    pub(crate) fn new(policy: Policy) -> Self {
        let clock = Arc::new(ManualClock::new(0));
        let limiter = Limiter::builder(policy).clock(Arc::clone(&clock)).build();
        Self { limiter, clock }
    }

    /// Decides a request of cost 1 at this time.
    pub(crate) fn check(&self, key: &[u8], at_ns: u64) -> Decision {
        self.clock.set(at_ns);
        self.limiter.check(key)
    }
}

/// [`Memory`] as the engine of a trace, which starts without a policy.
#[derive(Default)]
pub(crate) struct MemoryEngine {
    memory: Option<Memory>,
    several: Option<(ResourceLimiter, Arc<ManualClock>)>,
}

/// All steps of a trace are for one resource.
const RESOURCE: &str = "trace";

/// A count under one policy is none under several.
const EITHER: &str = "a trace has `policy` lines or `policies` lines, not both";

impl Engine for MemoryEngine {
    fn set_policies(&mut self, policies: MultiPolicy) -> Result<(), String> {
        if self.memory.is_some() {
            return Err(EITHER.to_owned());
        }
        let policies = ResourcePolicies::new(policies);
        match &self.several {
            Some((limiter, _)) => limiter.set_policies(policies),
            None => {
                let clock = Arc::new(ManualClock::new(0));
                let limiter = ResourceLimiter::builder(policies).clock(Arc::clone(&clock)).build();
                self.several = Some((limiter, clock));
            }
        }
        Ok(())
    }

    fn set_policy(&mut self, policy: Policy) -> Result<(), String> {
        if self.several.is_some() {
            return Err(EITHER.to_owned());
        }
        match &self.memory {
            Some(memory) => memory.limiter.set_policy(policy),
            None => self.memory = Some(Memory::new(policy)),
        }
        Ok(())
    }

    fn step(&mut self, step: &Step) -> Result<Answer, String> {
        if self.memory.is_none() && self.several.is_none() {
            return Err(NO_POLICY.to_owned());
        }
        // No limit is above u32::MAX, so a cost that is exceeds them all.
        let Ok(cost) = u32::try_from(step.cost) else {
            return Ok(Answer::CostExceedsLimit);
        };
        if let Some((limiter, clock)) = &self.several {
            clock.set(step.at_ns);
            let key = step.key.as_str();
            let decided = if step.peek {
                limiter.peek_n(RESOURCE, key, cost)
            } else {
                limiter.check_n(RESOURCE, key, cost)
            };
            return Ok(decided.map_or(Answer::CostExceedsLimit, Answer::from));
        }
        let Some(memory) = &self.memory else {
            return Err(NO_POLICY.to_owned());
        };
        memory.clock.set(step.at_ns);
        let key = step.key.as_str();
        let decided = if step.peek {
            memory.limiter.peek_n(key, cost)
        } else {
            memory.limiter.check_n(key, cost)
        };
        Ok(decided.map_or(Answer::CostExceedsLimit, Answer::from))
    }
}

const NO_POLICY: &str = "a step needs a policy before it";

/// The engine that `--store` names.
///
/// # Errors
///
/// A message when the text names no store, or one that this build does not have. It never repeats
/// the text, which may hold a password.
pub(crate) fn by_name(store: &str) -> Result<Box<dyn Engine>, String> {
    if store == "memory" {
        return Ok(Box::new(MemoryEngine::default()));
    }
    if store.starts_with("rediss://") {
        return Err("this build has no TLS; --store takes `redis://` without it".to_owned());
    }
    if store.starts_with("redis://") || store.starts_with("unix:") {
        return redis(store);
    }
    Err("--store must be `memory` or `redis://HOST:PORT/DB`".to_owned())
}

#[cfg(feature = "redis")]
fn redis(url: &str) -> Result<Box<dyn Engine>, String> {
    Ok(Box::new(redis::RedisEngine::new(url)?))
}

#[cfg(not(feature = "redis"))]
fn redis(_: &str) -> Result<Box<dyn Engine>, String> {
    Err("this build has no Redis engine; it comes with the `redis` feature".to_owned())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn step(at_ns: u64, cost: u64) -> Step {
        Step { at_ns, key: "k".to_owned(), cost, peek: false }
    }

    #[test]
    fn an_entry_of_the_memory_store_takes_what_reports_say() {
        let memory = Memory::new(Policy::fixed_window(2, Duration::from_secs(60)).unwrap());
        let keys = 100_000_u64;
        for key in 0..keys {
            let _ = memory.check(&key.to_le_bytes(), 0);
        }
        // The table doubles as it grows, so it has room for up to a few times its entries.
        let taken = memory.limiter.memory_bytes() as u64;
        let least = keys * ENTRY_BYTES;
        assert!((least..4 * least).contains(&taken), "{taken}");
    }

    #[test]
    fn a_step_needs_a_policy_and_counts_survive_a_new_one() {
        let mut engine = MemoryEngine::default();
        assert!(engine.step(&step(0, 1)).is_err());
        let second = Duration::from_secs(1);
        engine.set_policy(Policy::fixed_window(2, second).unwrap()).unwrap();
        engine.step(&step(0, 2)).unwrap();
        engine.set_policy(Policy::fixed_window(3, second).unwrap()).unwrap();
        let answer = engine.step(&step(0, 1)).unwrap();
        assert!(matches!(answer, Answer::Decided { allowed: true, limit: 3, remaining: 0, .. }));
    }

    #[test]
    fn a_cost_beyond_32_bits_exceeds_every_limit() {
        let mut engine = MemoryEngine::default();
        engine.set_policy(Policy::fixed_window(2, Duration::from_secs(1)).unwrap()).unwrap();
        assert_eq!(engine.step(&step(0, 3)), Ok(Answer::CostExceedsLimit));
        assert_eq!(engine.step(&step(0, u64::MAX)), Ok(Answer::CostExceedsLimit));
    }

    #[test]
    fn stores_are_told_by_name_and_passwords_are_not_repeated() {
        assert!(by_name("memory").is_ok());
        let nobody = "redis://u:secret@127.0.0.1:1/0";
        for store in [nobody, "redis://u:secret@:x", "rediss://u:secret@h", "http://u:secret@h", ""]
        {
            let error = by_name(store).err().unwrap();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
