//! Which field of a line is the key or the resource, and reading a line of either format for it.

use std::borrow::Cow;
use std::net::Ipv6Addr;

use crate::access_log::{self, Entry, LineError, parse_line};
use crate::args::FieldNames;
use crate::json_log::{JsonLine, JsonLineError};

/// What `--key` and `--resource` can name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Ip,
    User,
    Path,
    Method,
    Status,
    Referer,
    UserAgent,
    /// A field of JSON lines by its own name.
    Named(String),
}

impl Field {
    pub(crate) fn parse(name: &str) -> Self {
        match name {
            "ip" => Self::Ip,
            "user" => Self::User,
            "path" => Self::Path,
            "method" => Self::Method,
            "status" => Self::Status,
            "referer" | "referrer" => Self::Referer,
            "user-agent" | "user_agent" | "agent" => Self::UserAgent,
            other => Self::Named(other.to_owned()),
        }
    }

    fn of_entry<'a>(&self, entry: &Entry<'a>) -> Option<&'a [u8]> {
        match self {
            Self::Ip => access_log::present(entry.host),
            Self::User => entry.user,
            Self::Path => entry.path,
            Self::Method => entry.method,
            Self::Status => entry.status,
            Self::Referer => entry.referer,
            Self::UserAgent => entry.user_agent,
            Self::Named(_) => None,
        }
    }

    /// The form of the text under which it is counted, so that one address is one key.
    fn counted_as<'a>(&self, text: Cow<'a, [u8]>) -> Cow<'a, [u8]> {
        match self {
            Self::Ip => canonical_address(&text).map_or(text, Cow::Owned),
            _ => text,
        }
    }
}

/// The one spelling of an IPv6 address, and of the IPv4 address that it may stand for.
///
/// IPv4 addresses have a single spelling, and what is no address has none to prefer.
fn canonical_address(text: &[u8]) -> Option<Vec<u8>> {
    // The colon is a cheap test that spares most lines the parse.
    memchr::memchr(b':', text)?;
    let bare = text.strip_prefix(b"[").and_then(|text| text.strip_suffix(b"]")).unwrap_or(text);
    let address: Ipv6Addr = std::str::from_utf8(bare).ok()?.parse().ok()?;
    Some(address.to_canonical().to_string().into_bytes())
}

/// What one line says about the request, as far as a limiter wants to know.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Record<'a> {
    pub(crate) at_ns: u64,
    /// Absent when the line does not have the field, such as the user of an anonymous request.
    pub(crate) key: Option<Cow<'a, [u8]>>,
    pub(crate) resource: Option<Cow<'a, [u8]>>,
    /// The fields asked for beside those, in their order.
    pub(crate) also: Vec<Option<Cow<'a, [u8]>>>,
}

/// Why a line gives no record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RecordError {
    #[error(transparent)]
    Access(#[from] LineError),
    #[error(transparent)]
    Json(#[from] JsonLineError),
}

/// Reads records: knows the wanted fields and what they are called in JSON lines.
#[derive(Debug)]
pub(crate) struct RecordReader {
    time: Vec<String>,
    request: Vec<String>,
    key: Wanted,
    resource: Option<Wanted>,
    also: Vec<Wanted>,
}

#[derive(Debug)]
struct Wanted {
    field: Field,
    /// The names to look for in JSON lines, in order of preference.
    names: Vec<String>,
}

impl RecordReader {
    pub(crate) fn new(
        key: &str,
        resource: Option<&str>,
        also: &[&str],
        names: &FieldNames,
    ) -> Self {
        let wanted = |name: &str| {
            let field = Field::parse(name);
            Wanted { names: json_names(&field, names), field }
        };
        Self {
            time: chosen(names.time_field.as_ref(), TIME_NAMES),
            request: owned(&["request", "request_line"]),
            key: wanted(key),
            resource: resource.map(wanted),
            also: also.iter().map(|name| wanted(name)).collect(),
        }
    }

    /// Reads a line of either format; JSON lines are told by their opening brace.
    pub(crate) fn read<'a>(&self, line: &'a [u8]) -> Result<Record<'a>, RecordError> {
        if line.trim_ascii_start().first() == Some(&b'{') {
            return self.read_json(line);
        }
        let entry = parse_line(line)?;
        let of = |wanted: &Wanted| {
            let text = wanted.field.of_entry(&entry).map(Cow::Borrowed);
            text.map(|text| wanted.field.counted_as(text))
        };
        Ok(Record {
            at_ns: entry.at_ns,
            key: of(&self.key),
            resource: self.resource.as_ref().and_then(of),
            also: self.also.iter().map(of).collect(),
        })
    }

    fn read_json<'a>(&self, line: &'a [u8]) -> Result<Record<'a>, RecordError> {
        let json = JsonLine::parse(line)?;
        let of = |wanted: &Wanted| {
            self.json_field(&json, wanted).map(|text| wanted.field.counted_as(text))
        };
        Ok(Record {
            at_ns: json.time(&self.time)?,
            key: of(&self.key),
            resource: self.resource.as_ref().and_then(of),
            also: self.also.iter().map(of).collect(),
        })
    }

    fn json_field<'a>(&self, json: &JsonLine<'a>, wanted: &Wanted) -> Option<Cow<'a, [u8]>> {
        let plain = json.text(&wanted.names).map(into_bytes);
        // Many servers log the whole request line in one field, as access logs do.
        let request = || json.text(&self.request);
        match (&wanted.field, plain) {
            (Field::Path, Some(target)) => Some(narrowed(target, access_log::bare_path)),
            (Field::Path, None) => {
                part_of_request(request(), |line| access_log::method_and_path(line).1)
            }
            (Field::Method, None) => {
                part_of_request(request(), |line| access_log::method_and_path(line).0)
            }
            (_, plain) => plain,
        }
    }
}

