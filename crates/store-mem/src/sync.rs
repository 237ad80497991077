//! The one door to atomics, cells and threads, so that loom can model what uses them.

mod lock;

pub(crate) use lock::SpinLock;

#[cfg(gorl_loom)]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
#[cfg(not(gorl_loom))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Waits a little for another thread, longer each time it is asked.
#[derive(Default)]
pub(crate) struct Backoff {
    #[cfg(not(gorl_loom))]
    inner: crossbeam_utils::Backoff,
}

impl Backoff {
    /// Spins at first, then yields the processor to a holder that may have been suspended.
    pub(crate) fn snooze(&self) {
        #[cfg(not(gorl_loom))]
        self.inner.snooze();
        #[cfg(gorl_loom)]
        loom::thread::yield_now();
    }
}

#[cfg(gorl_loom)]
pub(crate) use loom::cell::UnsafeCell;

/// The standard cell behind the interface that loom's has.
#[cfg(not(gorl_loom))]
#[derive(Default)]
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

#[cfg(not(gorl_loom))]
impl<T> UnsafeCell<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    /// Calls `f` with the address of the value. What `f` does with it is its own responsibility.
    #[inline]
    pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }
}
