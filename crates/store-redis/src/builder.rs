//! How a store is set up: where the server is, how keys are called, how long to wait.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use gorl_core::{Clock, StoreError, StoreErrorKind};
use redis::{Client, ConnectionAddr, IntoConnectionInfo, ProtocolVersion, RedisResult};
use tokio::runtime::Handle;

use crate::caller::Caller;
use crate::coalesce::FEW;
use crate::failure::Failure;
use crate::key::{Layout, MAX_PREFIX};
use crate::link::Link;
use crate::store::RedisStore;

/// Sets up a [`RedisStore`]; made by [`RedisStore::builder`].
#[must_use = "a builder does nothing until `connect`"]
pub struct RedisStoreBuilder {
    server: Server,
    prefix: String,
    hash_keys: bool,
    connect_timeout: Duration,
    command_timeout: Duration,
    keep_rested: Duration,
    clock: Option<Arc<dyn Clock>>,
    start_degraded: bool,
    coalesce_above: Option<usize>,
}

enum Server {
    Url(String),
    #[cfg_attr(not(feature = "client"), expect(dead_code, reason = "made by `from_client` alone"))]
    Client(Client),
}

/// A network within a data centre connects in a few milliseconds, and a name server may take
/// hundreds.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// A decision takes well below a millisecond. A limiter must not be what makes a request slow.
const COMMAND_TIMEOUT: Duration = Duration::from_millis(250);

/// Longer than any wait that makes sense, and harmless to add to any instant.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 86_400);

impl RedisStoreBuilder {
    pub(crate) fn from_url(url: impl Into<String>) -> Self {
        Self::over(Server::Url(url.into()))
    }

    /// A store over a client that the caller already has, with its own address and credentials.
    ///
    /// If it speaks RESP3, a connection that breaks is replaced at once; with RESP2 the first
    /// request after the break fails with [`StoreErrorKind::Unavailable`] and has it replaced.
    #[cfg(feature = "client")]
    pub fn from_client(client: Client) -> Self {
        Self::over(Server::Client(client))
    }

    fn over(server: Server) -> Self {
        Self {
            server,
            prefix: "gorl:".to_owned(),
            hash_keys: false,
            connect_timeout: CONNECT_TIMEOUT,
            command_timeout: COMMAND_TIMEOUT,
            keep_rested: Duration::ZERO,
            clock: None,
            start_degraded: false,
            coalesce_above: Some(FEW),
        }
    }

    /// What every key begins with, at most 256 bytes. The default is `gorl:`.
    ///
    /// Stores with different prefixes share no counts.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Writes every key as a digest, so that none can be read in Redis. By default only those are
    /// that are long or hold bytes other than printable ASCII.
    pub fn hash_keys(mut self, always: bool) -> Self {
        self.hash_keys = always;
        self
    }

    /// How long an attempt to connect may take, with name look-up and log-in. The default is one
    /// second.
    pub fn connect_timeout(mut self, deadline: Duration) -> Self {
        self.connect_timeout = deadline.min(LONGEST);
        self
    }

    /// How long a request may take, with waiting for a connection. The default is 250 ms.
    pub fn command_timeout(mut self, deadline: Duration) -> Self {
        self.command_timeout = deadline.min(LONGEST);
        self
    }

    /// How much longer than until it is at rest a key is kept. The default is zero.
    ///
    /// Forgetting a key at rest changes no answer while time goes forward. Keeping it longer is
    /// for clocks that do not: one given by [`clock`](Self::clock) that differs from the server's
    /// or steps back.
    pub fn keep_rested(mut self, longer: Duration) -> Self {
        self.keep_rested = longer.min(LONGEST);
        self
    }

