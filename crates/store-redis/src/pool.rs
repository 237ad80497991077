//! A pool of connections, each of which one call has at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bb8::{ManageConnection, RunError};
use gorl_core::StoreErrorKind;
use redis::aio::MultiplexedConnection;
use redis::{Cmd, PushInfo, PushKind, Value};
use tokio::runtime::Handle;

use crate::connector::{Connector, without_deadlines};
use crate::failure::{self, Failure};
use crate::link::CallError;

/// The pool, and the runtime that its connections live on.
pub(crate) struct Pool {
    connections: bb8::Pool<Manager>,
    checkout_timeout: Duration,
    runtime: Handle,
}

impl Pool {
    /// A pool of at most `size` connections, none of which is made yet.
    pub(crate) fn new(
        connector: Connector,
        connect_timeout: Duration,
        size: u32,
        checkout_timeout: Duration,
        runtime: Handle,
    ) -> Self {
        let connections = bb8::Pool::builder()
            .max_size(size)
            .connection_timeout(checkout_timeout)
            // A ping would be a second round trip. A connection that has ended says so itself.
            .test_on_check_out(false)
            .retry_connection(false)
            .build_unchecked(Manager { connector, connect_timeout });
        Self { connections, checkout_timeout, runtime }
    }

    /// Makes the first connection, by the deadline for connecting and not that for checking out.
    pub(crate) async fn connect(&self) -> Result<(), Failure> {
        let first = self.connections.dedicated_connection().await?;
        // Nobody else can have filled the pool yet; if so, one connection is one too many.
        let _ = self.connections.add(first);
        Ok(())
    }

    pub(crate) async fn call(&self, command: &Cmd) -> Result<Value, CallError> {
        let mut connection = self.connections.get().await.map_err(|error| {
            CallError::Failure(match error {
                RunError::User(failure) => failure,
                RunError::TimedOut => {
                    Failure::timeout("waiting for a connection of the pool", self.checkout_timeout)
                }
            })
        })?;
        let answer = command.query_async::<Value>(&mut connection.connection).await;
        if let Err(error) = &answer
            && (failure::asks_for_another_connection(error) || failure::is_read_only(error))
        {
            connection.has_ended.store(true, Ordering::Relaxed);
        }
        answer.map_err(CallError::Redis)
    }

    pub(crate) const fn runtime(&self) -> &Handle {
        &self.runtime
    }
}

/// How the pool makes connections.
#[derive(Clone)]
struct Manager {
    connector: Connector,
    connect_timeout: Duration,
}

/// A connection, and whether it is of no more use: a flag of its own, by which nothing else is
/// published.
struct Pooled {
    connection: MultiplexedConnection,
    has_ended: Arc<AtomicBool>,
}

impl ManageConnection for Manager {
    type Connection = Pooled;
    type Error = Failure;

    async fn connect(&self) -> Result<Pooled, Failure> {
        let has_ended = Arc::new(AtomicBool::new(false));
        let mut config = without_deadlines();
        if self.connector.tells_its_end() {
            let ended = Arc::clone(&has_ended);
            config = config.set_push_sender(move |news: PushInfo| {
                if news.kind == PushKind::Disconnection {
                    ended.store(true, Ordering::Relaxed);
                }
                Ok::<(), redis::aio::SendError>(())
            });
        }
        let connection = self.connector.connect(&config, self.connect_timeout).await?;
        Ok(Pooled { connection, has_ended })
    }

    async fn is_valid(&self, connection: &mut Pooled) -> Result<(), Failure> {
        if self.has_broken(connection) {
            let why = "the connection has ended";
            return Err(Failure::new(StoreErrorKind::Unavailable, why));
        }
        Ok(())
    }

    fn has_broken(&self, connection: &mut Pooled) -> bool {
        connection.has_ended.load(Ordering::Relaxed)
    }
}
