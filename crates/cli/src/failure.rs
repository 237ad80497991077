//! How a command ends early: with a message for the user, or because nobody reads its output.

use std::io::{self, Write};

use crate::number::printable;

/// Why a command stopped before its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Shown as `error: …` on standard error, with exit status 2.
    Message(String),
    /// Standard output was closed by its reader; this is a quiet end, not an error.
    OutputClosed,
}

impl Failure {
    /// A failure that shows this message.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self::Message(message.into())
    }

    /// What a failed write to standard output means.
    // It is used as a function of `map_err`, which hands over the error.
    #[allow(clippy::needless_pass_by_value)]
    pub(crate) fn from_output(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::OutputClosed;
        }
        Self::new(format!("cannot write to standard output: {error}"))
    }
}

/// Prints `error: message`. A standard error that is gone must not turn an error into a panic.
pub(crate) fn report(message: &str) {
    // The message may quote a log or a file name, which must not reach the terminal as commands.
    let _ = writeln!(io::stderr().lock(), "error: {}", printable(message));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_pipe_is_not_an_error_to_show() {
        let closed = io::Error::from(io::ErrorKind::BrokenPipe);
        assert_eq!(Failure::from_output(closed), Failure::OutputClosed);
        let full = io::Error::from(io::ErrorKind::StorageFull);
        assert!(matches!(Failure::from_output(full), Failure::Message(_)));
    }
}
