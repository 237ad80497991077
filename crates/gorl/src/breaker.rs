//! The circuit breaker: a store that keeps failing is not asked, until a probe finds it well.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use gorl_core::{StoreError, StoreErrorKind};

/// Keeps a store that is gone from slowing down those who ask it.
///
/// After some failures in a row it *opens*: the store is not asked, and every request gets at once
/// what the [`FailurePolicy`](crate::FailurePolicy) says. After a wait one request is let through
/// as a probe. If it is answered the breaker closes; if not, the next wait is twice as long, up to
/// a bound.
///
/// Failures that speak of the store count: unavailable, timeout, other. A value that gorl did not
/// write, or a policy that the store cannot count under, say nothing about the next request.
///
/// Limiters over the same store may share one: give each a clone of the same `Arc`.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use gorl::{Breaker, BreakerState};
///
/// let breaker = Breaker::new().failures(3).wait(Duration::from_millis(200));
/// assert_eq!(breaker.state(), BreakerState::Closed);
/// ```
#[derive(Debug)]
pub struct Breaker {
    /// What [`Word`] says. It is changed by compare-and-swap alone and nothing else is published by
    /// it, so there is no other memory for it to be ordered with.
    word: AtomicU64,
    failures: u32,
    wait: Duration,
    longest_wait: Duration,
    /// What the last failure said, for those who are turned away.
    last: Mutex<Arc<str>>,
}

/// Where a [`Breaker`] stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BreakerState {
    /// The store is asked.
    Closed,
    /// The store is not asked.
    Open,
    /// The store is not asked but by one probe, which is under way.
    Probing,
}

impl BreakerState {
    /// The snake-case name, for logs and metric labels.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::Probing => "probing",
        }
    }
}

/// Whether a request may ask the store.
pub(crate) enum Pass {
    /// It may.
    Through,
    /// It may, and decides whether others may again.
    Probe(Probe),
    /// It may not.
    TurnedAway,
}

/// The right to ask once. If it is dropped before there was an answer, another may probe at once.
pub(crate) struct Probe {
    breaker: Arc<Breaker>,
    began: Word,
    settled: bool,
}

/// What the breaker's word says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    /// So many failures in a row.
    Closed { failed: u32 },
    /// Not to be asked before `until_ms`; `round` probes have failed.
    Open { round: u8, until_ms: u64 },
    /// A probe is under way since `since_ms`.
    Probing { round: u8, since_ms: u64 },
}

/// Fewer could be an accident; more would let more requests wait for a store that is gone.
const FAILURES: u32 = 5;

/// Short enough that a restart is hardly noticed.
const WAIT: Duration = Duration::from_millis(500);

/// A store that is back is found within this time and one deadline.
const LONGEST_WAIT: Duration = Duration::from_secs(4);

/// A probe that has said nothing for so long is taken for lost. No deadline is near it.
const PROBE_IS_LOST_MS: u64 = 60_000;

/// Times are kept in 48 bits: milliseconds for 8 900 years.
const MS_BITS: u32 = 48;
const MS_MASK: u64 = (1 << MS_BITS) - 1;

/// A wait has doubled to any bound after this many rounds.
const MOST_ROUNDS: u8 = 40;

impl Breaker {
    /// A breaker that opens after 5 failures in a row and probes after 500 ms, then after 1, 2 and
    /// at most 4 seconds.
    #[must_use]
    pub fn new() -> Self {
        Self {
            word: AtomicU64::new(Word::Closed { failed: 0 }.pack()),
            failures: FAILURES,
            wait: WAIT,
            longest_wait: LONGEST_WAIT,
            last: Mutex::new(Arc::from("none")),
        }
    }

    /// After how many failures in a row it opens; zero counts as one.
    #[must_use]
    pub fn failures(mut self, in_a_row: u32) -> Self {
        self.failures = in_a_row.max(1);
        self
    }

    /// How long the store is left alone before the first probe. Whole milliseconds count.
    #[must_use]
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// The longest wait between probes. Whole milliseconds count.
    #[must_use]
    pub fn longest_wait(mut self, longest: Duration) -> Self {
        self.longest_wait = longest;
        self
    }

    /// Where it stands.
    #[must_use]
    pub fn state(&self) -> BreakerState {
        match self.read() {
            Word::Closed { .. } => BreakerState::Closed,
            Word::Open { .. } => BreakerState::Open,
            Word::Probing { .. } => BreakerState::Probing,
        }
    }

    /// Whether a request may ask the store at `now_ns`.
    #[inline]
    pub(crate) fn pass(self: &Arc<Self>, now_ns: impl FnOnce() -> u64) -> Pass {
        match self.read() {
            Word::Closed { .. } => Pass::Through,
            word => self.pass_unless_open(word, to_ms(now_ns())),
        }
    }

