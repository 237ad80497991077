//! Several limits asked at once, on a clock that is moved by hand: all spend or none does.

use std::num::NonZeroU64;
use std::sync::Arc;

use gorl::{Action, Decision, KeyRef, ManualClock, MemoryStore, Part, Policy, Request};
use smallvec::SmallVec;

use super::drive::wait_ns;
use super::plan::Plan;
use super::traffic::Traffic;

/// One strategy's limits over the memory store.
pub(crate) struct Together<'t> {
    traffic: &'t Traffic,
    /// Each policy and the column with its keys.
    limits: Vec<(Policy, Option<usize>)>,
    store: MemoryStore,
    clock: Arc<ManualClock>,
}

/// Which limits denied a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// A bit for each limit; none when the request was admitted.
    pub(crate) denied_by: u32,
    /// The one of them that the caller has to wait for longest, the first of equals.
    pub(crate) binding: u8,
}

/// Few limits apply to a request; more of them cost an allocation.
const FEW: usize = 4;

impl<'t> Together<'t> {
    pub(crate) fn new(traffic: &'t Traffic, plan: &Plan, policies: &[Policy]) -> Self {
        let columns = plan.limits.iter().map(|limit| plan.column(limit));
        let clock = Arc::new(ManualClock::new(0));
        Self {
            traffic,
            limits: policies.iter().copied().zip(columns).collect(),
            store: MemoryStore::builder().clock(Arc::clone(&clock)).build(),
            clock,
        }
    }

    /// Decides the request at this position; how long it would have to wait, and because of whom.
    pub(crate) fn check(&self, position: usize, at_ns: u64) -> (Option<NonZeroU64>, Refusal) {
        self.clock.set(at_ns);
        // A limit that counts by a field which the request does not have does not hold it.
        let mut keys: SmallVec<[(usize, [Part<'_>; 2]); FEW]> = SmallVec::new();
        for (number, (_, column)) in self.limits.iter().enumerate() {
            if let Some(key) = self.traffic.key_under(*column, position) {
                let key = Part::Bytes(self.traffic.counted_under(*column, key));
                keys.push((number, [Part::Unsigned(number as u128), key]));
            }
        }
        let requests: SmallVec<[Request<'_>; FEW]> = keys
            .iter()
            .map(|(number, parts)| Request {
                policy: &self.limits[*number].0,
                key: KeyRef::new(parts),
                cost: 1,
                action: Action::Take,
            })
            .collect();
        let mut decisions: SmallVec<[Option<Decision>; FEW]> = SmallVec::new();
        decisions.resize(requests.len(), None);
        if let Err(error) = self.store.decide_all_now(&requests, &mut decisions) {
            unreachable!("each limit has a key of its own and room for one: {error}");
        }
        let numbers = keys.iter().map(|(number, _)| *number);
        refusal(numbers.zip(decisions.into_iter().flatten()))
    }
}

fn refusal(decisions: impl Iterator<Item = (usize, Decision)>) -> (Option<NonZeroU64>, Refusal) {
    let (mut longest, mut refusal) = (None, Refusal::default());
    for (number, decision) in decisions.filter(|(_, decision)| !decision.is_allowed()) {
        refusal.denied_by |= 1 << number;
        let wait = Some(wait_ns(decision.retry_after()));
        if wait > longest {
            longest = wait;
            // There are at most 32.
            refusal.binding = u8::try_from(number).unwrap_or(u8::MAX);
        }
    }
    (longest, refusal)
}
