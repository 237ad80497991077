//! Each theorem of the design, on random policies and times, directly on core and by the model.
//!
//! A theorem is tried on some thousands of cases; with `GORL_LONG=1` on fifty thousand, a million
//! in all. A failure prints its case, shrunk, and keeps its seed under `proptest-regressions`,
//! from where it is tried first in every later run.

mod change;
mod edges;
mod figures;
mod garbage;
mod rest;
mod same;
mod story;
mod time;

use proptest::test_runner::{Config, FileFailurePersistence};

/// How many cases of each theorem are tried.
fn config(seeds: &'static str) -> Config {
    let long = std::env::var("GORL_LONG").is_ok_and(|value| value == "1");
    Config {
        cases: if long { 50_000 } else { 5_000 },
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(seeds))),
        ..Config::default()
    }
}

/// Theorems as tests: each holds at every point of every story.
macro_rules! theorems {
    (seeds in $seeds:literal; $($(#[$doc:meta])* $name:ident in $stories:expr => $holds:expr;)*) => {
        proptest::proptest! {
            #![proptest_config(crate::config(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/proptest-regressions/",
                $seeds,
            )))]
            $(
                $(#[$doc])*
                #[test]
                fn $name(story in $stories) {
                    story.each_point($holds)?;
                }
            )*
        }
    };
}
pub(crate) use theorems;
