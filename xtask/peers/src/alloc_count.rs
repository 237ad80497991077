//! An allocator that counts a thread's live bytes when it is told to, and otherwise only passes through.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// By thread, so that what others do meanwhile is not counted. They need no allocation of their own,
// since they start with a constant and nothing is to be dropped.
thread_local! {
    static ON: Cell<bool> = const { Cell::new(false) };
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

/// The bytes that live, and the most that ever lived at once, since counting began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes {
    pub(crate) live: usize,
    pub(crate) peak: usize,
}

/// Runs `make` with counting on, and returns what it built with the bytes that it took in this thread.
pub(crate) fn counted<T>(make: impl FnOnce() -> T) -> (T, Bytes) {
    LIVE.set(0);
    PEAK.set(0);
    ON.set(true);
    let built = make();
    ON.set(false);
    let bytes = |count: isize| count.try_into().unwrap_or(0);
    (built, Bytes { live: bytes(LIVE.get()), peak: bytes(PEAK.get()) })
}

struct Counting;

impl Counting {
    fn add(bytes: usize) {
        if ON.get() {
            LIVE.set(LIVE.get() + bytes.cast_signed());
            PEAK.set(PEAK.get().max(LIVE.get()));
        }
    }

    fn remove(bytes: usize) {
        if ON.get() {
            LIVE.set(LIVE.get() - bytes.cast_signed());
        }
    }
}

// SAFETY: every call goes to the system's allocator as it came; only counters are kept beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::add(layout.size());
        // SAFETY: the caller's promises are those of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::add(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        Self::remove(layout.size());
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::add(size);
        Self::remove(layout.size());
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn what_is_freed_counts_for_the_peak_only() {
        let (kept, bytes) = counted(|| {
            drop(vec![0_u8; 1_000_000]);
            vec![1_u8; 100_000]
        });
        assert_eq!(kept.len(), 100_000);
        assert_eq!((bytes.live, bytes.peak), (100_000, 1_000_000));
    }
}
