//! The policies whose states a shard holds, so that any entry can be judged by its own.

mod index;

use gorl_core::{Policy, State, Strategy, is_rested, rested_at, spent_at};

use crate::table::{Entry, PolicyId};
use index::Index;

/// The number of no policy.
pub(crate) const NO_POLICY: PolicyId = PolicyId::MAX;

/// One policy, and how many entries were written under it.
struct Kept {
    policy: Policy,
    /// The policy by which the sweeper judges these entries: once `policy` has been replaced, one
    /// that keeps a state at least as long as any that came after, so that what a new policy would
    /// still count is there.
    sweep_as: Policy,
    /// Whether `policy` has been replaced, for some of its keys at least.
    replaced: bool,
    entries: usize,
    /// Whether its number is in [`Policies::vacant`].
    is_vacant: bool,
}

/// The list of a shard, short in practice: a slot whose last entry has gone is used again.
#[derive(Default)]
pub(crate) struct Policies {
    list: Vec<Kept>,
    /// Where in the list a policy is.
    index: Index,
    /// Numbers whose last entry went; some may have entries again.
    vacant: Vec<PolicyId>,
}

impl Kept {
    fn new(policy: &Policy) -> Self {
        Self { policy: *policy, sweep_as: *policy, replaced: false, entries: 0, is_vacant: false }
    }

    /// Whether this is the policy that is looked for; tests count how often that is asked.
    fn is_of(&self, policy: &Policy) -> bool {
        #[cfg(all(test, not(gorl_loom)))]
        tests::count();
        self.policy == *policy
    }
}

/// Policies up to which a list is looked through: an index pays only for more, and most stores have
/// one.
const FEW: usize = 8;

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
        is_alike(&written, policy).then(|| entry.state.adopted_by(policy))
    }

    /// The number for one more entry under `policy`.
    ///
    /// However many policies there are, few of them are looked at: each new key asks this.
    pub(crate) fn enlist(&mut self, policy: &Policy) -> PolicyId {
        let known = if self.is_indexed() {
            self.index.find(&self.list, policy)
        } else {
            number(self.list.iter().position(|kept| kept.is_of(policy)))
        };
        let id = known.unwrap_or_else(|| self.slot_for(policy));
        if let Some(kept) = self.list.get_mut(usize::from(id)) {
            kept.entries += 1;
        }
        id
    }

    /// One entry of number `id` has gone.
    pub(crate) fn release(&mut self, id: PolicyId) {
        if let Some(kept) = self.list.get_mut(usize::from(id)) {
            kept.entries = kept.entries.saturating_sub(1);
            if kept.entries == 0 && !kept.is_vacant {
                kept.is_vacant = true;
                self.vacant.push(id);
            }
        }
    }

    /// From now on `new` applies to the keys that `old` applied to.
    pub(crate) fn replaced(&mut self, old: &Policy, new: &Policy) {
        for kept in &mut self.list {
            kept.replaced |= kept.policy == *old;
            // `old` may itself have replaced this one, at once or by way of others. Which it was is
            // not kept: to forget later than need be changes no answer.
            if kept.replaced && is_alike(&kept.policy, new) {
                kept.sweep_as = longer(&kept.sweep_as, new);
            }
        }
    }

    /// Whether an entry may be forgotten: it has been at rest for a whole window, so that a clock
    /// which goes back by no more than that finds it there.
    pub(crate) fn is_forgettable(&self, entry: &Entry, now: u64) -> bool {
        match self.list.get(usize::from(entry.policy())) {
            Some(kept) => {
                let window = kept.policy.window_ticks().max(kept.sweep_as.window_ticks());
                let now = kept.policy.tick().whole(now);
                is_rested(&kept.sweep_as, entry.state, now.saturating_sub(window))
            }
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
            + self.vacant.capacity() * size_of::<PolicyId>()
            + self.index.bytes()
    }

    /// A place in the list for a policy that is not in it.
    fn slot_for(&mut self, policy: &Policy) -> PolicyId {
        if let Some(id) = self.vacate() {
            let old = self.list[usize::from(id)].policy;
            self.index.remove(&self.list, &old);
            self.list[usize::from(id)] = Kept::new(policy);
            self.index_one(id);
            return id;
        }
        if let Some(id) = number(Some(self.list.len())) {
            self.list.push(Kept::new(policy));
            // No decision that releases a number allocates for it.
            self.vacant.reserve_exact(self.list.capacity() - self.vacant.len());
            self.index_one(id);
            return id;
        }
        // 65 535 policies have entries in this one shard. The new one shares the number of that
        // which keeps its states longest among those that it can read; its states are then read as
        // if its policy had changed.
        let alike = self.list.iter().enumerate().filter(|(_, kept)| is_alike(&kept.policy, policy));
        let longest = alike.max_by_key(|(_, kept)| span(&kept.sweep_as));
        number(longest.map(|(index, _)| index)).unwrap_or(0)
    }

    fn is_indexed(&self) -> bool {
        self.list.len() > FEW
    }

    /// Adds a number of the list to the index, or all of them if the list has just become long.
    fn index_one(&mut self, id: PolicyId) {
        if !self.is_indexed() {
            return;
        }
        if !self.index.is_empty() {
            return self.index.insert(&self.list, id);
        }
        for id in (0..NO_POLICY).take(self.list.len()) {
            self.index.insert(&self.list, id);
        }
    }

    /// A number under which there is no entry any more.
    fn vacate(&mut self) -> Option<PolicyId> {
        while let Some(id) = self.vacant.pop() {
            #[cfg(all(test, not(gorl_loom)))]
            tests::count();
            let kept = &mut self.list[usize::from(id)];
            kept.is_vacant = false;
            if kept.entries == 0 {
                return Some(id);
            }
        }
        None
    }
}

/// An index as a number; [`NO_POLICY`] is none.
fn number(index: Option<usize>) -> Option<PolicyId> {
    PolicyId::try_from(index?).ok().filter(|&id| id != NO_POLICY)
}

/// Whether a state written under one policy means something under the other.
fn is_alike(a: &Policy, b: &Policy) -> bool {
    a.strategy() == b.strategy() && a.tick() == b.tick()
}

/// A policy under which a state rests no sooner than under either of two of one strategy.
fn longer(a: &Policy, b: &Policy) -> Policy {
    // The windows' limits do not matter. Products compare the times that one unit takes to drain.
    let unit = |of: &Policy, other: &Policy| match of.strategy() {
        Strategy::FixedWindow | Strategy::SlidingWindow => u128::from(of.window_ticks()),
        _ => u128::from(of.window_ticks()) * u128::from(other.limit()),
    };
    let slower = if unit(b, a) > unit(a, b) { *b } else { *a };
    // A token bucket with the larger burst lacks more tokens. The windows have none to set.
    slower.with_burst(a.capacity().max(b.capacity()).into()).unwrap_or(slower)
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

#[cfg(all(test, not(gorl_loom)))]
mod tests;
