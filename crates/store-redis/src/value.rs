//! The stored value: the version of its layout, the instant and the two counts, in decimal.

use gorl_core::State;

/// One beyond the last instant, in microseconds, that a script counts exactly: in the year 2255.
pub(crate) const INSTANTS: u64 = 1 << 53;

/// Reads `1 at a b`, exactly as the scripts do; `None` for a value that no script wrote.
pub(crate) fn parse(value: &[u8]) -> Option<State> {
    let text = str::from_utf8(value).ok()?;
    let mut words = text.strip_prefix("1 ")?.split(' ');
    let state = State {
        at: number(words.next()?).filter(|at| *at < INSTANTS)?,
        a: u32::try_from(number(words.next()?)?).ok()?,
        b: u32::try_from(number(words.next()?)?).ok()?,
    };
    words.next().is_none().then_some(state)
}

/// Digits and nothing else, not even a sign.
fn number(word: &str) -> Option<u64> {
    word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_scripts_write_reads_back() {
        let state = State { at: 1_893_456_000_123_457, a: u32::MAX, b: 7 };
        assert_eq!(parse(b"1 1893456000123457 4294967295 7"), Some(state));
        let last = State { at: INSTANTS - 1, a: 0, b: 0 };
        assert_eq!(parse(b"1 9007199254740991 0 0"), Some(last));
    }

    #[test]
    fn anything_else_is_not_ours() {
        let foreign: [&[u8]; 17] = [
            b"",
            b"1",
            b"5",
            b"2 1 2 3",
            b"1 1 2",
            b"1 1 2 ",
            b"1 1 2 3 ",
            b"1 1 2 3 4",
            b" 1 1 2 3",
            b"1  1 2 3",
            b"1 +1 2 3",
            b"1 -1 2 3",
            b"1 1e3 2 3",
            b"1 9007199254740992 0 0",
            b"1 1 4294967296 0",
            b"1 99999999999999999999999 0 0",
            b"1 1 2 \xff",
        ];
        for value in foreign {
            assert_eq!(parse(value), None, "{:?}", String::from_utf8_lossy(value));
        }
    }
}
