//! memcached as a backend: `mg` reads the value with its CAS token, `ms` writes if that still holds.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_memcached::{Client, Error, MetaProtocol, Status};
use gorl::{CasBackend, Loaded, StoreError, StoreErrorKind, Value, ValueError};

/// Counts in memcached, shared by all who use the same server.
///
/// memcached forgets what it has no room for, the least recently used first: give it memory for the
/// keys of a window, or some are freed early.
pub(crate) struct Memcached {
    address: String,
    deadline: Duration,
    /// Connections that nobody is using.
    idle: Mutex<Vec<Client>>,
}

/// Up to 30 days memcached takes a time for a span, beyond that for a date.
const LONGEST_SPAN: Duration = Duration::from_secs(30 * 86_400);

/// More idle connections than this are closed.
const MOST_IDLE: usize = 64;

impl Memcached {
    /// The server at an address such as `tcp://127.0.0.1:11211`. Each request to it may take as long as
    /// the deadline.
    pub(crate) fn new(address: impl Into<String>, deadline: Duration) -> Self {
        Self { address: address.into(), deadline, idle: Mutex::default() }
    }

    /// Has `ask` use a connection, which is kept for the next one unless that fails or is given up.
    async fn with<T>(
        &self,
        ask: impl AsyncFnOnce(&mut Client) -> Result<T, Error>,
    ) -> Result<T, StoreError> {
        let asked = async {
            let idle = self.idle().pop();
            let mut client = match idle {
                Some(client) => client,
                None => Client::new(&self.address).await?,
            };
            let answer = ask(&mut client).await?;
            let mut idle = self.idle();
            if idle.len() < MOST_IDLE {
                idle.push(client);
            }
            Ok(answer)
        };
        match tokio::time::timeout(self.deadline, asked).await {
            Ok(answer) => answer.map_err(store_error),
            Err(_) => Err(StoreError::new(StoreErrorKind::Timeout)),
        }
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Client>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CasBackend for Memcached {
    /// The CAS token.
    type Version = u64;

    async fn load(&self, key: &str) -> Result<Option<Loaded<u64>>, StoreError> {
        // `v` for the value, `c` for the token.
        let found =
            self.with(async |client| client.meta_get(key, false, None, Some(&["v", "c"])).await);
        let Some(found) = found.await? else {
            return Ok(None);
        };
        let (Some(data), Some(version)) = (found.data, found.cas) else {
            return Err(StoreError::with_source(
                StoreErrorKind::Other,
                "the server left out the value or its token",
            ));
        };
        Ok(Some(Loaded { value: ValueError::check(key, &data)?, version }))
    }

    async fn swap(
        &self,
        key: &str,
        seen: Option<&u64>,
        value: Value,
        expires_in: Duration,
    ) -> Result<bool, StoreError> {
        // The mode `ME` adds what is not there; a token writes over what it came with.
        let only_if = seen.map_or_else(|| "ME".to_owned(), |version| format!("C{version}"));
        let seconds = if expires_in > LONGEST_SPAN { 0 } else { expires_in.as_secs() + 1 };
        let ttl = format!("T{seconds}");
        self.with(async |client| {
            let flags = [only_if.as_str(), ttl.as_str()];
            match client.meta_set(key, &value[..], false, None, Some(&flags)).await {
                Ok(_) => Ok(true),
                Err(Error::Protocol(Status::Exists | Status::NotFound | Status::NotStored)) => {
                    Ok(false)
                }
                Err(error) => Err(error),
            }
        })
        .await
    }
}

/// The kinds that a failure policy and a breaker know.
fn store_error(error: Error) -> StoreError {
    let kind = match error {
        Error::Connect(_) | Error::Io(_) | Error::ConnectionClosed => StoreErrorKind::Unavailable,
        _ => StoreErrorKind::Other,
    };
    StoreError::with_source(kind, error)
}
