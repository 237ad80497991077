//! The default clock: the system's monotonic clock on the epoch, read cheaply between anchors.

use std::sync::OnceLock;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use gorl_core::Clock;

/// Nanoseconds since the Unix epoch, by the system's monotonic clock.
///
/// The epoch is read once, when the process first asks; from then on only the monotonic clock
/// counts, so the time never steps when somebody sets the wall clock, and follows its slewing.
///
/// On x86-64 with an invariant time-stamp counter the time between two readings of the system's
/// clock is taken from that counter, which is several times cheaper. Each thread reads the system's
/// clock anew after every millisecond and adjusts the counter's rate to it, so the counter's own
/// errors do not add up: a rate that is off, a step between cores or a suspended machine cost at
/// most [`SystemClock::MAX_ERROR`], and are gone at the next reading. In one thread the time never
/// goes back. Elsewhere every reading is the system's.
///
/// # Examples
///
/// ```
/// use gorl_core::Clock;
/// use gorl_store_mem::SystemClock;
///
/// let (a, b) = (SystemClock.now_ns(), SystemClock.now_ns());
/// assert!(a <= b && a > 1_700_000_000_000_000_000);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl SystemClock {
    /// The most by which the clock can differ from the system's monotonic clock, whatever the
    /// counter does, as long as the counter advances. With a sound counter it is a microsecond or
    /// two: `cargo xtask bench memory --only clocks` measures it.
    pub const MAX_ERROR: std::time::Duration = std::time::Duration::from_millis(2);
}

impl Clock for SystemClock {
    #[inline]
    fn now_ns(&self) -> u64 {
        #[cfg(all(target_arch = "x86_64", not(gorl_loom)))]
        return anchored::now_ns();
        #[cfg(not(all(target_arch = "x86_64", not(gorl_loom))))]
        system_ns()
    }
}

/// The system's monotonic clock, as nanoseconds since the epoch.
fn system_ns() -> u64 {
    static START: OnceLock<(Instant, u64)> = OnceLock::new();
    let (start, epoch_ns) = START.get_or_init(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        (Instant::now(), saturate(since.as_nanos()))
    });
    epoch_ns.saturating_add(saturate(start.elapsed().as_nanos()))
}

fn saturate(nanos: u128) -> u64 {
    u64::try_from(nanos).unwrap_or(u64::MAX)
}

/// The counter, anchored to the system's clock by each thread for itself.
#[cfg(all(target_arch = "x86_64", not(gorl_loom)))]
mod anchored {
    use std::cell::Cell;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::super::tsc;
    use super::{SystemClock, system_ns};

    /// How long an anchor is good for.
    const ANCHOR_NS: u64 = 1_000_000;

    /// Fractional bits of the rate, nanoseconds a count.
    const RATE_BITS: u32 = 32;

    /// [`ANCHOR_NS`] in the unit of a rate: divided by a rate, the counts that an anchor is good for.
    const ANCHOR_COUNTS: u64 = ANCHOR_NS << RATE_BITS;

    /// The last rate that any thread has measured, with which a new thread begins. A word of its
    /// own, that nothing else depends on.
    static RATE: AtomicU64 = AtomicU64::new(0);

    /// Counts between the reading before the system's clock and the one after it, below which no
    /// better pair of readings is looked for; a longer gap is an interruption or a slow machine.
    const GOOD_GAP: u64 = 500;

    /// Counts above which a pair of readings is of no use: half of it is what the pair may be off.
    const MAX_GAP: u64 = 100_000;

    /// How many pairs are taken to find a good one.
    const PAIRS: usize = 4;

    /// The last reading of both clocks, and the rate between them. Zero counts left: none yet.
    struct Anchor {
        counter: Cell<u64>,
        ns: Cell<u64>,
        /// Nanoseconds a count, with [`RATE_BITS`] bits of fraction.
        rate: Cell<u64>,
        /// For how many counts the anchor is good.
        good_for: Cell<u64>,
        /// The system's clock at the anchor; `ns` may be a little ahead of it, so as not to go back.
        system_ns: Cell<u64>,
    }

