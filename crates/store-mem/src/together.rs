//! Several requests, one answer: all spend or none does, under the locks of their shards.

use gorl_core::{
    Action, DecideError, Decision, Policy, Request, StoreError, StoreErrorKind, check_cost,
};
use smallvec::SmallVec;

use crate::fingerprint::Fingerprint;
use crate::room::Room;
use crate::shard::{After, Ask, MOVED_PER_INSERT, Shard, step};
use crate::store::MemoryStore;
use crate::sync::Guard;
use crate::table::Slot;

/// Few limits apply to a request; more of them cost an allocation.
const FEW: usize = 4;

/// How often room is made in other shards before a call does without.
const ROUNDS: usize = 16;

/// What becomes of a lack of room.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lack {
    /// The call ends with it.
    IsTold,
    /// The key is not counted.
    IsBorne,
}

/// The shards of some requests, each locked once.
struct Held<'a> {
    guards: SmallVec<[(usize, Guard<'a, Shard>); FEW]>,
}

impl MemoryStore {
    /// Decides on several requests at once: nothing is spent unless all are admitted, and nobody sees
    /// some of it spent and some not.
    ///
    /// `decisions` receives one for each request, in their order. If one is denied, the others are as
    /// those of a peek.
    ///
    /// The shards of the keys are locked in the order of their numbers, whatever the order of the
    /// requests, so that callers never wait for each other in a circle.
    ///
    /// # Errors
    ///
    /// - [`DecideError::Cost`] if one of the costs can never fit.
    /// - [`StoreErrorKind::Unsupported`] if two requests have the same key, which has one state here;
    ///   or if there are more requests than places for decisions. Nothing is spent in either case.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use gorl_core::{Action, Key, KeyRef, Policy, Request};
    /// use gorl_store_mem::MemoryStore;
    ///
    /// let store = MemoryStore::new();
    /// let per_user = Policy::fixed_window(1, Duration::from_secs(3600)).unwrap();
    /// let global = Policy::fixed_window(10, Duration::from_secs(3600)).unwrap();
    /// let (user, all) = (("user", 7_u32), "all");
    /// let (user, all) = (user.parts(), all.parts());
    /// let request = |policy, key| Request { policy, key, cost: 1, action: Action::Take };
    /// let requests =
    ///     [request(&per_user, KeyRef::new(&user)), request(&global, KeyRef::new(&all))];
    ///
    /// let mut decisions = [None; 2];
    /// for left in [9, 9] {
    ///     store.decide_all_now(&requests, &mut decisions)?;
    ///     assert_eq!(decisions[1].unwrap().remaining(), left);
    /// }
    /// assert!(!decisions[0].unwrap().is_allowed());
    /// # Ok::<(), gorl_core::DecideError>(())
    /// ```
    pub fn decide_all_now(
        &self,
        requests: &[Request<'_>],
        decisions: &mut [Option<Decision>],
    ) -> Result<(), DecideError> {
        if decisions.len() < requests.len() {
            return Err(unsupported("there are more requests than places for decisions").into());
        }
        let mut asks: SmallVec<[Ask; FEW]> = SmallVec::new();
        for request in requests {
            check_cost(request.policy, request.cost)?;
            let print = self.fingerprint(request.key.parts());
            if asks.iter().any(|ask| ask.print == print) {
                return Err(unsupported("two of the requests have the same key").into());
            }
            asks.push(Ask { print, now: 0, cost: request.cost, action: request.action });
        }
        // One instant for all, so that the figures belong together.
        let now = self.now_ns();
        for ask in &mut asks {
            ask.now = now;
        }
        let can_hold_all = self.capacity().is_none_or(|capacity| capacity >= asks.len());
        for _ in 0..if can_hold_all { ROUNDS } else { 0 } {
            match self.try_all(requests, &asks, decisions, Lack::IsTold) {
                Ok(()) => return Ok(()),
                Err(print) => self.make_room_elsewhere(print, now),
            }
        }
        // What others took the room of as fast as it was made is not counted, as if it had been evicted
        // at once; so is what a store of so few keys cannot hold.
        let _ = self.try_all(requests, &asks, decisions, Lack::IsBorne);
        Ok(())
    }

    /// Decides on all, unless a key needs room that its shard cannot make and that is to be told: then
    /// nothing is spent.
    fn try_all(
        &self,
        requests: &[Request<'_>],
        asks: &[Ask],
        decisions: &mut [Option<Decision>],
        lack: Lack,
    ) -> Result<(), Fingerprint> {
        // What these hold is freed when the locks have been released.
        let mut after: SmallVec<[After; FEW]> = SmallVec::new();
        let mut held = self.hold(asks);
        let mut slots: SmallVec<[Option<Slot>; FEW]> = SmallVec::new();
        let (mut admitted, mut known) = (true, true);
        for ((request, ask), decision) in requests.iter().zip(asks).zip(&mut *decisions) {
            let (slot, weighed) = held.of(self.place(ask.print)).weigh(request.policy, ask);
            admitted &= weighed.is_allowed();
            known &= slot.is_some() || !weighed.changes_state();
            slots.push(slot);
            *decision = Some(weighed);
        }
        if !admitted {
            for decision in decisions.iter_mut().flatten() {
                *decision = decision.unspent();
            }
            return Ok(());
        }
        if known {
            // Nearly always: all that changes has its place.
            for ((request, ask), (slot, decision)) in
                requests.iter().zip(asks).zip(slots.iter().zip(&*decisions))
            {
                if let (Some(slot), Some(decision)) = (slot, decision) {
                    held.of(self.place(ask.print)).keep(*slot, request.policy, ask, decision);
                }
            }
            return Ok(());
        }
        drop(slots);
        // Room is made for all before anything is spent, so that nothing has to be undone.
        let mut reserved: SmallVec<[Option<usize>; FEW]> = SmallVec::new();
        for (request, ask) in requests.iter().zip(asks) {
            let place = self.place(ask.print);
            if !held.of(place).would_add(request.policy, ask) {
                reserved.push(None);
                continue;
            }
            let pending = reserved.iter().filter(|reserved| **reserved == Some(place)).count();
            let mut freed = After::default();
            let fits = held.of(place).prepare(ask, self.room(), pending, &mut freed);
            after.push(freed);
            if !fits && lack == Lack::IsBorne {
                reserved.push(None);
                continue;
            }
            if !fits {
                for _ in reserved.iter().flatten() {
                    self.room().release();
                }
                self.point(&held);
                return Err(ask.print);
            }
            reserved.push(Some(place));
        }
        let asked = requests.iter().zip(asks).zip(reserved);
        for (((request, ask), reserved), decision) in asked.zip(decisions) {
            let shard = held.of(self.place(ask.print));
            // As many others may be about to be added.
            let pending = if reserved.is_some() { None } else { Some(asks.len()) };
            *decision = Some(shard.take_prepared(request.policy, ask, self.room(), pending));
        }
        self.point(&held);
        drop(held);
        Ok(())
    }

    /// Locks the shards of all keys, the lowest number first.
    fn hold(&self, asks: &[Ask]) -> Held<'_> {
        let mut places: SmallVec<[usize; FEW]> =
            asks.iter().map(|ask| self.place(ask.print)).collect();
        places.sort_unstable();
        places.dedup();
        // Everybody who holds several locks took them in this order, and who holds one waits for no
        // other. loom: two_callers_of_two_shards_in_opposite_order
        Held { guards: places.into_iter().map(|place| (place, self.lock(place))).collect() }
    }

    fn point(&self, held: &Held<'_>) {
        for (place, shard) in &held.guards {
            self.point_at(*place, shard);
        }
    }
}

impl Shard {
    /// What [`decide`](Self::decide) would answer and where the key is; nothing is stored yet.
    fn weigh(&mut self, policy: &Policy, ask: &Ask) -> (Option<Slot>, Decision) {
        let slot = self.find(ask.print);
        let state = slot.and_then(|slot| self.state_as(policy, slot));
        (slot, step(policy, state, policy.tick().whole(ask.now), ask.cost, ask.action))
    }

    /// Stores what was weighed. No key may have been added or removed since.
    fn keep(&mut self, slot: Slot, policy: &Policy, ask: &Ask, decision: &Decision) {
        if decision.changes_state() {
            let entry = self.table.entry(slot);
            self.rewrite(slot, &entry, policy, ask, decision.state());
        }
    }

    /// Whether an admission would add an entry.
    fn would_add(&mut self, policy: &Policy, ask: &Ask) -> bool {
        let spends = ask.cost > 0 && ask.cost <= policy.capacity() && ask.action == Action::Take;
        spends && self.find(ask.print).is_none()
    }

    /// Makes room for an entry that [`take_prepared`](Self::take_prepared) may add, besides `pending`
    /// others for which room was made before and which are not there yet.
    ///
    /// False if there is none to be made here.
    fn prepare(&mut self, ask: &Ask, room: &Room, pending: usize, after: &mut After) -> bool {
        self.sweep_some(ask.now, room);
        self.move_some(MOVED_PER_INSERT, after);
        self.make_room(ask, room, pending)
    }

    /// Decides on a key for which room was made if it has no state.
    ///
    /// Making room may have forgotten a key that had a state when it was looked at: then it is new
    /// after all, and takes room of its own besides the `pending` others. Should there be none left,
    /// it is admitted and not counted, as if it had been evicted at once.
    fn take_prepared(
        &mut self,
        policy: &Policy,
        ask: &Ask,
        room: &Room,
        pending: Option<usize>,
    ) -> Decision {
        let found = self.find(ask.print);
        let state = found.and_then(|slot| self.state_as(policy, slot));
        let decision = step(policy, state, policy.tick().whole(ask.now), ask.cost, ask.action);
        if !decision.changes_state() {
            return decision;
        }
        match found {
            Some(slot) => {
                let entry = self.table.entry(slot);
                self.rewrite(slot, &entry, policy, ask, decision.state());
            }
            None => {
                let fits = pending.is_none_or(|pending| self.make_room(ask, room, pending));
                if fits {
                    self.add(policy, ask, decision.state());
                }
            }
        }
        decision
    }
}

impl<'a> Held<'a> {
    /// The shard of a key, which is among those that are held.
    fn of(&mut self, place: usize) -> &mut Guard<'a, Shard> {
        let found = self.guards.iter_mut().find(|(held, _)| *held == place);
        &mut found.expect("the shard of every key is locked").1
    }
}

fn unsupported(why: &'static str) -> StoreError {
    StoreError::with_source(StoreErrorKind::Unsupported, why)
}
