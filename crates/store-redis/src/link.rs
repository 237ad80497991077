//! The one connection that all callers share, and how it comes back when it is lost.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use gorl_core::StoreErrorKind;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, Cmd, PushInfo, PushKind, RedisError, Value};
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::failure::{self, Failure};

/// A connection that is replaced when it breaks.
///
/// At most one attempt to connect is under way at a time, and every caller that finds no connection
/// waits for the outcome of one attempt. So a server that is down is asked no more often than it
/// refuses, and the first caller after it has come back is served.
pub(crate) struct Link {
    inner: Arc<Inner>,
}

struct Inner {
    client: Client,
    connect_timeout: Duration,
    runtime: Handle,
    status: watch::Sender<Status>,
    began: Instant,
    /// When the server was last heard, in milliseconds since `began`.
    heard_ms: AtomicU64,
}

/// Where the connection stands. Connections are numbered, so that news of an old one is not taken
/// for news of its successor.
enum Status {
    Up { number: u64, connection: MultiplexedConnection },
    Connecting { number: u64 },
    Down { number: u64, why: Failure },
}

/// Why a command has no answer.
pub(crate) enum CallError {
    /// There was no connection, or no answer in time.
    Failure(Failure),
    /// What the server said, or how the connection broke.
    Redis(RedisError),
}

/// How many commands may wait for the connection's writer before callers wait for each other.
const COMMANDS_QUEUED: usize = 1024;

impl Link {
    /// A link that has no connection yet; tasks run on `runtime`.
    pub(crate) fn new(client: Client, connect_timeout: Duration, runtime: Handle) -> Self {
        let why = Failure::new(StoreErrorKind::Unavailable, "not connected yet");
        let (status, _) = watch::channel(Status::Down { number: 0, why });
        let (began, heard_ms) = (Instant::now(), AtomicU64::new(0));
        let inner = Inner { client, connect_timeout, runtime, status, began, heard_ms };
        Self { inner: Arc::new(inner) }
    }

    /// The runtime that the connection lives on.
    pub(crate) fn runtime(&self) -> &Handle {
        &self.inner.runtime
    }

    /// Sees to it that there is a connection.
    pub(crate) async fn connect(&self) -> Result<(), Failure> {
        self.connection().await.map(|_| ())
    }

    /// Sends one command, once.
    pub(crate) async fn call(&self, command: &Cmd) -> Result<Value, CallError> {
        let (number, mut connection) = self.connection().await.map_err(CallError::Failure)?;
        let answer = command.query_async::<Value>(&mut connection).await;
        match &answer {
            Err(error) if failure::asks_for_another_connection(error) => self.inner.lost(number),
            _ => self.inner.heard(),
        }
        answer.map_err(CallError::Redis)
    }

    /// Notes that a caller waited in vain. A connection on which nothing has been heard for as long
    /// as one may take to make is given up: the other side may be gone without a word.
    pub(crate) fn in_vain(&self) {
        let inner = &self.inner;
        let number = match &*inner.status.borrow() {
            Status::Up { number, .. } => *number,
            Status::Connecting { .. } | Status::Down { .. } => return,
        };
        let heard = Duration::from_millis(inner.heard_ms.load(Ordering::Relaxed));
        if inner.began.elapsed().saturating_sub(heard) > inner.connect_timeout {
            inner.lost(number);
        }
    }

    /// The connection, or the failure of an attempt that was made while this call waited.
    async fn connection(&self) -> Result<(u64, MultiplexedConnection), Failure> {
        if let Status::Up { number, connection } = &*self.inner.status.borrow() {
            return Ok((*number, connection.clone()));
        }
        let mut news = self.inner.status.subscribe();
        let mut waited = false;
        loop {
            let failed = match &*news.borrow_and_update() {
                Status::Up { number, connection } => return Ok((*number, connection.clone())),
                Status::Down { why, .. } if waited => return Err(why.clone()),
                Status::Down { number, .. } => Some(*number),
                Status::Connecting { .. } => None,
            };
            if let Some(number) = failed {
                self.inner.lost(number);
            }
            waited = true;
            // The sender lives as long as this link, so there is always more to come.
            if news.changed().await.is_err() {
                let why = "the connection was closed";
                return Err(Failure::new(StoreErrorKind::Unavailable, why));
            }
        }
    }
}

impl Inner {
    /// Notes that the server was heard now.
    fn heard(&self) {
        let now = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.heard_ms.store(now, Ordering::Relaxed);
    }

    /// Starts an attempt to replace connection `number`, unless another has taken its place.
    fn lost(self: &Arc<Self>, number: u64) {
        let is_news = self.status.send_if_modified(|status| {
            let known = match status {
                Status::Up { number, .. } | Status::Down { number, .. } => *number,
                Status::Connecting { .. } => return false,
            };
            if known == number {
                *status = Status::Connecting { number: number + 1 };
            }
            known == number
        });
        if is_news {
            let attempt = Attempt { inner: Arc::downgrade(self), number: number + 1 };
            let config = self.config(&attempt.inner, number + 1);
            let (client, deadline) = (self.client.clone(), self.connect_timeout);
            // Detached, so that a caller which gives up does not end an attempt that others await.
            drop(self.runtime.spawn(async move { attempt.run(client, config, deadline).await }));
        }
    }

    /// How to connect: without deadlines of the client's own, and with word of a lost connection,
    /// where the protocol brings it, so that it is replaced before anybody needs it.
    fn config(&self, inner: &Weak<Self>, number: u64) -> AsyncConnectionConfig {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(None)
            .set_response_timeout(None)
            .set_pipeline_buffer_size(COMMANDS_QUEUED);
        if !self.client.get_connection_info().redis_settings().protocol().supports_resp3() {
            return config;
        }
        let inner = Weak::clone(inner);
        config.set_push_sender(move |news: PushInfo| {
            if news.kind == PushKind::Disconnection
                && let Some(inner) = inner.upgrade()
            {
                inner.lost(number);
            }
            Ok::<(), redis::aio::SendError>(())
        })
    }
}

/// An attempt to connect. Whatever becomes of it, callers do not wait for it for ever.
struct Attempt {
    inner: Weak<Inner>,
    number: u64,
}

impl Attempt {
    async fn run(&self, client: Client, config: AsyncConnectionConfig, deadline: Duration) {
        let connecting = client.get_multiplexed_async_connection_with_config(&config);
        let number = self.number;
        self.settle(match tokio::time::timeout(deadline, connecting).await {
            Ok(Ok(connection)) => Status::Up { number, connection },
            Ok(Err(error)) => Status::Down { number, why: unreachable(error) },
            Err(_) => {
                Status::Down { number, why: Failure::timeout("connecting to Redis", deadline) }
            }
        });
    }

    fn settle(&self, outcome: Status) {
        let Some(inner) = self.inner.upgrade() else {
            return;
        };
        inner.heard();
        inner.status.send_if_modified(|status| {
            let is_ours = matches!(status, Status::Connecting { number } if *number == self.number);
            if is_ours {
                *status = outcome;
            }
            is_ours
        });
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        let why = Failure::new(StoreErrorKind::Unavailable, "the attempt to connect was ended");
        self.settle(Status::Down { number: self.number, why });
    }
}

/// The failure to connect, which is always one of availability unless it is about the options.
fn unreachable(error: RedisError) -> Failure {
    let mut failure = Failure::from(error);
    if failure.kind == StoreErrorKind::Other {
        failure.kind = StoreErrorKind::Unavailable;
    }
    failure
}
