//! Tests of gorl that need more than one crate.
