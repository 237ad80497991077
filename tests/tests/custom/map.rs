//! A map as a backend of both kinds, and one that yields between reading and writing.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use gorl::{CasBackend, KvBackend, Loaded, StoreError, Value};

/// Values by key.
#[derive(Default)]
pub(crate) struct Map(Mutex<HashMap<String, Value>>);

impl Map {
    fn map(&self) -> MutexGuard<'_, HashMap<String, Value>> {
        self.0.lock().expect("nobody panics with the map")
    }
}

impl CasBackend for Map {
    type Version = Value;

    async fn load(&self, key: &str) -> Result<Option<Loaded<Value>>, StoreError> {
        tokio::task::yield_now().await;
        let value = self.map().get(key).copied();
        Ok(value.map(|value| Loaded { value, version: value }))
    }

    async fn swap(
        &self,
        key: &str,
        seen: Option<&Value>,
        value: Value,
        _expires_in: Duration,
    ) -> Result<bool, StoreError> {
        tokio::task::yield_now().await;
        let mut map = self.map();
        if map.get(key) != seen {
            return Ok(false);
        }
        map.insert(key.to_owned(), value);
        Ok(true)
    }
}

impl KvBackend for Map {
    async fn get(&self, key: &str) -> Result<Option<Value>, StoreError> {
        tokio::task::yield_now().await;
        Ok(self.map().get(key).copied())
    }

    async fn set(&self, key: &str, value: Value, _: Duration) -> Result<(), StoreError> {
        tokio::task::yield_now().await;
        self.map().insert(key.to_owned(), value);
        Ok(())
    }
}
