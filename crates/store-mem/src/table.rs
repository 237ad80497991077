//! The table of one shard: open addressing over cache-line pairs, fixed-size entries.

use crate::fingerprint::{Fingerprint, SHARD_BITS};
use gorl_core::State;

/// Entries in a group: four of 32 bytes fill two neighbouring cache lines, which the hardware
/// fetches together.
pub(crate) const GROUP: usize = 4;
const ENTRY_WORDS: usize = 4;
const GROUP_WORDS: usize = GROUP * ENTRY_WORDS;
const GROUP_BYTES: usize = GROUP_WORDS * size_of::<u64>();
const POLICY_MASK: u64 = (1 << SHARD_BITS) - 1;

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
        Self {
            place: print.place,
            rest_and_policy: print.stored_rest() | u64::from(policy),
            state,
        }
    }

    /// The same key's entry with another state, written under the same policy.
    #[inline]
    pub(crate) fn with_state(self, state: State) -> Self {
        Self { state, ..self }
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
/// ends at the first group with an empty slot. Removal keeps this true by moving later entries
/// back, and leaves no tombstones.
#[derive(Default)]
pub(crate) struct Table {
    words: Vec<u64>,
    /// The first word of the first group: the allocation's first cache-line pair.
    start: usize,
    groups: usize,
    len: usize,
}

/// The outcome of a search: the entry, or where it would go.
pub(crate) enum Found {
    At(Slot, Entry),
    Vacant(Slot),
    /// Every slot is taken by somebody else.
    Full,
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
        let words = vec![0; (groups + 1) * GROUP_WORDS];
        let misaligned = words.as_ptr() as usize % GROUP_BYTES;
        let start = (GROUP_BYTES - misaligned) % GROUP_BYTES / size_of::<u64>();
        Self {
            words,
            start,
            groups,
            len: 0,
        }
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

    pub(crate) fn bytes(&self) -> usize {
        self.words.capacity() * size_of::<u64>()
    }

    /// Looks a fingerprint up.
    #[inline]
    pub(crate) fn find(&self, print: Fingerprint) -> Found {
        let rest = print.stored_rest();
        let mut group = self.home(print.place);
        for _ in 0..self.groups {
            let first = self.start + group * GROUP_WORDS;
            let Some(words) = self
                .words
                .get(first..)
                .and_then(<[u64]>::first_chunk::<GROUP_WORDS>)
            else {
                break;
            };
            for (n, entry) in words.as_chunks::<ENTRY_WORDS>().0.iter().enumerate() {
                let slot = Slot(first + n * ENTRY_WORDS);
                if entry[0] == print.place && entry[1] & !POLICY_MASK == rest {
                    return Found::At(slot, decode(entry));
                }
                if entry[0] == 0 {
                    return Found::Vacant(slot);
                }
            }
            group = self.after(group);
        }
        Found::Full
    }

    /// Overwrites the state of an entry that is there.
    #[inline]
    pub(crate) fn set(&mut self, slot: Slot, entry: Entry) {
        if let Some(words) = self
            .words
            .get_mut(slot.0..)
            .and_then(<[u64]>::first_chunk_mut)
        {
            *words = encode(entry);
        }
    }

    /// Fills a slot that [`find`](Self::find) reported vacant.
    #[inline]
    pub(crate) fn fill(&mut self, slot: Slot, entry: Entry) {
        self.len += 1;
        self.set(slot, entry);
    }

    /// Adds an entry whose key is not in the table; `None` if every slot is taken.
    pub(crate) fn put(&mut self, entry: Entry) -> Option<Slot> {
        let mut group = self.home(entry.place);
        for _ in 0..self.groups {
            let taken = self.group(group).count();
            if taken < GROUP {
                let slot = Slot(self.start + group * GROUP_WORDS + taken * ENTRY_WORDS);
                self.fill(slot, entry);
                return Some(slot);
            }
            group = self.after(group);
        }
        None
    }

    /// The entries of a group, with their slots.
    pub(crate) fn group(&self, group: usize) -> impl Iterator<Item = (Slot, Entry)> + '_ {
        let first = self.start + group * GROUP_WORDS;
        let words = self.words.get(first..first + GROUP_WORDS).unwrap_or(&[]);
        let entries = words.as_chunks::<ENTRY_WORDS>().0.iter().enumerate();
        entries
            .take_while(|(_, entry)| entry[0] != 0)
            .map(move |(n, entry)| (Slot(first + n * ENTRY_WORDS), decode(entry)))
    }

    /// Empties a slot and closes the gap, so that every search still ends where it should.
    ///
    /// Within a group the taken slots come first; a gap that a later group can fill is filled from
    /// there, which opens a gap in that group, and so on to the first group that was not full.
    /// (Knuth, The Art of Computer Programming, vol. 3, 6.4, algorithm R, on groups.)
    pub(crate) fn remove(&mut self, slot: Slot) {
        self.len -= 1;
        let mut gap_group = (slot.0 - self.start) / GROUP_WORDS;
        let mut gap = slot;
        let mut scan = gap_group;
        loop {
            let was_full = self.group(scan).count() == GROUP;
            let filler = if scan == gap_group {
                None
            } else {
                self.movable(scan, gap_group)
            };
            if let Some((from, entry)) = filler {
                self.set(gap, entry);
                gap = from;
                gap_group = scan;
            }
            if scan == gap_group {
                // The gap moves to the end of its own group.
                gap = self.close_within(gap_group, gap);
            }
            if !was_full {
                break;
            }
            scan = self.after(scan);
            if scan == gap_group {
                break;
            }
        }
        if let Some(words) = self
            .words
            .get_mut(gap.0..)
            .and_then(<[u64]>::first_chunk_mut)
        {
            *words = [0; ENTRY_WORDS];
        }
    }

    /// Moves the last entry of the group into the gap and returns where that entry was.
    fn close_within(&mut self, group: usize, gap: Slot) -> Slot {
        match self.group(group).last() {
            Some((last, entry)) if last.0 > gap.0 => {
                self.set(gap, entry);
                last
            }
            _ => gap,
        }
    }

    /// An entry of `group` that may also lie in `target`: its home is not after `target`.
    fn movable(&self, group: usize, target: usize) -> Option<(Slot, Entry)> {
        let back = self.distance(target, group);
        self.group(group)
            .find(|(_, entry)| self.distance(self.home(entry.place), group) >= back)
    }

    /// The group where a search for `place` begins: `place` scaled to the number of groups.
    #[inline]
    fn home(&self, place: u64) -> usize {
        // The high word of the product is below the number of groups.
        #[allow(clippy::cast_possible_truncation)]
        let group = ((u128::from(place) * self.groups as u128) >> 64) as usize;
        group
    }

    #[inline]
    fn after(&self, group: usize) -> usize {
        if group + 1 == self.groups {
            0
        } else {
            group + 1
        }
    }

    fn distance(&self, from: usize, to: usize) -> usize {
        if to >= from {
            to - from
        } else {
            to + self.groups - from
        }
    }
}

#[inline]
fn decode(words: &[u64; ENTRY_WORDS]) -> Entry {
    // The two halves of the last word.
    #[allow(clippy::cast_possible_truncation)]
    let state = State {
        at: words[2],
        a: words[3] as u32,
        b: (words[3] >> 32) as u32,
    };
    Entry {
        place: words[0],
        rest_and_policy: words[1],
        state,
    }
}

#[inline]
fn encode(entry: Entry) -> [u64; ENTRY_WORDS] {
    let counts = u64::from(entry.state.a) | (u64::from(entry.state.b) << 32);
    [entry.place, entry.rest_and_policy, entry.state.at, counts]
}
