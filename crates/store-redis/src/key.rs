//! Keys of Redis: readable where that is possible, and never two for one or one for two.

use gorl_core::{KeyRef, Part, Strategy};
use gorl_key_text::KeyText;

/// How keys are written.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) prefix: String,
    /// Whether even short plain keys are hashed.
    pub(crate) hash_all: bool,
    /// Whether the first part is the hash tag.
    pub(crate) tag_first: bool,
}

/// The longest prefix. With the readable part below it keeps any key within 512 bytes.
pub(crate) const MAX_PREFIX: usize = 256;

/// The longest readable part; what is longer is hashed.
const MAX_READABLE: usize = 200;

impl Layout {
    /// The key that a strategy counts in: prefix, strategy with the version of the layout, parts.
    pub(crate) fn key(&self, strategy: Strategy, key: KeyRef<'_>) -> String {
        self.with_body(strategy, &self.body(key))
    }

    /// The keys of every strategy.
    pub(crate) fn keys(&self, key: KeyRef<'_>) -> [String; 4] {
        let body = self.body(key);
        Strategy::ALL.map(|strategy| self.with_body(strategy, &body))
    }

    fn with_body(&self, strategy: Strategy, body: &str) -> String {
        let tag = match strategy {
            Strategy::SlidingWindow => "sw1:",
            Strategy::TokenBucket => "tb1:",
            Strategy::LeakyBucket => "lb1:",
            _ => "fw1:",
        };
        [&self.prefix, tag, body].concat()
    }

    /// The parts, separated by colons, or a tilde and their digest.
    fn body(&self, key: KeyRef<'_>) -> String {
        match key.parts() {
            // Braces are written nowhere else, so nothing else is like this.
            [first, rest @ ..] if self.tag_first => {
                let tag = self.text(std::slice::from_ref(first), MAX_READABLE / 2);
                // An empty tag is none.
                let tag = if tag.is_empty() { "=" } else { &tag };
                if rest.is_empty() {
                    return ["{", tag, "}"].concat();
                }
                ["{", tag, "}:", &self.text(rest, MAX_READABLE / 2)].concat()
            }
            parts => self.text(parts, MAX_READABLE),
        }
    }

    /// The parts as they are, if that is at most so long, or a digest of them.
    fn text(&self, parts: &[Part<'_>], most: usize) -> String {
        KeyText::new().longest(most).hash_all(self.hash_all).of_parts(parts)
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use gorl_core::Key;

    use super::*;

    fn layout() -> Layout {
        Layout { prefix: "gorl:".to_owned(), hash_all: false, tag_first: false }
    }

    fn key(key: impl Key) -> String {
        layout().key(Strategy::TokenBucket, KeyRef::new(key.parts().as_ref()))
    }

    #[test]
    fn short_plain_keys_are_readable() {
        assert_eq!(key("user-123"), "gorl:tb1:user-123");
        assert_eq!(key("ann@example.com"), "gorl:tb1:ann@example.com");
        assert_eq!(key(("tenant 7", 42_u8)), "gorl:tb1:tenant 7:=42");
        assert_eq!(key(-42_i64), "gorl:tb1:=-42");
        assert_eq!(key(Ipv4Addr::LOCALHOST), "gorl:tb1:=127.0.0.1");
        assert_eq!(key((Ipv6Addr::LOCALHOST, "/login")), "gorl:tb1:[::1]:/login");
        assert_eq!(key(("a:b", "c")), "gorl:tb1:a%3ab:c");
    }

    /// A key as a layout will write it.
    fn of(key: impl Key) -> impl Fn(&Layout) -> String {
        move |layout| layout.key(Strategy::TokenBucket, KeyRef::new(key.parts().as_ref()))
    }

    #[test]
    fn a_first_part_that_is_a_tag_keeps_keys_apart_and_short() {
        let layout = Layout { prefix: "p".repeat(MAX_PREFIX), tag_first: true, ..layout() };
        let body = |key: &dyn Fn(&Layout) -> String| {
            let key = key(&layout);
            assert!(key.len() <= 512, "{} bytes", key.len());
            key[MAX_PREFIX + 4..].to_owned()
        };
        assert_eq!(body(&of(("tenant-7", "user-3"))), "{tenant-7}:user-3");
        assert_eq!(body(&of("tenant-7")), "{tenant-7}");
        assert_eq!(body(&of(("", 5_u8))), "{=}:=5");
        let long = "x".repeat(100);
        let apart = [
            body(&of("a")),
            body(&of(("a", ""))),
            body(&of(("a", "", ""))),
            body(&of("")),
            body(&of("=")),
            body(&of(("a:", "b"))),
            body(&of(("a", ":b"))),
            body(&of(("a", "b"))),
            body(&of((long.clone(), long.clone()))),
            body(&of((long.clone() + "y", long.clone()))),
            body(&of((long.clone(), long.clone() + "y"))),
        ];
        let distinct: std::collections::HashSet<_> = apart.iter().collect();
        assert_eq!(distinct.len(), apart.len(), "{apart:?}");
    }

    #[test]
    fn each_strategy_counts_in_a_key_of_its_own() {
        let keys = layout().keys(KeyRef::new(&"k".parts()));
        assert_eq!(keys, ["gorl:fw1:k", "gorl:sw1:k", "gorl:tb1:k", "gorl:lb1:k"]);
    }

    #[test]
    fn long_binary_and_secret_keys_are_hashed_and_no_key_is_long() {
        let (long, colons) = (vec![b'x'; 1 << 20], [b':'; 199]);
        for odd in [&b"\xff"[..], b"a\0b", b"a\n", "é".as_bytes(), &long, &colons] {
            let hashed = key(odd.to_vec());
            assert!(hashed.starts_with("gorl:tb1:~"), "{hashed}");
            assert_eq!(hashed.len(), "gorl:tb1:~".len() + 40);
        }
        let longest = Layout { prefix: "p".repeat(MAX_PREFIX), hash_all: false, tag_first: false };
        for length in 0..400 {
            let bytes = vec![b':'; length];
            let parts = [Part::Unsigned(u128::MAX), Part::Bytes(&bytes)];
            assert!(longest.key(Strategy::FixedWindow, KeyRef::new(&parts)).len() <= 512);
        }
        let secret = Layout { hash_all: true, ..layout() };
        let hashed = secret.key(Strategy::FixedWindow, KeyRef::new(&"token".parts()));
        assert!(hashed.starts_with("gorl:fw1:~") && !hashed.contains("token"));
    }
}
