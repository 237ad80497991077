//! Durations as people write them: `250ms`, `1m`, `1h30m`; and as people read them.

use std::fmt::Write as _;
use std::time::Duration;

/// A unit's names and its length in nanoseconds.
const UNITS: [(&str, u128); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60 * 1_000_000_000),
    ("h", 3_600 * 1_000_000_000),
    ("d", 86_400 * 1_000_000_000),
];

/// More digits than any nanosecond count that fits, so that the arithmetic below cannot overflow.
const MAX_DIGITS: usize = 20;

/// Why a text is no duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DurationError {
    #[error("it is empty; write a duration such as 250ms, 10s or 1h30m")]
    Empty,
    #[error("expected a number before each unit, as in 250ms, 10s or 1h30m")]
    Number,
    #[error("expected a unit after each number: one of ns, us, ms, s, m, h, d")]
    Unit,
    #[error("it is finer than a nanosecond")]
    TooFine,
    #[error("it is longer than 584 years, which is all that nanoseconds can count")]
    TooLong,
}

/// Reads a sum of numbers with units, such as `1h30m` or `1.5s`, exactly.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    if text.is_empty() {
        return Err(DurationError::Empty);
    }
    let mut total: u128 = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let number_len = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, after) = rest.split_at(number_len);
        let unit_len = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (unit, after) = after.split_at(unit_len);
        if number.is_empty() {
            return Err(DurationError::Number);
        }
        let nanos = UNITS.iter().find(|(name, _)| *name == unit).ok_or(DurationError::Unit)?.1;
        total += scaled(number, nanos)?;
        if total > u128::from(u64::MAX) {
            return Err(DurationError::TooLong);
        }
        rest = after;
    }
    u64::try_from(total).map(Duration::from_nanos).map_err(|_| DurationError::TooLong)
}

/// `number × unit`, where the number may have decimals as long as the product has none.
fn scaled(number: &str, unit: u128) -> Result<u128, DurationError> {
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    let has_digits = !whole.is_empty() && (number.len() == whole.len() || !decimals.is_empty());
    if !has_digits || decimals.contains('.') {
        return Err(DurationError::Number);
    }
    let whole = whole.trim_start_matches('0');
    let decimals = decimals.trim_end_matches('0');
    if whole.len() > MAX_DIGITS {
        return Err(DurationError::TooLong);
    }
    if decimals.len() > MAX_DIGITS {
        return Err(DurationError::TooFine);
    }
    // At most 20 digits times a day in nanoseconds: below 10^34, far from the end of u128.
    let mut nanos = digits(whole) * unit;
    let mut step = unit;
    for digit in decimals.bytes() {
        if !step.is_multiple_of(10) {
            return exact_tail(decimals, unit).map(|tail| digits(whole) * unit + tail);
        }
        step /= 10;
        nanos += u128::from(digit - b'0') * step;
    }
    Ok(nanos)
}

/// The decimals of a unit that is not a power of ten, such as minutes, when they come out whole.
fn exact_tail(decimals: &str, unit: u128) -> Result<u128, DurationError> {
    let mut product = digits(decimals) * unit;
    for _ in 0..decimals.len() {
        if !product.is_multiple_of(10) {
            return Err(DurationError::TooFine);
        }
        product /= 10;
    }
    Ok(product)
}

fn digits(text: &str) -> u128 {
    text.bytes().fold(0, |sum, digit| sum * 10 + u128::from(digit - b'0'))
}

/// The shortest exact way to write a duration back: `1m`, `1h30m`, `250ms`.
pub(crate) fn exact(duration: Duration) -> String {
    let mut left = duration.as_nanos();
    if left == 0 {
        return "0s".to_owned();
    }
    let mut text = String::new();
    for (name, nanos) in UNITS.into_iter().rev().filter(|(name, _)| *name != "µs") {
        let count = left / nanos;
        if count > 0 {
            let _ = write!(text, "{count}{name}");
            left -= count * nanos;
        }
    }
    text
}

