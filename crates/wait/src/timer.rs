//! How a task sleeps, whatever the runtime.

use std::future::Future;
use std::time::Duration;

/// Sleeps for a while without holding up others.
///
/// # Examples
///
/// ```
/// use std::future::Future;
/// use std::time::Duration;
/// use gorl_wait::Timer;
///
/// /// A timer of a runtime of your own.
/// struct Mine;
///
/// impl Timer for Mine {
///     fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send {
///         # async fn sleep_of_my_runtime(_: Duration) {}
///         sleep_of_my_runtime(time)
///     }
/// }
/// ```
pub trait Timer: Send + Sync {
    /// Ends after this time, not before; a future that is dropped is a sleep that is given up.
    fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send;
}
