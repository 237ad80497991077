//! The reference without an estimate: a log of the instant of every admission, per key.

use std::collections::VecDeque;
use std::time::Duration;

use gorl::Strategy;

use super::drive::Outcome;
use super::plan::Plan;
use super::traffic::Traffic;

/// Every admission of the last window, for each key. Its memory grows with the limit, which is why no
/// strategy of a service keeps it; here it judges those that do not.
#[derive(Debug)]
pub(crate) struct ExactLog {
    limit: u64,
    window_ns: u64,
    keys: Vec<Admissions>,
}

#[derive(Clone, Debug, Default)]
struct Admissions {
    at_ns: VecDeque<u64>,
    /// The most instants that were held at once.
    most: usize,
}

/// What a key is told apart by, as in an entry of the memory store.
const KEY_BYTES: u64 = 16;

const INSTANT_BYTES: u64 = 8;

impl ExactLog {
    pub(crate) fn new(limit: u64, window: Duration, keys: usize) -> Self {
        let window_ns = u64::try_from(window.as_nanos()).unwrap_or(u64::MAX);
        Self { limit, window_ns, keys: vec![Admissions::default(); keys] }
    }

    /// Whether one more is within the limit: what was admitted in `(now - window, now]` and this one.
    /// Times must not go back.
    pub(crate) fn fits(&mut self, key: u32, now: u64) -> bool {
        let held = &mut self.keys[key as usize].at_ns;
        while held.front().is_some_and(|&at| now.saturating_sub(at) >= self.window_ns) {
            held.pop_front();
        }
        (held.len() as u64) < self.limit
    }

    /// Writes down an admission.
    pub(crate) fn admit(&mut self, key: u32, now: u64) {
        let key = &mut self.keys[key as usize];
        key.at_ns.push_back(now);
        key.most = key.most.max(key.at_ns.len());
    }

    /// What the log takes: for each key what tells it apart and the most instants it held at once.
    pub(crate) fn state_bytes(&self) -> u64 {
        let of = |key: &Admissions| KEY_BYTES + INSTANT_BYTES * key.most as u64;
        self.keys.iter().map(of).sum()
    }
}

/// What the exact log did, and how far each strategy is from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExactReport {
    pub(crate) admitted: u64,
    pub(crate) denied: u64,
    pub(crate) state_bytes: u64,
    pub(crate) strategies: Vec<Divergence>,
}

/// What one strategy decided otherwise than the exact log. Each goes by what it has admitted itself, so
/// one decision that differs may bring others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Divergence {
    pub(crate) strategy: Strategy,
    pub(crate) admitted_wrongly: u64,
    pub(crate) denied_wrongly: u64,
    /// Keys with a decision that differs.
    pub(crate) keys: u64,
}

impl Divergence {
    pub(crate) fn wrong(&self) -> u64 {
        self.admitted_wrongly + self.denied_wrongly
    }
}

/// Runs an exact log for each limit over the arrivals, all of which must admit, and holds every outcome
/// against them.
pub(crate) fn compare(traffic: &Traffic, plan: &Plan, outcomes: &[Outcome]) -> ExactReport {
    let limits = plan.limits.iter();
    let mut logs: Vec<(ExactLog, Option<usize>)> = limits
        .map(|limit| {
            let column = plan.column(limit);
            (ExactLog::new(limit.most, limit.window, traffic.keys_under(column)), column)
        })
        .collect();
    let admitted: Vec<bool> = traffic
        .arrivals()
        .enumerate()
        .map(|(position, (at_ns, _))| admit_all(traffic, &mut logs, position, at_ns))
        .collect();
    let count = admitted.iter().filter(|&&admitted| admitted).count() as u64;
    ExactReport {
        admitted: count,
        denied: traffic.requests() as u64 - count,
        state_bytes: logs.iter().map(|(log, _)| log.state_bytes()).sum(),
        strategies: outcomes.iter().map(|one| divergence(traffic, &admitted, one)).collect(),
    }
}

/// Admits the request at this position if every log that has a key for it does.
fn admit_all(
    traffic: &Traffic,
    logs: &mut [(ExactLog, Option<usize>)],
    position: usize,
    at_ns: u64,
) -> bool {
    let key = |column: &Option<usize>| traffic.key_under(*column, position);
    let fits =
        logs.iter_mut().all(|(log, column)| key(column).is_none_or(|key| log.fits(key, at_ns)));
    if fits {
        for (log, column) in logs {
            if let Some(key) = key(column) {
                log.admit(key, at_ns);
            }
        }
    }
    fits
}

