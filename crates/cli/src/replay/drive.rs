//! Drives one limiter through the traffic, and measures nothing but its decisions.

use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use gorl::Policy;

use super::progress::Progress;
use super::traffic::Traffic;
use crate::engine::Memory;

/// What one strategy did with the traffic.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) policy: Policy,
    /// For each request in time order, how long it would have to wait; none when admitted.
    pub(crate) waits: Vec<Option<NonZeroU64>>,
    /// Wall-clock time of all decisions together; the shortest of a few runs if it is short.
    pub(crate) elapsed: Duration,
}

/// How many decisions are made between two looks at the progress bar, which are not part of the
/// time measured.
const CHUNK: usize = 1 << 10;

/// Decisions that take no longer than this together are timed again, this many times.
const SHORT: Duration = Duration::from_millis(20);
const REPEATS: usize = 4;

/// Runs every policy over the same arrivals.
pub(crate) fn all(traffic: &Traffic, policies: &[Policy], progress: &Progress) -> Vec<Outcome> {
    progress.deciding((traffic.requests() * policies.len()) as u64);
    policies.iter().map(|&policy| timed(traffic, policy, progress)).collect()
}

/// Runs one policy; if that took so little time that an interruption would tell in it, times it
/// again and keeps the shortest.
fn timed(traffic: &Traffic, policy: Policy, progress: &Progress) -> Outcome {
    let mut outcome = one(traffic, policy, progress);
    for _ in 0..REPEATS {
        if outcome.elapsed > SHORT {
            break;
        }
        let again = one(traffic, policy, &Progress::new()).elapsed;
        outcome.elapsed = outcome.elapsed.min(again);
    }
    outcome
}

/// Runs one policy over the arrivals, each decided at the time it came.
pub(crate) fn one(traffic: &Traffic, policy: Policy, progress: &Progress) -> Outcome {
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
    Outcome { policy, waits, elapsed }
}

/// The wait of a denial, which is never zero and, on a clock that does not go back, never longer
/// than two windows of ten years: both fit.
fn wait_ns(wait: Duration) -> NonZeroU64 {
    u64::try_from(wait.as_nanos()).ok().and_then(NonZeroU64::new).unwrap_or(NonZeroU64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::traffic::TrafficBuilder;

    #[test]
    fn each_request_is_decided_at_its_own_time_for_its_own_key() {
        let second = 1_000_000_000;
        let mut builder = TrafficBuilder::new(false);
        for (at, key) in [(2 * second, "a"), (0, "a"), (0, "a"), (0, "b"), (second, "a")] {
            builder.push(at, key.as_bytes(), b"").unwrap();
        }
        let policy = Policy::token_bucket(1, Duration::from_secs(2)).unwrap();
        let outcome = one(&builder.build(), policy, &Progress::new());
        let waits: Vec<u64> =
            outcome.waits.iter().map(|wait| wait.map_or(0, NonZeroU64::get)).collect();
        assert_eq!(waits, [0, 2 * second, 0, second, 0]);
    }
}
