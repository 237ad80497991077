//! The store: one script call a request, and core's answer from what the script reports.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use gorl_core::{
    Action, Clock, DecideError, Decision, KeyRef, Policy, Request, State, Store, StoreError,
    StoreErrorKind, Tick, check_cost, decide, peek,
};
use redis::{Cmd, Value};

use crate::builder::RedisStoreBuilder;
use crate::failure::{self, Failure};
use crate::key::Layout;
use crate::link::{CallError, Link};
use crate::script::Script;
use crate::value::{INSTANTS, parse};

/// A store in Redis, which any number of processes can share.
///
/// Every request is one script call on one key, so the decisions of a key are serialised whoever
/// asks. The script reads the server's clock and decides in exact integers; the figures of the
/// [`Decision`] come from the same arithmetic as in memory, out of the state that the script found.
/// Time is counted in microseconds, so a policy's window must be a whole number of them.
///
/// # Failure
///
/// Each request ends within the command deadline. No request is sent twice, except that a script
/// which the server does not know is sent again in full. A broken connection is replaced without
/// being asked.
///
/// # Examples
///
/// ```no_run
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
/// use gorl_core::{Action, Key, KeyRef, Policy, Request, Store};
/// use gorl_store_redis::RedisStore;
///
/// let store = RedisStore::connect("redis://127.0.0.1/").await?;
/// let policy = Policy::token_bucket(100, Duration::from_secs(1))?;
/// let parts = "user-123".parts();
/// let key = KeyRef::new(&parts);
/// let request = Request { policy: &policy, key, cost: 1, action: Action::Take };
/// assert!(store.decide(request).await?.is_allowed());
/// # Ok(())
/// # }
/// ```
pub struct RedisStore {
    pub(crate) link: Link,
    pub(crate) layout: Layout,
    pub(crate) command_timeout: Duration,
    pub(crate) grace_ms: u64,
    pub(crate) clock: Option<Arc<dyn Clock>>,
}

/// What a script reports.
struct Report {
    /// Whether it stored an admission.
    written: bool,
    /// The time by which it decided, in microseconds.
    now: u64,
    /// What it found.
    state: Option<State>,
}

impl RedisStore {
    /// A store with the default options on the server at `url`:
    /// `redis://[USER:PASSWORD@]HOST[:PORT][/DB]` or `unix:PATH`.
    ///
    /// # Errors
    ///
    /// As [`RedisStoreBuilder::connect`].
    pub async fn connect(url: impl Into<String>) -> Result<Self, StoreError> {
        Self::builder(url).connect().await
    }

    /// A store with options of your choice on the server at `url`.
    pub fn builder(url: impl Into<String>) -> RedisStoreBuilder {
        RedisStoreBuilder::from_url(url)
    }

    /// The key in Redis under which the counts of `key` by the strategy of `policy` are kept.
    #[must_use]
    pub fn redis_key(&self, policy: &Policy, key: KeyRef<'_>) -> String {
        self.layout.key(policy.strategy(), key)
    }

    /// Runs the script of a strategy on one key.
    async fn run(
        &self,
        operation: &'static str,
        policy: &Policy,
        key: KeyRef<'_>,
        cost: u32,
    ) -> Result<Report, Failure> {
        let key = self.layout.key(policy.strategy(), key);
        let given = self.given_time()?;
        let arguments = |command: &mut Cmd| {
            command.arg(1).arg(&key).arg(operation).arg(cost).arg(policy.limit());
            command.arg(policy.window_ticks()).arg(policy.capacity()).arg(self.grace_ms);
            match given {
                Some(now) => command.arg(now),
                None => command.arg(""),
            };
        };
        let answer = self.in_time(self.evaluate(Script::of(policy.strategy()), arguments)).await;
        match answer.map_err(|error| error.naming(&key))? {
            Value::Array(parts) => report(&parts, &key),
            other => Err(strange(&other)),
        }
    }

    /// By digest, and with its text if the server does not know the script, which then did not run.
    async fn evaluate(
        &self,
        script: &Script,
        arguments: impl Fn(&mut Cmd),
    ) -> Result<Value, CallError> {
        let mut command = redis::cmd("EVALSHA");
        command.arg(&script.digest);
        arguments(&mut command);
        match self.link.call(&command).await {
            Err(CallError::Redis(error)) if failure::is_unknown_script(&error) => {
                let mut command = redis::cmd("EVAL");
                command.arg(script.text);
                arguments(&mut command);
                self.link.call(&command).await
            }
            answer => answer,
        }
    }

