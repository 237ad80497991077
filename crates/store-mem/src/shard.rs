//! One shard: the decisions on its keys, and the room for them.

use gorl_core::{
    Action, CostExceedsLimit, Decision, Policy, State, decide_adopted, give_back, peek_adopted,
};

use crate::fingerprint::Fingerprint;
use crate::policies::Policies;
use crate::room::Room;
use crate::table::{Entry, Found, Slot, Table};

/// Entries that move to the new table with each key that is added, while a table is being
/// replaced; enough to be done long before the new one is full.
const MOVED_PER_INSERT: usize = 8;

/// A table that grows is replaced when seven eighths of its slots are taken.
const GROW_AT_EIGHTHS: usize = 7;

/// A table that does not grow is full when all but one in this many of its slots are taken: a
/// search must still find its end.
const FULL_OF: usize = 32;

/// The keys of one shard.
pub(crate) struct Shard {
    pub(super) table: Table,
    /// The table before it was replaced, while entries are left in it.
    pub(super) old: Option<Box<Table>>,
    /// Where in `old` the next entry to move is looked for.
    move_hand: usize,
    /// The group that the sweeper looks at next.
    pub(super) sweep_hand: usize,
    pub(super) policies: Policies,
    /// Whether the table may be replaced by a larger one.
    pub(super) grows: bool,
    /// What applies to requests that name no policy.
    pub(crate) default_policy: Option<Policy>,
}

/// One question, as a shard receives it.
pub(crate) struct Ask<'a> {
    pub(crate) print: Fingerprint,
    pub(crate) policy: &'a Policy,
    pub(crate) now: u64,
    pub(crate) cost: u32,
    pub(crate) action: Action,
}

/// What is to be done after the lock is released.
#[derive(Default)]
pub(crate) struct After {
    /// A table to free: unmapping megabytes is nothing to do under a lock.
    pub(crate) retired: Option<Box<Table>>,
    /// The store is full and this shard has nothing to evict.
    pub(crate) needs_room: bool,
}

impl Shard {
    /// A shard whose table has `slots` slots, to begin with or for good.
    pub(crate) fn new(slots: usize, grows: bool) -> Self {
        Self {
            table: Table::with_slots(slots),
            old: None,
            move_hand: 0,
            sweep_hand: 0,
            policies: Policies::default(),
            grows,
            default_policy: None,
        }
    }

    /// Decides, and stores what an admission changes.
    ///
    /// When `after.needs_room` is set on return nothing was stored: room is to be made elsewhere
    /// and the question asked again.
    #[inline]
    pub(crate) fn decide(
        &mut self,
        ask: &Ask<'_>,
        room: &Room,
        after: &mut After,
    ) -> Result<Decision, CostExceedsLimit> {
        let Found::At(slot, entry) = self.find(ask.print) else {
            return self.decide_first(ask, room, after);
        };
        if self.policies.is(entry.policy(), ask.policy) {
            let decision = step(ask, Some(entry.state))?;
            if decision.changes_state() {
                self.table.set(slot, entry.with_state(decision.state()));
            }
            return Ok(decision);
        }
        self.decide_changed(ask, slot, &entry)
    }

    /// Decides on a key whose state was written under another policy.
    #[cold]
    fn decide_changed(
        &mut self,
        ask: &Ask<'_>,
        slot: Slot,
        entry: &Entry,
    ) -> Result<Decision, CostExceedsLimit> {
        let decision = step(ask, self.policies.read_as(entry, ask.policy))?;
        if decision.changes_state() {
            self.policies.release(entry.policy());
            let id = self.policies.enlist(ask.policy);
            self.table
                .set(slot, Entry::new(ask.print, id, decision.state()));
        }
        Ok(decision)
    }

    /// Decides on a key that has no state.
    #[inline(never)]
    fn decide_first(
        &mut self,
        ask: &Ask<'_>,
        room: &Room,
        after: &mut After,
    ) -> Result<Decision, CostExceedsLimit> {
        let decision = step(ask, None)?;
        if decision.changes_state() {
            self.insert(ask, decision.state(), room, after);
        }
        Ok(decision)
    }

    fn insert(&mut self, ask: &Ask<'_>, state: State, room: &Room, after: &mut After) {
        self.sweep_some(ask.now, room);
        self.move_some(MOVED_PER_INSERT, after);
        if !self.make_room(ask, room) {
            after.needs_room = true;
            return;
        }
        let id = self.policies.enlist(ask.policy);
        if let Found::Vacant(slot) = self.table.find(ask.print) {
            self.table.fill(slot, Entry::new(ask.print, id, state));
        }
    }

