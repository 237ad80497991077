//! The store: shards behind their locks, and the calls that reach them.

use crossbeam_utils::CachePadded;
use gorl_core::{
    Action, Clock, CostExceedsLimit, DecideError, Decision, Key, KeyRef, LocalStore, Part, Policy,
    Request, Store, StoreError, check_cost,
};

use crate::builder::MemoryStoreBuilder;
use crate::clock::ClockSource;
use crate::evict::SweepPhase;
use crate::fingerprint::{Fingerprint, Secret};
use crate::room::Room;
use crate::shard::{After, Ask, Shard};
use crate::sync::{Guard, Hint, SpinLock};

/// An in-process store: states in a sharded table, one cache miss and no allocation a decision.
///
/// Decisions on one key are serialised by the lock of its shard; other keys run in parallel. A key
/// is kept as a 128-bit keyed fingerprint, so an entry is 32 bytes whatever the key's length. There
/// is no background thread: each key that is added forgets a few that are at rest.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use gorl_core::{Action, Policy};
/// use gorl_store_mem::MemoryStore;
///
/// let store = MemoryStore::builder().capacity(10_000).build();
/// let policy = Policy::fixed_window(1, Duration::from_secs(3600)).unwrap();
/// assert!(store.decide_key(&policy, "user-1", 1, Action::Take).unwrap().is_allowed());
/// assert!(!store.decide_key(&policy, "user-1", 1, Action::Take).unwrap().is_allowed());
/// assert_eq!(store.len(), 1);
/// ```
pub struct MemoryStore {
    shards: Box<[CachePadded<Locked>]>,
    secret: Secret,
    room: Room,
    clock: ClockSource,
}

/// A shard behind its lock, and where its table lies for those who do not hold it.
struct Locked {
    shard: SpinLock<Shard>,
    hint: Hint,
}

impl Locked {
    fn new(shard: Shard) -> Self {
        let hint = Hint::default();
        shard.point(&hint);
        Self { shard: SpinLock::new(shard), hint }
    }

    #[inline(always)]
    fn lock(&self) -> Guard<'_, Shard> {
        self.shard.lock()
    }
}

impl MemoryStore {
    /// A store that grows with its keys, on the [`SystemClock`](crate::SystemClock).
    #[must_use]
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// A store with a capacity, a clock or a number of shards of your choice.
    pub fn builder() -> MemoryStoreBuilder {
        MemoryStoreBuilder::default()
    }

    pub(crate) fn from_parts(shards: Vec<Shard>, room: Room, clock: ClockSource) -> Self {
        let shards = shards.into_iter().map(|shard| CachePadded::new(Locked::new(shard)));
        Self { shards: shards.collect(), secret: Secret::random(), room, clock }
    }

    /// Decides on a key under `policy`; what [`LocalStore::decide_now`] does, for a key by its own
    /// type.
    ///
    /// # Errors
    ///
    /// [`CostExceedsLimit`] if `cost` is above the policy's capacity.
    #[inline]
    pub fn decide_key<K: Key + ?Sized>(
        &self,
        policy: &Policy,
        key: &K,
        cost: u32,
        action: Action,
    ) -> Result<Decision, CostExceedsLimit> {
        self.decide_parts(policy, key.parts().as_ref(), cost, action)
    }

    /// Decides on a key under the store's default policy, which
    /// [`set_default_policy`](Self::set_default_policy) sets.
    ///
    /// The policy lies with the counts and changes with them under one lock, so this costs nothing
    /// over a policy that cannot change.
    ///
    /// A cost above the policy's capacity is denied, with a wait that means nothing:
    /// [`check_cost`] with [`Decision::policy`] tells.
    ///
    /// # Panics
    ///
    /// If the store has no default policy.
    #[inline(always)]
    pub fn decide_default<K: Key + ?Sized>(&self, key: &K, cost: u32, action: Action) -> Decision {
        let print = self.secret.fingerprint(key.parts().as_ref());
        let shard = self.shard(print);
        shard.hint.prefetch(print.place);
        let now = self.clock.now_ns();
        let known = shard.lock().decide_default_known(print, now, cost, action);
        match known {
            Some(decision) => decision,
            None => self.decide_rare(None, &Ask { print, now, cost, action }),
        }
    }

