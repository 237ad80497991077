//! The memory store against the conformance suite and the exact model.

mod conformance;
mod model;
mod sweeps;
