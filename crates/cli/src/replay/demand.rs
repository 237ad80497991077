//! Exact figures over instants: the fullest span of a window's length, quantiles, histograms.

use std::collections::VecDeque;

/// The most instants in any span of a given length, and where that span starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Peak {
    pub(crate) count: u64,
    pub(crate) from_ns: u64,
}

/// Finds the fullest span `[t, t + window)` over all `t`, in one pass over ordered instants.
///
/// `recent` is scratch space that callers keep, for this runs once for each of many keys.
pub(crate) fn peak(
    times: impl Iterator<Item = u64>,
    window_ns: u64,
    recent: &mut VecDeque<u64>,
) -> Peak {
    recent.clear();
    let mut best = Peak::default();
    for now in times {
        best.admit(recent, now, window_ns);
    }
    best
}

impl Peak {
    /// Takes in the next instant of those in `recent`, which are of the same key.
    pub(crate) fn admit(&mut self, recent: &mut VecDeque<u64>, now: u64, window_ns: u64) {
        while recent.front().is_some_and(|&first| now - first >= window_ns) {
            recent.pop_front();
        }
        recent.push_back(now);
        // A fullest span can always be moved to end at an instant, so looking there is enough.
        if recent.len() as u64 > self.count {
            let from_ns = recent.front().copied().unwrap_or(now);
            *self = Self { count: recent.len() as u64, from_ns };
        }
    }
}

/// The smallest value that at least `percent` of the values do not exceed.
pub(crate) fn quantile(values: &mut [u64], percent: u32) -> Option<u64> {
    let rank = (values.len() as u128 * u128::from(percent)).div_ceil(100).max(1);
    let index = usize::try_from(rank - 1).ok().filter(|&index| index < values.len())?;
    Some(*values.select_nth_unstable(index).1)
}

/// How many keys ask for how much at most, in bins that start at 1, 2, 5, 10, 20, 50 and so on.
///
/// The bin that the limit falls into is parted right above it, so that every bin is on one side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bin {
    /// The smallest demand in the bin; the next bin's start is the first above.
    pub(crate) from: u64,
    pub(crate) below: u64,
    pub(crate) keys: u64,
    /// Whether these keys exceed the limit.
    pub(crate) over: bool,
}

/// Sorts demands into bins, from 1 up to the larger of the greatest demand and the limit.
pub(crate) fn histogram(demands: impl Iterator<Item = u64>, limit: u64) -> Vec<Bin> {
    let mut bins: Vec<Bin> = Vec::new();
    let add = |bins: &mut Vec<Bin>, from: u64, below: u64| {
        bins.push(Bin { from, below, keys: 0, over: from > limit });
    };
    // The start of the next bin by the steps alone.
    let mut next = 1;
    let mut reach = |bins: &mut Vec<Bin>, demand: u64| {
        while next <= demand {
            let (from, above) = (next, limit.saturating_add(1));
            next = next_start(from);
            if from < above && above < next {
                add(bins, from, above);
                add(bins, above, next);
            } else {
                add(bins, from, next);
            }
        }
    };
    reach(&mut bins, limit);
    for demand in demands.filter(|&demand| demand > 0) {
        reach(&mut bins, demand);
        let index = bins.partition_point(|bin| bin.below <= demand);
        bins[index].keys += 1;
    }
    bins
}

/// 1, 2, 5, 10, 20, 50, …: the first digit tells the step.
fn next_start(from: u64) -> u64 {
    let mut digit = from;
    while digit >= 10 {
        digit /= 10;
    }
    if digit == 2 { from / 2 * 5 } else { from * 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peak_of(times: &[u64], window: u64) -> (u64, u64) {
        let found = peak(times.iter().copied(), window, &mut VecDeque::new());
        (found.count, found.from_ns)
    }

    #[test]
    fn a_span_includes_its_start_and_not_its_end() {
        assert_eq!(peak_of(&[], 10), (0, 0));
        assert_eq!(peak_of(&[0, 10], 10), (1, 0));
        assert_eq!(peak_of(&[0, 9], 10), (2, 0));
        assert_eq!(peak_of(&[0, 7, 7, 12, 16, 30], 10), (4, 7));
    }

    #[test]
    fn the_peak_is_that_of_every_start_tried() {
        // A small generator of its own: what matters is that spans are dense and irregular.
        let mut seed = 7_u64;
        let mut times: Vec<u64> = (0..200)
            .map(|_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (seed >> 33) % 500
            })
            .collect();
        times.sort_unstable();
        for window in [1, 2, 17, 60, 499, 1_000] {
            let tried = times.iter().map(|&from| {
                times.iter().filter(|&&time| time >= from && time - from < window).count() as u64
            });
            assert_eq!(peak_of(&times, window).0, tried.max().unwrap(), "window {window}");
        }
    }

    #[test]
    fn quantiles_are_values_that_occurred() {
        assert_eq!(quantile(&mut [], 50), None);
        assert_eq!(quantile(&mut [7], 99), Some(7));
        assert_eq!(quantile(&mut [4, 1, 3, 2], 50), Some(2));
        let mut hundred: Vec<u64> = (1..=100).rev().collect();
        assert_eq!(quantile(&mut hundred, 50), Some(50));
        assert_eq!(quantile(&mut hundred, 99), Some(99));
        assert_eq!(quantile(&mut hundred, 100), Some(100));
    }

    fn bins(demands: &[u64], limit: u64) -> Vec<(u64, u64, bool)> {
        let bins = histogram(demands.iter().copied(), limit);
        assert!(bins.windows(2).all(|pair| pair[0].below == pair[1].from), "{bins:?}");
        bins.iter().map(|bin| (bin.from, bin.keys, bin.over)).collect()
    }

    #[test]
    fn bins_are_one_two_five_and_parted_above_the_limit() {
        let expected = [
            (1, 2, false),
            (2, 1, false),
            (5, 1, false),
            (10, 0, false),
            (20, 0, false),
            (50, 1, false),
            (61, 1, true),
            (100, 1, true),
        ];
        assert_eq!(bins(&[1, 1, 4, 5, 60, 61, 108], 60), expected);
        assert_eq!(bins(&[2, 1], 1), [(1, 1, false), (2, 1, true)]);
        assert_eq!(bins(&[3], 4), [(1, 0, false), (2, 1, false)]);
        assert_eq!(bins(&[2, 4], 2), [(1, 0, false), (2, 1, false), (3, 1, true)]);
        assert_eq!(bins(&[1], u64::from(u32::MAX)).len(), 30);
    }
}