    #[inline]
    fn decide_parts(
        &self,
        policy: &Policy,
        parts: &[Part<'_>],
        cost: u32,
        action: Action,
    ) -> Result<Decision, CostExceedsLimit> {
        check_cost(policy, cost)?;
        let print = self.secret.fingerprint(parts);
        let shard = self.shard(print);
        shard.hint.prefetch(print.place);
        let now = self.clock.now_ns();
        let known = shard.lock().decide_known(policy, print, now, cost, action);
        Ok(match known {
            Some(decision) => decision,
            None => self.decide_rare(Some(policy), &Ask { print, now, cost, action }),
        })
    }

    /// Decides on a key that is new, or whose state is of another policy, under the given policy
    /// or the default one.
    #[inline(never)]
    fn decide_rare(&self, policy: Option<&Policy>, ask: &Ask) -> Decision {
        loop {
            // What it holds is freed when the lock has been released.
            let mut after = After::default();
            let locked = self.shard(ask.print);
            let mut shard = locked.lock();
            let Some(policy) = policy.copied().or_else(|| shard.default_policy()) else {
                drop(shard);
                panic!("the store has no default policy: set MemoryStoreBuilder::default_policy");
            };
            let decision = shard.decide(&policy, ask, &self.room, &mut after);
            shard.point(&locked.hint);
            drop(shard);
            if !after.needs_room {
                return decision;
            }
            self.make_room_elsewhere(ask.print, ask.now);
        }
    }

    /// The store is full and the key's own shard is empty: another one gives something up.
    #[cold]
    pub(crate) fn make_room_elsewhere(&self, print: Fingerprint, now: u64) {
        let own = self.place(print);
        for step in 1..self.shards.len() {
            let shard = &self.shards[(own + step) % self.shards.len()];
            if shard.lock().evict(print, now, &self.room) {
                return;
            }
        }
    }

    /// Sets the policy of [`decide_default`](Self::decide_default), shard by shard: each key sees
    /// the change at one instant. Counts stay and are read under the new numbers.
    ///
    /// Two calls at the same time may leave some shards with one policy and some with the other;
    /// the caller sees to it that there is one at a time.
    pub fn set_default_policy(&self, policy: Policy) {
        for shard in &self.shards {
            shard.lock().set_default_policy(policy);
        }
    }

    /// Forgets every key that is at rest and gives memory back where most of it is unused.
    ///
    /// Callers are not held up: each lock is held for some dozens of entries at a time. Calling
    /// this is never necessary, since each new key sweeps a few slots; it is for a service that
    /// wants its memory back after a peak.
    pub fn sweep(&self) {
        let now = self.clock.now_ns();
        for shard in &self.shards {
            let mut phase = Some(SweepPhase::Settle);
            while let Some(next) = phase {
                // Freed when the lock has been released.
                let mut after = After::default();
                let mut locked = shard.lock();
                phase = locked.sweep_step(next, now, &self.room, &mut after);
                locked.point(&shard.hint);
                drop(locked);
            }
        }
    }

    /// How many keys have a state, at rest or not.
    #[must_use]
    pub fn len(&self) -> usize {
        let sum = self.shards.iter().map(|shard| shard.lock().len()).sum();
        // A key that has been counted may make room, meanwhile, for one that is counted later.
        // loom: len_is_never_above_the_capacity
        self.capacity().map_or(sum, |capacity| capacity.min(sum))
    }

    /// Whether no key has a state.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The hard bound on [`len`](Self::len), if there is one.
    #[must_use]
    pub fn capacity(&self) -> Option<usize> {
        self.room.capacity()
    }

    /// How many keys that had spent something were given up for lack of room, in all.
    ///
    /// When this grows, keys are forgotten early: choose a larger capacity.
    #[must_use]
    pub fn evictions(&self) -> u64 {
        self.shards.iter().map(|shard| shard.lock().evictions()).sum()
    }

    /// How many shards there are.
    #[must_use]
    pub fn shards(&self) -> usize {
        self.shards.len()
    }

    /// Bytes of memory that the store holds, its tables and its own size.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let heap: usize = self.shards.iter().map(|shard| shard.lock().bytes()).sum();
        heap + size_of_val::<[_]>(&self.shards) + size_of::<Self>()
    }

    /// The store's clock, in nanoseconds since the Unix epoch.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }

    pub(crate) fn fingerprint(&self, parts: &[Part<'_>]) -> Fingerprint {
        self.secret.fingerprint(parts)
    }

    pub(crate) fn room(&self) -> &Room {
        &self.room
    }

    /// The number of a key's shard. There is a power of two of them, and at least one.
    #[inline]
    pub(crate) fn place(&self, print: Fingerprint) -> usize {
        print.shard(self.shards.len() - 1)
    }

    pub(crate) fn lock(&self, place: usize) -> Guard<'_, Shard> {
        self.shards[place].lock()
    }

    /// Tells where the table of a shard lies now.
    pub(crate) fn point_at(&self, place: usize, shard: &Shard) {
        shard.point(&self.shards[place].hint);
    }

    #[inline]
    fn shard(&self, print: Fingerprint) -> &Locked {
        &self.shards[self.place(print)]
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The secret stays one.
        f.debug_struct("MemoryStore")
            .field("len", &self.len())
            .field("capacity", &self.capacity())
            .field("shards", &self.shards())
            .finish_non_exhaustive()
    }
}

impl LocalStore for MemoryStore {
    #[inline]
    fn decide_now(&self, request: Request<'_>) -> Result<Decision, CostExceedsLimit> {
        self.decide_parts(request.policy, request.key.parts(), request.cost, request.action)
    }

    fn give_back_now(&self, request: Request<'_>) {
        let print = self.secret.fingerprint(request.key.parts());
        let ask =
            Ask { print, now: self.clock.now_ns(), cost: request.cost, action: request.action };
        self.shard(print).lock().give_back(request.policy, &ask, &self.room);
    }

    fn reset_now(&self, key: KeyRef<'_>) {
        let print = self.secret.fingerprint(key.parts());
        self.shard(print).lock().reset(print, &self.room);
    }
}

impl Store for MemoryStore {
    async fn decide(&self, request: Request<'_>) -> Result<Decision, DecideError> {
        Ok(self.decide_now(request)?)
    }

    async fn decide_all(
        &self,
        requests: &[Request<'_>],
        decisions: &mut [Option<Decision>],
    ) -> Result<(), DecideError> {
        self.decide_all_now(requests, decisions)
    }

    async fn give_back(&self, request: Request<'_>) -> Result<(), StoreError> {
        self.give_back_now(request);
        Ok(())
    }

    async fn reset(&self, key: KeyRef<'_>) -> Result<(), StoreError> {
        self.reset_now(key);
        Ok(())
    }

    fn policy_replaced(&self, old: &Policy, new: &Policy) {
        for shard in &self.shards {
            shard.lock().policy_replaced(old, new);
        }
    }
}
