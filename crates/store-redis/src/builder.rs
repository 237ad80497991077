//! How a store is set up: where the server is, how keys are called, how long to wait.

use std::fmt::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use gorl_core::{Clock, StoreError, StoreErrorKind};
use redis::Client;
use tokio::runtime::Handle;

use crate::address::{self, Certificates, Place};
use crate::caller::Caller;
use crate::cluster::{Cluster, Mapping};
use crate::coalesce::FEW;
use crate::connector::{Connector, Sentinels};
use crate::failure::Failure;
use crate::key::{Layout, MAX_PREFIX};
use crate::link::Link;
#[cfg(feature = "pool")]
use crate::pool::Pool;
use crate::store::RedisStore;
use crate::transport::Transport;

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
    tag_first: bool,
    certificates: Certificates,
    sentinel_credentials: Option<String>,
    mapping: Option<Mapping>,
    #[cfg(feature = "pool")]
    pool: Option<u32>,
    #[cfg(feature = "pool")]
    checkout_timeout: Option<Duration>,
}

enum Server {
    Url(String),
    #[cfg_attr(not(feature = "client"), expect(dead_code, reason = "made by `from_client` alone"))]
    Client(Box<Client>),
    /// The store is being made.
    Taken,
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
        Self::over(Server::Client(Box::new(client)))
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

    /// Writes the first part of each key as its hash tag, in braces, which alone decides on its slot
    /// in a cluster: keys that begin alike, such as `("tenant-7", "user-3")` and `("tenant-7", "all")`,
    /// can then be decided on together. By default the whole key decides, which spreads best.
    ///
    /// Stores that share counts must agree on it.
    pub fn tag_first_part(mut self, tagged: bool) -> Self {
        self.tag_first = tagged;
        self
    }

    /// The user, or an empty text, and the password that sentinels ask for. Those in the URL are for
    /// the master.
    pub fn sentinel_credentials(mut self, user: &str, password: &str) -> Self {
        let encoded = |text: &str| {
            text.bytes().fold(String::new(), |mut encoded, byte| {
                // Writing to a string cannot fail.
                let _ = write!(encoded, "%{byte:02x}");
                encoded
            })
        };
        self.sentinel_credentials = Some(format!("{}:{}", encoded(user), encoded(password)));
        self
    }

    /// Where a node of a cluster is reached that calls itself by another address, as behind a
    /// network's translation: `map` gets each host and port that nodes tell.
    pub fn map_addresses(
        mut self,
        map: impl Fn(&str, u16) -> (String, u16) + Send + Sync + 'static,
    ) -> Self {
        self.mapping = Some(Arc::new(map));
        self
    }

    /// The certificate authority that servers are believed by, as PEM, in place of those of the
    /// system.
    #[cfg(feature = "tls")]
    pub fn certificate_authority(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.certificates.authority = Some(pem.into());
        self
    }

    /// The certificate by which this client shows who it is, and its key, both as PEM.
    #[cfg(feature = "tls")]
    pub fn client_certificate(
        mut self,
        certificate: impl Into<Vec<u8>>,
        key: impl Into<Vec<u8>>,
    ) -> Self {
        self.certificates.client = Some((certificate.into(), key.into()));
        self
    }

    /// Has each call take a connection out of a pool of at most `size`, in place of one that all
    /// calls share.
    ///
    /// Requests share script calls on the shared one alone; `cargo xtask bench redis` compares both. A
    /// pool is for servers or proxies that serve a connection's commands slowly.
    #[cfg(feature = "pool")]
    pub fn pool(mut self, size: u32) -> Self {
        self.pool = Some(size);
        self
    }

