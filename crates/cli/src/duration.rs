//! Durations as people read them.

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
    use super::human;

    #[test]
    fn human_text_keeps_its_unit() {
        assert_eq!(human(999_999), "999.9 µs");
        assert_eq!(human(59_999_999_999), "59.9 s");
        assert_eq!(human(125_000_000_000), "2m 05s");
        assert_eq!(human(3_660_000_000_000), "1h 01m");
        assert_eq!(human(u64::MAX), "213503d 23h");
    }
}
