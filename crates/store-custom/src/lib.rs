//! Two easy roads to a store over a server of your own: compare-and-swap, or get and set.
//!
//! | you have | implement | and wrap it in | which decides right |
//! |---|---|---|---|
//! | a conditional write: CAS, a version, `UPDATE … WHERE` | [`CasBackend`] | [`Cas`] | across processes: its scope is [`Scope::Shared`](gorl_core::Scope::Shared) |
//! | `get` and `set` alone | [`KvBackend`] | [`Locked`] | within this process: its scope is [`Scope::Process`](gorl_core::Scope::Process) |
//!
//! Both run the arithmetic of `gorl-core`, so their answers are those of every other store; the
//! backend keeps sixteen opaque bytes a key. Whoever can run the arithmetic where the state lives, or
//! can lock it there, implements [`Store`](gorl_core::Store) itself.
//!
//! ```
//! # pollster::block_on(async {
//! use std::collections::HashMap;
//! use std::sync::Mutex;
//! use std::time::Duration;
//!
//! use gorl_core::{Action, KeyRef, Key, Policy, Request, Store, StoreError};
//! use gorl_store_custom::{Cas, CasBackend, Loaded, Value};
//!
//! #[derive(Default)]
//! struct Map(Mutex<HashMap<String, Value>>);
//!
//! impl CasBackend for Map {
//!     // What was there is its own version.
//!     type Version = Value;
//!
//!     async fn load(&self, key: &str) -> Result<Option<Loaded<Value>>, StoreError> {
//!         let value = self.0.lock().unwrap().get(key).copied();
//!         Ok(value.map(|value| Loaded { value, version: value }))
//!     }
//!
//!     async fn swap(
//!         &self,
//!         key: &str,
//!         seen: Option<&Value>,
//!         value: Value,
//!         _expires_in: Duration,
//!     ) -> Result<bool, StoreError> {
//!         let mut map = self.0.lock().unwrap();
//!         if map.get(key) != seen {
//!             return Ok(false);
//!         }
//!         map.insert(key.to_owned(), value);
//!         Ok(true)
//!     }
//! }
//!
//! let store = Cas::new(Map::default());
//! let policy = Policy::fixed_window(1, Duration::from_secs(3600))?;
//! let parts = "user-1".parts();
//! let request =
//!     Request { policy: &policy, key: KeyRef::new(&parts), cost: 1, action: Action::Take };
//! assert!(store.decide(request).await?.is_allowed());
//! assert!(!store.decide(request).await?.is_allowed());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```
//!
//! # The time
//!
//! Both decide by the clock of this process. Processes that share a backend should have theirs agree
//! to well within a window: a caller whose clock is behind is answered as of the latest state, and
//! earns nothing; the budgets of a key refill by the clock that is ahead; and a state that lies more
//! than a window ahead is ignored.
#![forbid(unsafe_code)]

mod cas;
mod kept;
mod kv;
mod options;
mod value;

pub use cas::{Cas, CasBackend, Loaded};
pub use kv::{KvBackend, Locked};
pub use options::{Options, SystemTime};
pub use value::{Value, ValueError};