    /// Sees to it that one more entry fits, in this table and in the store as a whole.
    fn make_room(&mut self, ask: &Ask<'_>, room: &Room) -> bool {
        if self.grows {
            let wanted = self.table.len() + 1;
            if self.old.is_none() && wanted * 8 > self.table.slots() * GROW_AT_EIGHTHS {
                // Half as large again: three quarters of it are taken when the next growth comes.
                self.replace_table(wanted * 12 / GROW_AT_EIGHTHS);
            }
        } else if self.table.len() * FULL_OF >= self.table.slots() * (FULL_OF - 1)
            && !self.evict(ask.print, ask.now, room)
        {
            return false;
        }
        room.reserve() || (self.evict(ask.print, ask.now, room) && room.reserve())
    }

    /// Begins to move to a table of `slots` slots.
    pub(super) fn replace_table(&mut self, slots: usize) {
        let old = std::mem::replace(&mut self.table, Table::with_slots(slots));
        self.move_hand = 0;
        self.sweep_hand = 0;
        if old.len() > 0 {
            self.old = Some(Box::new(old));
        }
    }

    /// Moves up to `count` entries from the old table, and retires it when it is empty.
    pub(super) fn move_some(&mut self, count: usize, after: &mut After) {
        let Some(old) = self.old.as_mut() else {
            return;
        };
        for _ in 0..count {
            let next = loop {
                if self.move_hand == old.groups() {
                    break None;
                }
                match old.group(self.move_hand).next() {
                    Some(next) => break Some(next),
                    None => self.move_hand += 1,
                }
            };
            let Some((slot, entry)) = next else {
                break;
            };
            old.remove(slot);
            self.table.put(entry);
        }
        if old.len() == 0 {
            after.retired = self.old.take();
        }
    }

    /// Looks a key up in the table, or fetches it from the old one.
    #[inline]
    pub(super) fn find(&mut self, print: Fingerprint) -> Found {
        let found = self.table.find(print);
        if self.old.is_none() || matches!(found, Found::At(..)) {
            return found;
        }
        self.fetch(print, found)
    }

    #[cold]
    fn fetch(&mut self, print: Fingerprint, vacant: Found) -> Found {
        let Some(old) = self.old.as_mut() else {
            return vacant;
        };
        let Found::At(slot, entry) = old.find(print) else {
            return vacant;
        };
        old.remove(slot);
        self.table
            .put(entry)
            .map_or(Found::Full, |slot| Found::At(slot, entry))
    }

    /// Gives `cost` back to a key that has a state.
    pub(crate) fn give_back(&mut self, ask: &Ask<'_>, room: &Room) {
        let Found::At(slot, entry) = self.find(ask.print) else {
            return;
        };
        let Some(state) = self.policies.read_as(&entry, ask.policy) else {
            return;
        };
        match give_back(ask.policy, state, ask.now, ask.cost) {
            Some(state) => {
                self.policies.release(entry.policy());
                let id = self.policies.enlist(ask.policy);
                self.table.set(slot, Entry::new(ask.print, id, state));
            }
            None => self.remove(slot, &entry, room),
        }
    }

    /// Forgets a key.
    pub(crate) fn reset(&mut self, print: Fingerprint, room: &Room) {
        if let Found::At(slot, entry) = self.find(print) {
            self.remove(slot, &entry, room);
        }
    }

    /// Removes an entry and gives its room back.
    pub(super) fn remove(&mut self, slot: Slot, entry: &Entry, room: &Room) {
        self.table.remove(slot);
        self.policies.release(entry.policy());
        room.release();
    }

    /// See [`Policies::replaced`].
    pub(crate) fn policy_replaced(&mut self, old: &Policy, new: &Policy) {
        self.policies.replaced(old, new);
    }

    pub(crate) fn len(&self) -> usize {
        self.table.len() + self.old.as_ref().map_or(0, |old| old.len())
    }

    /// Bytes of the heap that the shard holds.
    pub(crate) fn bytes(&self) -> usize {
        let old = self.old.as_ref().map_or(0, |old| old.bytes());
        self.table.bytes() + old + self.policies.bytes()
    }
}

#[inline]
fn step(ask: &Ask<'_>, state: Option<State>) -> Result<Decision, CostExceedsLimit> {
    match ask.action {
        Action::Take => decide_adopted(ask.policy, state, ask.now, ask.cost),
        Action::Peek => peek_adopted(ask.policy, state, ask.now, ask.cost),
    }
}
