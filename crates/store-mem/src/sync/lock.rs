//! A spin lock for sections of some tens of nanoseconds, which no panic can poison.
#![allow(unsafe_code)]

use std::ops::{Deref, DerefMut};

use super::{AtomicBool, Backoff, MutPtr, Ordering, UnsafeCell};

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

/// Access to the value of a lock that is held; releases it when dropped, also while unwinding.
pub(crate) struct Guard<'a, T> {
    value: MutPtr<T>,
    held: &'a AtomicBool,
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: `held` went from false to true by this guard and goes back only when it is
        // dropped, so there is no other guard, and this one lends its value once at a time.
        unsafe { self.value.deref() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`.
        unsafe { self.value.deref() }
    }
}

impl<T> Drop for Guard<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        // Pairs with the acquiring exchange in `try_acquire`: the next holder sees all of this
        // section. loom: same_key_admits_exactly_the_limit
        self.held.store(false, Ordering::Release);
    }
}

impl<T> SpinLock<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { held: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Waits until no other thread has the value, and takes it.
    #[inline(always)]
    pub(crate) fn lock(&self) -> Guard<'_, T> {
        if !self.try_acquire() {
            self.wait();
        }
        Guard { value: self.value.get_mut(), held: &self.held }
    }

    #[inline]
    fn try_acquire(&self) -> bool {
        // Pairs with the releasing store of the guard.
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
