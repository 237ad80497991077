//! What is measured: gorl, the usual ways, and the server's ceiling.

use std::time::Duration;

use anyhow::Result;
use bb8::Pool;
use gorl::{AsyncLimiter, DenialCache, Policy, RedisStore, Strategy};
use redis::Script;
use redis::aio::MultiplexedConnection;

use super::peers::{self, Manager};
use super::server::Server;

/// Whether every request is admitted or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Allowed,
    Denied,
}

impl Outcome {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Denied => "denied",
        }
    }

    /// The limit with which every request, or none but the first, is admitted.
    const fn limit(self) -> u32 {
        match self {
            Self::Allowed => 1_000_000_000,
            Self::Denied => 1,
        }
    }

    /// Its window. No fixed window must begin while denials are measured.
    const fn window(self) -> Duration {
        match self {
            Self::Allowed => Duration::from_hours(1),
            Self::Denied => Duration::from_hours(365 * 24),
        }
    }
}

pub(crate) const POOLED: &str = "bb8, hash";
pub(crate) const TWO_KEYS: &str = "two keys";
pub(crate) const CEILING: &str = "INCR";
pub(crate) const CACHED: &str = "gorl cached";
pub(crate) const SINGLY: &str = "gorl singly";
pub(crate) const OVER_A_POOL: &str = "gorl pooled";

/// Callers that wait for a pool are to be measured, not to be given up.
const PATIENCE: Duration = Duration::from_secs(30);

/// A way to limit, ready to be asked.
pub(crate) struct Subject {
    pub(crate) name: &'static str,
    outcome: Outcome,
    way: Way,
}

enum Way {
    Gorl(AsyncLimiter),
    Pooled { pool: Pool<Manager>, script: Script },
    Shared { connection: MultiplexedConnection, script: Script, keys: usize },
    Incr(MultiplexedConnection),
}

/// Every subject, in the order of the columns.
pub(crate) async fn all(server: &Server, outcome: Outcome) -> Result<Vec<Subject>> {
    let mut subjects = Vec::new();
    for strategy in Strategy::ALL {
        let store = RedisStore::connect(server.url()).await?;
        let policy = policy(strategy, outcome)?;
        let way = Way::Gorl(AsyncLimiter::new(policy, store));
        subjects.push(Subject { name: strategy.as_str(), outcome, way });
    }
    let policy = policy(Strategy::TokenBucket, outcome)?;
    let prefixed = |prefix: &str| RedisStore::builder(server.url()).prefix(prefix);
    let store = prefixed("singly:").coalesce(false).connect().await?;
    let way = Way::Gorl(AsyncLimiter::new(policy, store));
    subjects.push(Subject { name: SINGLY, outcome, way });
    let store = prefixed("pooled:").pool(peers::POOL).command_timeout(PATIENCE).connect().await?;
    let way = Way::Gorl(AsyncLimiter::new(policy, store));
    subjects.push(Subject { name: OVER_A_POOL, outcome, way });
    if outcome == Outcome::Denied {
        let store = prefixed("cached:").connect().await?;
        // A key is asked for some times a minute, and is denied for an hour.
        let cache = DenialCache::new().capacity(200_000).max_age(Duration::from_hours(1));
        let way = Way::Gorl(AsyncLimiter::builder(policy).denial_cache(cache).build(store));
        subjects.push(Subject { name: CACHED, outcome, way });
    }
    let shared = server.client()?.get_multiplexed_async_connection().await?;
    let script = |text| Script::new(text);
    let way = Way::Pooled {
        pool: peers::pool(server.client()?).await?,
        script: script(peers::BUCKET_IN_A_HASH),
    };
    subjects.push(Subject { name: POOLED, outcome, way });
    for (name, text, keys) in [("GCRA", peers::GCRA, 1), (TWO_KEYS, peers::BUCKET_IN_TWO_KEYS, 2)] {
        let way = Way::Shared { connection: shared.clone(), script: script(text), keys };
        subjects.push(Subject { name, outcome, way });
    }
    if outcome == Outcome::Allowed {
        subjects.push(Subject { name: CEILING, outcome, way: Way::Incr(shared) });
    }
    Ok(subjects)
}

fn policy(strategy: Strategy, outcome: Outcome) -> Result<Policy> {
    Ok(Policy::new(strategy, u64::from(outcome.limit()), outcome.window())?)
}

impl Subject {
    /// Asks once; whether it was admitted.
    pub(crate) async fn ask(&self, key: &str) -> Result<bool> {
        match &self.way {
            Way::Gorl(limiter) => Ok(limiter.check(key).await?.is_allowed()),
            Way::Pooled { pool, script } => {
                let mut connection = pool.get().await?;
                let keys = [self.key(key, "")];
                peers::bucket(&mut connection, script, &keys, self.outcome.limit()).await
            }
            Way::Shared { connection, script, keys } => {
                let names = [self.key(key, ""), self.key(key, ":at")];
                let names = names.get(..*keys).unwrap_or(&names);
                let mut connection = connection.clone();
                peers::bucket(&mut connection, script, names, self.outcome.limit()).await
            }
            Way::Incr(connection) => {
                let mut connection = connection.clone();
                let key = self.key(key, "");
                let _: u64 = redis::cmd("INCR").arg(key).query_async(&mut connection).await?;
                Ok(true)
            }
        }
    }

    /// Spends what a key has, if all are to be denied, and has the cache hear of it.
    pub(crate) async fn prepare(&self, key: &str) -> Result<()> {
        if self.outcome == Outcome::Denied {
            self.ask(key).await?;
            if self.name == CACHED {
                self.ask(key).await?;
            }
        }
        Ok(())
    }

    fn key(&self, key: &str, part: &str) -> String {
        [self.name, ":", key, part].concat()
    }
}
