//! The limiter behind a limit: of this process, or shared.

use std::sync::Arc;

use gorl::{AsyncLimiter, DecideError, Decision, Limiter, StoreError};

use crate::key::RequestKey;

/// A limiter that a [`Limit`](crate::Limit) asks. Made from a [`Limiter`], which answers at once, or from
/// an [`AsyncLimiter`] over a store that is shared.
#[derive(Clone, Debug)]
pub struct Decider(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Here(Arc<Limiter>),
    Shared(AsyncLimiter),
}

impl Decider {
    /// Whether it answers without waiting.
    pub(crate) const fn answers_now(&self) -> bool {
        matches!(self.0, Kind::Here(_))
    }

    /// The limiter, if it is one of this process.
    pub(crate) fn here(&self) -> Option<&Limiter> {
        match &self.0 {
            Kind::Here(limiter) => Some(limiter),
            Kind::Shared(_) => None,
        }
    }

    /// The limiter, if it is shared.
    pub(crate) const fn shared(&self) -> Option<&AsyncLimiter> {
        match &self.0 {
            Kind::Here(_) => None,
            Kind::Shared(limiter) => Some(limiter),
        }
    }

    pub(crate) async fn take(&self, key: &RequestKey, cost: u32) -> Result<Decision, DecideError> {
        match &self.0 {
            Kind::Here(limiter) => Ok(limiter.check_n(key, cost)?),
            Kind::Shared(limiter) => limiter.check_n(key, cost).await,
        }
    }

    pub(crate) async fn peek(&self, key: &RequestKey, cost: u32) -> Result<Decision, DecideError> {
        match &self.0 {
            Kind::Here(limiter) => Ok(limiter.peek_n(key, cost)?),
            Kind::Shared(limiter) => limiter.peek_n(key, cost).await,
        }
    }

    pub(crate) async fn give_back(&self, key: &RequestKey, cost: u32) -> Result<(), StoreError> {
        match &self.0 {
            Kind::Here(limiter) => {
                limiter.give_back(key, cost);
                Ok(())
            }
            Kind::Shared(limiter) => limiter.give_back(key, cost).await,
        }
    }
}

impl From<Limiter> for Decider {
    fn from(limiter: Limiter) -> Self {
        Self(Kind::Here(Arc::new(limiter)))
    }
}

impl From<Arc<Limiter>> for Decider {
    fn from(limiter: Arc<Limiter>) -> Self {
        Self(Kind::Here(limiter))
    }
}

impl From<AsyncLimiter> for Decider {
    fn from(limiter: AsyncLimiter) -> Self {
        Self(Kind::Shared(limiter))
    }
}
