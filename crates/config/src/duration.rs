//! Durations as people write them: `250ms`, `1m`, `1h30m`.

use std::fmt::Write as _;
use std::time::Duration;

/// A unit's names and its length in nanoseconds.
const UNITS: [(&str, u128); 9] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    // The Greek letter, as Go takes it too.
    ("μs", 1_000),
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
#[non_exhaustive]
pub enum DurationError {
    /// There is nothing to read.
    #[error("it is empty; write a duration such as 250ms, 10s or 1h30m")]
    Empty,
    /// A unit without a number, or a number with two points or a sign.
    #[error("expected a number before each unit, as in 250ms, 10s or 1h30m")]
    Number,
    /// A number without a unit, or with one that there is not.
    #[error("expected a unit after each number: one of ns, us, ms, s, m, h, d")]
    Unit,
    /// Less than a nanosecond.
    #[error("it is finer than a nanosecond")]
    TooFine,
    /// More than 64 bits of nanoseconds.
    #[error("it is longer than 584 years, which is all that nanoseconds can count")]
    TooLong,
}

/// Reads a sum of numbers with units, such as `1h30m` or `1.5s`, exactly.
///
/// It takes what Go's `time.ParseDuration` takes, but nothing negative and no bare `0`; and days,
/// as `d`.
///
/// # Errors
///
/// A [`DurationError`] that says what is wrong and what would be right.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use gorl_config::{DurationError, parse_duration};
///
/// assert_eq!(parse_duration("1h30m"), Ok(Duration::from_secs(5_400)));
/// assert_eq!(parse_duration("60"), Err(DurationError::Unit));
/// ```
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
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
    if (whole.is_empty() && decimals.is_empty()) || decimals.contains('.') {
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
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// assert_eq!(gorl_config::format_duration(Duration::from_secs(5_400)), "1h30m");
/// ```
#[must_use]
pub fn format_duration(duration: Duration) -> String {
    let mut left = duration.as_nanos();
    if left == 0 {
        return "0s".to_owned();
    }
    let mut text = String::new();
    for (name, nanos) in UNITS.into_iter().rev().filter(|(name, _)| name.is_ascii()) {
        let count = left / nanos;
        if count > 0 {
            let _ = write!(text, "{count}{name}");
            left -= count * nanos;
        }
    }
    text
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
        assert_eq!(ns(".5s"), Ok(500_000_000));
        assert_eq!(ns("1.s"), Ok(1_000_000_000));
        assert_eq!(ns("10μs"), Ok(10_000));
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
        assert_eq!(ns("0.5ns"), Err(DurationError::TooFine));
        assert_eq!(ns("0.00000000001m"), Err(DurationError::TooFine));
        assert_eq!(ns("18446744073709551616ns"), Err(DurationError::TooLong));
        assert_eq!(ns("99999999999999999999999d"), Err(DurationError::TooLong));
        assert_eq!(ns("٣s"), Err(DurationError::Number));
    }

    #[test]
    fn exact_text_reads_back() {
        for nanos in [1, 1_500, 60_000_000_000, 5_400_000_000_000, 86_401_000_000_007, u64::MAX] {
            let text = format_duration(Duration::from_nanos(nanos));
            assert_eq!(ns(&text), Ok(u128::from(nanos)), "{text}");
        }
        assert_eq!(format_duration(Duration::from_secs(60)), "1m");
    }
}