fn into_bytes(text: Cow<'_, str>) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

fn narrowed(text: Cow<'_, [u8]>, part: fn(&[u8]) -> &[u8]) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(part(text)),
        Cow::Owned(text) => Cow::Owned(part(&text).to_vec()),
    }
}

/// A part of the request line, in a copy because the line itself may be one.
fn part_of_request(
    line: Option<Cow<'_, str>>,
    part: fn(&[u8]) -> Option<&[u8]>,
) -> Option<Cow<'static, [u8]>> {
    part(line?.as_bytes()).map(|part| Cow::Owned(part.to_vec()))
}

fn json_names(field: &Field, names: &FieldNames) -> Vec<String> {
    match field {
        Field::Ip => chosen(names.ip_field.as_ref(), IP_NAMES),
        Field::User => chosen(names.user_field.as_ref(), USER_NAMES),
        Field::Path => chosen(names.path_field.as_ref(), PATH_NAMES),
        Field::Method => owned(&["method", "request_method", "http_method"]),
        Field::Status => owned(&["status", "status_code"]),
        Field::Referer => owned(&["referer", "referrer", "http_referer"]),
        Field::UserAgent => owned(&["user_agent", "http_user_agent", "agent"]),
        Field::Named(name) => vec![name.clone()],
    }
}

