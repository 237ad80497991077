//! Denials that still hold, answered without asking the store again.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gorl_core::{Decision, KeyRef, Origin, Policy, Request, State, peek};

/// Answers a key that was denied without a round trip to the store, for as long as the denial is
/// certain.
///
/// Whoever else spends, a key that was denied stays denied until its `retry_after` is over: nobody
/// can make it less spent by spending. So the answer is the store's own. It is given only while the
/// key would be denied even if the store's clock read the latest that it can by now, and its
/// figures are those of the earliest: a caller who waits for `retry_after` is not early. Between
/// the two lies the time that the round trip took. This holds as far as the two clocks run at the
/// same rate.
///
/// What does make a key less spent is a give-back, a reset or another policy. Those of the same
/// limiter (and its clones) are honoured at once. Those of others are noticed when the store is asked
/// again, which is after [`max_age`](Self::max_age) at the latest.
///
/// Memory is bounded and allocated once, some 130 bytes an entry. When a place is needed, the
/// denial that ends first goes, and its key is asked for again.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use gorl::DenialCache;
///
/// let cache = DenialCache::new().capacity(50_000).max_age(Duration::from_millis(200));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DenialCache {
    capacity: usize,
    max_age: Duration,
}

/// Those who are denied at one time are few, or under attack.
const CAPACITY: usize = 10_000;

/// An operator who resets a key on another instance waits this long and no longer.
const MAX_AGE: Duration = Duration::from_secs(1);

/// How many entries compete for a place: enough that a flood seldom drives out a long denial, few
/// enough to look through.
const WAYS: usize = 8;

impl DenialCache {
    /// A cache of 10 000 entries that are believed for a second.
    #[must_use]
    pub const fn new() -> Self {
        Self { capacity: CAPACITY, max_age: MAX_AGE }
    }

    /// How many denials are kept at most, rounded up to a multiple of eight; at least eight.
    #[must_use]
    pub const fn capacity(mut self, entries: usize) -> Self {
        self.capacity = entries;
        self
    }

    /// How long a denial is believed at most, so the time within which give-backs, resets and
    /// policy changes of other processes are noticed.
    #[must_use]
    pub const fn max_age(mut self, age: Duration) -> Self {
        self.max_age = age;
        self
    }

    pub(crate) fn build(&self) -> Cache {
        let sets = self.capacity.div_ceil(WAYS).max(1);
        Cache {
            sets: (0..sets).map(|_| Mutex::default()).collect(),
            hashers: [RandomState::new(), RandomState::new()],
            changes: AtomicU64::new(0),
            max_age_ns: u64::try_from(self.max_age.as_nanos()).unwrap_or(u64::MAX),
        }
    }
}

impl Default for DenialCache {
    fn default() -> Self {
        Self::new()
    }
}

/// The cache itself: sets of a few entries, each under a lock that is held for some instructions.
#[derive(Debug)]
pub(crate) struct Cache {
    sets: Box<[Mutex<Set>]>,
    hashers: [RandomState; 2],
    /// How often the policy was replaced.
    changes: AtomicU64,
    max_age_ns: u64,
}

/// What is known of a key before the store is asked, and must still hold when its answer is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticket {
    print: u128,
    /// How often keys of the set were given back to or reset.
    freed: u64,
    changes: u64,
    sent_ns: u64,
}

#[derive(Debug, Default)]
struct Set {
    freed: u64,
    entries: [Option<Entry>; WAYS],
}

/// A denial.
#[derive(Clone, Copy, Debug)]
struct Entry {
    print: u128,
    /// The policy that was asked about, and as the store counted under it.
    asked: Policy,
    counted: Policy,
    state: State,
    decided_at: u64,
    changes: u64,
    sent_ns: u64,
    received_ns: u64,
    ends_ns: u64,
}

impl Cache {
    /// The denial of a request at `now_ns`, or what to remember while the store is asked.
    pub(crate) fn look(&self, request: &Request<'_>, now_ns: u64) -> Result<Decision, Ticket> {
        let print = self.fingerprint(request.key);
        // Relaxed, as whoever replaced the policy in this thread or told this thread of it has
        // ordered that by other means; see `keep` for the rest.
        let changes = self.changes.load(Ordering::Relaxed);
        let mut set = self.set(print);
        for place in &mut set.entries {
            let Some(entry) = place else { continue };
            if entry.print != print || entry.asked != *request.policy {
                continue;
            }
            if entry.changes == changes
                && now_ns.saturating_sub(entry.received_ns) < self.max_age_ns
                && now_ns >= entry.sent_ns
            {
                if let Some(denial) = entry.denial(request.cost, now_ns) {
                    return Ok(denial);
                }
            } else {
                *place = None;
            }
        }
        Err(Ticket { print, freed: set.freed, changes, sent_ns: now_ns })
    }

