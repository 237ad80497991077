//! The ways by which a command reaches the server that has its key.

use redis::{Cmd, Value};
use tokio::runtime::Handle;

use crate::cluster::Cluster;
use crate::failure::Failure;
use crate::link::{CallError, Link};
#[cfg(feature = "pool")]
use crate::pool::Pool;

/// A way to the server.
pub(crate) enum Transport {
    /// One connection that all callers share.
    Shared(Link),
    /// A connection for each call, out of a pool.
    #[cfg(feature = "pool")]
    Pool(Pool),
    /// One shared connection to each master of a cluster.
    Cluster(Cluster),
}

impl Transport {
    /// Sees to it that there is a connection.
    pub(crate) async fn connect(&self) -> Result<(), Failure> {
        match self {
            Self::Shared(link) => link.connect().await,
            #[cfg(feature = "pool")]
            Self::Pool(pool) => pool.connect().await,
            Self::Cluster(cluster) => cluster.connect().await,
        }
    }

    /// Has a command run, once, where `key` is.
    pub(crate) async fn call(&self, key: &str, command: &Cmd) -> Result<Value, CallError> {
        match self {
            Self::Shared(link) => link.call(command).await,
            #[cfg(feature = "pool")]
            Self::Pool(pool) => pool.call(command).await,
            Self::Cluster(cluster) => cluster.call(key, command).await,
        }
    }

    /// Notes that a caller waited in vain for what is done where `key` is.
    pub(crate) fn in_vain(&self, key: &str) {
        match self {
            Self::Shared(link) => link.in_vain(),
            #[cfg(feature = "pool")]
            Self::Pool(_) => {}
            Self::Cluster(cluster) => cluster.in_vain(key),
        }
    }

    /// The runtime that connections live on.
    pub(crate) fn runtime(&self) -> &Handle {
        match self {
            Self::Shared(link) => link.runtime(),
            #[cfg(feature = "pool")]
            Self::Pool(pool) => pool.runtime(),
            Self::Cluster(cluster) => cluster.runtime(),
        }
    }

    /// Whether keys are on several servers, each by its slot.
    pub(crate) const fn has_slots(&self) -> bool {
        matches!(self, Self::Cluster(_))
    }

    /// Whether calls share a connection, so that requests gain from sharing calls.
    pub(crate) const fn is_one_connection(&self) -> bool {
        matches!(self, Self::Shared(_))
    }
}
