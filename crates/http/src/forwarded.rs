//! The addresses that proxies report, read from the right: the last was written by the nearest.
//!
//! What stands to the left of an address that a trusted proxy wrote may be anybody's invention, so
//! nothing there may change how the rest is read. That is why these read backwards: a quote that
//! is opened on the left and never closed swallows nothing on the right.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// An element of `Forwarded` or `X-Forwarded-For`: the address in it, if there is one.
pub(crate) type Hop = Option<IpAddr>;

/// The addresses of a line of `X-Forwarded-For`, the last first.
pub(crate) fn x_forwarded_for(line: &[u8]) -> impl Iterator<Item = Hop> {
    line.rsplit(|byte| *byte == b',').map(|element| text(element).and_then(address))
}

/// The addresses of a line of `Forwarded` (RFC 7239), the last first.
pub(crate) fn forwarded(line: &[u8]) -> impl Iterator<Item = Hop> {
    let mut rest = Some(line);
    std::iter::from_fn(move || {
        let (before, element) = split_last(rest?, b',');
        rest = before;
        Some(element_for(element))
    })
}

/// The address of an element's `for`.
fn element_for(element: &[u8]) -> Hop {
    let mut rest = Some(element);
    let mut found = None;
    while let Some(line) = rest {
        let (before, pair) = split_last(line, b';');
        rest = before;
        let pair = text(pair)?;
        if let Some((name, value)) = pair.split_once('=')
            && name.trim().eq_ignore_ascii_case("for")
        {
            // Twice in one element is not what a proxy writes.
            if found.is_some() {
                return None;
            }
            found = Some(value.trim());
        }
    }
    let value = found?;
    let quoted = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    address(quoted.unwrap_or(value))
}

/// What is before the last separator outside of quotes, if there is one, and what is after it.
fn split_last(line: &[u8], separator: u8) -> (Option<&[u8]>, &[u8]) {
    let mut in_quotes = false;
    for at in (0..line.len()).rev() {
        match line[at] {
            b'"' if !(in_quotes && at > 0 && line[at - 1] == b'\\') => in_quotes = !in_quotes,
            byte if byte == separator && !in_quotes => return (Some(&line[..at]), &line[at + 1..]),
            _ => {}
        }
    }
    // A quote without its other half: what is before it cannot be told from what is in it.
    (None, if in_quotes { &[] } else { line })
}

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

/// An address with or without a port, an IPv6 address with or without brackets.
pub(crate) fn address(text: &str) -> Hop {
    let text = text.trim();
    if let Ok(address) = text.parse::<IpAddr>() {
        return Some(address.to_canonical());
    }
    if let Ok(socket) = text.parse::<SocketAddr>() {
        return Some(socket.ip().to_canonical());
    }
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    inner.parse::<Ipv6Addr>().ok().map(|address| IpAddr::V6(address).to_canonical())
}

#[cfg(test)]
mod tests {
    use super::{address, forwarded, x_forwarded_for};

    fn shown(hops: impl Iterator<Item = super::Hop>) -> Vec<String> {
        hops.map(|hop| hop.map_or("-".to_owned(), |address| address.to_string())).collect()
    }

    #[test]
    fn addresses_lose_ports_brackets_and_the_mapping_of_version_4() {
        for (text, expected) in [
            ("203.0.113.7", "203.0.113.7"),
            (" 203.0.113.7:4711 ", "203.0.113.7"),
            ("2001:db8::7", "2001:db8::7"),
            ("[2001:db8::7]", "2001:db8::7"),
            ("[2001:DB8::7]:80", "2001:db8::7"),
            ("::ffff:203.0.113.7", "203.0.113.7"),
            ("[::ffff:203.0.113.7]:1", "203.0.113.7"),
        ] {
            assert_eq!(address(text).expect(text).to_string(), expected);
        }
        for text in ["", "unknown", "_hidden", "203.0.113", "203.0.113.7.1", "[::1", "::1]:5", "é"]
        {
            assert_eq!(address(text), None, "{text}");
        }
    }

    #[test]
    fn the_last_address_comes_first() {
        let line = b"203.0.113.7, nonsense,\xff\xfe , 10.0.0.1:80";
        assert_eq!(shown(x_forwarded_for(line)), ["10.0.0.1", "-", "-", "203.0.113.7"]);
        assert_eq!(shown(x_forwarded_for(b"")), ["-"]);
    }

    #[test]
    fn forwarded_is_read_as_the_standard_writes_it() {
        let line =
            br#"for=192.0.2.60;proto=http;by=203.0.113.43, For="[2001:db8:cafe::17]:4711", for=_x"#;
        assert_eq!(shown(forwarded(line)), ["-", "2001:db8:cafe::17", "192.0.2.60"]);
        assert_eq!(shown(forwarded(b"proto=https;for=192.0.2.60")), ["192.0.2.60"]);
        assert_eq!(shown(forwarded(b"proto=https")), ["-"]);
        assert_eq!(shown(forwarded(b"for=192.0.2.1;for=192.0.2.2")), ["-"]);
    }

    #[test]
    fn what_a_caller_invents_on_the_left_changes_nothing_on_the_right() {
        for invented in [
            r#"for="1.2.3.4"#,
            r#"for="1.2.3.4\"#,
            r#"for="a,b;c\"d"#,
            "\u{e9}",
            "for=;;;==,,,",
            r#"""""#,
        ] {
            let line = format!("{invented}, for=203.0.113.7;proto=https");
            let first = forwarded(line.as_bytes()).next().flatten();
            assert_eq!(first.map(|ip| ip.to_string()).as_deref(), Some("203.0.113.7"), "{line}");
            let line = format!(r#"{invented}, for="[2001:db8::7]:1""#);
            let first = forwarded(line.as_bytes()).next().flatten();
            assert_eq!(first.map(|ip| ip.to_string()).as_deref(), Some("2001:db8::7"), "{line}");
        }
    }
}
