//! PostgreSQL as a backend: a row a key, written only where it still holds what was read.

use std::sync::Arc;
use std::time::Duration;

use gorl::{CasBackend, Loaded, StoreError, StoreErrorKind, Value, ValueError};
use tokio::sync::Mutex;
use tokio_postgres::{Client, Error, NoTls, Statement};

/// Counts in a table of PostgreSQL, shared by all who use the same database.
pub(crate) struct Postgres {
    config: String,
    deadline: Duration,
    connected: Mutex<Option<Arc<Connected>>>,
}

/// A connection, which all requests share, and the statements that it knows.
struct Connected {
    client: Client,
    load: Statement,
    insert: Statement,
    update: Statement,
}

/// The value is the row's own version, so there is no other. Without a log the table is faster, and it
/// is empty after a crash of the server, which forgets what was counted. `IF NOT EXISTS` alone is an
/// error for one of two who make the table at the same time, so they take turns.
const TABLE: &str = "
    SELECT pg_advisory_xact_lock(7021386411);
    CREATE UNLOGGED TABLE IF NOT EXISTS gorl_states (
        key text PRIMARY KEY,
        value bytea NOT NULL,
        expires_at timestamptz NOT NULL
    ) WITH (fillfactor = 70);
    CREATE INDEX IF NOT EXISTS gorl_states_expires_at ON gorl_states (expires_at);";

const LOAD: &str = "SELECT value FROM gorl_states WHERE key = $1";

const INSERT: &str = "
    INSERT INTO gorl_states (key, value, expires_at)
    VALUES ($1, $2, now() + make_interval(secs => $3)) ON CONFLICT (key) DO NOTHING";

/// Whoever waits for the row looks at the condition again when it is free: PostgreSQL sees to that
/// at its default isolation, READ COMMITTED.
const UPDATE: &str = "
    UPDATE gorl_states SET value = $2, expires_at = now() + make_interval(secs => $3)
    WHERE key = $1 AND value = $4";

const FORGET: &str = "DELETE FROM gorl_states WHERE expires_at < now()";

/// A row need not be kept for longer than this after it was written: the longest window, twice.
const LONGEST_KEPT: Duration = Duration::from_secs(20 * 365 * 86_400);

impl Postgres {
    /// The database of a connection string such as `host=localhost user=app`. Each request to it may
    /// take as long as the deadline.
    pub(crate) fn new(config: impl Into<String>, deadline: Duration) -> Self {
        Self { config: config.into(), deadline, connected: Mutex::default() }
    }

    /// Deletes rows that nothing depends on any more; call it now and then.
    pub(crate) async fn forget_expired(&self) -> Result<u64, StoreError> {
        self.with(async |connected| connected.client.execute(FORGET, &[]).await).await
    }

    async fn with<T>(
        &self,
        ask: impl AsyncFnOnce(&Connected) -> Result<T, Error>,
    ) -> Result<T, StoreError> {
        let asked = async { ask(&*self.connected().await?).await };
        match tokio::time::timeout(self.deadline, asked).await {
            Ok(answer) => answer.map_err(store_error),
            Err(_) => Err(StoreError::new(StoreErrorKind::Timeout)),
        }
    }

    /// The connection, or a new one if it broke.
    async fn connected(&self) -> Result<Arc<Connected>, Error> {
        let mut connected = self.connected.lock().await;
        if let Some(good) = connected.as_ref().filter(|connected| !connected.client.is_closed()) {
            return Ok(Arc::clone(good));
        }
        let (client, connection) = tokio_postgres::connect(&self.config, NoTls).await?;
        // It ends with the client; what ended it otherwise is what the next request is told.
        tokio::spawn(connection);
        // Who may not make tables can still use one that is there.
        let there = client.query_one("SELECT to_regclass('gorl_states') IS NOT NULL", &[]).await?;
        if !there.get::<_, bool>(0) {
            client.batch_execute(TABLE).await?;
        }
        let load = client.prepare(LOAD).await?;
        let insert = client.prepare(INSERT).await?;
        let update = client.prepare(UPDATE).await?;
        let new = Arc::new(Connected { client, load, insert, update });
        *connected = Some(Arc::clone(&new));
        Ok(new)
    }
}

impl CasBackend for Postgres {
    /// What was read: a row that holds it again is as good as one that still does.
    type Version = Value;

    async fn load(&self, key: &str) -> Result<Option<Loaded<Value>>, StoreError> {
        let row =
            self.with(async |connected| connected.client.query_opt(&connected.load, &[&key]).await);
        let Some(row) = row.await? else {
            return Ok(None);
        };
        let value = ValueError::check(key, row.get::<_, &[u8]>(0))?;
        Ok(Some(Loaded { value, version: value }))
    }

    async fn swap(
        &self,
        key: &str,
        seen: Option<&Value>,
        value: Value,
        expires_in: Duration,
    ) -> Result<bool, StoreError> {
        let seconds = expires_in.min(LONGEST_KEPT).as_secs_f64();
        let written = self.with(async |connected| {
            let (client, value) = (&connected.client, &value[..]);
            match seen {
                None => client.execute(&connected.insert, &[&key, &value, &seconds]).await,
                Some(seen) => {
                    let seen = &seen[..];
                    client.execute(&connected.update, &[&key, &value, &seconds, &seen]).await
                }
            }
        });
        Ok(written.await? == 1)
    }
}

/// The kinds that a failure policy and a breaker know. What the server itself complains of is not a
/// lack of it.
fn store_error(error: Error) -> StoreError {
    let kind = match error.as_db_error() {
        Some(_) => StoreErrorKind::Other,
        None => StoreErrorKind::Unavailable,
    };
    StoreError::with_source(kind, error)
}
