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

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};
    use crate::replay::traffic::TrafficBuilder;

    const SECOND: u64 = 1_000_000_000;

    fn plan_of(line: &str) -> Plan {
        let cli = Cli::try_parse_from(line.split(' ')).unwrap();
        let Command::Replay(args) = cli.command else { panic!("not a replay") };
        Plan::of(&args).unwrap()
    }

    /// Fixed windows counted in a map: each limit's most, its window in seconds, and its key of a request.
    fn naive(requests: &[(u64, [Option<String>; 4])], limits: [(u64, u64); 4]) -> Vec<Refusal> {
        let mut used: HashMap<(usize, &str, u64), u64> = HashMap::new();
        let mut refusals = Vec::new();
        for (second, keys) in requests {
            let held = || {
                let keys = keys.iter().zip(limits).enumerate();
                keys.filter_map(|(at, (key, limit))| key.as_deref().map(|key| (at, key, limit)))
            };
            let mut refusal = Refusal::default();
            let mut longest = 0;
            for (at, key, (most, window)) in held() {
                let spent = used.get(&(at, key, second / window)).copied().unwrap_or_default();
                let wait = window - second % window;
                if spent == most {
                    refusal.denied_by |= 1 << at;
                    if wait > longest {
                        (longest, refusal.binding) = (wait, u8::try_from(at).unwrap());
                    }
                }
            }
            if refusal.denied_by == 0 {
                for (at, key, (_, window)) in held() {
                    *used.entry((at, key, second / window)).or_default() += 1;
                }
            }
            refusals.push(refusal);
        }
        refusals
    }

    #[test]
    fn it_decides_as_counts_in_a_map_do() {
        let plan = plan_of(
            "gorl replay x --limit 2 --window 3s --and 5/7s --and all:6/4s --and user:3/5s \
             --strategy fixed_window",
        );
        let mut seed = 5_u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        let (mut second, mut requests) = (0, Vec::new());
        for _ in 0..2_000 {
            second += random(5) / 3;
            let key = Some(random(4).to_string());
            // Every fifth request has no user.
            let user = Some(random(5)).filter(|&user| user > 0).map(|user| user.to_string());
            requests.push((second, [key.clone(), key, Some(String::new()), user]));
        }
        let mut builder = TrafficBuilder::new(false, 2);
        for (second, [key, _, all, user]) in &requests {
            let bytes = |text: &Option<String>| text.clone().map(String::into_bytes);
            builder.push(second * SECOND, &bytes(key).unwrap(), b"").unwrap();
            builder.push_also(0, bytes(all).as_deref()).unwrap();
            builder.push_also(1, bytes(user).as_deref()).unwrap();
        }
        let traffic = builder.build();
        let together = Together::new(&traffic, &plan, &plan.policies[0]);
        let decided: Vec<Refusal> = traffic
            .arrivals()
            .enumerate()
            .map(|(position, (at_ns, _))| together.check(position, at_ns).1)
            .collect();
        let expected = naive(&requests, [(2, 3), (5, 7), (6, 4), (3, 5)]);
        assert_eq!(decided, expected);
        // Each limit binds now and then, so that the test is about all of them.
        for at in 0..4 {
            assert!(expected.iter().any(|one| one.denied_by != 0 && one.binding == at), "{at}");
        }
    }
}
