//! The one connection that all callers share, and how it comes back when it is lost.

use std::future::poll_fn;
use std::hash::{BuildHasher, RandomState};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Poll, ready};
use std::time::{Duration, Instant};

use gorl_core::StoreErrorKind;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Cmd, PushInfo, PushKind, RedisError, RedisResult, Value};
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::connector::{Connector, without_deadlines};
use crate::failure::{self, Failure};

/// A connection that is replaced when it breaks.
///
/// At most one attempt to connect is under way at a time, and a caller that finds none under way and
/// no connection starts one and waits for its outcome. After attempts that failed there is a pause,
/// in which callers get the last failure at once: so a server that is down is tried ten times a second
/// at most, however many ask for it, and one that is back is found within a tenth of a second.
pub(crate) struct Link {
    inner: Arc<Inner>,
}

struct Inner {
    connector: Connector,
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
    Up { number: u64, connection: MultiplexedConnection, since: Instant },
    Connecting { number: u64 },
    Down { number: u64, failed: u32, why: Failure, again_at: Instant },
}

/// Why a command has no answer.
pub(crate) enum CallError {
    /// There was no connection, or no answer in time.
    Failure(Failure),
    /// The connection ended after the command was sent, which may have run.
    Lost(Failure),
    /// What the server said, or how the connection broke.
    Redis(RedisError),
}

/// The pause after the first failed attempt to connect. It doubles with each.
const PAUSE: Duration = Duration::from_millis(10);

/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

impl Link {
    /// A link that has no connection yet; tasks run on `runtime`.
    pub(crate) fn new(connector: Connector, connect_timeout: Duration, runtime: Handle) -> Self {
        let why = Failure::new(StoreErrorKind::Unavailable, "not connected yet");
        let (began, heard_ms) = (Instant::now(), AtomicU64::new(0));
        let (status, _) =
            watch::channel(Status::Down { number: 0, failed: 0, why, again_at: began });
        let inner = Inner { connector, connect_timeout, runtime, status, began, heard_ms };
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
        let answer = self.unless_lost(number, command.query_async(&mut connection)).await?;
        self.heed(number, answer.as_ref().err());
        answer.map_err(CallError::Redis)
    }

    /// Sends one command, once, to a node of a cluster that is about to take over its slot.
    pub(crate) async fn call_asking(&self, command: &Cmd) -> Result<Value, CallError> {
        let (number, mut connection) = self.connection().await.map_err(CallError::Failure)?;
        let mut both = redis::pipe();
        both.cmd("ASKING").ignore().add_command(command.clone());
        let answer: RedisResult<Vec<Value>> =
            self.unless_lost(number, both.query_async(&mut connection)).await?;
        self.heed(number, answer.as_ref().err());
        let mut answers = answer.map_err(CallError::Redis)?;
        Ok(answers.pop().unwrap_or(Value::Nil))
    }

    /// What comes of a command on connection `number`, or that the connection is lost.
    ///
    /// The client promises an error then, but a command that is handed to it in the moment in which
    /// the connection ends may get none. An answer that came before the end is taken first.
    async fn unless_lost<T>(
        &self,
        number: u64,
        asked: impl Future<Output = RedisResult<T>>,
    ) -> Result<RedisResult<T>, CallError> {
        let mut news = self.inner.status.subscribe();
        let is_lost =
            |status: &Status| !matches!(status, Status::Up { number: n, .. } if *n == number);
        let lost = async {
            // The sender lives as long as this link.
            let _ = news.wait_for(is_lost).await;
        };
        let (mut asked, mut lost) = (pin!(asked), pin!(lost));
        poll_fn(|cx| {
            if let Poll::Ready(answer) = asked.as_mut().poll(cx) {
                return Poll::Ready(Ok(answer));
            }
            ready!(lost.as_mut().poll(cx));
            let why = "the connection was lost before there was an answer";
            Poll::Ready(Err(CallError::Lost(Failure::new(StoreErrorKind::Unavailable, why))))
        })
        .await
    }

