//! One shard: the decisions on its keys, and the room for them.

use gorl_core::{Action, Decision, Policy, State, Tick, decide_adopted, give_back};

use crate::fingerprint::Fingerprint;
use crate::policies::{NO_POLICY, Policies};
use crate::room::Room;
use crate::sync::Hint;
use crate::table::{Entry, EntryWords, PolicyId, Slot, Table, policy_of, set_state, state_of};

/// Entries that move to the new table with each key that is added, while a table is being
/// replaced; enough to be done long before the new one is full.
pub(super) const MOVED_PER_INSERT: usize = 32;

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
    /// How many states that still counted were given up for lack of room.
    pub(super) evictions: u64,
    /// Whether the table may be replaced by a larger one.
    pub(super) grows: bool,
    /// What applies to requests that name no policy.
    default: DefaultPolicy,
}

/// The policy of questions that name none, and its number in the list, where it counts as an entry
/// so that it stays.
#[derive(Clone, Copy)]
struct DefaultPolicy {
    policy: Policy,
    id: PolicyId,
    /// The number by which the short path knows its entries: none for a policy that counts other
    /// ticks than the clock's, so that the short path has nothing to convert.
    short_path_id: PolicyId,
}

/// One question, as a shard receives it.
pub(crate) struct Ask {
    pub(crate) print: Fingerprint,
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
            evictions: 0,
            grows,
            default: DefaultPolicy {
                policy: Policy::MOST,
                id: NO_POLICY,
                short_path_id: NO_POLICY,
            },
        }
    }

    /// Decides on a key that has a state of this policy in the table, which is what nearly every
    /// decision is; `None` for any other, to be asked again by [`decide`](Self::decide).
    ///
    /// It is inlined into the caller, so it takes words, not a structure.
    #[inline(always)]
    pub(crate) fn decide_known(
        &mut self,
        policy: &Policy,
        print: Fingerprint,
        now: u64,
        cost: u32,
        action: Action,
    ) -> Option<Decision> {
        let words = self.table.find_words(print)?;
        if !self.policies.is(policy_of(words), policy) || !counts_nanos(policy) {
            return None;
        }
        Some(step_in_place(policy, words, now, cost, action))
    }

    /// [`decide_known`](Self::decide_known) under the default policy, whose number is known.
    #[inline(always)]
    pub(crate) fn decide_default_known(
        &mut self,
        print: Fingerprint,
        now: u64,
        cost: u32,
        action: Action,
    ) -> Option<Decision> {
        let words = self.table.find_words(print)?;
        if policy_of(words) != self.default.short_path_id {
            return None;
        }
        Some(step_in_place(&self.default.policy, words, now, cost, action))
    }

    /// The default policy, if there is one.
    pub(crate) fn default_policy(&self) -> Option<Policy> {
        (self.default.id != NO_POLICY).then_some(self.default.policy)
    }

    /// Decides on any key, and stores what an admission changes.
    ///
    /// When `after.needs_room` is set on return nothing was stored: room is to be made elsewhere
    /// and the question asked again. A cost above the capacity is denied.
    pub(crate) fn decide(
        &mut self,
        policy: &Policy,
        ask: &Ask,
        room: &Room,
        after: &mut After,
    ) -> Decision {
        let now = policy.tick().whole(ask.now);
        let Some(slot) = self.find(ask.print) else {
            let decision = step(policy, None, now, ask.cost, ask.action);
            if decision.changes_state() {
                self.insert(policy, ask, decision.state(), room, after);
            }
            return decision;
        };
        let state = self.state_as(policy, slot);
        let decision = step(policy, state, now, ask.cost, ask.action);
        if decision.changes_state() {
            let entry = self.table.entry(slot);
            self.rewrite(slot, &entry, policy, ask, decision.state());
        }
        decision
    }

    /// The state of an entry as the policy reads it.
    pub(super) fn state_as(&self, policy: &Policy, slot: Slot) -> Option<State> {
        let entry = self.table.entry(slot);
        if self.policies.is(entry.policy(), policy) {
            Some(entry.state)
        } else {
            self.policies.read_as(&entry, policy)
        }
    }

    /// Writes the state of an entry that now counts under the policy of the question.
    pub(super) fn rewrite(
        &mut self,
        slot: Slot,
        entry: &Entry,
        policy: &Policy,
        ask: &Ask,
        state: State,
    ) {
        let mut id = entry.policy();
        if !self.policies.is(id, policy) {
            self.policies.release(id);
            id = self.policies.enlist(policy);
        }
        self.table.set(slot, Entry::new(ask.print, id, state));
    }

    fn insert(&mut self, policy: &Policy, ask: &Ask, state: State, room: &Room, after: &mut After) {
        self.sweep_some(ask.now, room);
        self.move_some(MOVED_PER_INSERT, after);
        if self.make_room(ask, room, 0) {
            self.add(policy, ask, state);
        } else {
            after.needs_room = true;
        }
    }

    /// Adds an entry for which there is room.
    pub(super) fn add(&mut self, policy: &Policy, ask: &Ask, state: State) {
        let id = self.policies.enlist(policy);
        self.table.put(Entry::new(ask.print, id, state));
    }

    /// Sees to it that one more entry fits besides `pending` others, in this table and in the store as
    /// a whole.
    pub(super) fn make_room(&mut self, ask: &Ask, room: &Room, pending: usize) -> bool {
        if self.grows {
            let wanted = self.table.len() + pending + 1;
            if wanted * 8 > self.table.slots() * GROW_AT_EIGHTHS {
                self.grow(pending + 1);
            }
        } else if (self.table.len() + pending) * FULL_OF >= self.table.slots() * (FULL_OF - 1)
            && !self.evict(ask.print, ask.now, room)
        {
            return false;
        }
        room.reserve() || (self.evict(ask.print, ask.now, room) && room.reserve())
    }

    /// Sees to it that the table has room for so many more, half as large again: three quarters of it
    /// are taken when the next growth comes.
    fn grow(&mut self, more: usize) {
        let wanted = (self.len() + more) * 12 / GROW_AT_EIGHTHS;
        let Some(old) = self.old.take() else {
            return self.replace_table(wanted);
        };
        // The table is full before the one that it replaces is empty. A new table is made large
        // enough that this does not happen; if it did, no entry may be lost by it.
        let mut all = Table::with_slots(wanted);
        for table in [&self.table, &*old] {
            for group in 0..table.groups() {
                for (_, entry) in table.group(group) {
                    all.put(entry);
                }
            }
        }
        self.table = all;
        self.sweep_hand = 0;
    }

    /// Slots of a table to replace the present one by, of which a part is used: twice what is used,
    /// and never so few that new keys could fill it before the old table is empty.
    pub(super) fn slots_to_shrink_to(&self) -> usize {
        let len = self.table.len();
        let inserts_while_moving = (len + self.table.groups()) / MOVED_PER_INSERT + 2;
        (len * 2).max((len + inserts_while_moving) * 12 / GROW_AT_EIGHTHS)
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
    ///
    /// It passes by no more empty groups than that either: a table that is replaced by a smaller
    /// one may hold little else.
    pub(super) fn move_some(&mut self, count: usize, after: &mut After) {
        let Some(old) = self.old.as_mut() else {
            return;
        };
        let (mut moved, mut passed) = (0, 0);
        while moved < count && passed < count && self.move_hand < old.groups() {
            let next = old.group(self.move_hand).next();
            if let Some((slot, entry)) = next {
                old.remove(slot);
                self.table.put(entry);
                moved += 1;
            } else {
                self.move_hand += 1;
                passed += 1;
            }
        }
        if old.len() == 0 {
            after.retired = self.old.take();
        }
    }

    /// Looks a key up in the table, and fetches it from the old one if it is still there.
    pub(super) fn find(&mut self, print: Fingerprint) -> Option<Slot> {
        let found = self.table.find(print);
        let Some(old) = self.old.as_mut().filter(|_| found.is_none()) else {
            return found;
        };
        let slot = old.find(print)?;
        let entry = old.entry(slot);
        old.remove(slot);
        self.table.put(entry)
    }

    /// Gives `cost` back to a key that has a state.
    pub(crate) fn give_back(&mut self, policy: &Policy, ask: &Ask, room: &Room) {
        let Some(slot) = self.find(ask.print) else {
            return;
        };
        let entry = self.table.entry(slot);
        let Some(state) = self.policies.read_as(&entry, policy) else {
            return;
        };
        match give_back(policy, state, policy.tick().whole(ask.now), ask.cost) {
            Some(state) => self.rewrite(slot, &entry, policy, ask, state),
            None => self.remove(slot, &entry, room),
        }
    }

    /// Forgets a key.
    pub(crate) fn reset(&mut self, print: Fingerprint, room: &Room) {
        if let Some(slot) = self.find(print) {
            let entry = self.table.entry(slot);
            self.remove(slot, &entry, room);
        }
    }

    /// Sets the policy of questions that name none; see [`Policies::replaced`].
    pub(crate) fn set_default_policy(&mut self, policy: Policy) {
        let id = self.policies.enlist(&policy);
        let short_path_id = if counts_nanos(&policy) { id } else { NO_POLICY };
        let old = std::mem::replace(&mut self.default, DefaultPolicy { policy, id, short_path_id });
        if old.id != NO_POLICY {
            self.policies.release(old.id);
            self.policies.replaced(&old.policy, &policy);
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

    /// Tells where the table lies now.
    pub(crate) fn point(&self, hint: &Hint) {
        hint.set(self.table.address(), self.table.groups());
    }

    pub(crate) fn len(&self) -> usize {
        self.table.len() + self.old.as_ref().map_or(0, |old| old.len())
    }

    pub(crate) fn evictions(&self) -> u64 {
        self.evictions
    }

    /// Bytes of the heap that the shard holds.
    pub(crate) fn bytes(&self) -> usize {
        let old = self.old.as_ref().map_or(0, |old| old.bytes());
        self.table.bytes() + old + self.policies.bytes()
    }
}

/// Decides on the state in an entry, which was written under this very policy.
#[inline(always)]
fn step_in_place(
    policy: &Policy,
    words: &mut EntryWords,
    now: u64,
    cost: u32,
    action: Action,
) -> Decision {
    let decision = step(policy, Some(state_of(words)), now, cost, action);
    if decision.changes_state() {
        set_state(words, decision.state());
    }
    decision
}

fn counts_nanos(policy: &Policy) -> bool {
    policy.tick() == Tick::Nanosecond
}

#[inline(always)]
pub(super) fn step(
    policy: &Policy,
    state: Option<State>,
    now: u64,
    cost: u32,
    action: Action,
) -> Decision {
    let decision = decide_adopted(policy, state, now, cost);
    match action {
        Action::Take => decision,
        Action::Peek => decision.unspent(),
    }
}