    /// Decides by this clock in place of the server's `TIME`.
    ///
    /// By default the server's clock decides, and it does not matter whether clients agree on the
    /// time. This is for servers that refuse `TIME` to scripts, and for tests. Clients that share
    /// counts should then have clocks that agree: one that is ahead spends the time of the others,
    /// and one that is more than a window behind ignores their counts. Keys still expire by the
    /// server's clock; see [`keep_rested`](Self::keep_rested).
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Some(Arc::new(clock));
        self
    }

    /// Whether requests that come faster than they are answered share script calls. By default they
    /// do, above 32 under way.
    ///
    /// A request is sent by itself while few are under way, and a lone one never waits for others.
    /// Without this, each is a script call of its own however many there are.
    pub fn coalesce(mut self, shared: bool) -> Self {
        self.coalesce_above = shared.then_some(FEW);
        self
    }

    /// [`coalesce`](Self::coalesce) when more than `requests` are under way.
    pub fn coalesce_above(mut self, requests: usize) -> Self {
        self.coalesce_above = Some(requests);
        self
    }

    /// Whether there is a store even if no server can be reached yet. By default there is none:
    /// [`connect`](Self::connect) fails.
    ///
    /// Such a store fails its requests until the server can be reached, and then serves them. What
    /// becomes of a request meanwhile is for the failure policy of the limiter above to say.
    pub fn start_degraded(mut self, allowed: bool) -> Self {
        self.start_degraded = allowed;
        self
    }

    /// What [`start_degraded`](Self::start_degraded) was set to.
    #[must_use]
    pub fn starts_degraded(&self) -> bool {
        self.start_degraded
    }

    /// Connects, and makes the store.
    ///
    /// It must be called within a tokio runtime that has its IO and time enabled, on which the
    /// connection then lives. Requests may come from anywhere while that runtime runs.
    ///
    /// # Errors
    ///
    /// [`StoreErrorKind::Unavailable`] or [`StoreErrorKind::Timeout`] if the server cannot be
    /// reached or refuses the log-in, unless the store may [start
    /// degraded](Self::start_degraded), and [`StoreErrorKind::Other`] if there is no runtime, the
    /// prefix is too long, or the URL is none.
    pub async fn connect(self) -> Result<RedisStore, StoreError> {
        let other = |message| Failure::new(StoreErrorKind::Other, message);
        let Ok(runtime) = Handle::try_current() else {
            return Err(other("a Redis store must be built within a tokio runtime").into());
        };
        if self.prefix.len() > MAX_PREFIX {
            return Err(other("the prefix of the keys must be at most 256 bytes long").into());
        }
        let client = match self.server {
            Server::Client(client) => client,
            Server::Url(url) => match open(&url) {
                Ok(client) => client,
                // The error is not repeated: what it quotes may be a password.
                Err(_) => return Err(other(URL_EXPECTED).into()),
            },
        };
        let caller = Caller {
            link: Link::new(client, self.connect_timeout, runtime),
            command_timeout: self.command_timeout,
            grace_ms: u64::try_from(self.keep_rested.as_millis()).unwrap_or(u64::MAX),
            clock: self.clock,
        };
        let connected = caller.link.connect().await;
        let layout = Layout { prefix: self.prefix, hash_all: self.hash_keys };
        let store = RedisStore::new(caller, layout, self.coalesce_above);
        match connected {
            Err(failure) if !(self.start_degraded && failure.is_passing()) => Err(failure.into()),
            _ => Ok(store),
        }
    }
}

/// A client that speaks RESP3, in which the end of a connection is told at once.
fn open(url: &str) -> RedisResult<Client> {
    let info = url.into_connection_info()?;
    if matches!(info.addr(), ConnectionAddr::TcpTls { .. }) {
        return Err((redis::ErrorKind::InvalidClientConfig, "no TLS in this build").into());
    }
    let redis = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
    Client::open(info.set_redis_settings(redis))
}

const URL_EXPECTED: &str = "the URL must be redis://[USER:PASSWORD@]HOST[:PORT][/DB] or unix:PATH, \
                            without TLS";

impl fmt::Debug for RedisStoreBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The URL may hold a password.
        f.debug_struct("RedisStoreBuilder").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}
