//! An allocator that counts live bytes when it is told to, and otherwise only passes through.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering::Relaxed};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

static ON: AtomicBool = AtomicBool::new(false);
static LIVE: AtomicIsize = AtomicIsize::new(0);
static PEAK: AtomicIsize = AtomicIsize::new(0);

/// The bytes that live, and the most that ever lived at once, since counting began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes {
    pub(crate) live: usize,
    pub(crate) peak: usize,
}

/// Runs `make` with counting on, and returns what it built with the bytes that it took.
pub(crate) fn counted<T>(make: impl FnOnce() -> T) -> (T, Bytes) {
    LIVE.store(0, Relaxed);
    PEAK.store(0, Relaxed);
    ON.store(true, Relaxed);
    let built = make();
    ON.store(false, Relaxed);
    let bytes = |counter: &AtomicIsize| counter.load(Relaxed).try_into().unwrap_or(0);
    (built, Bytes { live: bytes(&LIVE), peak: bytes(&PEAK) })
}

struct Counting;

impl Counting {
    fn add(bytes: usize) {
        if ON.load(Relaxed) {
            let live = LIVE.fetch_add(bytes.cast_signed(), Relaxed) + bytes.cast_signed();
            PEAK.fetch_max(live, Relaxed);
        }
    }

    fn remove(bytes: usize) {
        if ON.load(Relaxed) {
            LIVE.fetch_sub(bytes.cast_signed(), Relaxed);
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
        // Other tests may allocate meanwhile, but not as much.
        assert!((100_000..500_000).contains(&bytes.live), "{bytes:?}");
        assert!((1_000_000..1_500_000).contains(&bytes.peak), "{bytes:?}");
    }
}
