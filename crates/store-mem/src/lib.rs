//! The in-process store of gorl.
