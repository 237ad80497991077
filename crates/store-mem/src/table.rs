//! The table of one shard: open addressing over cache-line pairs, fixed-size entries.

use std::hint::select_unpredictable;

use crate::fingerprint::{Fingerprint, SHARD_BITS};
use gorl_core::State;

/// Entries in a group: four of 32 bytes fill two neighbouring cache lines, which the hardware
/// fetches together.
pub(crate) const GROUP: usize = 4;
const ENTRY_WORDS: usize = 4;
const GROUP_WORDS: usize = GROUP * ENTRY_WORDS;
/// The size of a group, to which tables are aligned.
pub(crate) const GROUP_BYTES: usize = GROUP_WORDS * size_of::<u64>();
const POLICY_MASK: u64 = (1 << SHARD_BITS) - 1;

/// An entry as it lies in the table: place, rest and policy, instant, counts.
pub(crate) type EntryWords = [u64; ENTRY_WORDS];

/// The number of a policy in the shard's list.
pub(crate) type PolicyId = u16;

/// What a slot holds: whose state it is, under which policy it was written, and the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) place: u64,
    rest_and_policy: u64,
    pub(crate) state: State,
}

impl Entry {
    #[inline]
    pub(crate) fn new(print: Fingerprint, policy: PolicyId, state: State) -> Self {
        Self { place: print.place, rest_and_policy: print.stored_rest() | u64::from(policy), state }
    }

    #[inline]
    pub(crate) fn policy(&self) -> PolicyId {
        // The mask leaves sixteen bits.
        #[allow(clippy::cast_possible_truncation)]
        let id = (self.rest_and_policy & POLICY_MASK) as PolicyId;
        id
    }
}

/// Where an entry is: the index of its first word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot(usize);

/// An open-addressing table of entries.
///
/// An entry lies in its home group or, if that was full, in the next one that was not; so a search
/// ends at the first group with an empty slot, and nearly every one in the home group. Removal
/// keeps this true by moving later entries back, and leaves no tombstones.
#[derive(Default)]
pub(crate) struct Table {
    words: Box<[u64]>,
    /// The first word of the first group: the allocation's first cache-line pair.
    start: usize,
    groups: usize,
    len: usize,
}