/// A duration to about three digits, for reading: `850 ms`, `12.3 s`, `2m 05s`.
pub(crate) fn human(nanos: u64) -> String {
    const US: u64 = 1_000;
    const MS: u64 = 1_000_000;
    const S: u64 = 1_000_000_000;
    match nanos {
        0 => "0 s".to_owned(),
        1..US => format!("{nanos} ns"),
        US..MS => tenths(nanos, US, "µs"),
        MS..S => tenths(nanos, MS, "ms"),
        S.. => {
            let seconds = nanos / S;
            match seconds {
                0..60 => tenths(nanos, S, "s"),
                60..3_600 => format!("{}m {:02}s", seconds / 60, seconds % 60),
                3_600..86_400 => format!("{}h {:02}m", seconds / 3_600, seconds % 3_600 / 60),
                _ => format!("{}d {:02}h", seconds / 86_400, seconds % 86_400 / 3_600),
            }
        }
    }
}

/// One decimal unless it is zero, rounded down so that a unit never overflows into the next.
fn tenths(nanos: u64, unit: u64, name: &str) -> String {
    let (whole, tenth) = (nanos / unit, nanos % unit / (unit / 10));
    if tenth == 0 { format!("{whole} {name}") } else { format!("{whole}.{tenth} {name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ns(text: &str) -> Result<u128, DurationError> {
        parse_duration(text).map(|duration| duration.as_nanos())
    }

    #[test]
    fn sums_of_units_are_exact() {
        assert_eq!(ns("250ms"), Ok(250_000_000));
        assert_eq!(ns("1h30m"), Ok(5_400_000_000_000));
        assert_eq!(ns("10us"), Ok(10_000));
        assert_eq!(ns("10µs"), Ok(10_000));
        assert_eq!(ns("5d"), Ok(432_000_000_000_000));
        assert_eq!(ns("1.5s"), Ok(1_500_000_000));
        assert_eq!(ns("0.1m"), Ok(6_000_000_000));
        assert_eq!(ns("0.0000000001m"), Ok(6));
        assert_eq!(ns("18446744073709551615ns"), Ok(u128::from(u64::MAX)));
    }

    #[test]
    fn what_is_no_duration_says_why() {
        assert_eq!(ns(""), Err(DurationError::Empty));
        assert_eq!(ns("60"), Err(DurationError::Unit));
        assert_eq!(ns("1 m"), Err(DurationError::Unit));
        assert_eq!(ns("1min"), Err(DurationError::Unit));
        assert_eq!(ns("m"), Err(DurationError::Number));
        assert_eq!(ns("-1s"), Err(DurationError::Number));
        assert_eq!(ns("1..5s"), Err(DurationError::Number));
        assert_eq!(ns(".s"), Err(DurationError::Number));
        assert_eq!(ns("1.s"), Err(DurationError::Number));
        assert_eq!(ns("0.5ns"), Err(DurationError::TooFine));
        assert_eq!(ns("0.00000000001m"), Err(DurationError::TooFine));
        assert_eq!(ns("18446744073709551616ns"), Err(DurationError::TooLong));
        assert_eq!(ns("99999999999999999999999d"), Err(DurationError::TooLong));
        assert_eq!(ns("٣s"), Err(DurationError::Number));
    }

    #[test]
    fn exact_text_reads_back() {
        for nanos in [1, 1_500, 60_000_000_000, 5_400_000_000_000, 86_401_000_000_007, u64::MAX] {
            let text = exact(Duration::from_nanos(nanos));
            assert_eq!(ns(&text), Ok(u128::from(nanos)), "{text}");
        }
        assert_eq!(exact(Duration::from_secs(60)), "1m");
    }

    #[test]
    fn human_text_keeps_its_unit() {
        assert_eq!(human(999_999), "999.9 µs");
        assert_eq!(human(59_999_999_999), "59.9 s");
        assert_eq!(human(125_000_000_000), "2m 05s");
        assert_eq!(human(3_660_000_000_000), "1h 01m");
        assert_eq!(human(u64::MAX), "213503d 23h");
    }
}
