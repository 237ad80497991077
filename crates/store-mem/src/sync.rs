//! The one door to atomics, cells and threads, so that loom can model what uses them.

#[cfg(not(gorl_loom))]
mod cell;
mod lock;
mod prefetch;

pub(crate) use lock::{Guard, SpinLock};
pub(crate) use prefetch::Hint;

#[cfg(gorl_loom)]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
#[cfg(not(gorl_loom))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A model must run alike each time, so its secrets are no secrets: the keys of a store lie in the
/// same shards in every interleaving.
#[cfg(gorl_loom)]
pub(crate) type RandomState = std::hash::BuildHasherDefault<std::hash::DefaultHasher>;
#[cfg(not(gorl_loom))]
pub(crate) use std::hash::RandomState;

/// Waits a little for another thread, longer each time it is asked.
#[derive(Default)]
pub(crate) struct Backoff {
    #[cfg(not(gorl_loom))]
    inner: crossbeam_utils::Backoff,
    #[cfg(gorl_loom)]
    snoozes: std::cell::Cell<usize>,
}

/// How often a model lets one wait look in vain before it explores no further. Two that wait for a
/// third can look in turns for ever; what they would find is found where they look less often.
#[cfg(gorl_loom)]
const EXPLORED_SNOOZES: usize = 3;

impl Backoff {
    /// Spins at first, then yields the processor to a holder that may have been suspended.
    pub(crate) fn snooze(&self) {
        #[cfg(not(gorl_loom))]
        self.inner.snooze();
        #[cfg(gorl_loom)]
        {
            self.snoozes.set(self.snoozes.get() + 1);
            if self.snoozes.get() > EXPLORED_SNOOZES {
                loom::skip_branch();
            }
            loom::thread::yield_now();
        }
    }
}

#[cfg(gorl_loom)]
pub(crate) use loom::cell::{MutPtr, UnsafeCell};

#[cfg(not(gorl_loom))]
pub(crate) use cell::{MutPtr, UnsafeCell};
