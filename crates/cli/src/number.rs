//! Numbers and foreign text made fit for reading, without floats.

use std::fmt::Write as _;

/// Groups digits by threes: `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `number / of` as a percentage with one decimal; what is not quite none or all never reads so.
pub(crate) fn percent(number: u64, of: u64) -> String {
    if number == 0 || of == 0 {
        return "0%".to_owned();
    }
    if number >= of {
        return "100%".to_owned();
    }
    let tenths = (u128::from(number) * 2_000 + u128::from(of)) / (2 * u128::from(of));
    match tenths {
        0 => "<0.1%".to_owned(),
        1_000.. => ">99.9%".to_owned(),
        _ => format!("{}.{}%", tenths / 10, tenths % 10),
    }
}

/// `number / of` as a percentage with three decimals, for shares that are small and matter.
pub(crate) fn fine_percent(number: u64, of: u64) -> String {
    let (number, of) = (u128::from(number), u128::from(of.max(1)));
    let thousandths = (number * 200_000 + of) / (2 * of);
    if number > 0 && thousandths == 0 {
        return "<0.001%".to_owned();
    }
    format!("{}.{:03}%", thousandths / 1_000, thousandths % 1_000)
}

/// `number / of` with two decimals, rounded up: `1.00×` is never more than the whole.
pub(crate) fn multiple(number: u64, of: u64) -> String {
    let hundredths = (u128::from(number) * 100).div_ceil(u128::from(of.max(1)));
    format!("{}.{:02}×", hundredths / 100, hundredths % 100)
}

/// Reads how many requests a policy allows, in digits only.
///
/// # Errors
///
/// What it must be, to follow the name of the field or option.
pub(crate) fn parse_count(text: &str) -> Result<u64, String> {
    let is_whole = text.bytes().all(|byte| byte.is_ascii_digit());
    let count = is_whole.then(|| text.parse::<u32>().ok()).flatten();
    count
        .filter(|&count| count > 0)
        .map(u64::from)
        .ok_or_else(|| format!("must be a whole number from 1 to {}", u32::MAX))
}

/// Bytes in binary units: `512 B`, `81.3 KiB`.
pub(crate) fn bytes(count: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if count < 1024 {
        return format!("{count} B");
    }
    let mut tenths = u128::from(count) * 10 / 1024;
    let mut unit = UNITS[0];
    for next in &UNITS[1..] {
        if tenths < 10_240 {
            break;
        }
        tenths /= 1024;
        unit = next;
    }
    format!("{}.{} {unit}", tenths / 10, tenths % 10)
}

/// A count to three digits: `950`, `12.3k`, `4.5M`.
pub(crate) fn short(count: u64) -> String {
    let (unit, name) = match count {
        0..1_000 => return count.to_string(),
        1_000..1_000_000 => (1_000, "k"),
        1_000_000..1_000_000_000 => (1_000_000, "M"),
        _ => (1_000_000_000, "G"),
    };
    let (whole, tenth) = (count / unit, count % unit / (unit / 10));
    if tenth == 0 || whole >= 100 {
        format!("{whole}{name}")
    } else {
        format!("{whole}.{tenth}{name}")
    }
}

/// Text that may come from a log, with everything that could steer a terminal or a page's reading
/// order spelled out.
pub(crate) fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let steers = c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
        if steers {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

/// Bytes that should be text: what is not UTF-8 is shown as `\xNN`, and what steers is spelled out.
pub(crate) fn printable_bytes(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(&printable(chunk.valid()));
        for byte in chunk.invalid() {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

/// The text in at most `width` characters, with its middle left out when it is longer.
pub(crate) fn shortened(text: &str, width: usize) -> String {
    let count = text.chars().count();
    if count <= width || width < 3 {
        return text.to_owned();
    }
    let tail = (width - 1) / 3;
    let head = width - 1 - tail;
    text.chars().take(head).chain(['…']).chain(text.chars().skip(count - tail)).collect()
}

/// `1 key`, `2 keys`.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_people_write_them() {
        assert_eq!([grouped(7), grouped(1_000), grouped(1_234_567)], ["7", "1,000", "1,234,567"]);
        assert_eq!([bytes(512), bytes(1_536), bytes(10 << 20)], ["512 B", "1.5 KiB", "10.0 MiB"]);
        assert_eq!([short(950), short(12_300), short(450_000_000)], ["950", "12.3k", "450M"]);
        assert_eq!([counted(1, "key"), counted(1_000, "key")], ["1 key", "1,000 keys"]);
        assert!(!bytes(u64::MAX).is_empty() && !short(u64::MAX).is_empty());
    }

    #[test]
    fn rounding_never_claims_more_than_is_true() {
        assert_eq!([percent(0, 10), percent(10, 10), percent(1, 100_000)], ["0%", "100%", "<0.1%"]);
        let fine = [(0, 7), (1, 10_000_000), (3, 100_000), (9, 10_000), (7, 7), (2, 3)];
        assert_eq!(
            fine.map(|(number, of)| fine_percent(number, of)),
            ["0.000%", "<0.001%", "0.003%", "0.090%", "100.000%", "66.667%"]
        );
        assert_eq!([percent(99_999, 100_000), percent(1, 8)], [">99.9%", "12.5%"]);
        assert_eq!(
            [multiple(60, 60), multiple(61, 6_000), multiple(10_001, 10_000)],
            ["1.00×", "0.02×", "1.01×"]
        );
    }

    #[test]
    fn foreign_text_cannot_steer_a_terminal() {
        assert_eq!(printable("a\x1b[31mb\u{202e}c\n"), "a\\u{1b}[31mb\\u{202e}c\\u{a}");
        assert_eq!(printable_bytes(b"caf\xe9 \xc3\xa9"), "caf\\xe9 é");
        assert_eq!(shortened("abcdefghij", 7), "abcd…ij");
        assert_eq!(shortened("héé", 3), "héé");
    }
}
