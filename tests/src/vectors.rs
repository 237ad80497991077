//! The vectors: a policy, steps and the right answer to each.

use std::path::Path;
use std::time::Duration;

use gorl_core::{CostExceedsLimit, Policy, Strategy};
use gorl_testkit::{Answer, Figures};
use serde::Deserialize;

/// One policy and what happens to its keys, step by step.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// What the case shows.
    pub name: String,
    policy: PolicySpec,
    /// In order.
    pub steps: Vec<Step>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicySpec {
    strategy: String,
    limit: u64,
    window_ns: u64,
    burst: Option<u64>,
}

/// One question and its answer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// The instant, in nanoseconds since the Unix epoch.
    pub at_ns: u64,
    /// The key.
    #[serde(default = "default_key")]
    pub key: String,
    /// How much is asked for.
    #[serde(default = "default_cost")]
    pub cost: u32,
    /// Whether it is only asked for.
    #[serde(default)]
    pub peek: bool,
    /// The answer.
    pub expect: Expect,
}

/// The right answer, as it is written in the files.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Expect {
    /// A decision.
    Decision(DecisionSpec),
    /// No decision: the cost can never fit.
    Error(ErrorSpec),
}

/// The figures of a decision.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecisionSpec {
    allowed: bool,
    limit: u32,
    remaining: u32,
    reset_ns: u64,
    // Without this, a field that is missing would read as `null`.
    #[serde(deserialize_with = "Option::deserialize")]
    retry_after_ns: Option<u64>,
}

/// The name of an error.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ErrorSpec {
    error: String,
}

impl Case {
    /// The policy of the case.
    #[must_use]
    pub fn policy(&self) -> Policy {
        let spec = &self.policy;
        let strategy: Strategy = spec.strategy.parse().expect("a known strategy");
        let window = Duration::from_nanos(spec.window_ns);
        let policy = Policy::new(strategy, spec.limit, window).expect("a valid policy");
        match spec.burst {
            Some(burst) => policy.with_burst(burst).expect("a valid burst"),
            None => policy,
        }
    }
}

impl Step {
    /// The right answer under `policy`.
    ///
    /// # Errors
    ///
    /// If an error is the right answer.
    pub fn answer(&self, policy: &Policy) -> Answer {
        match &self.expect {
            Expect::Decision(spec) => Ok(Figures {
                allowed: spec.allowed,
                limit: spec.limit,
                remaining: spec.remaining,
                reset_after: spec.reset_ns.into(),
                retry_after: spec.retry_after_ns.map(u128::from),
            }),
            Expect::Error(spec) => {
                assert_eq!(spec.error, "cost_exceeds_limit", "an unknown error");
                let (cost, limit) = (self.cost, policy.capacity());
                Err(CostExceedsLimit { cost, limit })
            }
        }
    }
}

/// The cases of `vectors/NAME.json`.
#[must_use]
pub fn read_vectors(name: &str) -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("vectors/{name}.json"));
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    serde_json::from_str(&text)
        .unwrap_or_else(|error| panic!("{} is no list of cases: {error}", path.display()))
}

fn default_key() -> String {
    "k".to_owned()
}

fn default_cost() -> u32 {
    1
}