impl Table {
    /// A table with room for `slots` entries, rounded up to whole groups.
    ///
    /// Memory comes zeroed from the allocator, so a large table costs nothing until it is used.
    pub(crate) fn with_slots(slots: usize) -> Self {
        let groups = slots.div_ceil(GROUP);
        if groups == 0 {
            return Self::default();
        }
        // A size that overflows is one that no system has: the allocation says so.
        let words =
            vec![0; groups.saturating_add(1).saturating_mul(GROUP_WORDS)].into_boxed_slice();
        let misaligned = words.as_ptr() as usize % GROUP_BYTES;
        let start = (GROUP_BYTES - misaligned) % GROUP_BYTES / size_of::<u64>();
        Self { words, start, groups, len: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn slots(&self) -> usize {
        self.groups * GROUP
    }

    pub(crate) fn groups(&self) -> usize {
        self.groups
    }

    /// The address of the first group.
    pub(crate) fn address(&self) -> usize {
        self.words.as_ptr() as usize + self.start * size_of::<u64>()
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of_val::<[_]>(&self.words)
    }

    /// Looks a fingerprint up.
    #[inline(always)]
    pub(crate) fn find(&self, print: Fingerprint) -> Option<Slot> {
        let first = self.first_word(self.home(print.place));
        let n = candidate(self.words.get(first..)?.first_chunk()?, print.place);
        if is_of(self.words.get(first + n..)?.first_chunk()?, print) {
            return Some(Slot(first + n));
        }
        self.find_elsewhere(print)
    }

    /// Looks for an entry that [`candidate`] does not find: one key in ten lies past its home group.
    #[inline(never)]
    fn find_elsewhere(&self, print: Fingerprint) -> Option<Slot> {
        let mut group = self.home(print.place);
        for _ in 0..self.groups {
            let first = self.first_word(group);
            let words = self.words.get(first..)?.first_chunk()?;
            if let Some(n) = exact(words, print) {
                return Some(Slot(first + n));
            }
            if has_empty(words) {
                return None;
            }
            group = self.after(group);
        }
        None
    }

    /// Looks a fingerprint up, and lends the entry's own words: the path of every decision.
    #[inline(always)]
    pub(crate) fn find_words(&mut self, print: Fingerprint) -> Option<&mut EntryWords> {
        let first = self.first_word(self.home(print.place));
        let group: &[u64; GROUP_WORDS] = self.words.get(first..)?.first_chunk()?;
        let n = candidate(group, print.place);
        if is_of(group.get(n..)?.first_chunk()?, print) {
            let group: &mut [u64; GROUP_WORDS] = self.words.get_mut(first..)?.first_chunk_mut()?;
            return group.get_mut(n..)?.first_chunk_mut();
        }
        let slot = self.find_elsewhere(print)?;
        self.words.get_mut(slot.0..)?.first_chunk_mut()
    }

    /// The entry in a taken slot.
    pub(crate) fn entry(&self, slot: Slot) -> Entry {
        Entry {
            place: self.words[slot.0],
            rest_and_policy: self.words[slot.0 + 1],
            state: state_of_words(self.words[slot.0 + 2], self.words[slot.0 + 3]),
        }
    }

    /// Overwrites the entry in a slot.
    pub(crate) fn set(&mut self, slot: Slot, entry: Entry) {
        self.words[slot.0] = entry.place;
        self.words[slot.0 + 1] = entry.rest_and_policy;
        self.words[slot.0 + 2] = entry.state.at;
        self.words[slot.0 + 3] = encode_counts(entry.state);
    }

    /// Adds an entry whose key is not in the table; `None` if every slot is taken.
    pub(crate) fn put(&mut self, entry: Entry) -> Option<Slot> {
        let mut group = self.home(entry.place);
        for _ in 0..self.groups {
            if let Some(slot) = self.slots_of(group).find(|slot| self.is_empty(*slot)) {
                self.len += 1;
                self.set(slot, entry);
                return Some(slot);
            }
            group = self.after(group);
        }
        None
    }

    /// The entries of a group, with their slots.
    pub(crate) fn group(&self, group: usize) -> impl Iterator<Item = (Slot, Entry)> + '_ {
        self.slots_of(group)
            .filter(|slot| !self.is_empty(*slot))
            .map(|slot| (slot, self.entry(slot)))
    }

    /// Empties a slot and closes the gap, so that every search still ends where it should.
    ///
    /// If the gap's group was full, an entry further on may have passed it by; the first such is
    /// moved into the gap, which opens a gap there, and so on to the first group that was not full.
    /// (Knuth, The Art of Computer Programming, vol. 3, 6.4, algorithm R, on groups.)
    pub(crate) fn remove(&mut self, slot: Slot) {
        self.len -= 1;
        let mut gap = slot;
        let mut gap_group = (slot.0 - self.start) / GROUP_WORDS;
        let mut passed_by = self.is_full(gap_group);
        let mut scan = self.after(gap_group);
        while passed_by && scan != gap_group {
            passed_by = self.is_full(scan);
            if let Some((from, entry)) = self.movable(scan, gap_group) {
                self.set(gap, entry);
                gap = from;
                gap_group = scan;
            }
            scan = self.after(scan);
        }
        self.words[gap.0..gap.0 + ENTRY_WORDS].fill(0);
    }

    /// An entry of `group` that may also lie in `target`: its home is not after `target`.
    fn movable(&self, group: usize, target: usize) -> Option<(Slot, Entry)> {
        let back = self.distance(target, group);
        self.group(group).find(|(_, entry)| self.distance(self.home(entry.place), group) >= back)
    }

    /// The first word of a group.
    #[inline(always)]
    fn first_word(&self, group: usize) -> usize {
        self.start + group * GROUP_WORDS
    }

    /// The slots of a group.
    fn slots_of(&self, group: usize) -> impl Iterator<Item = Slot> + Clone + use<> {
        let first = self.start + group * GROUP_WORDS;
        (first..first + GROUP_WORDS).step_by(ENTRY_WORDS).map(Slot)
    }

    fn is_empty(&self, slot: Slot) -> bool {
        self.words[slot.0] == 0
    }

    fn is_full(&self, group: usize) -> bool {
        self.slots_of(group).all(|slot| !self.is_empty(slot))
    }

    #[inline]
    fn home(&self, place: u64) -> usize {
        home(place, self.groups)
    }

    #[inline]
    fn after(&self, group: usize) -> usize {
        if group + 1 == self.groups { 0 } else { group + 1 }
    }

    fn distance(&self, from: usize, to: usize) -> usize {
        if to >= from { to - from } else { to + self.groups - from }
    }
}

/// The group where a search for `place` begins: `place` scaled to the number of groups.
#[inline]
pub(crate) fn home(place: u64, groups: usize) -> usize {
    // The high word of the product is below the number of groups.
    #[allow(clippy::cast_possible_truncation)]
    let group = ((u128::from(place) * groups as u128) >> 64) as usize;
    group
}

/// Where in a group the entry of a place begins, if it is there and no other has this place; some
/// slot otherwise.
///
/// All four are compared without a branch: which of them it is cannot be predicted, and a wrong
/// guess costs more than the comparisons do.
#[inline(always)]
fn candidate(group: &[u64; GROUP_WORDS], place: u64) -> usize {
    let or = |n: usize, other| select_unpredictable(group[n] == place, n, other);
    or(ENTRY_WORDS, or(2 * ENTRY_WORDS, or(3 * ENTRY_WORDS, 0)))
}

/// Where in a group a key's entry begins, compared in full and without a branch as in [`candidate`].
#[inline]
fn exact(group: &[u64; GROUP_WORDS], print: Fingerprint) -> Option<usize> {
    let (entries, _) = group.as_chunks();
    let found = entries.iter().enumerate().fold(GROUP_WORDS, |found, (n, entry)| {
        select_unpredictable(is_of(entry, print), n * ENTRY_WORDS, found)
    });
    (found < GROUP_WORDS).then_some(found)
}

/// Whether a slot of a group is empty, so that a search ends here.
#[inline]
fn has_empty(group: &[u64; GROUP_WORDS]) -> bool {
    let (entries, _): (&[EntryWords], _) = group.as_chunks();
    entries.iter().any(|entry| entry[0] == 0)
}

/// Whether an entry is of a key. Its low bits, where the policy's number is, are not compared.
#[inline]
fn is_of(words: &EntryWords, print: Fingerprint) -> bool {
    (words[0] ^ print.place) | ((words[1] ^ print.rest) & !POLICY_MASK) == 0
}

/// The number of the policy under which an entry was written.
#[inline]
pub(crate) fn policy_of(words: &EntryWords) -> PolicyId {
    // The mask leaves sixteen bits.
    #[allow(clippy::cast_possible_truncation)]
    let id = (words[1] & POLICY_MASK) as PolicyId;
    id
}

/// The state in an entry.
#[inline]
pub(crate) fn state_of(words: &EntryWords) -> State {
    state_of_words(words[2], words[3])
}

/// Overwrites the state in an entry.
#[inline]
pub(crate) fn set_state(words: &mut EntryWords, state: State) {
    words[2] = state.at;
    words[3] = encode_counts(state);
}

#[inline]
fn state_of_words(at: u64, counts: u64) -> State {
    // The two halves of the word.
    #[allow(clippy::cast_possible_truncation)]
    let (a, b) = (counts as u32, (counts >> 32) as u32);
    State { at, a, b }
}

#[inline]
fn encode_counts(state: State) -> u64 {
    u64::from(state.a) | (u64::from(state.b) << 32)
}

#[cfg(all(test, not(gorl_loom)))]
mod tests;