    /// How long a call may wait for a connection of the [`pool`](Self::pool), within
    /// [`command_timeout`](Self::command_timeout), which is the default.
    #[cfg(feature = "pool")]
    pub fn checkout_timeout(mut self, deadline: Duration) -> Self {
        self.checkout_timeout = Some(deadline.min(LONGEST));
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
    /// do, when 4 are under way.
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
    pub async fn connect(mut self) -> Result<RedisStore, StoreError> {
        let other = |message| Failure::new(StoreErrorKind::Other, message);
        let Ok(runtime) = Handle::try_current() else {
            return Err(other("a Redis store must be built within a tokio runtime").into());
        };
        if self.prefix.len() > MAX_PREFIX {
            return Err(other("the prefix of the keys must be at most 256 bytes long").into());
        }
        let caller = Caller {
            transport: self.transport(runtime)?,
            command_timeout: self.command_timeout,
            grace_ms: u64::try_from(self.keep_rested.as_millis()).unwrap_or(u64::MAX),
            clock: self.clock,
        };
        let connected = caller.transport.connect().await;
        let layout =
            Layout { prefix: self.prefix, hash_all: self.hash_keys, tag_first: self.tag_first };
        let store = RedisStore::new(caller, layout, self.coalesce_above);
        match connected {
            Err(failure) if !(self.start_degraded && failure.is_passing()) => Err(failure.into()),
            _ => Ok(store),
        }
    }

    /// How commands travel.
    fn transport(&mut self, runtime: Handle) -> Result<Transport, Failure> {
        let certificates = std::mem::take(&mut self.certificates);
        let (at, master, nodes) = match std::mem::replace(&mut self.server, Server::Taken) {
            Server::Taken => return Err(Failure::new(StoreErrorKind::Other, "no server is named")),
            Server::Client(client) => return self.to(Connector::Server(client), runtime),
            Server::Url(url) => match address::place(&url, certificates)? {
                Place::Server(client) => {
                    return self.to(Connector::Server(Box::new(client)), runtime);
                }
                Place::Sentinels { at, master, nodes } => (at, Some(master), nodes),
                Place::Cluster { at, nodes } => (at, None, nodes),
            },
        };
        let Some(master) = master else {
            #[cfg(feature = "pool")]
            if self.pool.is_some() {
                let message = "a cluster has one connection to each master, and no pool";
                return Err(Failure::new(StoreErrorKind::Unsupported, message));
            }
            let (mapping, deadline) = (self.mapping.take(), self.connect_timeout);
            return Ok(Transport::Cluster(Cluster::new(at, nodes, mapping, deadline, runtime)));
        };
        let credentials = self.sentinel_credentials.take();
        let reached = nodes.for_sentinels(credentials.as_deref());
        let at = at.iter().map(|address| reached.client(address)).collect::<Result<_, _>>()?;
        self.to(Connector::Sentinels(Sentinels { at, master, nodes }), runtime)
    }

    #[cfg_attr(not(feature = "pool"), expect(clippy::unnecessary_wraps, reason = "as with it"))]
    fn to(&self, connector: Connector, runtime: Handle) -> Result<Transport, Failure> {
        #[cfg(feature = "pool")]
        if let Some(size) = self.pool {
            let Some(size) = std::num::NonZeroU32::new(size) else {
                let message = "a pool must have room for a connection";
                return Err(Failure::new(StoreErrorKind::Unsupported, message));
            };
            let waits =
                self.checkout_timeout.unwrap_or(self.command_timeout).min(self.command_timeout);
            let pool = Pool::new(connector, self.connect_timeout, size.get(), waits, runtime);
            return Ok(Transport::Pool(pool));
        }
        Ok(Transport::Shared(Link::new(connector, self.connect_timeout, runtime)))
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
            tag_first: false,
            certificates: Certificates::default(),
            sentinel_credentials: None,
            mapping: None,
            #[cfg(feature = "pool")]
            pool: None,
            #[cfg(feature = "pool")]
            checkout_timeout: None,
        }
    }
}

impl fmt::Debug for RedisStoreBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The URL may hold a password.
        f.debug_struct("RedisStoreBuilder").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}
