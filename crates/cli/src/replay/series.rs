//! A key's requests over time: how many it made in each bin, and how many were admitted.

use super::drive::Outcome;
use super::traffic::Traffic;

/// Counts in bins of equal length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Series {
    /// The start of the first bin, a whole multiple of the bin's length since the epoch.
    pub(crate) from_ns: u64,
    pub(crate) bin_ns: u64,
    pub(crate) offered: Vec<u64>,
    /// One row for each strategy.
    pub(crate) admitted: Vec<Vec<u64>>,
}

/// A chart has no more bars than can be told apart on a phone.
const MAX_BINS: u64 = 96;

const SECOND: u64 = 1_000_000_000;

/// Lengths of bins that people count in: seconds, minutes, hours, days.
const BIN_SECONDS: [u64; 22] = [
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200,
    86_400, 172_800, 604_800, 1_209_600, 2_419_200,
];

/// Counts the requests of one key.
pub(crate) fn of_key(traffic: &Traffic, key: u32, outcomes: &[Outcome]) -> Series {
    let positions = traffic.positions(key);
    let edge = |position: Option<&u32>| position.map_or(0, |&position| traffic.at(position));
    let (first, last) = (edge(positions.first()), edge(positions.last()));
    let bin_ns = bin_length(first, last);
    let from_bin = first / bin_ns;
    let bins = usize::try_from(last / bin_ns - from_bin).unwrap_or_default() + 1;
    let mut series = Series {
        from_ns: from_bin * bin_ns,
        bin_ns,
        offered: vec![0; bins],
        admitted: vec![vec![0; bins]; outcomes.len()],
    };
    for &position in positions {
        let bin = usize::try_from(traffic.at(position) / bin_ns - from_bin).unwrap_or_default();
        series.offered[bin] += 1;
        for (row, outcome) in series.admitted.iter_mut().zip(outcomes) {
            row[bin] += u64::from(outcome.waits[position as usize].is_none());
        }
    }
    series
}

/// The shortest usual length that covers the span in few enough bins.
fn bin_length(first: u64, last: u64) -> u64 {
    let fits = |length: &u64| last / length - first / length < MAX_BINS;
    let usual = BIN_SECONDS.iter().map(|seconds| seconds * SECOND).find(fits);
    // Spans of several years get bins that are long and even, though they have no name.
    usual.unwrap_or_else(|| (last - first) / (MAX_BINS - 2) + 1)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use gorl::Policy;

    use super::*;
    use crate::replay::drive;
    use crate::replay::progress::Progress;
    use crate::replay::traffic::TrafficBuilder;

    #[test]
    fn every_request_is_in_a_bin_and_admitted_never_exceeds_offered() {
        let mut builder = TrafficBuilder::new(false, 0);
        for second in [7, 7, 7, 8, 300] {
            builder.push(second * SECOND, b"a", b"").unwrap();
        }
        let traffic = builder.build();
        let policy = Policy::fixed_window(2, Duration::from_secs(60)).unwrap();
        let outcome = drive::alone(&traffic, policy, &Progress::new());
        let series = of_key(&traffic, 0, &[outcome]);
        assert_eq!((series.from_ns, series.bin_ns), (5 * SECOND, 5 * SECOND));
        assert_eq!((series.offered[0], series.admitted[0][0]), (4, 2));
        assert_eq!(series.offered.iter().sum::<u64>(), 5);
        assert_eq!(series.offered.len(), 60);
    }

    #[test]
    fn bins_stay_few_for_every_span() {
        for span in [0, 1, SECOND, 3_600 * SECOND, 86_400 * 365 * SECOND, u64::MAX - 5] {
            let length = bin_length(5, 5 + span);
            assert!((5 + span) / length - 5 / length < MAX_BINS, "{span}");
        }
    }
}
