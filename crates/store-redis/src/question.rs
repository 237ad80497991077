//! One request, as the scripts are asked it, and core's answer to it.

use gorl_core::{Action, Decision, Policy, State, StoreErrorKind, decide, peek};
use redis::{Cmd, Value};

use crate::caller::{Caller, push_time};
use crate::failure::Failure;
use crate::script::Script;
use crate::value::parse;

/// A request whose cost fits, under a policy that counts in microseconds, with its key in Redis.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) policy: Policy,
    pub(crate) key: String,
    pub(crate) cost: u32,
    pub(crate) action: Action,
}

/// What a script for one key reports.
pub(crate) struct Report {
    /// Whether it stored an admission.
    pub(crate) written: bool,
    /// The time by which it decided, in microseconds.
    pub(crate) now: u64,
    /// What it found.
    pub(crate) state: Option<State>,
}

impl Question {
    /// Asks it by itself.
    pub(crate) async fn ask(&self, caller: &Caller) -> Result<Decision, Failure> {
        let operation = match self.action {
            Action::Take => "t",
            Action::Peek => "p",
        };
        let report = self.run(caller, operation).await?;
        let decision = self.decide(report.state, report.now)?;
        if decision.changes_state() != report.written {
            return Err(self.disagreed(report.state, report.now));
        }
        Ok(decision)
    }

    /// Runs the script of the policy's strategy: `t` takes, `p` peeks, `g` gives back.
    pub(crate) async fn run(
        &self,
        caller: &Caller,
        operation: &'static str,
    ) -> Result<Report, Failure> {
        let Self { policy, key, cost, .. } = self;
        let given = caller.given_time()?;
        let arguments = |command: &mut Cmd| {
            command.arg(1).arg(key).arg(operation).arg(cost).arg(policy.limit());
            command.arg(policy.window_ticks()).arg(policy.capacity()).arg(caller.grace_ms);
            push_time(command, given);
        };
        let script = Script::one(policy.strategy());
        let answer = caller.in_time(key, caller.evaluate(key, script, arguments)).await;
        match answer.map_err(|error| error.naming(key))? {
            Value::Array(parts) => report(&parts, key),
            other => Err(strange(&other)),
        }
    }

    /// Core's answer, for a state that was found at `now`.
    pub(crate) fn decide(&self, state: Option<State>, now: u64) -> Result<Decision, Failure> {
        let decision = match self.action {
            Action::Take => decide(&self.policy, state, now, self.cost),
            Action::Peek => peek(&self.policy, state, now, self.cost),
        };
        // Costs that do not fit are not asked about.
        decision.map_err(|error| Failure::new(StoreErrorKind::Other, error.to_string()))
    }

    /// The failure that the script decided otherwise than core does.
    pub(crate) fn disagreed(&self, state: Option<State>, now: u64) -> Failure {
        let Self { policy, cost, .. } = self;
        let message = format!(
            "the script and core disagree, which is a bug of gorl: {policy}, cost {cost} at {now} \
             after {state:?}",
        );
        Failure::new(StoreErrorKind::Other, message)
    }
}

/// Reads `{written, time, stored before}`.
fn report(parts: &[Value], key: &str) -> Result<Report, Failure> {
    let [Value::Int(written), Value::Int(now), stored] = parts else {
        return Err(strange(&parts));
    };
    if *written < 0 {
        return Err(Failure::foreign(key));
    }
    let now = u64::try_from(*now).map_err(|_| strange(&parts))?;
    Ok(Report { written: *written == 1, now, state: stored_state(stored, key)? })
}

/// What a script says was stored.
pub(crate) fn stored_state(stored: &Value, key: &str) -> Result<Option<State>, Failure> {
    match stored {
        Value::Nil => Ok(None),
        Value::BulkString(value) => parse(value).map(Some).ok_or_else(|| Failure::foreign(key)),
        _ => Err(strange(stored)),
    }
}

/// An answer that no script of ours gives; something else answers in the server's name.
pub(crate) fn strange(answer: &impl std::fmt::Debug) -> Failure {
    let shown: String = format!("{answer:?}").chars().take(200).collect();
    Failure::new(StoreErrorKind::Other, format!("the server's answer is not understood: {shown}"))
}
