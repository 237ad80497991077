//! What went wrong, in the terms of gorl: no type of a dependency leaves this crate.

use gorl_core::{StoreError, StoreErrorKind};
use redis::{ErrorKind, RedisError, ServerErrorKind};

/// Why there is no answer: the kind for programs, the message for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Failure {
    pub(crate) kind: StoreErrorKind,
    message: String,
}

impl Failure {
    pub(crate) fn new(kind: StoreErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// The server did not do `what` in time.
    pub(crate) fn timeout(what: &str, deadline: std::time::Duration) -> Self {
        Self::new(StoreErrorKind::Timeout, format!("{what} took longer than {deadline:?}"))
    }

    /// Whether it may pass without anything being changed here.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(self.kind, StoreErrorKind::Unavailable | StoreErrorKind::Timeout)
    }

    /// A key holds what gorl did not write.
    pub(crate) fn foreign(key: &str) -> Self {
        let key = key.escape_debug();
        Self::new(
            StoreErrorKind::ForeignValue,
            format!("the value of the key \"{key}\" was not written by this version of gorl"),
        )
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        Self::with_source(failure.kind, failure)
    }
}

impl From<RedisError> for Failure {
    fn from(error: RedisError) -> Self {
        Self::new(kind(&error), error.to_string())
    }
}

/// What an error of the client or the server means for the caller.
fn kind(error: &RedisError) -> StoreErrorKind {
    if error.is_timeout() {
        return StoreErrorKind::Timeout;
    }
    match error.kind() {
        // Not reached, not let in, or there and saying that it cannot serve now.
        ErrorKind::Io
        | ErrorKind::AuthenticationFailed
        | ErrorKind::Server(
            ServerErrorKind::BusyLoading
            | ServerErrorKind::Moved
            | ServerErrorKind::Ask
            | ServerErrorKind::TryAgain
            | ServerErrorKind::ClusterDown
            | ServerErrorKind::MasterDown
            | ServerErrorKind::ReadOnly,
        ) => StoreErrorKind::Unavailable,
        ErrorKind::RESP3NotSupported => StoreErrorKind::Unsupported,
        // A script of somebody else's, a master without its replicas, a disk that is full.
        _ if matches!(error.code(), Some("BUSY" | "NOREPLICAS" | "MISCONF")) => {
            StoreErrorKind::Unavailable
        }
        _ => StoreErrorKind::Other,
    }
}

/// Whether the value under the key is of another type than text.
pub(crate) fn is_wrong_type(error: &RedisError) -> bool {
    error.code() == Some("WRONGTYPE")
}

/// Whether the server does not know the script.
pub(crate) fn is_unknown_script(error: &RedisError) -> bool {
    error.kind() == ErrorKind::Server(ServerErrorKind::NoScript)
}

/// Whether another connection may fare better: this one is broken.
pub(crate) fn asks_for_another_connection(error: &RedisError) -> bool {
    error.is_unrecoverable_error() || error.is_connection_dropped()
}

/// Whether the server is a replica, or has become one.
pub(crate) fn is_read_only(error: &RedisError) -> bool {
    error.kind() == ErrorKind::Server(ServerErrorKind::ReadOnly)
}
