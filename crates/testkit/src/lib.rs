//! What tests of rate limiters need: an exact model, a clock that misbehaves, a conformance suite.
//!
//! - [`Model`] answers what gorl must answer, in rational arithmetic and written from the
//!   definitions of the four strategies alone; it shares no arithmetic with `gorl-core`.
//! - [`SimClock`] stalls, leaps and steps back on a seeded schedule.
//! - [`Suite`] runs the same checks on every store, and says which one failed, on which seed and
//!   at which step.
//!
//! # Testing a store of your own
//!
//! Build the store around a clock that the suite may move, and run the suite:
//!
//! ```
//! # use std::collections::HashMap;
//! # use std::future::{Future, ready};
//! # use std::sync::Mutex;
//! use std::sync::Arc;
//! use gorl_core::*;
//! use gorl_testkit::Suite;
//!
//! # struct MyStore { clock: Arc<ManualClock>, states: Mutex<HashMap<String, (Strategy, State)>> }
//! # impl MyStore {
//! #     fn new(clock: Arc<ManualClock>) -> Self { Self { clock, states: Mutex::default() } }
//! #     fn find(map: &HashMap<String, (Strategy, State)>, r: &Request<'_>) -> Option<State> {
//! #         map.get(&format!("{:?}", r.key)).filter(|s| s.0 == r.policy.strategy()).map(|s| s.1)
//! #     }
//! # }
//! # impl Store for MyStore {
//! #     fn decide(&self, r: Request<'_>) -> impl Future<Output = Result<Decision, DecideError>> + Send {
//! #         ready(self.decide_now(r).map_err(Into::into))
//! #     }
//! #     fn give_back(&self, r: Request<'_>) -> impl Future<Output = Result<(), StoreError>> + Send {
//! #         self.give_back_now(r); ready(Ok(()))
//! #     }
//! #     fn reset(&self, k: KeyRef<'_>) -> impl Future<Output = Result<(), StoreError>> + Send {
//! #         self.reset_now(k); ready(Ok(()))
//! #     }
//! # }
//! # impl LocalStore for MyStore {
//! #     fn decide_now(&self, r: Request<'_>) -> Result<Decision, CostExceedsLimit> {
//! #         let mut map = self.states.lock().unwrap();
//! #         let (now, state) = (self.clock.now_ns() / r.policy.tick().nanos(), Self::find(&map, &r));
//! #         if r.action == Action::Peek { return peek(r.policy, state, now, r.cost); }
//! #         let decision = decide(r.policy, state, now, r.cost)?;
//! #         if decision.changes_state() {
//! #             map.insert(format!("{:?}", r.key), (r.policy.strategy(), decision.state()));
//! #         }
//! #         Ok(decision)
//! #     }
//! #     fn give_back_now(&self, r: Request<'_>) {
//! #         let mut map = self.states.lock().unwrap();
//! #         let now = self.clock.now_ns() / r.policy.tick().nanos();
//! #         let Some(state) = Self::find(&map, &r) else { return };
//! #         match give_back(r.policy, state, now, r.cost) {
//! #             Some(state) => { map.insert(format!("{:?}", r.key), (r.policy.strategy(), state)); }
//! #             None => { map.remove(&format!("{:?}", r.key)); }
//! #         }
//! #     }
//! #     fn reset_now(&self, k: KeyRef<'_>) { self.states.lock().unwrap().remove(&format!("{k:?}")); }
//! # }
//! let clock = Arc::new(ManualClock::new(0));
//! let store = MyStore::new(Arc::clone(&clock));
//! let passed = Suite::new(clock).traces(20).run_local(&store)?;
//! assert!(passed.left_out().is_empty());
//! # Ok::<(), Box<gorl_testkit::Failure>>(())
//! ```
#![forbid(unsafe_code)]

mod conformance;
mod model;
mod rng;
mod sim_clock;

pub use conformance::{Failure, Passed, Suite};
pub use model::{Answer, Figures, Model};
pub use sim_clock::SimClock;
