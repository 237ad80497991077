//! The store: requests as scripts are asked them, and core's answers from what they report.

use std::fmt;
use std::sync::Arc;

use gorl_core::{
    DecideError, Decision, KeyRef, Policy, Request, Scope, Store, StoreError, StoreErrorKind,
    check_cost,
};
use redis::{Cmd, Value};

use crate::builder::RedisStoreBuilder;
use crate::caller::Caller;
use crate::coalesce::Coalescer;
use crate::failure::{self, Failure};
use crate::key::Layout;
use crate::link::CallError;
use crate::many::{self, Mode};
use crate::question::{Question, strange};
use crate::script::Script;
use crate::slot::slot_of;

/// A store in Redis, which any number of processes can share.
///
/// Every request is decided on by a script, which decides on others too when they come faster than
/// they are answered; so the decisions of a key are serialised whoever asks. The script reads the server's clock and decides in exact integers; the figures of the
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
    caller: Arc<Caller>,
    layout: Layout,
    coalescer: Option<Coalescer>,
}

impl RedisStore {
    /// A store with the default options on the server at `url`, which can name any topology:
    ///
    /// - `redis://[USER:PASSWORD@]HOST[:PORT][/DB]`, `rediss://` with TLS, or `unix:PATH`;
    /// - `redis+sentinel://[USER:PASSWORD@]HOST[:PORT],…/MASTER[/DB]`, the hosts of sentinels, and
    ///   the user of the master that they watch; `rediss+sentinel://` with TLS;
    /// - `redis+cluster://[USER:PASSWORD@]HOST[:PORT],…`, some nodes of a cluster;
    ///   `rediss+cluster://` with TLS.
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

    pub(crate) fn new(caller: Caller, layout: Layout, coalesce_above: Option<usize>) -> Self {
        let caller = Arc::new(caller);
        let coalescer = coalesce_above.filter(|_| caller.transport.is_one_connection());
        let coalescer = coalescer.map(|few| Coalescer::new(Arc::clone(&caller), few));
        Self { caller, layout, coalescer }
    }

    /// Deletes keys, all or none of them.
    async fn reset_together(&self, keys: &[String]) -> Result<(), StoreError> {
        let arguments = |command: &mut Cmd| {
            command.arg(keys.len()).arg(keys);
        };
        let (caller, first) = (&self.caller, keys.first().map_or("", String::as_str));
        let answer =
            caller.in_time(first, caller.evaluate(first, Script::reset(), arguments)).await;
        let answer = answer.map_err(|error| error.naming(first))?;
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

    /// The request as the scripts are asked it.
    fn question(&self, request: Request<'_>) -> Result<Question, StoreError> {
        let Request { policy, key, cost, action } = request;
        let policy = policy
            .in_micros()
            .map_err(|error| StoreError::with_source(StoreErrorKind::Policy, error))?;
        let key = self.layout.key(policy.strategy(), key);
        Ok(Question { policy, key, cost, action })
    }
}

impl Store for RedisStore {
    async fn decide(&self, request: Request<'_>) -> Result<Decision, DecideError> {
        check_cost(request.policy, request.cost)?;
        let question = self.question(request)?;
        let answer = match &self.coalescer {
            Some(coalescer) => coalescer.ask(question).await,
            None => question.ask(&self.caller).await,
        };
        Ok(answer.map_err(StoreError::from)?)
    }

    async fn decide_all(
        &self,
        requests: &[Request<'_>],
        decisions: &mut [Option<Decision>],
    ) -> Result<(), DecideError> {
        let unsupported =
            |message| StoreError::from(Failure::new(StoreErrorKind::Unsupported, message));
        if decisions.len() != requests.len() {
            return Err(
                unsupported("there must be as many places for decisions as requests").into()
            );
        }
        if requests.len() > MOST_AT_ONCE {
            return Err(unsupported("at most 64 requests can be decided on at once").into());
        }
        for request in requests {
            check_cost(request.policy, request.cost)?;
        }
        let questions = requests.iter().map(|request| self.question(*request));
        let questions = questions.collect::<Result<Vec<_>, _>>()?;
        if questions.is_empty() {
            return Ok(());
        }
        let slot = |question: &Question| slot_of(question.key.as_bytes());
        if self.caller.transport.has_slots()
            && questions.iter().any(|question| slot(question) != slot(&questions[0]))
        {
            let message = "in a cluster, keys that are decided on together must have the same slot; \
                           see RedisStoreBuilder::tag_first_part";
            return Err(unsupported(message).into());
        }
        let answers = many::ask(&self.caller, &questions, Mode::All).await;
        for (place, answer) in decisions.iter_mut().zip(answers.map_err(StoreError::from)?) {
            *place = Some(answer.map_err(StoreError::from)?);
        }
        Ok(())
    }

    async fn give_back(&self, request: Request<'_>) -> Result<(), StoreError> {
        self.question(request)?.run(&self.caller, "g").await?;
        Ok(())
    }

    async fn reset(&self, key: KeyRef<'_>) -> Result<(), StoreError> {
        let keys = self.layout.keys(key);
        if self.caller.transport.has_slots() {
            // The four are on different nodes.
            for key in &keys {
                self.reset_together(std::slice::from_ref(key)).await?;
            }
            return Ok(());
        }
        self.reset_together(&keys).await
    }

    fn scope(&self) -> Scope {
        Scope::Shared
    }
}

/// The most requests of one [`decide_all`](Store::decide_all): a request has a few limits, and the
/// server does nothing else meanwhile.
const MOST_AT_ONCE: usize = 64;

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore")
            .field("prefix", &self.layout.prefix)
            .field("command_timeout", &self.caller.command_timeout)
            .finish_non_exhaustive()
    }
}

impl CallError {
    /// The failure, which names the key if its value is what is wrong.
    pub(crate) fn naming(self, key: &str) -> Failure {
        match self {
            Self::Failure(failure) | Self::Lost(failure) => failure,
            Self::Redis(error) if failure::is_wrong_type(&error) => Failure::foreign(key),
            Self::Redis(error) => error.into(),
        }
    }
}
