//! The scripts, how they are put together, and how they are named to the server.

use std::sync::LazyLock;

use gorl_core::Strategy;

/// A script and the digest by which the server knows it.
pub(crate) struct Script {
    /// The text, for a server that does not know it yet.
    pub(crate) text: String,
    /// The digest, in hexadecimal.
    pub(crate) digest: String,
}

impl Script {
    fn new(text: String) -> Self {
        let digest = redis::Script::new(&text).get_hash().to_owned();
        Self { text, digest }
    }

    /// The script that decides on one key and gives back, by a strategy.
    pub(crate) fn one(strategy: Strategy) -> &'static Self {
        &ONE[place(strategy)]
    }

    /// The script that decides on many keys under one policy, each by itself.
    pub(crate) fn each(strategy: Strategy) -> &'static Self {
        &EACH[place(strategy)]
    }

    /// The script that decides on many keys under any policies, all or nothing.
    pub(crate) fn all() -> &'static Self {
        &ALL
    }

    /// The script that deletes the keys of every strategy.
    pub(crate) fn reset() -> &'static Self {
        &RESET
    }
}

/// The text of a file.
macro_rules! lua {
    ($name:literal) => {
        include_str!(concat!("../lua/", $name, ".lua"))
    };
}

/// How a strategy works: the blocks that are its own.
struct Blocks {
    /// What it is called by in a script for several strategies.
    tag: &'static str,
    /// Functions that the others call.
    tools: &'static str,
    /// Turns what is stored into what is worked on, and back.
    turn: &'static str,
    enter: &'static str,
    fits: &'static str,
    give: &'static str,
    rested: &'static str,
}

const FIXED_WINDOW: Blocks = Blocks {
    tag: "f",
    tools: "",
    turn: "",
    enter: lua!("blocks/fixed_window/enter"),
    fits: lua!("blocks/fixed_window/fits"),
    give: lua!("blocks/fixed_window/give"),
    rested: lua!("blocks/fixed_window/rested"),
};

const SLIDING_WINDOW: Blocks = Blocks {
    tag: "s",
    tools: lua!("blocks/exact"),
    turn: "",
    enter: lua!("blocks/sliding_window/enter"),
    fits: lua!("blocks/sliding_window/fits"),
    give: lua!("blocks/sliding_window/give"),
    rested: lua!("blocks/sliding_window/rested"),
};

/// What is stored of a leaky bucket is what is worked on.
const LEAKY_BUCKET: Blocks = Blocks {
    tag: "l",
    tools: lua!("blocks/exact"),
    turn: "",
    enter: lua!("blocks/bucket/enter"),
    fits: lua!("blocks/bucket/fits"),
    give: lua!("blocks/bucket/give"),
    rested: lua!("blocks/bucket/rested"),
};

const TOKEN_BUCKET: Blocks =
    Blocks { tag: "t", turn: lua!("blocks/token_bucket/turn"), ..LEAKY_BUCKET };

/// In the order of [`place`].
const STRATEGIES: [Blocks; 4] = [FIXED_WINDOW, SLIDING_WINDOW, TOKEN_BUCKET, LEAKY_BUCKET];

/// How a script for several strategies calls one.
pub(crate) const fn tag(strategy: Strategy) -> &'static str {
    STRATEGIES[place(strategy)].tag
}

const fn place(strategy: Strategy) -> usize {
    match strategy {
        Strategy::SlidingWindow => 1,
        Strategy::TokenBucket => 2,
        Strategy::LeakyBucket => 3,
        _ => 0,
    }
}

impl Blocks {
    /// A template with each line `--# NAME` replaced by the block of that name.
    fn fill(&self, template: &str) -> String {
        let mut text = String::with_capacity(2 * template.len());
        for line in template.lines() {
            match line.trim_start().strip_prefix("--# ") {
                Some(name) => text.push_str(&self.fill(self.block(name))),
                None => {
                    text.push_str(line);
                    text.push('\n');
                }
            }
        }
        text
    }

    fn block(&self, name: &str) -> &'static str {
        match name {
            "tools" => self.tools,
            "turn" => self.turn,
            "enter" => self.enter,
            "fits" => self.fits,
            "give" => self.give,
            "rested" => self.rested,
            "numbers" => lua!("blocks/numbers"),
            "time" => lua!("blocks/time"),
            "parse" => lua!("blocks/parse"),
            "expiry" => lua!("blocks/expiry"),
            "rearm" => lua!("blocks/rearm"),
            "text" => lua!("blocks/text"),
            // A test sees to it that there is no other.
            _ => "error('a block is missing')\n",
        }
    }
}

static ONE: LazyLock<[Script; 4]> =
    LazyLock::new(|| STRATEGIES.map(|blocks| Script::new(blocks.fill(lua!("one")))));
static EACH: LazyLock<[Script; 4]> =
    LazyLock::new(|| STRATEGIES.map(|blocks| Script::new(blocks.fill(lua!("each")))));
static ALL: LazyLock<Script> = LazyLock::new(|| {
    let functions = |blocks: Blocks| blocks.fill(&lua!("strategy").replace("{tag}", blocks.tag));
    let template = lua!("all").replace("--# strategies\n", &STRATEGIES.map(functions).concat());
    // What the strategies share is that of any that has all of it.
    Script::new(TOKEN_BUCKET.fill(&template))
});
static RESET: LazyLock<Script> = LazyLock::new(|| Script::new(lua!("reset").to_owned()));

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = &'static Script> {
        let of = |strategy| [Script::one(strategy), Script::each(strategy)];
        Strategy::ALL.into_iter().flat_map(of).chain([Script::all(), Script::reset()])
    }

    #[test]
    fn no_script_makes_text_of_a_number_but_by_its_whole_format() {
        for script in all() {
            let code = script.text.lines().map(|line| line.split("--").next().unwrap_or(""));
            for line in code {
                assert!(!line.contains("..") && !line.contains("tostring"), "{line}");
                let exact = ["%.0f", "%d%09d"].iter().any(|format| line.contains(format));
                assert!(!line.contains("format(") || exact, "{line}");
            }
        }
    }

    #[test]
    fn every_block_is_there() {
        for script in all() {
            assert!(!script.text.contains("--# ") && !script.text.contains("a block is missing"));
        }
    }

    #[test]
    fn each_script_has_a_digest_of_its_own() {
        let mut digests: Vec<&str> = all().map(|script| &*script.digest).collect();
        digests.sort_unstable();
        digests.dedup();
        assert_eq!(digests.len(), 10);
        assert!(digests.iter().all(|digest| digest.len() == 40));
    }
}