    /// Keeps the store's answer to a request if it is a denial, unless the key may have been freed
    /// since the ticket was drawn.
    pub(crate) fn keep(&self, request: &Request<'_>, ticket: &Ticket, answer: &Decision, now: u64) {
        if answer.is_allowed() || answer.origin() != Origin::Store || now < ticket.sent_ns {
            return;
        }
        let wait = u64::try_from(answer.retry_after().as_nanos()).unwrap_or(u64::MAX);
        let entry = Entry {
            print: ticket.print,
            asked: *request.policy,
            counted: answer.policy(),
            state: answer.state(),
            decided_at: answer.decided_at(),
            changes: ticket.changes,
            sent_ns: ticket.sent_ns,
            received_ns: now,
            ends_ns: ticket.sent_ns.saturating_add(wait),
        };
        let mut set = self.set(ticket.print);
        if set.freed == ticket.freed
            && let Some(place) = set.place_for(&entry)
        {
            *place = Some(entry);
        }
    }

    /// Forgets a key, which has been given back to or reset: now, and what is on its way.
    pub(crate) fn free(&self, key: KeyRef<'_>) {
        let print = self.fingerprint(key);
        let mut set = self.set(print);
        set.freed = set.freed.wrapping_add(1);
        for place in &mut set.entries {
            if place.is_some_and(|entry| entry.print == print) {
                *place = None;
            }
        }
    }

    /// Forgets everything, now and what is on its way: another policy applies.
    pub(crate) fn policy_replaced(&self) {
        // An entry made under a lower number is never believed again. Who sees the old number in
        // `look` began before this returned.
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    fn set(&self, print: u128) -> MutexGuard<'_, Set> {
        let count = self.sets.len() as u128;
        // The upper 64 bits, spread over the sets without a division: below their number.
        let index = usize::try_from(((print >> 64) * count) >> 64).unwrap_or(0);
        // A set is whole whenever its lock is free, since nothing in between can panic.
        self.sets[index].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// 128 bits under keys of this cache's own: nobody can aim at another's key, and that two meet
    /// by accident takes some 2^64 keys.
    fn fingerprint(&self, key: KeyRef<'_>) -> u128 {
        let [high, low] = self.hashers.each_ref().map(|hasher| hasher.hash_one(key));
        (u128::from(high) << 64) | u128::from(low)
    }
}

impl Set {
    /// Where an entry goes: in the place of its predecessor or a free one, else of the denial that
    /// ends first, unless that is itself.
    fn place_for(&mut self, new: &Entry) -> Option<&mut Option<Entry>> {
        let ends = |entry: &Option<Entry>| match entry {
            Some(old) if old.print == new.print && old.asked == new.asked => 0,
            None => 1,
            Some(old) => old.ends_ns.max(2),
        };
        let place = self.entries.iter_mut().min_by_key(|entry| ends(entry))?;
        (ends(place) <= new.ends_ns.max(2)).then_some(place)
    }
}

impl Entry {
    /// The denial of `cost` at `now_ns`, if it is certain.
    fn denial(&self, cost: u32, now_ns: u64) -> Option<Decision> {
        let tick = self.counted.tick().nanos();
        // The store's clock was read after the request was sent and before its answer came. Another
        // thread may have kept that answer after this one read the clock.
        let since_sent = now_ns.saturating_sub(self.sent_ns);
        let since_received = now_ns.saturating_sub(self.received_ns);
        let latest = self.decided_at.saturating_add(since_sent.div_ceil(tick));
        let earliest = self.decided_at.saturating_add(since_received / tick);
        let at = |now| peek(&self.counted, Some(self.state), now, cost).ok();
        if at(latest)?.is_allowed() {
            return None;
        }
        at(earliest).map(|denial| denial.with_origin(Origin::DenialCache))
    }
}

#[cfg(test)]
mod tests;
