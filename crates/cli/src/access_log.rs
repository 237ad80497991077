//! One line of an access log in common or combined format, as a pure function over bytes.

use memchr::{memchr, memchr2, memmem, memrchr};

use crate::timestamp::{self, TimeError};

/// What a line of an access log says; every text is as written, escapes included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// The client: an address, or its name.
    pub host: &'a [u8],
    /// The authenticated user, absent when the log has `-`.
    pub user: Option<&'a [u8]>,
    /// When, in nanoseconds since the Unix epoch.
    pub at_ns: u64,
    /// The method, absent when the request line is not one (`-`, or bytes of another protocol).
    pub method: Option<&'a [u8]>,
    /// The path without query and fragment, absent like the method.
    pub path: Option<&'a [u8]>,
    /// The response status, absent when the log has `-`.
    pub status: Option<&'a [u8]>,
    /// The page that led here, in combined format.
    pub referer: Option<&'a [u8]>,
    /// The client's name for itself, in combined format.
    pub user_agent: Option<&'a [u8]>,
}

/// Why a line is no line of an access log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// The line does not start with a client.
    #[error("the line does not start with a client address")]
    Host,
    /// There is no bracketed time in its place.
    #[error("no time such as [22/Dec/2016:16:30:52 +0300] after the user")]
    Time,
    /// What is in brackets is not `day/Mon/year:h:m:s ±zone`, or there is no such day or hour.
    #[error("the text in brackets is no time such as [22/Dec/2016:16:30:52 +0300]")]
    TimeForm,
    /// The time is one that nanoseconds since 1970 cannot tell in 64 bits.
    #[error("the time is before 1970 or after 2554")]
    TimeRange,
    /// The quoted request is missing.
    #[error("no quoted request after the time")]
    Request,
    /// The request's closing quote is missing.
    #[error("the quoted request does not end")]
    OpenQuote,
    /// What follows the request is no status.
    #[error("no status after the request")]
    Status,
}

/// Reads one line without its line break.
///
/// The format is `host ident user [time] "request" status bytes`, and in combined format also
/// `"referer" "user agent"`. Fields after these are ignored. Texts may hold any bytes, spaces
/// in the user and quotes in the request included: a quote ends a text only when it is not escaped
/// and a space or the end of the line follows.
///
/// # Errors
///
/// A [`LineError`] that names the first part which is missing.
///
/// # Examples
///
/// ```
/// use gorl_cli::parse_line;
///
/// let line = br#"2001:db8::1 - ann [22/Dec/2016:16:30:52 +0300] "GET /a?b=c HTTP/1.1" 200 7"#;
/// let entry = parse_line(line)?;
/// assert_eq!((entry.host, entry.user), (&b"2001:db8::1"[..], Some(&b"ann"[..])));
/// assert_eq!((entry.at_ns, entry.path), (1_482_413_452_000_000_000, Some(&b"/a"[..])));
/// # Ok::<(), gorl_cli::LineError>(())
/// ```
pub fn parse_line(line: &[u8]) -> Result<Entry<'_>, LineError> {
    let host_end = memchr(b' ', line).filter(|&end| end > 0).ok_or(LineError::Host)?;
    let (host, rest) = line.split_at(host_end);
    let (names, at_ns, rest) = split_at_time(rest)?;
    let user = user_of(names);

    let rest = rest.strip_prefix(b" \"").ok_or(LineError::Request)?;
    let (request, rest) = quoted(rest).ok_or(LineError::OpenQuote)?;
    let (method, path) = method_and_path(request);

    let rest = rest.strip_prefix(b" ").ok_or(LineError::Status)?;
    let (status, rest) = word(rest);
    let is_status = status == b"-" || (status.len() == 3 && status.iter().all(u8::is_ascii_digit));
    if !is_status {
        return Err(LineError::Status);
    }
    // The size is not needed, and what follows it is absent in common format.
    let (_size, rest) = word(rest.strip_prefix(b" ").unwrap_or_default());
    let (referer, rest) = rest.strip_prefix(b" \"").and_then(quoted).unwrap_or_default();
    let (user_agent, _) = rest.strip_prefix(b" \"").and_then(quoted).unwrap_or_default();

    Ok(Entry {
        host,
        user,
        at_ns,
        method,
        path,
        status: present(status),
        referer: present(referer),
        user_agent: present(user_agent),
    })
}

