//! Tests of gorl that need more than one crate.
#![forbid(unsafe_code)]