fn chosen(given: Option<&String>, usual: &[&str]) -> Vec<String> {
    given.map_or_else(|| owned(usual), |name| vec![name.clone()])
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

// What common servers and log libraries call these fields.
const TIME_NAMES: &[&str] =
    &["time", "timestamp", "@timestamp", "ts", "time_local", "time_iso8601", "date", "msec"];
const IP_NAMES: &[&str] =
    &["ip", "remote_addr", "client_ip", "remote_ip", "clientip", "source_ip", "host"];
const USER_NAMES: &[&str] = &["user", "remote_user", "user_id", "username"];
const PATH_NAMES: &[&str] = &["path", "uri", "request_uri", "url", "request_path"];

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str, line: &str) -> Option<String> {
        let reader = RecordReader::new(name, None, &[], &FieldNames::default());
        let record = reader.read(line.as_bytes()).unwrap();
        record.key.map(|key| String::from_utf8(key.into_owned()).unwrap())
    }

    #[test]
    fn every_field_of_an_access_log_can_be_the_key() {
        let line = r#"h - ann [17/May/2015:10:05:03 +0000] "PUT /a?b HTTP/1.1" 201 1 "r" "u""#;
        for (name, expected) in [
            ("ip", "h"),
            ("user", "ann"),
            ("path", "/a"),
            ("method", "PUT"),
            ("status", "201"),
            ("referer", "r"),
            ("user-agent", "u"),
        ] {
            assert_eq!(key(name, line).as_deref(), Some(expected), "{name}");
        }
        assert_eq!(key("x-api-key", line), None);
    }

    #[test]
    fn json_lines_have_the_same_fields_under_their_usual_names() {
        let line = r#" {"ts":1,"remote_addr":"h","request":"PUT /a?b HTTP/1.1","status":201,"X-Api-Key":"k"}"#;
        for (name, expected) in
            [("ip", "h"), ("path", "/a"), ("method", "PUT"), ("status", "201"), ("x-api-key", "k")]
        {
            assert_eq!(key(name, line).as_deref(), Some(expected), "{name}");
        }
        assert_eq!(key("user", line), None);
        assert_eq!(key("path", r#"{"ts":1,"url":"/x?y#z"}"#).as_deref(), Some("/x"));
    }

    #[test]
    fn every_spelling_of_an_address_is_one_key() {
        for (spellings, expected) in [
            (
                &["2001:db8::1", "2001:DB8:0:0::1", "[2001:db8::1]", "2001:0db8:0:0:0:0:0:1"][..],
                "2001:db8::1",
            ),
            (&["1.2.3.4", "::ffff:1.2.3.4", "::FFFF:0102:0304", "[::ffff:1.2.3.4]"], "1.2.3.4"),
        ] {
            for spelling in spellings {
                let line = format!("{spelling} - - [17/May/2015:10:05:03 +0000] \"-\" 200 1");
                assert_eq!(key("ip", &line).as_deref(), Some(expected), "{spelling}");
                let line = format!(r#"{{"ts":1,"ip":"{spelling}"}}"#);
                assert_eq!(key("ip", &line).as_deref(), Some(expected), "{spelling}");
            }
        }
    }

    #[test]
    fn text_that_is_no_address_stays_as_it_is() {
        for text in ["Host.Example", "01.2.3.4", "A:B", "[x]", "[1.2.3.4]", "FE80::1%eth0", "::1:"]
        {
            let line = format!("{text} - - [17/May/2015:10:05:03 +0000] \"-\" 200 1");
            assert_eq!(key("ip", &line).as_deref(), Some(text));
        }
        let line = r#"{"ts":1,"user":"2001:DB8::1"}"#;
        assert_eq!(key("user", line).as_deref(), Some("2001:DB8::1"), "only addresses are");
    }

    #[test]
    fn damaged_lines_give_a_record_or_an_error_and_never_a_panic() {
        let reader = RecordReader::new("path", Some("x.y"), &[], &FieldNames::default());
        let lines = [
            r#"h - a [b] [17/May/2015:10:05:03 +0000] "GET /a\"?b HTTP/1.1" 200 1 "r" "u\\""#,
            r#"{"ts":"2015-05-17T10:05:03Z","request":"GET /a HTTP/1.1","x":{"y":[1.5e3,"\u00e9"]}}"#,
        ];
        let pieces: Vec<u8> = lines.concat().into_bytes();
        // A small generator of its own keeps a failure repeatable.
        let mut seed = 1_u64;
        let mut random = |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) as usize % below
        };
        let mut good = 0;
        for round in 0..60_000 {
            let mut line = lines[round % 2].as_bytes().to_vec();
            for _ in 0..random(4) {
                let at = random(line.len());
                match random(4) {
                    0 => line[at] = pieces[random(pieces.len())],
                    1 => line[at] = random(256).to_le_bytes()[0],
                    2 => drop(line.remove(at)),
                    _ => line.insert(at, pieces[random(pieces.len())]),
                }
            }
            good += usize::from(reader.read(&line).is_ok());
        }
        assert!((15_000..60_000).contains(&good), "{good}");
    }

    #[test]
    fn a_named_field_is_looked_for_alone() {
        let names = FieldNames {
            time_field: Some("at".to_owned()),
            user_field: Some("account.id".to_owned()),
            ..FieldNames::default()
        };
        let reader = RecordReader::new("user", Some("path"), &[], &names);
        let record =
            reader.read(br#"{"at":2,"time":"x","user":"no","account":{"id":5},"path":"/"}"#);
        let record = record.unwrap();
        assert_eq!(record.at_ns, 2_000_000_000);
        assert_eq!(record.key.as_deref(), Some(&b"5"[..]));
        assert_eq!(record.resource.as_deref(), Some(&b"/"[..]));
        let error = reader.read(br#"{"time":1}"#).unwrap_err();
        assert_eq!(error, RecordError::Json(JsonLineError::NoTime));
    }
}
