//! The `gorl` program.

fn main() {}