    /// Learns from how a command fared.
    fn heed(&self, number: u64, error: Option<&RedisError>) {
        match error {
            Some(error) if failure::is_read_only(error) => self.inner.leads_astray(number),
            Some(error) if failure::asks_for_another_connection(error) => self.inner.lost(number),
            _ => self.inner.heard(),
        }
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

    /// The connection, or the failure of an attempt that was made while this call waited or not long
    /// before.
    async fn connection(&self) -> Result<(u64, MultiplexedConnection), Failure> {
        if let Status::Up { number, connection, .. } = &*self.inner.status.borrow() {
            return Ok((*number, connection.clone()));
        }
        let mut news = self.inner.status.subscribe();
        let mut waited = false;
        loop {
            let failed = match &*news.borrow_and_update() {
                Status::Up { number, connection, .. } => return Ok((*number, connection.clone())),
                Status::Down { why, again_at, .. } if waited || Instant::now() < *again_at => {
                    return Err(why.clone());
                }
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
        let mut attempt = None;
        self.status.send_if_modified(|status| {
            let (known, failed) = match status {
                Status::Up { number, .. } => (*number, 0),
                Status::Down { number, failed, .. } => (*number, *failed),
                Status::Connecting { .. } => return false,
            };
            if known != number {
                return false;
            }
            let number = number + 1;
            *status = Status::Connecting { number };
            attempt = Some(Attempt { inner: Arc::downgrade(self), number, failed });
            true
        });
        if let Some(attempt) = attempt {
            let config = self.config(&attempt.inner, attempt.number);
            let (connector, deadline) = (self.connector.clone(), self.connect_timeout);
            // Detached, so that a caller which gives up does not end an attempt that others await.
            drop(self.runtime.spawn(async move {
                let made = connector.connect(&config, deadline).await;
                attempt.settle(made);
            }));
        }
    }

    /// Notes that connection `number` leads to a server that takes no writes. Another may lead
    /// elsewhere by now, and is not tried for each command.
    fn leads_astray(self: &Arc<Self>, number: u64) {
        let is_old = match &*self.status.borrow() {
            Status::Up { since, .. } => since.elapsed() > LONGEST_PAUSE,
            Status::Connecting { .. } | Status::Down { .. } => false,
        };
        if is_old {
            self.lost(number);
        }
    }

    /// How to connect: with word of a lost connection, where the protocol brings it, so that it is
    /// replaced before anybody needs it.
    fn config(&self, inner: &Weak<Self>, number: u64) -> AsyncConnectionConfig {
        if !self.connector.tells_its_end() {
            return without_deadlines();
        }
        let inner = Weak::clone(inner);
        without_deadlines().set_push_sender(move |news: PushInfo| {
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
    /// How many before it, one after the other, came to nothing.
    failed: u32,
}

impl Attempt {
    fn settle(&self, made: Result<MultiplexedConnection, Failure>) {
        let Some(inner) = self.inner.upgrade() else {
            return;
        };
        let number = self.number;
        let outcome = match made {
            Ok(connection) => {
                inner.heard();
                Status::Up { number, connection, since: Instant::now() }
            }
            Err(why) => {
                let again_at = Instant::now() + pause(self.failed);
                Status::Down { number, failed: self.failed.saturating_add(1), why, again_at }
            }
        };
        inner.status.send_if_modified(|status| {
            let is_ours =
                matches!(status, Status::Connecting { number, .. } if *number == self.number);
            if is_ours {
                *status = outcome;
            }
            is_ours
        });
    }
}

/// The pause after an attempt that failed, when `failed` had failed before it: up to a quarter
/// shorter, so that those who lost a server together do not come back to it together.
fn pause(failed: u32) -> Duration {
    let whole = PAUSE.saturating_mul(1 << failed.min(8)).min(LONGEST_PAUSE);
    let random = RandomState::new().hash_one(failed) % 256;
    whole.saturating_sub(whole / 1024 * u32::try_from(random).unwrap_or(0))
}

impl Drop for Attempt {
    fn drop(&mut self) {
        let why = "the attempt to connect was ended";
        self.settle(Err(Failure::new(StoreErrorKind::Unavailable, why)));
    }
}
