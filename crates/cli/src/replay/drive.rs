//! Drives one limiter through the traffic, and measures nothing but its decisions.

use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use gorl::Policy;

use super::plan::Plan;
use super::progress::Progress;
use super::together::{Refusal, Together};
use super::traffic::Traffic;
use crate::engine::Memory;

/// What one strategy did with the traffic.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// That of the first limit.
    pub(crate) policy: Policy,
    /// For each request in time order, how long it would have to wait; none when admitted.
    pub(crate) waits: Vec<Option<NonZeroU64>>,
    /// For each request which limits denied it; empty when there is one limit alone.
    pub(crate) refusals: Vec<Refusal>,
    /// Wall-clock time of all decisions together; the shortest of a few runs if it is short.
    pub(crate) elapsed: Duration,
}

/// How many decisions are made between two looks at the progress bar, which are not part of the
/// time measured.
const CHUNK: usize = 1 << 10;

/// Decisions that take no longer than this together are timed again, this many times.
const SHORT: Duration = Duration::from_millis(20);
const REPEATS: usize = 4;

/// Runs every strategy over the same arrivals.
pub(crate) fn all(traffic: &Traffic, plan: &Plan, progress: &Progress) -> Vec<Outcome> {
    progress.deciding((traffic.requests() * plan.policies.len()) as u64);
    plan.policies.iter().map(|policies| timed(traffic, plan, policies, progress)).collect()
}

/// Runs one strategy; if that took so little time that an interruption would tell in it, times it
/// again and keeps the shortest.
fn timed(traffic: &Traffic, plan: &Plan, policies: &[Policy], progress: &Progress) -> Outcome {
    let mut outcome = one(traffic, plan, policies, progress);
    for _ in 0..REPEATS {
        if outcome.elapsed > SHORT {
            break;
        }
        let again = one(traffic, plan, policies, &Progress::new()).elapsed;
        outcome.elapsed = outcome.elapsed.min(again);
    }
    outcome
}

/// Runs the policies of one strategy, one for each limit, over the arrivals.
pub(crate) fn one(
    traffic: &Traffic,
    plan: &Plan,
    policies: &[Policy],
    progress: &Progress,
) -> Outcome {
    let [policy] = *policies else {
        return several(traffic, plan, policies, progress);
    };
    alone(traffic, policy, progress)
}

/// Runs limits that must all admit, each request decided at the time it came.
fn several(traffic: &Traffic, plan: &Plan, policies: &[Policy], progress: &Progress) -> Outcome {
    let policy = policies[0];
    progress.strategy(policy.strategy().as_str());
    let together = Together::new(traffic, plan, policies);
    let mut waits = Vec::with_capacity(traffic.requests());
    let mut refusals = Vec::with_capacity(traffic.requests());
    let mut arrivals = traffic.arrivals().enumerate();
    let mut elapsed = Duration::ZERO;
    while arrivals.len() > 0 {
        let started = Instant::now();
        for (position, (at_ns, _)) in arrivals.by_ref().take(CHUNK) {
            let (wait, refusal) = together.check(position, at_ns);
            waits.push(wait);
            refusals.push(refusal);
        }
        elapsed += started.elapsed();
        progress.advance(CHUNK as u64);
    }
    Outcome { policy, waits, refusals, elapsed }
}

/// Runs one policy over the arrivals, each decided at the time it came.
pub(crate) fn alone(traffic: &Traffic, policy: Policy, progress: &Progress) -> Outcome {
    progress.strategy(policy.strategy().as_str());
    let memory = Memory::new(policy);
    let mut waits = Vec::with_capacity(traffic.requests());
    let mut arrivals = traffic.arrivals();
    let mut elapsed = Duration::ZERO;
    while arrivals.len() > 0 {
        let started = Instant::now();
        for (at_ns, key) in arrivals.by_ref().take(CHUNK) {
            let decision = memory.check(traffic.counted_as(key), at_ns);
            waits.push((!decision.is_allowed()).then(|| wait_ns(decision.retry_after())));
        }
        elapsed += started.elapsed();
        progress.advance(CHUNK as u64);
    }
    Outcome { policy, waits, refusals: Vec::new(), elapsed }
}

/// The wait of a denial, which is never zero and, on a clock that does not go back, never longer
/// than two windows of ten years: both fit.
pub(crate) fn wait_ns(wait: Duration) -> NonZeroU64 {
    u64::try_from(wait.as_nanos()).ok().and_then(NonZeroU64::new).unwrap_or(NonZeroU64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::traffic::TrafficBuilder;

    #[test]
    fn each_request_is_decided_at_its_own_time_for_its_own_key() {
        let second = 1_000_000_000;
        let mut builder = TrafficBuilder::new(false, 0);
        for (at, key) in [(2 * second, "a"), (0, "a"), (0, "a"), (0, "b"), (second, "a")] {
            builder.push(at, key.as_bytes(), b"").unwrap();
        }
        let policy = Policy::token_bucket(1, Duration::from_secs(2)).unwrap();
        let outcome = alone(&builder.build(), policy, &Progress::new());
        let waits: Vec<u64> =
            outcome.waits.iter().map(|wait| wait.map_or(0, NonZeroU64::get)).collect();
        assert_eq!(waits, [0, 2 * second, 0, second, 0]);
    }
}
