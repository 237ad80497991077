//! Waiting for a rate limit in place of being denied: fair, bounded, cancel-safe.
//!
//! For calls that a service makes itself: it slows down to the rate that another allows.
//!
//! ```
//! # #[cfg(feature = "tokio")]
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::time::Duration;
//! use gorl::{Limiter, Policy};
//! use gorl_wait::{TokioClock, TokioTimer, Waiting};
//!
//! // Ten a second, one at a time.
//! let policy = Policy::token_bucket(10, Duration::from_secs(1))?.with_burst(1)?;
//! let limiter = Limiter::builder(policy).clock(TokioClock::new()).build();
//! let waiting = Waiting::new(limiter, TokioTimer);
//!
//! let begun = tokio::time::Instant::now();
//! for _ in 0..4 {
//!     waiting.until_ready("api.example.com").await?;
//! }
//! assert_eq!(begun.elapsed(), Duration::from_millis(300));
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "tokio"))]
//! # fn main() {}
//! ```
//!
//! # What is promised
//!
//! - Those who wait for one key are served in the order in which they came; a large cost is not passed by by
//!   small ones. Keys do not wait for each other.
//! - Nobody is served before the limit admits, and nobody polls: of those who wait for a key one sleeps, for
//!   exactly as long as the decision says, and the others are woken one after the other.
//! - Whoever stops waiting has spent nothing and delays nobody.
//! - How many may wait is bounded, for a key and in all.
//! - A cost that can never be admitted is an error at once.
//!
//! With the feature `tower`, `ThrottleLayer` makes a client's calls wait.
//!
//! The limiter should read the same clock by which the timer sleeps: with tokio's, that is [`TokioClock`].
#![forbid(unsafe_code)]

mod queues;
#[cfg(feature = "tower")]
mod throttle;
mod timer;
#[cfg(feature = "tokio")]
mod tokio_time;
mod waiting;

#[cfg(feature = "tower")]
pub use throttle::{Throttle, ThrottleError, ThrottleLayer};
pub use timer::Timer;
#[cfg(feature = "tokio")]
pub use tokio_time::{TokioClock, TokioTimer};
pub use waiting::{Decides, Ready, WaitError, Waiting};
