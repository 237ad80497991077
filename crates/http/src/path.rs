//! Paths as a router sees them, so that one page has one key however its path is written.

use percent_encoding::percent_decode_str;

/// The path without what makes no difference: escapes of characters that need none, empty and `.`
/// segments, `..` with the segment before it, and a slash at the end.
///
/// An escaped slash stays as it is, for it divides nothing; so does an escape of what is no text.
///
/// # Examples
///
/// ```
/// use gorl_http::normalized_path;
///
/// for path in ["/login", "//login", "/login/", "/./login", "/%6cogin", "/a/../login"] {
///     assert_eq!(normalized_path(path), "/login");
/// }
/// assert_eq!(normalized_path("/a%2Fb"), "/a%2Fb");
/// ```
#[must_use]
pub fn normalized_path(path: &str) -> String {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let mut segments: Vec<String> = Vec::new();
    for segment in path.split('/') {
        let segment = decoded(segment);
        match &*segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            _ => segments.push(segment),
        }
    }
    let mut normalized = String::with_capacity(path.len());
    for segment in segments {
        normalized.push('/');
        normalized.push_str(&segment);
    }
    if normalized.is_empty() {
        normalized.push('/');
    }
    normalized
}

/// A segment with its escapes resolved once, but those of a slash and of the escape itself.
fn decoded(segment: &str) -> String {
    if !segment.contains('%') {
        return segment.to_owned();
    }
    let kept = |escape: &str| escape.eq_ignore_ascii_case("2f") || escape == "25";
    let mut safe = String::with_capacity(segment.len());
    let mut rest = segment;
    while let Some((before, after)) = rest.split_once('%') {
        safe.push_str(before);
        match after.get(..2) {
            // Escaped once more, these come out of the decoding as they are here.
            Some(escape) if kept(escape) => {
                safe.push_str("%25");
                safe.push_str(&escape.to_ascii_uppercase());
                rest = &after[2..];
            }
            _ => {
                safe.push('%');
                rest = after;
            }
        }
    }
    safe.push_str(rest);
    match percent_decode_str(&safe).decode_utf8() {
        Ok(text) => text.into_owned(),
        Err(_) => segment.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::normalized_path;
    use proptest::prelude::*;

    #[test]
    fn r101_all_ways_to_write_a_path_are_one() {
        for path in [
            "/login",
            "//login",
            "/login/",
            "/login//",
            "/./login",
            "/%6cogin",
            "/%6Cogin",
            "/login?x=1",
            "/x/../login",
            "/../login",
            "/%2e/login",
            "/a/%2E%2e/login",
            "login",
        ] {
            assert_eq!(normalized_path(path), "/login", "{path}");
        }
        for (path, expected) in [
            ("", "/"),
            ("/", "/"),
            ("*", "/*"),
            ("/Login", "/Login"),
            ("/a%2fb", "/a%2Fb"),
            ("/a%252fb", "/a%252fb"),
            ("/%", "/%"),
            ("/%zz", "/%zz"),
            ("/%ff", "/%ff"),
            ("/caf%C3%A9", "/café"),
            ("/a b", "/a b"),
        ] {
            assert_eq!(normalized_path(path), expected, "{path}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics_and_every_path_begins_with_a_slash(path in "\\PC{0,40}|[/.%a2fF5]{0,20}") {
            prop_assert!(normalized_path(&path).starts_with('/'));
        }
    }
}
