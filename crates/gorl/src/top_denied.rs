//! The keys that are denied most, in bounded memory.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, PoisonError};

use gorl_core::{Key, KeyRef};
use gorl_key_text::KeyText;

/// Counts the keys that are denied most, however many are denied.
///
/// It keeps so many counters. When a key comes that has none, it takes that of the least denied one,
/// and its count, as what the key may have had at most: so a count is never too low, and is too high by no
/// more than [`TopKey::over`]. Counters are in eight groups, each for its share of the keys; so a key that
/// has more than 8 / `counters` of all denials is certainly among them. (Metwally, Agrawal and El Abbadi, *Efficient computation of frequent and top-k elements in data
/// streams*, 2005.)
///
/// A new key is held against all counters of its group: keep to some hundreds.
///
/// Keys are shown as a hash under a secret of this process, which tells them apart and does not tell who
/// they are, unless [`plain`](Self::plain) is asked for.
///
/// # Examples
///
/// ```
/// use gorl::TopDenied;
///
/// let top = TopDenied::plain(100);
/// for _ in 0..3 {
///     top.note("login", "user-7");
/// }
/// top.note("login", "user-1");
/// let first = &top.top(1)[0];
/// assert_eq!((&*first.resource, &*first.key, first.denials), ("login", "user-7", 3));
/// ```
#[derive(Debug)]
pub struct TopDenied {
    shards: [Mutex<Shard>; SHARDS],
    hasher: RandomState,
    /// How keys are written, if they are to be shown.
    text: Option<KeyText>,
    counters: usize,
}

/// A key that is denied often.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TopKey {
    /// The resource, if it has policies of its own, and otherwise `default`.
    pub resource: String,
    /// The key, or what stands for it.
    pub key: String,
    /// How often it was denied, at most.
    pub denials: u64,
    /// By how much that may be too high.
    pub over: u64,
}

/// Keys by hash, each in one of these.
#[derive(Debug, Default)]
struct Shard {
    counters: HashMap<u64, Counter>,
}

#[derive(Debug)]
struct Counter {
    resource: Box<str>,
    key: Option<Box<str>>,
    denials: u64,
    over: u64,
}

/// A flood of denials waits for one of so many locks.
const SHARDS: usize = 8;

impl TopDenied {
    /// So many counters; keys are shown as hashes.
    #[must_use]
    pub fn new(counters: usize) -> Self {
        Self::with(counters, None)
    }

    /// So many counters; keys are shown as they are, if they are short and printable. Whoever sees the list
    /// sees who was denied.
    #[must_use]
    pub fn plain(counters: usize) -> Self {
        Self::with(counters, Some(KeyText::new()))
    }

    fn with(counters: usize, text: Option<KeyText>) -> Self {
        let counters = counters.div_ceil(SHARDS).max(1);
        Self { shards: Default::default(), hasher: RandomState::new(), text, counters }
    }

    /// Counts a denial. A limiter that was [built](crate::AsyncLimiterBuilder::top_denied) with this does so
    /// by itself; over a `Limiter`, call it for each denial.
    pub fn note(&self, resource: &str, key: impl Key) {
        self.note_parts(resource, KeyRef::new(key.parts().as_ref()));
    }

    pub(crate) fn note_parts(&self, resource: &str, key: KeyRef<'_>) {
        let hash = self.hasher.hash_one((resource, key));
        let text = || self.text.as_ref().map(|text| text.of(key).into_boxed_str());
        let mut shard = self.shard(hash);
        if let Some(counter) = shard.counters.get_mut(&hash) {
            counter.denials += 1;
            return;
        }
        let mut over = 0;
        if shard.counters.len() >= self.counters {
            let least = shard.counters.iter().min_by_key(|(_, counter)| counter.denials);
            if let Some(least) = least.map(|(hash, _)| *hash) {
                over = shard.counters.remove(&least).map_or(0, |counter| counter.denials);
            }
        }
        let resource = Box::from(resource);
        shard.counters.insert(hash, Counter { resource, key: text(), denials: over + 1, over });
    }

    /// The keys that were denied most, the most denied first; at most so many.
    #[must_use]
    pub fn top(&self, most: usize) -> Vec<TopKey> {
        let mut keys = Vec::new();
        for shard in &self.shards {
            let shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            keys.extend(shard.counters.iter().map(|(hash, counter)| {
                TopKey {
                    resource: counter.resource.to_string(),
                    key: counter
                        .key
                        .as_ref()
                        .map_or_else(|| format!("#{hash:016x}"), ToString::to_string),
                    denials: counter.denials,
                    over: counter.over,
                }
            }));
        }
        keys.sort_by(|a, b| {
            let name = |key: &TopKey| (key.resource.clone(), key.key.clone());
            b.denials.cmp(&a.denials).then_with(|| name(a).cmp(&name(b)))
        });
        keys.truncate(most);
        keys
    }

    /// Forgets all counts.
    pub fn clear(&self) {
        for shard in &self.shards {
            shard.lock().unwrap_or_else(PoisonError::into_inner).counters.clear();
        }
    }

    fn shard(&self, hash: u64) -> std::sync::MutexGuard<'_, Shard> {
        let place = usize::try_from(hash % SHARDS as u64).unwrap_or(0);
        self.shards[place].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_denied_are_found_among_many_and_memory_is_bounded() {
        // A thirty-second of what comes to a group is enough to be found; the rarest here is a fifth.
        let top = TopDenied::plain(256);
        for round in 0..1_000_u32 {
            top.note("a", "often");
            top.note("b", "often");
            for key in 0..20_u32 {
                top.note("a", round * 100 + key);
            }
            if round % 2 == 0 {
                top.note("a", "sometimes");
            }
        }
        let found = top.top(3);
        let names: Vec<_> = found.iter().map(|key| (&*key.resource, &*key.key)).collect();
        assert_eq!(names, [("a", "often"), ("b", "often"), ("a", "sometimes")]);
        for (key, exact) in found.iter().zip([1_000, 1_000, 500]) {
            assert!(key.denials >= exact && key.denials - key.over <= exact, "{key:?}");
        }
        assert!(top.top(usize::MAX).len() <= 256);
        top.clear();
        assert!(top.top(1).is_empty());
    }

    #[test]
    fn hashed_keys_tell_nobody_and_stay_apart() {
        let top = TopDenied::new(10);
        top.note("login", "user-7");
        top.note("login", "user-8");
        top.note("search", "user-7");
        let found = top.top(10);
        assert_eq!(found.len(), 3);
        assert!(found.iter().all(|key| key.key.starts_with('#') && !key.key.contains("user")));
    }
}
