//! What tests of gorl stores need.
