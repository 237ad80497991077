//! The policies whose states a shard holds, so that any entry can be judged by its own.

use gorl_core::{Policy, State, Strategy, is_rested, rested_at, spent_at};

use crate::table::{Entry, PolicyId};

/// The number of no policy.
pub(crate) const NO_POLICY: PolicyId = PolicyId::MAX;

/// One policy, and how many entries were written under it.
struct Kept {
    policy: Policy,
    /// What has taken the place of `policy` since, or `policy` itself. An entry is forgotten only
    /// when both count nothing of it any more, since the next request may read it under either.
    latest: Policy,
    entries: usize,
}

/// The list of a shard, short in practice: a slot whose last entry has gone is used again.
#[derive(Default)]
pub(crate) struct Policies {
    list: Vec<Kept>,
}

/// How soon an entry may be evicted: what has spent least of its limit first, then what rests
/// first.
#[derive(Clone, Copy)]
pub(crate) struct Rank {
    spent: u32,
    capacity: u32,
    rested_at: u64,
}

impl Rank {
    /// Nothing is spent: forgetting the entry changes no answer.
    pub(crate) fn is_free(self) -> bool {
        self.spent == 0
    }

    /// Nothing is left to spend.
    pub(crate) fn is_exhausted(self) -> bool {
        self.spent >= self.capacity
    }

    /// Whether this one goes before `other`. The shares are compared multiplied out.
    pub(crate) fn goes_before(self, other: Self) -> bool {
        let mine = u64::from(self.spent) * u64::from(other.capacity);
        let theirs = u64::from(other.spent) * u64::from(self.capacity);
        (mine, self.rested_at) < (theirs, other.rested_at)
    }
}

impl Policies {
    /// Whether entries numbered `id` were written under exactly `policy`.
    #[inline]
    pub(crate) fn is(&self, id: PolicyId, policy: &Policy) -> bool {
        self.list.get(usize::from(id)).is_some_and(|kept| kept.policy == *policy)
    }

    /// The state of an entry as `policy` reads it; none if it was counted by another strategy,
    /// or in other ticks.
    #[cold]
    pub(crate) fn read_as(&self, entry: &Entry, policy: &Policy) -> Option<State> {
        let written = self.list.get(usize::from(entry.policy()))?.policy;
        let comparable = written.strategy() == policy.strategy() && written.tick() == policy.tick();
        comparable.then(|| entry.state.adopted_by(policy))
    }

    /// The number for one more entry under `policy`.
    pub(crate) fn enlist(&mut self, policy: &Policy) -> PolicyId {
        let known = self.list.iter().position(|kept| kept.policy == *policy);
        let index = known.unwrap_or_else(|| self.slot_for(policy));
        if let Some(kept) = self.list.get_mut(index) {
            kept.entries += 1;
        }
        // `slot_for` keeps the list within the numbers.
        PolicyId::try_from(index).unwrap_or(PolicyId::MAX)
    }

    /// One entry of number `id` has gone.
    pub(crate) fn release(&mut self, id: PolicyId) {
        if let Some(kept) = self.list.get_mut(usize::from(id)) {
            kept.entries = kept.entries.saturating_sub(1);
        }
    }

    /// From now on `new` applies to the keys that `old` applied to.
    pub(crate) fn replaced(&mut self, old: &Policy, new: &Policy) {
        for kept in &mut self.list {
            if kept.policy == *old || kept.latest == *old {
                kept.latest = *new;
            }
        }
    }

    /// Whether an entry may be forgotten: it has been at rest for a whole window, so that a clock
    /// which goes back by no more than that finds it there.
    pub(crate) fn is_forgettable(&self, entry: &Entry, now: u64) -> bool {
        match self.list.get(usize::from(entry.policy())) {
            Some(kept) => [kept.policy, kept.latest].iter().all(|policy| {
                let now = policy.tick().whole(now);
                is_rested(policy, entry.state, now.saturating_sub(policy.window_ticks()))
            }),
            None => true,
        }
    }

    /// How soon an entry may be evicted.
    pub(crate) fn rank(&self, entry: &Entry, now: u64) -> Rank {
        match self.list.get(usize::from(entry.policy())) {
            Some(kept) => Rank {
                spent: spent_at(&kept.policy, entry.state, kept.policy.tick().whole(now)),
                capacity: kept.policy.capacity(),
                rested_at: rested_at(&kept.policy, entry.state)
                    .saturating_mul(kept.policy.tick().nanos()),
            },
            None => Rank { spent: 0, capacity: 1, rested_at: 0 },
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        self.list.capacity() * size_of::<Kept>()
    }

    /// A place in the list for a policy that is not in it.
    fn slot_for(&mut self, policy: &Policy) -> usize {
        let fresh = Kept { policy: *policy, latest: *policy, entries: 0 };
        if let Some(index) = self.list.iter().position(|kept| kept.entries == 0) {
            self.list[index] = fresh;
            return index;
        }
        if self.list.len() < usize::from(NO_POLICY) {
            self.list.push(fresh);
            return self.list.len() - 1;
        }
        // 65 535 policies have entries in this one shard. The new one shares the number of that
        // which keeps its states longest; its states are then read as if its policy had changed.
        let longest = self.list.iter().enumerate().max_by_key(|(_, kept)| span(&kept.policy));
        longest.map_or(0, |(index, _)| index)
    }
}

/// How long a state of the policy can matter, in nanoseconds.
fn span(policy: &Policy) -> u128 {
    let window = policy.window().as_nanos();
    match policy.strategy() {
        Strategy::FixedWindow => window,
        Strategy::SlidingWindow => 2 * window,
        _ => u128::from(policy.capacity()) * window / u128::from(policy.limit()),
    }
}
