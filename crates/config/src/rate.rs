//! Rates in words: `10 per minute`, `100/s`, `5 per 1h30m`, several with semicolons.

use std::time::Duration;

use crate::error::unknown;
use crate::parse_duration;

/// A limit and its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rate {
    pub(crate) limit: u64,
    pub(crate) window: Duration,
}

/// The words for windows, and their lengths in seconds.
const UNITS: [(&str, u64); 15] = [
    ("second", 1),
    ("seconds", 1),
    ("sec", 1),
    ("s", 1),
    ("minute", 60),
    ("minutes", 60),
    ("min", 60),
    ("m", 60),
    ("hour", 3_600),
    ("hours", 3_600),
    ("hr", 3_600),
    ("h", 3_600),
    ("day", 86_400),
    ("days", 86_400),
    ("d", 86_400),
];

/// What errors suggest.
const SUGGESTED: [&str; 4] = ["second", "minute", "hour", "day"];

/// Why a text is no rate, and what would be one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RateError(String);

/// Reads one rate as configuration files have it: how many, and in which window.
///
/// # Errors
///
/// A [`RateError`] that says what is wrong and what would be right.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use gorl_config::parse_rate;
///
/// assert_eq!(parse_rate("10 per minute"), Ok((10, Duration::from_secs(60))));
/// assert_eq!(parse_rate("1000/1h30m"), Ok((1_000, Duration::from_secs(5_400))));
/// assert!(parse_rate("10 per horu").unwrap_err().to_string().contains("did you mean `hour`?"));
/// ```
pub fn parse_rate(text: &str) -> Result<(u64, Duration), RateError> {
    one_rate(text.trim()).map(|rate| (rate.limit, rate.window)).map_err(RateError)
}

/// Reads all of a text, or says what of it is no rate.
pub(crate) fn parse_rates(text: &str) -> Result<Vec<Rate>, String> {
    text.split(';').map(|rate| one_rate(rate.trim())).collect()
}

fn one_rate(text: &str) -> Result<Rate, String> {
    let wrong = |why: String| format!("`{text}` is no rate: {why}");
    let split = text.split_once('/').or_else(|| text.split_once(" per "));
    let Some((limit, window)) = split else {
        return Err(wrong(
            "write a number and a window, as in `10 per minute` or `100/s`".to_owned(),
        ));
    };
    let (limit, window) = (limit.trim(), window.trim());
    let digits = !limit.is_empty() && limit.bytes().all(|byte| byte.is_ascii_digit());
    if digits && limit.len() > 1 && limit.starts_with('0') {
        return Err(wrong("write the number without zeros before it".to_owned()));
    }
    let limit = limit.parse().ok().filter(|_| digits);
    let limit =
        limit.ok_or_else(|| wrong("the number before the window is not whole".to_owned()))?;
    Ok(Rate { limit, window: parse_window(window).map_err(wrong)? })
}

/// A unit, so many units, or a duration.
fn parse_window(text: &str) -> Result<Duration, String> {
    if text.is_empty() {
        return Err("the window is missing".to_owned());
    }
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (count, unit) = (&text[..digits], text[digits..].trim_start());
    let seconds = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, seconds)| *seconds);
    match (count, seconds) {
        ("", Some(seconds)) => Ok(Duration::from_secs(seconds)),
        ("", None) if parse_duration(text).is_err() => Err(unknown("unit", unit, &SUGGESTED)),
        (count, Some(seconds)) => {
            let total = count.parse().ok().and_then(|count: u64| count.checked_mul(seconds));
            total.map(Duration::from_secs).ok_or_else(|| "the window is too long".to_owned())
        }
        _ => parse_duration(text).map_err(|error| {
            let unit_alone = unit.bytes().all(|byte| byte.is_ascii_alphabetic());
            if unit_alone && !unit.is_empty() {
                unknown("unit", unit, &SUGGESTED)
            } else {
                error.to_string()
            }
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> Result<(u64, u128), String> {
        parse_rates(text).map(|rates| {
            assert_eq!(rates.len(), 1);
            (rates[0].limit, rates[0].window.as_millis())
        })
    }

    #[test]
    fn rates_as_people_write_them() {
        for (text, expected) in [
            ("2 per second", (2, 1_000)),
            ("2/second", (2, 1_000)),
            ("100/s", (100, 1_000)),
            ("100 / 10s", (100, 10_000)),
            ("10 per 5 minutes", (10, 300_000)),
            ("10 per 5minutes", (10, 300_000)),
            ("7 per 1h30m", (7, 5_400_000)),
            ("7 per 250ms", (7, 250)),
            ("1 per day", (1, 86_400_000)),
        ] {
            assert_eq!(one(text), Ok(expected), "{text}");
        }
        let two = parse_rates("1 per hour; 10 per day").unwrap();
        assert_eq!(two.iter().map(|rate| rate.limit).collect::<Vec<_>>(), [1, 10]);
    }

    #[test]
    fn r112_what_is_no_rate_is_an_error_that_says_what_would_be() {
        for (text, expected) in [
            ("10 per horu", "did you mean `hour`?"),
            ("10/secnd", "did you mean `second`?"),
            ("1 per hour; 10 perr day", "`10 perr day` is no rate"),
            ("1 per hour;", "write a number and a window"),
            ("", "write a number and a window"),
            ("10", "write a number and a window"),
            ("010 per hour", "without zeros"),
            ("ten per hour", "not whole"),
            ("1.5 per hour", "not whole"),
            ("-1 per hour", "not whole"),
            ("10 per", "write a number and a window"),
            ("10/", "the window is missing"),
            ("10 per month", "allowed are second, minute, hour, day"),
            ("10 per 3 fortnights", "allowed are second, minute, hour, day"),
            ("10 per 60", "unit after each number"),
            ("10 per Hour", "did you mean `hour`?"),
            ("10 per -1s", "no such unit"),
            ("10 per 99999999999999999999 days", "too long"),
        ] {
            let error = parse_rates(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
