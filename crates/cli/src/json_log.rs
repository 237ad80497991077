//! One line of a log in JSON: an object whose fields are found by name.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::number::shortened;
use crate::timestamp::{self, TimeError};

/// How much of a bad value an error repeats.
const SHOWN: usize = 40;

/// The fields of one line, each still as it was written.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct JsonLine<'a>(#[serde(borrow)] HashMap<Cow<'a, str>, &'a RawValue>);

/// Why a line is no line of a JSON log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum JsonLineError {
    #[error("not a JSON object: {0}")]
    Syntax(String),
    #[error("no field with a time; name it with --time-field")]
    NoTime,
    #[error("field `{0}` is no time: expected RFC 3339 text or a number since 1970, got {1}")]
    Time(String, String),
    #[error("field `{0}` is a time before 1970 or after 2554: {1}")]
    TimeRange(String, String),
}

impl<'a> JsonLine<'a> {
    pub(crate) fn parse(line: &'a [u8]) -> Result<Self, JsonLineError> {
        serde_json::from_slice(line).map_err(|error| {
            let column = error.column();
            JsonLineError::Syntax(format!("{} (column {column})", without_position(&error)))
        })
    }

    /// The instant in the first of these fields that the line has.
    pub(crate) fn time(&self, names: &[String]) -> Result<u64, JsonLineError> {
        let (name, raw) = names
            .iter()
            .find_map(|name| Some((name, self.raw(name)?)))
            .ok_or(JsonLineError::NoTime)?;
        let instant = match scalar(raw) {
            Some(text) if raw.get().starts_with('"') => timestamp::text(&text),
            Some(number) => timestamp::epoch(&number),
            None => Err(TimeError::Unknown),
        };
        instant.map_err(|error| {
            let (name, value) = (name.clone(), shortened(raw.get(), SHOWN));
            match error {
                TimeError::Unknown => JsonLineError::Time(name, value),
                TimeError::OutOfRange => JsonLineError::TimeRange(name, value),
            }
        })
    }

    /// The text of the first of these fields that has one; `null`, `""` and `-` are none.
    pub(crate) fn text(&self, names: &[String]) -> Option<Cow<'a, str>> {
        names
            .iter()
            .filter_map(|name| scalar(self.raw(name)?))
            .find(|text| !text.is_empty() && text != "-")
    }

    /// A field by its exact name, by its name in another spelling, or down a path of dots.
    fn raw(&self, name: &str) -> Option<&'a RawValue> {
        if let Some(raw) = self.0.get(name) {
            return Some(raw);
        }
        // Only the smallest of several spellings is taken, so that the answer does not depend on
        // the order of a hash map.
        let alike =
            self.0.iter().filter(|(key, _)| same_name(key, name)).min_by_key(|(key, _)| *key);
        if let Some((_, raw)) = alike {
            return Some(raw);
        }
        let (outer, inner) = name.split_once('.')?;
        let object = self.raw(outer)?.get();
        serde_json::from_str::<JsonLine<'a>>(object).ok()?.raw(inner)
    }
}

/// The library's message without its position, which counts lines within our one line.
pub(crate) fn without_position(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    message.strip_suffix(&position).unwrap_or(&message).to_owned()
}

/// Whether two field names differ only in case and in `-` for `_`, as headers in logs do.
fn same_name(one: &str, other: &str) -> bool {
    let fold = |byte: u8| {
        if byte == b'-' { b'_' } else { byte.to_ascii_lowercase() }
    };
    one.len() == other.len() && one.bytes().map(fold).eq(other.bytes().map(fold))
}

/// The text of a string, the digits of a number, `true` or `false`; other values have no text.
fn scalar(raw: &RawValue) -> Option<Cow<'_, str>> {
    let json = raw.get();
    match json.bytes().next()? {
        b'"' => serde_json::from_str::<String>(json).ok().map(Cow::Owned),
        b'{' | b'[' | b'n' => None,
        _ => Some(Cow::Borrowed(json)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn fields_are_found_by_name_spelling_and_path() {
        let json = br#"{"a":"x","n":7,"X-Api-Key":"k","h":{"user_agent":"u","deep":{"er":true}},"e":"","z":null}"#;
        let line = JsonLine::parse(json).unwrap();
        let text = |name: &str| line.text(&names(&[name])).map(Cow::into_owned);
        assert_eq!(text("a").as_deref(), Some("x"));
        assert_eq!(text("n").as_deref(), Some("7"));
        assert_eq!(text("x-api-key").as_deref(), Some("k"));
        assert_eq!(text("x_api_key").as_deref(), Some("k"));
        assert_eq!(text("h.User-Agent").as_deref(), Some("u"));
        assert_eq!(text("h.deep.er").as_deref(), Some("true"));
        assert_eq!(
            [text("e"), text("z"), text("h"), text("h.none"), text("a.b")],
            [const { None }; 5]
        );
        assert_eq!(line.text(&names(&["none", "e", "n"])).as_deref(), Some("7"));
    }

    #[test]
    fn times_are_text_or_numbers() {
        let time =
            |json: &str| JsonLine::parse(json.as_bytes()).unwrap().time(&names(&["ts", "time"]));
        let expected = Ok(1_431_857_103_000_000_000);
        assert_eq!(time(r#"{"time":"2015-05-17T10:05:03Z"}"#), expected);
        assert_eq!(time(r#"{"ts":1431857103000}"#), expected);
        assert_eq!(time(r#"{"ts":1431857103.0}"#), expected);
        assert_eq!(time("{}"), Err(JsonLineError::NoTime));
    }

    #[test]
    fn what_is_wrong_with_a_time_is_told() {
        let error = |value: &str| {
            let line = format!("{{\"ts\":{value}}}");
            JsonLine::parse(line.as_bytes()).unwrap().time(&names(&["ts"])).unwrap_err().to_string()
        };
        for value in
            ["[]", "null", "true", "1e9", "\"\"", "\"yesterday\"", "\"2015-02-29T00:00:00Z\""]
        {
            let expected = format!(
                "field `ts` is no time: expected RFC 3339 text or a number since 1970, got {value}"
            );
            assert_eq!(error(value), expected);
        }
        for value in ["-5", "\"1969-12-31T23:59:59Z\"", "99999999999999999999"] {
            let expected = format!("field `ts` is a time before 1970 or after 2554: {value}");
            assert_eq!(error(value), expected);
        }
    }

    #[test]
    fn errors_leave_the_line_to_whoever_numbers_it() {
        let error = JsonLine::parse(b"{x").unwrap_err().to_string();
        assert_eq!(error, "not a JSON object: key must be a string (column 2)");
    }

    #[test]
    fn what_is_no_object_is_an_error_and_never_a_panic() {
        for line in [&b"{"[..], b"[]", b"7", b"{\"a\":\"\xff\"}", b"{\"a\":1}x", b""] {
            assert!(matches!(JsonLine::parse(line), Err(JsonLineError::Syntax(_))), "{line:?}");
        }
        let deep = format!("{{\"a\":{}", "[".repeat(100_000));
        assert!(JsonLine::parse(deep.as_bytes()).is_err());
        let lone = JsonLine::parse(br#"{"a":"\ud800"}"#).unwrap();
        assert_eq!(lone.text(&names(&["a"])), None);
    }
}