    /// The answer of the server, or that it did not come in time.
    async fn in_time(
        &self,
        answer: impl Future<Output = Result<Value, CallError>>,
    ) -> Result<Value, CallError> {
        let deadline = self.command_timeout;
        // The timer belongs to the runtime of the connection, wherever this future is polled.
        let timed = {
            let _inside = self.link.runtime().enter();
            tokio::time::timeout(deadline, answer)
        };
        timed.await.unwrap_or_else(|_| {
            self.link.in_vain();
            Err(CallError::Failure(Failure::timeout("the request", deadline)))
        })
    }

    /// The time by the caller's clock, if there is one, in microseconds.
    fn given_time(&self) -> Result<Option<u64>, Failure> {
        let Some(clock) = &self.clock else {
            return Ok(None);
        };
        let now = Tick::Microsecond.whole(clock.now_ns());
        if now >= INSTANTS {
            let message = "the clock shows a time after the year 2255, which scripts cannot count";
            return Err(Failure::new(StoreErrorKind::Unsupported, message));
        }
        Ok(Some(now))
    }
}

impl Store for RedisStore {
    async fn decide(&self, request: Request<'_>) -> Result<Decision, DecideError> {
        let Request { key, cost, action, .. } = request;
        check_cost(request.policy, cost)?;
        let policy = in_micros(request.policy)?;
        let operation = match action {
            Action::Take => "t",
            Action::Peek => "p",
        };
        let report = self.run(operation, &policy, key, cost).await.map_err(StoreError::from)?;
        let decision = match action {
            Action::Take => decide(&policy, report.state, report.now, cost)?,
            Action::Peek => peek(&policy, report.state, report.now, cost)?,
        };
        if decision.changes_state() != report.written {
            let message = format!(
                "the script and core disagree, which is a bug of gorl: {policy}, cost {cost} at \
                 {} after {:?}",
                report.now, report.state,
            );
            return Err(StoreError::from(Failure::new(StoreErrorKind::Other, message)).into());
        }
        Ok(decision)
    }

    async fn give_back(&self, request: Request<'_>) -> Result<(), StoreError> {
        let policy = in_micros(request.policy)?;
        self.run("g", &policy, request.key, request.cost).await?;
        Ok(())
    }

    async fn reset(&self, key: KeyRef<'_>) -> Result<(), StoreError> {
        let keys = self.layout.keys(key);
        let arguments = |command: &mut Cmd| {
            command.arg(keys.len()).arg(&keys);
        };
        let answer = self.in_time(self.evaluate(Script::reset(), arguments)).await;
        let answer = answer.map_err(|error| error.naming(&keys[0]))?;
        match answer {
            Value::Int(0) => Ok(()),
            Value::Int(number) => {
                let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
                let key = index.and_then(|index| keys.get(index));
                Err(key.map_or_else(|| strange(&answer), |key| Failure::foreign(key)).into())
            }
            other => Err(strange(&other).into()),
        }
    }
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore")
            .field("prefix", &self.layout.prefix)
            .field("command_timeout", &self.command_timeout)
            .finish_non_exhaustive()
    }
}

impl CallError {
    /// The failure, which names the key if its value is what is wrong.
    fn naming(self, key: &str) -> Failure {
        match self {
            Self::Failure(failure) => failure,
            Self::Redis(error) if failure::is_wrong_type(&error) => Failure::foreign(key),
            Self::Redis(error) => error.into(),
        }
    }
}

fn in_micros(policy: &Policy) -> Result<Policy, StoreError> {
    policy.in_micros().map_err(|error| StoreError::with_source(StoreErrorKind::Policy, error))
}

/// Reads `{written, time, stored before}`.
fn report(parts: &[Value], key: &str) -> Result<Report, Failure> {
    let [Value::Int(written), Value::Int(now), stored] = parts else {
        return Err(strange(&parts));
    };
    let state = match stored {
        Value::Nil => None,
        Value::BulkString(value) => match parse(value) {
            Some(state) if *written >= 0 => Some(state),
            _ => return Err(Failure::foreign(key)),
        },
        _ => return Err(strange(&parts)),
    };
    let now = u64::try_from(*now).map_err(|_| strange(&parts))?;
    Ok(Report { written: *written == 1, now, state })
}

/// An answer that no script of ours gives; something else answers in the server's name.
fn strange(answer: &impl fmt::Debug) -> Failure {
    let shown: String = format!("{answer:?}").chars().take(200).collect();
    Failure::new(StoreErrorKind::Other, format!("the server's answer is not understood: {shown}"))
}