    thread_local! {
        static ANCHOR: Anchor = const {
            Anchor {
                counter: Cell::new(0),
                ns: Cell::new(0),
                rate: Cell::new(0),
                good_for: Cell::new(0),
                system_ns: Cell::new(0),
            }
        };
    }

    #[inline]
    pub(super) fn now_ns() -> u64 {
        ANCHOR.with(|anchor| {
            let passed = tsc::read().wrapping_sub(anchor.counter.get());
            if passed >= anchor.good_for.get() {
                return anchor.renew();
            }
            // Cannot wrap: `good_for` bounds the product to a millisecond.
            anchor.ns.get() + (passed.wrapping_mul(anchor.rate.get()) >> RATE_BITS)
        })
    }

    impl Anchor {
        /// Reads the system's clock, and the rate since the last reading.
        #[cold]
        fn renew(&self) -> u64 {
            static INVARIANT: OnceLock<bool> = OnceLock::new();
            if !INVARIANT.get_or_init(tsc::is_invariant) {
                return system_ns();
            }
            let (counter, now, exact) = read_both();
            // The anchor has told no time after its own end, so this never goes back.
            let ns = now.max(self.end());
            let passed = now.saturating_sub(self.system_ns.get());
            let first = self.system_ns.get() == 0;
            // Too soon to tell the rate, or interrupted: the system's clock serves once more.
            if exact && (first || passed >= ANCHOR_NS) {
                let rate = if first {
                    RATE.load(Ordering::Relaxed)
                } else {
                    rate(counter.wrapping_sub(self.counter.get()), passed)
                };
                self.counter.set(counter);
                self.ns.set(ns);
                self.system_ns.set(now);
                self.rate.set(rate);
                self.good_for.set(ANCHOR_COUNTS.checked_div(rate).unwrap_or(0));
                RATE.store(rate, Ordering::Relaxed);
            }
            ns
        }

        /// The last time that this anchor can have told.
        fn end(&self) -> u64 {
            self.ns.get() + (self.good_for.get().wrapping_mul(self.rate.get()) >> RATE_BITS)
        }
    }

    /// Nanoseconds a count over an interval on both clocks, with [`RATE_BITS`] bits of fraction;
    /// zero, with which no anchor is good for anything, if no counter runs so slow.
    fn rate(counts: u64, ns: u64) -> u64 {
        let rate = (u128::from(ns) << RATE_BITS) / u128::from(counts.max(1));
        u64::try_from(rate).ok().filter(|rate| *rate <= ANCHOR_COUNTS).unwrap_or(0)
    }

    /// The counter and the system's clock at one moment, and whether they are close enough.
    fn read_both() -> (u64, u64, bool) {
        let mut best = (0, 0, u64::MAX);
        for _ in 0..PAIRS {
            let before = tsc::read();
            let ns = system_ns();
            let gap = tsc::read().wrapping_sub(before);
            if gap < best.2 {
                best = (before.wrapping_add(gap / 2), ns, gap);
            }
            if gap < GOOD_GAP {
                break;
            }
        }
        (best.0, best.1, best.2 < MAX_GAP)
    }

    // An anchor tells at most its own millisecond, so that is what an error can come to.
    const _: () = assert!(ANCHOR_NS as u128 * 2 <= SystemClock::MAX_ERROR.as_nanos());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Brackets the clock between two readings of the system's for half a second of busy readings:
    /// however the thread is interrupted, the middle one may not lie outside by more than allowed.
    #[test]
    fn stays_within_its_bound_of_the_systems_clock_and_never_goes_back() {
        let start = system_ns();
        let (mut last, mut worst) = (0, 0);
        while last < start + 500_000_000 {
            let before = system_ns();
            let now = SystemClock.now_ns();
            let after = system_ns();
            worst = worst.max(before.saturating_sub(now)).max(now.saturating_sub(after));
            assert!(now >= last, "went back by {} ns", last - now);
            last = now;
        }
        let bound = saturate(SystemClock::MAX_ERROR.as_nanos());
        assert!(worst <= bound, "off by {worst} ns, more than {bound}");
    }
}
