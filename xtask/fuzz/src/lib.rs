//! What must hold of any bytes: the bodies of the fuzz targets, which the tests run on the kept corpora.
//!
//! To add a target: write its body as a module here and
//! a `pub fn NAME(bytes: &[u8])` that panics when something does not hold; copy a file of
//! `fuzz_targets` and its `[[bin]]` in `Cargo.toml`; add a line to [`TARGETS`]; and put some good
//! and bad inputs in `corpus/NAME`. `cargo xtask fuzz` and the test of the corpora find the rest.
#![forbid(unsafe_code)]

mod access_log;
mod case;
mod config;
mod point;
mod stored_state;

pub use access_log::access_log;
pub use config::config;
pub use stored_state::stored_state;

/// A target: its name, which is also that of its corpus, and its body.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: [Target; 3] =
    [("stored_state", stored_state), ("access_log", access_log), ("config", config)];
