//! A spin lock for sections of some tens of nanoseconds, which no panic can poison.
#![allow(unsafe_code)]

use super::{AtomicBool, Backoff, Ordering, UnsafeCell};

/// Mutual exclusion for a value that is held for a few cache misses at most.
///
/// No code of a caller ever runs inside, so a holder cannot wait for anything. A holder that the
/// scheduler suspended is waited for by yielding. Taking it is one atomic operation and releasing
/// it is a plain store, which is half of what a mutex that can park its waiters costs.
pub(crate) struct SpinLock<T> {
    held: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the lock gives out the value to one thread at a time, so sharing the lock only ever
// moves access to the value between threads, which `T: Send` permits.
unsafe impl<T: Send> Sync for SpinLock<T> {}

/// Releases the lock when dropped, also while unwinding.
struct Release<'a>(&'a AtomicBool);

impl Drop for Release<'_> {
    #[inline]
    fn drop(&mut self) {
        // Pairs with the acquiring exchange in `with`: the next holder sees all of this section.
        // loom: same_key_admits_exactly_the_limit
        self.0.store(false, Ordering::Release);
    }
}

impl<T> SpinLock<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { held: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Runs `section` with the value, alone.
    #[inline]
    pub(crate) fn with<R>(&self, section: impl FnOnce(&mut T) -> R) -> R {
        if !self.try_acquire() {
            self.wait();
        }
        let release = Release(&self.held);
        // SAFETY: `held` went from false to true by this thread and goes back only when `release`
        // is dropped, after the section; no other reference to the value exists until then.
        let result = self.value.with_mut(|value| section(unsafe { &mut *value }));
        drop(release);
        result
    }

    #[inline]
    fn try_acquire(&self) -> bool {
        // Pairs with the releasing store in `Release`.
        // loom: same_key_admits_exactly_the_limit
        self.held.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[cold]
    fn wait(&self) {
        let backoff = Backoff::default();
        loop {
            backoff.snooze();
            // Reading first keeps the line shared while somebody holds the lock.
            if !self.held.load(Ordering::Relaxed) && self.try_acquire() {
                return;
            }
        }
    }
}
