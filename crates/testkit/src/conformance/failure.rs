//! What failed: the check, the seed, the step, what was expected and what the store said.

use std::fmt::Debug;

/// A check that a store failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "check \"{check}\" ({face}) failed, seed {seed}, step {step}: {what}\n  expected: {expected}\n       got: {got}"
)]
pub struct Failure {
    /// The name of the check.
    pub check: &'static str,
    /// Which face of the store was asked.
    pub face: &'static str,
    /// The seed of the trace; the suite's own where nothing was drawn.
    pub seed: u64,
    /// The step of the check, from zero.
    pub step: usize,
    /// What was asked.
    pub what: String,
    /// What the store should have said.
    pub expected: String,
    /// What it said.
    pub got: String,
}

/// Where in a check something is asked; it becomes part of a [`Failure`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) check: &'static str,
    pub(super) face: &'static str,
    pub(super) seed: u64,
    pub(super) step: usize,
}

impl Place {
    // Boxed here, once: an unboxed failure would make every `Result` of a check large.
    #[allow(clippy::unnecessary_box_returns)]
    pub(super) fn fail(
        self,
        what: impl Into<String>,
        expected: &impl Debug,
        got: &impl Debug,
    ) -> Box<Failure> {
        let Self { check, face, seed, step } = self;
        let (expected, got) = (format!("{expected:?}"), format!("{got:?}"));
        Box::new(Failure { check, face, seed, step, what: what.into(), expected, got })
    }
}