    #[cold]
    fn pass_unless_open(self: &Arc<Self>, word: Word, now_ms: u64) -> Pass {
        let (round, is_due) = match word {
            Word::Closed { .. } => return Pass::Through,
            Word::Open { round, until_ms } => {
                // Nobody waits longer than the longest wait, whatever the clock did meanwhile.
                let ahead = until_ms.saturating_sub(now_ms);
                (round, ahead == 0 || ahead > span_ms(self.longest_wait.max(self.wait)))
            }
            Word::Probing { round, since_ms } => {
                (round, now_ms.abs_diff(since_ms) > PROBE_IS_LOST_MS)
            }
        };
        let began = Word::Probing { round, since_ms: now_ms };
        if is_due && self.change(word, began) {
            return Pass::Probe(Probe { breaker: Arc::clone(self), began, settled: false });
        }
        Pass::TurnedAway
    }

    /// Notes that the store answered.
    #[inline]
    pub(crate) fn answered(&self) {
        let closed = Word::Closed { failed: 0 }.pack();
        if self.word.load(Ordering::Relaxed) != closed {
            self.word.store(closed, Ordering::Relaxed);
        }
    }

    /// Notes that the store failed a request that was no probe; whether it opened for that.
    #[cold]
    pub(crate) fn failed(&self, error: &StoreError, now_ns: u64) -> bool {
        if !is_of_the_store(error.kind()) {
            return false;
        }
        loop {
            let word = self.read();
            let Word::Closed { failed } = word else {
                return false;
            };
            let failed = failed.saturating_add(1);
            let opens = failed >= self.failures;
            let next = if opens { self.open(0, now_ns) } else { Word::Closed { failed } };
            if opens {
                self.remember(error);
            }
            if self.change(word, next) {
                return opens;
            }
        }
    }

    /// What a request is told that is turned away.
    #[cold]
    pub(crate) fn turned_away(&self) -> StoreError {
        let last = Arc::clone(&self.last.lock().unwrap_or_else(PoisonError::into_inner));
        StoreError::with_source(StoreErrorKind::CircuitOpen, NotAsked { last })
    }

    fn open(&self, round: u8, now_ns: u64) -> Word {
        let doubled = span_ms(self.wait).saturating_mul(1 << round.min(MOST_ROUNDS));
        let wait = doubled.min(span_ms(self.longest_wait.max(self.wait)));
        Word::Open { round, until_ms: to_ms(now_ns).saturating_add(wait) }
    }

    fn remember(&self, error: &StoreError) {
        let text = match std::error::Error::source(error) {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        };
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Arc::from(text);
    }

    fn read(&self) -> Word {
        Word::unpack(self.word.load(Ordering::Relaxed))
    }

    fn change(&self, from: Word, to: Word) -> bool {
        let (from, to) = (from.pack(), to.pack());
        self.word.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

impl Default for Breaker {
    fn default() -> Self {
        Self::new()
    }
}

impl Probe {
    /// Notes how the store took the probe.
    pub(crate) fn settle(mut self, failure: Option<&StoreError>, now_ns: u64) {
        self.settled = true;
        match failure {
            Some(error) if is_of_the_store(error.kind()) => {
                self.breaker.remember(error);
                let Word::Probing { round, .. } = self.began else {
                    return;
                };
                let next = self.breaker.open(round.saturating_add(1).min(MOST_ROUNDS), now_ns);
                // If another request was answered meanwhile, the store is well.
                self.breaker.change(self.began, next);
            }
            _ => self.breaker.answered(),
        }
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        if let (false, Word::Probing { round, since_ms }) = (self.settled, self.began) {
            self.breaker.change(self.began, Word::Open { round, until_ms: since_ms });
        }
    }
}

impl Word {
    const fn pack(self) -> u64 {
        let (tag, small, large) = match self {
            Self::Closed { failed } => (0, 0, failed as u64),
            Self::Open { round, until_ms } => (1, round, until_ms),
            Self::Probing { round, since_ms } => (2, round, since_ms),
        };
        (tag << (MS_BITS + 8)) | ((small as u64) << MS_BITS) | (large & MS_MASK)
    }

    #[expect(clippy::cast_possible_truncation, reason = "what is cut off was zero")]
    const fn unpack(word: u64) -> Self {
        let [tag, round, ..] = word.to_be_bytes();
        let ms = word & MS_MASK;
        match tag {
            1 => Self::Open { round, until_ms: ms },
            2 => Self::Probing { round, since_ms: ms },
            _ => Self::Closed { failed: (word & u32::MAX as u64) as u32 },
        }
    }
}

/// Whether such a failure is likely to be the next request's as well.
const fn is_of_the_store(kind: StoreErrorKind) -> bool {
    matches!(kind, StoreErrorKind::Unavailable | StoreErrorKind::Timeout | StoreErrorKind::Other)
}

fn to_ms(ns: u64) -> u64 {
    (ns / 1_000_000).min(MS_MASK)
}

fn span_ms(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(MS_MASK).min(MS_MASK)
}

/// The store was not asked.
#[derive(Debug)]
struct NotAsked {
    last: Arc<str>,
}

impl std::fmt::Display for NotAsked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the last failure was: {}", self.last)
    }
}

impl std::error::Error for NotAsked {}

#[cfg(test)]
mod tests;
