//! How a script is called: by digest, within the deadline, once.

use std::sync::Arc;
use std::time::Duration;

use gorl_core::{Clock, StoreErrorKind, Tick};
use redis::{Cmd, Value};

use crate::failure::{self, Failure};
use crate::link::CallError;
use crate::script::Script;
use crate::transport::Transport;
use crate::value::INSTANTS;

/// The connection, and what every call has in common.
pub(crate) struct Caller {
    pub(crate) transport: Transport,
    pub(crate) command_timeout: Duration,
    pub(crate) grace_ms: u64,
    pub(crate) clock: Option<Arc<dyn Clock>>,
}

impl Caller {
    /// Calls a script where `key` is: by digest, and with its text if the server does not know the
    /// script, which then did not run.
    pub(crate) async fn evaluate(
        &self,
        key: &str,
        script: &Script,
        arguments: impl Fn(&mut Cmd),
    ) -> Result<Value, CallError> {
        let mut command = redis::cmd("EVALSHA");
        command.arg(&script.digest);
        arguments(&mut command);
        match self.transport.call(key, &command).await {
            Err(CallError::Redis(error)) if failure::is_unknown_script(&error) => {
                let mut command = redis::cmd("EVAL");
                command.arg(&script.text);
                arguments(&mut command);
                self.transport.call(key, &command).await
            }
            answer => answer,
        }
    }

    /// What comes of `waiting`, or that it did not come in time.
    pub(crate) async fn in_time<T>(
        &self,
        key: &str,
        waiting: impl Future<Output = Result<T, CallError>>,
    ) -> Result<T, CallError> {
        let deadline = self.command_timeout;
        // The timer belongs to the runtime of the connection, wherever this future is polled.
        let timed = {
            let _inside = self.transport.runtime().enter();
            tokio::time::timeout(deadline, waiting)
        };
        timed.await.unwrap_or_else(|_| {
            self.transport.in_vain(key);
            Err(CallError::Failure(Failure::timeout("the request", deadline)))
        })
    }

    /// The time by the caller's clock, if there is one, in microseconds.
    pub(crate) fn given_time(&self) -> Result<Option<u64>, Failure> {
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

/// Appends the caller's time, or what asks for the server's.
pub(crate) fn push_time(command: &mut Cmd, given: Option<u64>) {
    match given {
        Some(now) => command.arg(now),
        None => command.arg(""),
    };
}