fn divergence(traffic: &Traffic, exact: &[bool], outcome: &Outcome) -> Divergence {
    let (mut admitted_wrongly, mut denied_wrongly) = (0, 0);
    let mut differs = vec![false; traffic.keys()];
    for (((_, key), &exact), wait) in traffic.arrivals().zip(exact).zip(&outcome.waits) {
        let admitted = wait.is_none();
        admitted_wrongly += u64::from(admitted && !exact);
        denied_wrongly += u64::from(!admitted && exact);
        differs[key as usize] |= admitted != exact;
    }
    Divergence {
        strategy: outcome.policy.strategy(),
        admitted_wrongly,
        denied_wrongly,
        keys: differs.iter().filter(|&&differs| differs).count() as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::sample;

    fn admitted(limit: u64, window: u64, times: &[u64]) -> (Vec<bool>, u64) {
        let mut log = ExactLog::new(limit, Duration::from_nanos(window), 1);
        let mut decide = |&at: &u64| {
            let fits = log.fits(0, at);
            if fits {
                log.admit(0, at);
            }
            fits
        };
        let decided = times.iter().map(&mut decide).collect();
        (decided, log.state_bytes())
    }

    #[test]
    fn an_admission_counts_for_less_than_a_window() {
        // Two in ten: those at 0 and 4 fill it until 10, when the first is ten old and out.
        let (decided, bytes) = admitted(2, 10, &[0, 4, 9, 10, 13, 14, 14, 20]);
        assert_eq!(decided, [true, true, false, true, false, true, false, true]);
        // One key, and never more than two instants.
        assert_eq!(bytes, 16 + 2 * 8);
    }

    #[test]
    fn it_decides_as_a_count_over_everything_that_was_ever_admitted() {
        let mut seed = 11_u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        for _ in 0..300 {
            let (limit, window) = (1 + random(6), 1 + random(40));
            let mut times: Vec<u64> = (0..80).map(|_| random(200)).collect();
            times.sort_unstable();
            let mut kept: Vec<u64> = Vec::new();
            let naive: Vec<bool> = times
                .iter()
                .map(|&now| {
                    let recent = kept.iter().filter(|&&at| at + window > now).count() as u64;
                    if recent < limit {
                        kept.push(now);
                    }
                    recent < limit
                })
                .collect();
            assert_eq!(admitted(limit, window, &times).0, naive, "{limit} in {window}: {times:?}");
        }
    }

    #[test]
    fn what_differs_is_counted_by_its_direction() {
        // Two a minute. The exact log admits both at 59 and none at 60 or 61, and both at 119, when
        // those of 59 are a minute old. The fixed window has let in the two of 60 and then denies at
        // 119. The sliding window has its own windows from 59: at 119 the two are the previous ones with
        // all their weight, so it denies.
        let seconds = [59, 59, 60, 60, 119, 119];
        let arrivals: Vec<(u64, &str)> = seconds.iter().map(|&second| (second, "a")).collect();
        let options = "--limit 2 --exact --strategy fixed_window --strategy sliding_window";
        let exact = sample(options, &arrivals).exact.unwrap();
        assert_eq!((exact.admitted, exact.denied, exact.state_bytes), (4, 2, 32));
        let told: Vec<_> = exact
            .strategies
            .iter()
            .map(|one| (one.admitted_wrongly, one.denied_wrongly, one.keys))
            .collect();
        assert_eq!(told, [(2, 2, 1), (0, 2, 1)]);
        assert!(sample("--limit 2", &arrivals).exact.is_none());
    }

    #[test]
    fn several_logs_admit_together_or_spend_nothing() {
        // Two for each and three for all, in a minute: `a` gets two of three, `b` the one that is left of
        // all, and one more at 60, when those at 0 are out.
        let arrivals = [(0, "a"), (0, "a"), (0, "a"), (1, "b"), (1, "b"), (60, "b")];
        let exact = sample("--limit 2 --exact --and all:3/1m", &arrivals).exact.unwrap();
        assert_eq!((exact.admitted, exact.denied), (4, 2));
        // `a` and `b` held two instants each at most, and all together three.
        assert_eq!(exact.state_bytes, 3 * 16 + (2 + 2 + 3) * 8);
    }
}
