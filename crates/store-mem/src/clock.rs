//! Where a store takes the time from: the default clock, or the caller's.

mod system;
#[cfg(all(target_arch = "x86_64", not(gorl_loom)))]
mod tsc;

pub use system::SystemClock;

use gorl_core::Clock;

/// The default clock is called directly; any other through a pointer.
#[derive(Default)]
pub(crate) enum ClockSource {
    #[default]
    System,
    Custom(Box<dyn Clock>),
}

impl Clock for ClockSource {
    #[inline]
    fn now_ns(&self) -> u64 {
        match self {
            Self::System => SystemClock.now_ns(),
            Self::Custom(clock) => clock.now_ns(),
        }
    }
}
