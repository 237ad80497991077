//! The Redis store against a server of the test's own.

mod conformance;
mod differential;
mod vectors;