/// Splits ` ident user [time] rest` at the first bracket that holds a time.
///
/// A user may contain brackets, so a bracket alone does not start the time.
fn split_at_time(text: &[u8]) -> Result<(&[u8], u64, &[u8]), LineError> {
    let mut error = None;
    for open in memmem::find_iter(text, b" [") {
        let inside = &text[open + 2..];
        // Bounding the search keeps a line full of brackets from costing quadratic time.
        let near = &inside[..inside.len().min(timestamp::MAX_CLF_LEN + 1)];
        let Some(close) = memchr(b']', near) else {
            continue;
        };
        match timestamp::clf(&near[..close]) {
            Ok(at_ns) => return Ok((&text[..open], at_ns, &inside[close + 1..])),
            // A time out of range is a time, which a bracket before it in the user's name is not.
            Err(TimeError::OutOfRange) => return Err(LineError::TimeRange),
            Err(TimeError::Unknown) => error = Some(LineError::TimeForm),
        }
    }
    Err(error.unwrap_or(LineError::Time))
}

/// The user in ` ident user`: all that follows the ident, for a user may contain spaces.
fn user_of(names: &[u8]) -> Option<&[u8]> {
    let names = names.strip_prefix(b" ")?;
    let ident_end = memchr(b' ', names)?;
    present(&names[ident_end + 1..])
}

/// Splits `text" rest` behind the text, at the first quote that ends it.
fn quoted(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut from = 0;
    loop {
        let at = from + memchr2(b'"', b'\\', text.get(from..)?)?;
        if text[at] == b'\\' {
            from = at + 2;
            continue;
        }
        let after = &text[at + 1..];
        if after.first().is_none_or(|&next| next == b' ') {
            return Some((&text[..at], after));
        }
        from = at + 1;
    }
}

/// The method and the bare path of a request line; neither when it does not look like one.
pub(crate) fn method_and_path(request: &[u8]) -> (Option<&[u8]>, Option<&[u8]>) {
    let (method, rest) = word(request);
    if method.is_empty() || !method.iter().all(u8::is_ascii_alphabetic) {
        return (None, None);
    }
    let Some(target) = rest.strip_prefix(b" ") else {
        return (None, None);
    };
    // Targets of careless clients contain spaces, so the protocol is found from the end.
    let target = match memrchr(b' ', target) {
        Some(space) if target[space + 1..].starts_with(b"HTTP/") => &target[..space],
        _ => target,
    };
    (Some(method), present(bare_path(target)))
}

/// The target without its query and fragment.
pub(crate) fn bare_path(target: &[u8]) -> &[u8] {
    memchr2(b'?', b'#', target).map_or(target, |end| &target[..end])
}

/// The bytes up to the first space, and the rest from that space on.
fn word(text: &[u8]) -> (&[u8], &[u8]) {
    text.split_at(memchr(b' ', text).unwrap_or(text.len()))
}

