//! The standard cell behind the interface that loom's has.
#![allow(unsafe_code)]

pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

/// The address of a cell's value.
pub(crate) struct MutPtr<T>(*mut T);

impl<T> UnsafeCell<T> {
    pub(crate) const fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    #[inline]
    pub(crate) fn get_mut(&self) -> MutPtr<T> {
        MutPtr(self.0.get())
    }
}

impl<T> MutPtr<T> {
    /// The value.
    ///
    /// # Safety
    ///
    /// No other reference to the value may exist while this one does.
    #[inline]
    #[allow(clippy::mut_from_ref)]
    pub(crate) unsafe fn deref(&self) -> &mut T {
        // SAFETY: the address is of a cell that outlives every lock guard; the caller vouches
        // for the rest.
        unsafe { &mut *self.0 }
    }
}
