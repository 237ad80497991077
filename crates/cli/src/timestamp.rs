//! Instants as logs write them, in nanoseconds since the Unix epoch; and as people read them.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::TimeZone;

/// Why a text is no time that can be replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeError {
    /// It is written in no form known here, or names a day or an hour that there is not.
    Unknown,
    /// It is before 1970 or later than 64 bits of nanoseconds reach, which is in 2554.
    OutOfRange,
}

use TimeError::{OutOfRange, Unknown};

/// No time of an access log is longer: `22/Dec/2016:16:30:52.123456789 +0300` has 36 bytes.
pub(crate) const MAX_CLF_LEN: usize = 40;

/// The time of an access log, such as `22/Dec/2016:16:30:52 +0300`.
pub(crate) fn clf(text: &[u8]) -> Result<u64, TimeError> {
    // The year's slash is a cheap test that spares foreign brackets the full parse.
    if text.get(6) != Some(&b'/') {
        return Err(Unknown);
    }
    let parsed = BrokenDownTime::parse("%d/%b/%Y:%H:%M:%S%.f %z", text);
    nanos(parsed.and_then(|time| time.to_timestamp()).map_err(|_| Unknown)?)
}

/// A time written as text: RFC 3339, the same without a zone (then in UTC), or as in access logs.
pub(crate) fn text(text: &str) -> Result<u64, TimeError> {
    if let Ok(instant) = text.parse::<Timestamp>() {
        return nanos(instant);
    }
    if let Ok(local) = text.parse::<DateTime>() {
        return nanos(local.to_zoned(TimeZone::UTC).map_err(|_| OutOfRange)?.timestamp());
    }
    match clf(text.as_bytes()) {
        Err(Unknown) => epoch(text),
        known => known,
    }
}

/// A time written as a number since the Unix epoch, exactly.
///
/// A number with decimals counts seconds. A whole number counts what its size says: seconds up to
/// the year 5138, else milliseconds, microseconds or nanoseconds.
pub(crate) fn epoch(text: &str) -> Result<u64, TimeError> {
    const PER_SECOND: u64 = 1_000_000_000;
    let (sign, text) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let number = whole_number(whole)?;
    if decimals.is_empty() || !decimals.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Unknown);
    }
    if !sign.is_empty() {
        return Err(OutOfRange);
    }
    if text.contains('.') {
        let kept: String = decimals.chars().chain(std::iter::repeat('0')).take(9).collect();
        let seconds = number.checked_mul(PER_SECOND).ok_or(OutOfRange)?;
        return seconds.checked_add(whole_number(&kept)?).ok_or(OutOfRange);
    }
    let unit = match number {
        0..100_000_000_000 => PER_SECOND,
        100_000_000_000..100_000_000_000_000 => 1_000_000,
        100_000_000_000_000..100_000_000_000_000_000 => 1_000,
        _ => 1,
    };
    number.checked_mul(unit).ok_or(OutOfRange)
}

/// Digits only: `u64::from_str` would also take a plus sign.
fn whole_number(text: &str) -> Result<u64, TimeError> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Unknown);
    }
    text.parse().map_err(|_| OutOfRange)
}

fn nanos(instant: Timestamp) -> Result<u64, TimeError> {
    u64::try_from(instant.as_nanosecond()).map_err(|_| OutOfRange)
}

/// The instant in UTC by a `strftime` format.
pub(crate) fn format(at_ns: u64, format: &str) -> String {
    // Every u64 of nanoseconds is an instant before the year 2555, so this does not fail.
    Timestamp::from_nanosecond(i128::from(at_ns))
        .map_or_else(|_| at_ns.to_string(), |instant| instant.strftime(format).to_string())
}

/// Date and time to the second in UTC: `2016-12-22 13:30:52`.
pub(crate) fn readable(at_ns: u64) -> String {
    format(at_ns, "%Y-%m-%d %H:%M:%S")
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    #[test]
    fn access_log_times_have_zones() {
        assert_eq!(clf(b"22/Dec/2016:16:30:52 +0300"), Ok(1_482_413_452 * S));
        assert_eq!(clf(b"17/May/2015:10:05:03 +0000"), Ok(1_431_857_103 * S));
        assert_eq!(clf(b"17/May/2015:05:05:03.250 -0500"), Ok(1_431_857_103 * S + S / 4));
        assert_eq!(clf(b"29/Feb/2015:10:05:03 +0000"), Err(Unknown));
        assert_eq!(clf(b"17/May/2015:10:05:03"), Err(Unknown));
        assert_eq!(clf(b"31/Dec/1969:23:59:59 +0000"), Err(OutOfRange));
        assert_eq!(clf(b"01/Jan/2600:00:00:00 +0000"), Err(OutOfRange));
        assert_eq!(clf(b"17/May/2015:10:05:03 +0000 x"), Err(Unknown));
    }

    #[test]
    fn text_times_are_read_in_every_usual_form() {
        for form in [
            "2015-05-17T10:05:03Z",
            "2015-05-17T12:05:03+02:00",
            "2015-05-17 10:05:03",
            "17/May/2015:10:05:03 +0000",
            "1431857103",
        ] {
            assert_eq!(text(form), Ok(1_431_857_103 * S), "{form}");
        }
        assert_eq!(text("yesterday"), Err(Unknown));
        assert_eq!(text("1969-12-31T23:59:59Z"), Err(OutOfRange));
        assert_eq!(text("01/Jan/2600:00:00:00 +0000"), Err(OutOfRange));
    }

    #[test]
    fn epoch_numbers_are_exact_in_every_unit() {
        for form in ["1431857103", "1431857103000", "1431857103000000", "1431857103000000000"] {
            assert_eq!(epoch(form), Ok(1_431_857_103 * S), "{form}");
        }
        assert_eq!(epoch("1431857103.123456789"), Ok(1_431_857_103_123_456_789));
        assert_eq!(epoch("1431857103.1"), Ok(1_431_857_103_100_000_000));
        for bad in ["", "-", "+1", "1e9", "1.", ".5", "1.x", "-x"] {
            assert_eq!(epoch(bad), Err(Unknown), "{bad}");
        }
        for far in ["-1", "-0.5", "99999999999999999999", "99999999999.0"] {
            assert_eq!(epoch(far), Err(OutOfRange), "{far}");
        }
    }

    #[test]
    fn instants_are_shown_in_utc() {
        assert_eq!(readable(1_482_413_452 * S), "2016-12-22 13:30:52");
        assert!(!readable(u64::MAX).is_empty());
    }
}