/// A field's text, unless the log says that there is none.
pub(crate) fn present(text: &[u8]) -> Option<&[u8]> {
    (!text.is_empty() && text != b"-").then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: &str = "198.18.0.1 - - [22/Dec/2016:16:30:52 +0300] ";

    /// Method, path and user agent.
    type Texts = (Option<String>, Option<String>, Option<String>);

    fn parse(rest: &str) -> Result<Texts, LineError> {
        let line = format!("{START}{rest}");
        let entry = parse_line(line.as_bytes())?;
        let text = |field: Option<&[u8]>| field.map(|f| String::from_utf8_lossy(f).into_owned());
        Ok((text(entry.method), text(entry.path), text(entry.user_agent)))
    }

    #[test]
    fn combined_and_common_lines_give_their_fields() {
        let line = br#"h - ann [01/Jan/1970:00:00:01 +0000] "GET /p?q HTTP/1.1" 404 - "http://r/" "A/1 (x)""#;
        let entry = parse_line(line).unwrap();
        let all = Entry {
            host: b"h",
            user: Some(b"ann"),
            at_ns: 1_000_000_000,
            method: Some(b"GET"),
            path: Some(b"/p"),
            status: Some(b"404"),
            referer: Some(b"http://r/"),
            user_agent: Some(b"A/1 (x)"),
        };
        assert_eq!(entry, all);
        let common = &line[..line.len() - 22];
        assert_eq!(parse_line(common), Ok(Entry { referer: None, user_agent: None, ..all }));
    }

    #[test]
    fn quotes_end_a_text_only_where_they_can() {
        let agent = |rest: &str| parse(&format!(r#""GET / HTTP/1.1" 200 1 "-" {rest}"#)).unwrap().2;
        assert_eq!(agent(r#""a \"b\" c""#).as_deref(), Some(r#"a \"b\" c"#));
        assert_eq!(agent(r#""a\\" "extra""#).as_deref(), Some(r"a\\"));
        assert_eq!(agent(r#""a"b"c""#).as_deref(), Some(r#"a"b"c"#));
        assert_eq!(agent(r#""never closed"#), None);
        let path = parse(r#""GET /a"b HTTP/1.0" 200 1"#).unwrap().1;
        assert_eq!(path.as_deref(), Some("/a\"b"));
    }

    #[test]
    fn requests_that_are_none_still_count_their_client() {
        for request in ["-", "", r"\x16\x03\x01", "GET", r"\n"] {
            let (method, path, _) = parse(&format!("\"{request}\" 400 0 \"-\" \"-\"")).unwrap();
            assert_eq!((method, path), (None, None), "{request}");
        }
        let (_, path, _) = parse(r#""GET /a b c HTTP/1.1" 400 0"#).unwrap();
        assert_eq!(path.as_deref(), Some("/a b c"));
        let (_, path, _) = parse(r#""GET /old" 200 0"#).unwrap();
        assert_eq!(path.as_deref(), Some("/old"));
    }

    #[test]
    fn users_may_contain_spaces_and_brackets() {
        let line = br#"h - ann [x] [y z] [01/Jan/1970:00:00:00 +0000] "-" 408 -"#;
        assert_eq!(parse_line(line).unwrap().user, Some(&b"ann [x] [y z]"[..]));
    }

    #[test]
    fn bytes_that_are_not_text_are_kept() {
        let mut line =
            b"\xff\xfe - \x80 [01/Jan/1970:00:00:00 +0000] \"GET /\xe9 HTTP/1.1\" 200 1".to_vec();
        let entry = parse_line(&line).unwrap();
        assert_eq!((entry.host, entry.user), (&b"\xff\xfe"[..], Some(&b"\x80"[..])));
        assert_eq!(entry.path, Some(&b"/\xe9"[..]));
        // No prefix of a line may panic either.
        while line.pop().is_some() {
            let _ = parse_line(&line);
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        assert_eq!(parse_line(b""), Err(LineError::Host));
        assert_eq!(parse_line(b" x"), Err(LineError::Host));
        assert_eq!(parse_line(b"h - - yesterday \"-\" 200 1"), Err(LineError::Time));
        assert_eq!(parse(""), Err(LineError::Request));
        assert_eq!(parse(r#""GET / HTTP/1.1 200 1"#), Err(LineError::OpenQuote));
        assert_eq!(parse(r#""GET / \"#), Err(LineError::OpenQuote));
        assert_eq!(parse(r#""GET / HTTP/1.1""#), Err(LineError::Status));
        assert_eq!(parse(r#""GET / HTTP/1.1" OK 1"#), Err(LineError::Status));
    }

    #[test]
    fn what_is_wrong_with_a_time_is_told() {
        let of = |time: &str| {
            let line = format!("h - a [b] [{time}] \"-\" 200 1");
            parse_line(line.as_bytes()).map(|entry| entry.at_ns)
        };
        for form in ["yesterday", "29/Feb/2015:10:05:03 +0000", "17/May/2015:10:05:03", ""] {
            assert_eq!(of(form), Err(LineError::TimeForm), "{form}");
        }
        for far in ["31/Dec/1969:23:59:59 +0000", "01/Jan/2600:00:00:00 +0000"] {
            assert_eq!(of(far), Err(LineError::TimeRange), "{far}");
        }
    }

    #[test]
    fn a_long_hostile_line_costs_linear_time() {
        let brackets = " [".repeat(500_000);
        assert_eq!(parse_line(format!("h{brackets}").as_bytes()), Err(LineError::Time));
        let quotes = format!("{START}\"{}", "\"x".repeat(500_000));
        assert_eq!(parse_line(quotes.as_bytes()), Err(LineError::OpenQuote));
    }
}
