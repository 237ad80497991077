//! Forgetting: what is at rest, a little with each new key, and what must go when all is full.

use crate::fingerprint::Fingerprint;
use crate::policies::Rank;
use crate::room::Room;
use crate::shard::{After, Shard};
use crate::table::{Entry, GROUP, Slot};

/// Groups that are looked through for entries at rest with each key that is added.
const SWEPT_PER_INSERT: usize = 2;

/// The most entries that one look removes; the rest waits for the next.
const REMOVED_PER_SWEEP: usize = 16;

/// The entries among which the one to evict is chosen, as long as one of them is not exhausted.
const SAMPLE: usize = 16;

/// How many are looked at if all of these are: an exhausted key is given up only when this many
/// in a row are exhausted, and the cost of adding a key stays bounded.
const LARGE_SAMPLE: usize = 512;

/// Groups that one step of a whole sweep looks through before the lock is released.
const GROUPS_PER_STEP: usize = 32;

/// Slots of a table under which new keys do not sweep it: two kilobytes are not worth the work.
const SWEEP_FROM: usize = 64;

/// Slots of a table under which it is not made smaller.
const SHRINK_FROM: usize = 64;

impl Shard {
    /// Forgets what is at rest in the next few groups.
    pub(crate) fn sweep_some(&mut self, now: u64, room: &Room) {
        if self.table.slots() < SWEEP_FROM {
            return;
        }
        let mut left = REMOVED_PER_SWEEP;
        for _ in 0..SWEPT_PER_INSERT.min(self.table.groups()) {
            left = self.sweep_group(now, left, room);
        }
    }

    /// Forgets what is at rest in the group under the hand and moves the hand on; returns how many
    /// more may be removed.
    fn sweep_group(&mut self, now: u64, mut left: usize, room: &Room) -> usize {
        let group = if self.sweep_hand < self.table.groups() { self.sweep_hand } else { 0 };
        while left > 0 {
            let policies = &self.policies;
            let rested =
                self.table.group(group).find(|(_, entry)| policies.is_forgettable(entry, now));
            let Some((slot, entry)) = rested else {
                break;
            };
            // Removal may bring a later entry into this group, so it is looked at again.
            self.remove(slot, &entry, room);
            left -= 1;
        }
        self.sweep_hand = if left > 0 { group + 1 } else { group };
        left
    }

    /// One bounded step of a sweep over the whole shard: does some of `phase` and returns what is
    /// to be done next, if anything.
    pub(crate) fn sweep_step(
        &mut self,
        phase: SweepPhase,
        now: u64,
        room: &Room,
        after: &mut After,
    ) -> Option<SweepPhase> {
        match phase {
            SweepPhase::Settle => {
                self.move_some(GROUPS_PER_STEP * GROUP, after);
                if self.old.is_some() {
                    return Some(SweepPhase::Settle);
                }
                self.sweep_hand = 0;
                Some(SweepPhase::Sweep)
            }
            SweepPhase::Sweep => {
                let mut left = GROUPS_PER_STEP * GROUP;
                for _ in 0..GROUPS_PER_STEP {
                    if self.sweep_hand >= self.table.groups() {
                        self.shrink(after);
                        return Some(SweepPhase::Shrink);
                    }
                    if left == 0 {
                        break;
                    }
                    left = self.sweep_group(now, left, room);
                }
                Some(SweepPhase::Sweep)
            }
            SweepPhase::Shrink => {
                self.move_some(GROUPS_PER_STEP * GROUP, after);
                self.old.is_some().then_some(SweepPhase::Shrink)
            }
        }
    }

    /// Begins to move to a smaller table if most of this one is empty.
    fn shrink(&mut self, after: &mut After) {
        let len = self.table.len();
        let sparse = len * 4 < self.table.slots() && self.table.slots() >= SHRINK_FROM;
        if !self.grows || self.old.is_some() || !sparse {
            return;
        }
        if len == 0 {
            let empty = std::mem::take(&mut self.table);
            self.sweep_hand = 0;
            after.retired = Some(Box::new(empty));
        } else {
            self.replace_table(self.slots_to_shrink_to());
        }
    }

    /// Forgets the entry of a sample that has spent least of its limit. False if there is none.
    pub(crate) fn evict(&mut self, print: Fingerprint, now: u64, room: &Room) -> bool {
        match self.choose_victim(print, now) {
            Some((slot, entry)) => {
                if !self.policies.rank(&entry, now).is_free() {
                    self.evictions += 1;
                }
                self.remove(slot, &entry, room);
                true
            }
            None => false,
        }
    }

    fn choose_victim(&self, print: Fingerprint, now: u64) -> Option<(Slot, Entry)> {
        let groups = self.table.groups();
        if groups == 0 {
            return None;
        }
        // The new key's fingerprint is as good as a random number, and nobody can choose it. Its
        // low half tells where to begin; the high half tells where the key itself will lie.
        let from = usize::try_from(print.place & u64::from(u32::MAX)).unwrap_or(0) % groups;
        let mut victim: Option<(Slot, Entry, Rank)> = None;
        let mut seen = 0;
        for group in (from..groups).chain(0..from) {
            for (slot, entry) in self.table.group(group) {
                let rank = self.policies.rank(&entry, now);
                if victim.is_none_or(|(_, _, least)| rank.goes_before(least)) {
                    victim = Some((slot, entry, rank));
                }
                seen += 1;
            }
            let enough = match victim {
                Some((_, _, least)) if least.is_free() => true,
                Some((_, _, least)) if least.is_exhausted() => seen >= LARGE_SAMPLE,
                _ => seen >= SAMPLE,
            };
            if enough {
                break;
            }
        }
        victim.map(|(slot, entry, _)| (slot, entry))
    }
}

/// The phases of a sweep over a whole shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SweepPhase {
    /// A table that is being replaced is emptied first.
    Settle,
    /// Every group is looked through.
    Sweep,
    /// A table that is mostly empty is replaced by a smaller one.
    Shrink,
}

#[cfg(all(test, not(gorl_loom)))]
mod tests;
