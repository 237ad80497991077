//! Where the marks of a time axis are, and what they say.

use crate::timestamp;

/// One mark: its place in thousandths of the axis, and its label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) at: u64,
    pub(crate) label: String,
}

/// More labels would touch each other on a phone, and those with seconds are longer.
const MAX_MARKS: u64 = 5;
const MAX_MARKS_WITH_SECONDS: u64 = 4;

const SECOND: u64 = 1_000_000_000;
const MINUTE: u64 = 60;
const HOUR: u64 = 3_600;
const DAY: u64 = 86_400;

/// Steps, in seconds, whose multiples since the epoch people recognise.
const STEPS: [u64; 22] = [
    1,
    2,
    5,
    10,
    15,
    30,
    MINUTE,
    2 * MINUTE,
    5 * MINUTE,
    10 * MINUTE,
    15 * MINUTE,
    30 * MINUTE,
    HOUR,
    2 * HOUR,
    3 * HOUR,
    6 * HOUR,
    12 * HOUR,
    DAY,
    2 * DAY,
    7 * DAY,
    28 * DAY,
    91 * DAY,
];

/// Marks for the axis from `from_ns` to `to_ns`.
pub(crate) fn marks(from_ns: u64, to_ns: u64) -> Vec<Mark> {
    let span = to_ns.saturating_sub(from_ns).max(1);
    let fits = |step: &u64| {
        let most = if *step < MINUTE * SECOND { MAX_MARKS_WITH_SECONDS } else { MAX_MARKS };
        span / step < most
    };
    let usual = STEPS.iter().map(|seconds| seconds * SECOND).find(fits);
    let step = usual.unwrap_or(span / MAX_MARKS + 1);
    let format = match step / SECOND {
        0..MINUTE => "%H:%M:%S",
        MINUTE..DAY => "%H:%M",
        seconds if seconds < 90 * DAY => "%-d %b",
        _ => "%b %Y",
    };
    let mut marks = Vec::new();
    let mut at = from_ns.div_ceil(step).checked_mul(step);
    while let Some(now) = at.filter(|&now| now <= to_ns) {
        let place = u128::from(now - from_ns) * 1_000 / u128::from(span);
        marks.push(Mark {
            at: u64::try_from(place).unwrap_or(1_000),
            // A day's midnight says more as a date when the step is hours.
            label: timestamp::format(now, if starts_day(now, step) { "%-d %b" } else { format }),
        });
        at = now.checked_add(step);
    }
    marks
}

fn starts_day(now: u64, step: u64) -> bool {
    (HOUR * SECOND..DAY * SECOND).contains(&step) && now.is_multiple_of(DAY * SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_few_in_order_and_at_round_times() {
        let start = 1_431_857_103 * SECOND;
        for span in [0, 1, 30, 3_600, 86_400, 300_000, 40_000_000, 900_000_000] {
            let marks = marks(start, start + span * SECOND);
            assert!(marks.len() as u64 <= MAX_MARKS + 1, "{span}: {marks:?}");
            assert!(marks.is_sorted_by(|one, next| one.at < next.at), "{span}");
            assert!(marks.iter().all(|mark| mark.at <= 1_000), "{span}");
        }
        let labels: Vec<String> =
            marks(start, start + 300_000 * SECOND).into_iter().map(|mark| mark.label).collect();
        assert_eq!(labels, ["18 May", "19 May", "20 May"]);
        let hours: Vec<String> =
            marks(start, start + 4 * HOUR * SECOND).into_iter().map(|mark| mark.label).collect();
        assert_eq!(hours, ["11:00", "12:00", "13:00", "14:00"]);
        assert!(!marks(0, u64::MAX).is_empty());
    }
}
