//! The scripts, one a strategy, and how they are named to the server.

use std::sync::LazyLock;

use gorl_core::Strategy;

/// A script and the digest by which the server knows it.
pub(crate) struct Script {
    /// The text, for a server that does not know it yet.
    pub(crate) text: &'static str,
    /// The digest, in hexadecimal.
    pub(crate) digest: String,
}

impl Script {
    fn new(text: &'static str) -> Self {
        Self { text, digest: redis::Script::new(text).get_hash().to_owned() }
    }

    /// The script that decides and gives back by a strategy.
    pub(crate) fn of(strategy: Strategy) -> &'static Self {
        match strategy {
            Strategy::SlidingWindow => &SLIDING_WINDOW,
            Strategy::TokenBucket => &TOKEN_BUCKET,
            Strategy::LeakyBucket => &LEAKY_BUCKET,
            _ => &FIXED_WINDOW,
        }
    }

    /// The script that decides on many requests, of any strategies, each by itself.
    pub(crate) fn each() -> &'static Self {
        &EACH
    }

    /// The script that decides on many requests, of any strategies, all or nothing.
    pub(crate) fn all() -> &'static Self {
        &ALL
    }

    /// The script that deletes the keys of every strategy.
    pub(crate) fn reset() -> &'static Self {
        &RESET
    }
}

/// The text of a part.
macro_rules! part {
    ($name:literal) => {
        include_str!(concat!("../lua/", $name, ".lua"))
    };
}

/// Puts the parts of a script together, in this order.
macro_rules! script {
    ($($name:literal)*) => {
        LazyLock::new(|| Script::new(concat!($(part!($name)),*)))
    };
}

/// The parts of a strategy in the script for many requests: read where it is used, under its tag.
macro_rules! if_used {
    ($tag:literal $($name:literal)*) => {
        concat!(
            "if is_used['", $tag, "'] then\nlocal tag = '", $tag, "'\n",
            $(part!($name),)*
            part!("many_register"),
            "end\n",
        )
    };
}

static FIXED_WINDOW: LazyLock<Script> =
    script!("numbers" "opening" "time" "found" "text" "expiry" "fixed_window" "ending");
static SLIDING_WINDOW: LazyLock<Script> =
    script!("numbers" "opening" "time" "found" "text" "expiry" "exact" "sliding_window" "ending");
static TOKEN_BUCKET: LazyLock<Script> = script!("numbers" "opening" "time" "found" "text" "expiry" "exact" "token_bucket" "bucket" "ending");
static LEAKY_BUCKET: LazyLock<Script> = script!("numbers" "opening" "time" "found" "text" "expiry" "exact" "leaky_bucket" "bucket" "ending");
/// A script for many requests, of any strategies.
macro_rules! for_many {
    ($ending:literal) => {
        LazyLock::new(|| {
            Script::new(concat!(
                part!("numbers"),
                part!("many_opening"),
                part!("time"),
                part!("many_policies"),
                part!("many_text"),
                part!("expiry"),
                part!("exact"),
                if_used!("f" "fixed_window"),
                if_used!("s" "sliding_window"),
                if_used!("t" "token_bucket" "bucket"),
                if_used!("l" "leaky_bucket" "bucket"),
                part!($ending),
            ))
        })
    };
}

static EACH: LazyLock<Script> = for_many!("each_ending");
static ALL: LazyLock<Script> = for_many!("all_ending");
static RESET: LazyLock<Script> = script!("reset");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_script_makes_text_of_a_number_but_by_its_whole_format() {
        let scripts = Strategy::ALL.map(Script::of);
        for script in scripts.into_iter().chain([Script::each(), Script::all(), Script::reset()]) {
            let code = script.text.lines().map(|line| line.split("--").next().unwrap_or(""));
            for line in code {
                assert!(!line.contains("..") && !line.contains("tostring"), "{line}");
                let exact = ["%.0f", "%d%09d", "STATE", "NUMBER", "EXACT - 1"];
                let exact = exact.iter().any(|format| line.contains(format));
                let formats = line.contains("format(");
                assert!(!formats || exact, "{line}");
            }
        }
    }

    #[test]
    fn each_script_has_a_digest_of_its_own() {
        let mut digests: Vec<&str> = Strategy::ALL.map(|s| &*Script::of(s).digest).to_vec();
        digests
            .extend([Script::each(), Script::all(), Script::reset()].map(|script| &*script.digest));
        digests.sort_unstable();
        digests.dedup();
        assert_eq!(digests.len(), 7);
        assert!(digests.iter().all(|digest| digest.len() == 40));
    }
}
