//! What each of several limits did: how often it denied, how often it was the one that binds.

use std::collections::VecDeque;

use gorl::Strategy;

use super::demand::Peak;
use super::drive::Outcome;
use super::plan::{Limit, Plan};
use super::traffic::Traffic;

/// One limit under every strategy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LimitReport {
    pub(crate) limit: Limit,
    /// How many keys it has.
    pub(crate) keys: u64,
    pub(crate) strategies: Vec<LimitOutcome>,
}

/// One limit under one strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LimitOutcome {
    pub(crate) strategy: Strategy,
    /// Denied requests for which it was the limit with the longest wait; each is counted for one limit.
    pub(crate) binding: u64,
    /// Denied requests that it denied, alone or with others.
    pub(crate) denied: u64,
    /// Denied requests that no other limit denied.
    pub(crate) denied_alone: u64,
    /// Its keys that it denied at least once.
    pub(crate) keys_limited: u64,
    /// The most requests of one of its keys that were admitted in any span of its window's length.
    pub(crate) worst: u64,
}

/// Counts for every limit; empty when there is one alone, of which the strategies tell all.
pub(crate) fn of(traffic: &Traffic, plan: &Plan, outcomes: &[Outcome]) -> Vec<LimitReport> {
    if !plan.has_several() {
        return Vec::new();
    }
    let numbered = plan.limits.iter().enumerate();
    numbered
        .map(|(number, limit)| {
            let column = plan.column(limit);
            LimitReport {
                limit: limit.clone(),
                keys: traffic.keys_under(column) as u64,
                strategies: outcomes
                    .iter()
                    .map(|one| outcome(traffic, number, column, limit, one))
                    .collect(),
            }
        })
        .collect()
}

fn outcome(
    traffic: &Traffic,
    number: usize,
    column: Option<usize>,
    limit: &Limit,
    outcome: &Outcome,
) -> LimitOutcome {
    let mut limited = vec![false; traffic.keys_under(column)];
    let mut recent = vec![VecDeque::new(); limited.len()];
    let (mut binding, mut denied, mut denied_alone) = (0, 0, 0);
    let mut worst = Peak::default();
    for (position, ((at_ns, _), refusal)) in traffic.arrivals().zip(&outcome.refusals).enumerate() {
        let Some(key) = traffic.key_under(column, position) else { continue };
        if refusal.denied_by == 0 {
            worst.admit(&mut recent[key as usize], at_ns, limit.window_ns());
        } else if refusal.denied_by & (1 << number) != 0 {
            limited[key as usize] = true;
            denied += 1;
            denied_alone += u64::from(refusal.denied_by.is_power_of_two());
            binding += u64::from(usize::from(refusal.binding) == number);
        }
    }
    LimitOutcome {
        strategy: outcome.policy.strategy(),
        binding,
        denied,
        denied_alone,
        keys_limited: limited.iter().filter(|&&limited| limited).count() as u64,
        worst: worst.count,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::sample;

    /// Of each limit under the first strategy: binding, denied, denied alone, keys limited, worst.
    fn figures(options: &str, arrivals: &[(u64, &str)]) -> Vec<[u64; 5]> {
        let report = sample(options, arrivals);
        let of = |limit: &LimitReport| {
            let one = limit.strategies[0];
            [one.binding, one.denied, one.denied_alone, one.keys_limited, one.worst]
        };
        report.limits.iter().map(of).collect()
    }

    #[test]
    fn the_limit_that_binds_is_the_one_to_wait_for_longest() {
        // Two a second and three in ten seconds, in windows from the epoch. Of the three at 0 the third
        // is denied by the second's limit alone and spends nothing of the other, so one of those at 1
        // is admitted. The next is denied by the ten seconds' limit alone, which has its three; at 2 too.
        let arrivals = [0, 0, 0, 1, 1, 2].map(|second| (second, "a"));
        let options = "--limit 2 --window 1s --and 3/10s --strategy fixed_window";
        assert_eq!(figures(options, &arrivals), [[1, 1, 1, 1, 2], [2, 2, 2, 1, 3]]);
        // Where both deny, the longer wait binds: at 0 that of the minute.
        let options = "--limit 1 --window 1s --and 1/1m --strategy fixed_window";
        assert_eq!(figures(options, &arrivals), [[0, 2, 0, 1, 1], [5, 5, 3, 1, 1]]);
    }

    #[test]
    fn all_together_are_one_key_and_a_denial_spends_nothing() {
        // Three for all, two for each: `a` is denied its third at once and takes nothing of the three
        // by it, so `b` gets one. Then the three are spent, for `b` as for `c`.
        let arrivals = [(0, "a"), (0, "a"), (0, "a"), (1, "b"), (2, "b"), (3, "c")];
        let options = "--limit 2 --and all:3/1m --strategy fixed_window";
        assert_eq!(figures(options, &arrivals), [[1, 1, 1, 1, 2], [2, 2, 2, 1, 3]]);
        let report = sample(options, &arrivals);
        assert_eq!((report.limits[0].keys, report.limits[1].keys), (3, 1));
        let all = &report.strategies[0];
        assert_eq!((all.admitted, all.denied, all.keys_limited), (3, 3, 3));
        // An entry for each of three keys and for all together.
        assert_eq!(all.state_bytes, 4 * 32);
    }

    #[test]
    fn one_limit_alone_is_told_by_its_strategies() {
        assert!(sample("--limit 2", &[(0, "a"); 3]).limits.is_empty());
    }

    #[test]
    fn a_second_limit_that_never_denies_changes_nothing() {
        let arrivals: Vec<(u64, &str)> = (0..200_u64)
            .zip(["a", "b", "c"].into_iter().cycle())
            .map(|(at, key)| (at * at % 97, key))
            .collect();
        let alone = sample("--limit 5 --window 10s --exact", &arrivals);
        let both = sample("--limit 5 --window 10s --exact --and all:1000/1h", &arrivals);
        for (alone, both) in alone.strategies.iter().zip(&both.strategies) {
            assert_eq!((alone.admitted, &alone.worst), (both.admitted, &both.worst));
            assert_eq!((alone.wait_p50, alone.wait_p99), (both.wait_p50, both.wait_p99));
        }
        let told = |report: &crate::replay::Report| report.exact.clone().unwrap().strategies;
        assert_eq!(told(&alone), told(&both));
    }
}
