//! The limiter behind a limit: of this process, or shared.

use std::sync::Arc;

use gorl::{
    AsyncLimiter, AsyncResourceLimiter, DecideError, Decision, Limiter, MultiDecision,
    ResourceLimiter, StoreError,
};

use crate::key::RequestKey;

/// A limiter with policies by resource that a [`Limit`](crate::Limit) asks. Made from a
/// [`ResourceLimiter`], which answers at once, or from an [`AsyncResourceLimiter`] over any store.
#[derive(Clone, Debug)]
pub struct ResourceDecider(ResourceKind);

#[derive(Clone, Debug)]
enum ResourceKind {
    Here(Arc<ResourceLimiter>),
    Shared(AsyncResourceLimiter),
}

/// What a limiter said: its decision or, of several policies, the binding one and all of them.
pub(crate) struct Ruling {
    pub(crate) decision: Decision,
    pub(crate) all: Option<Box<MultiDecision>>,
}

/// A limiter that a [`Limit`](crate::Limit) asks. Made from a [`Limiter`], which answers at once, or from
/// an [`AsyncLimiter`] over a store that is shared.
#[derive(Clone, Debug)]
pub struct Decider(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Here(Arc<Limiter>),
    Shared(AsyncLimiter),
    Resource(ResourceDecider, Arc<str>),
}

impl Decider {
    /// The limiter of a resource.
    pub(crate) fn of_resource(limiter: &ResourceDecider, resource: &str) -> Self {
        Self(Kind::Resource(limiter.clone(), Arc::from(resource)))
    }

    /// Whether it answers without waiting.
    pub(crate) const fn answers_now(&self) -> bool {
        match &self.0 {
            Kind::Here(_) => true,
            Kind::Shared(_) => false,
            Kind::Resource(limiter, _) => matches!(limiter.0, ResourceKind::Here(_)),
        }
    }

    /// The limiter, if it is one of this process.
    pub(crate) fn here(&self) -> Option<&Limiter> {
        match &self.0 {
            Kind::Here(limiter) => Some(limiter),
            Kind::Shared(_) | Kind::Resource(..) => None,
        }
    }

    /// The limiter, if it is shared.
    pub(crate) const fn shared(&self) -> Option<&AsyncLimiter> {
        match &self.0 {
            Kind::Shared(limiter) => Some(limiter),
            Kind::Here(_) | Kind::Resource(..) => None,
        }
    }

    pub(crate) async fn take(&self, key: &RequestKey, cost: u32) -> Result<Ruling, DecideError> {
        match &self.0 {
            Kind::Here(limiter) => Ok(limiter.check_n(key, cost)?.into()),
            Kind::Shared(limiter) => Ok(limiter.check_n(key, cost).await?.into()),
            Kind::Resource(limiter, resource) => match &limiter.0 {
                ResourceKind::Here(limiter) => Ok(limiter.check_n(resource, key, cost)?.into()),
                ResourceKind::Shared(limiter) => {
                    Ok(limiter.check_n(resource, key, cost).await?.into())
                }
            },
        }
    }

    pub(crate) async fn peek(&self, key: &RequestKey, cost: u32) -> Result<Ruling, DecideError> {
        match &self.0 {
            Kind::Here(limiter) => Ok(limiter.peek_n(key, cost)?.into()),
            Kind::Shared(limiter) => Ok(limiter.peek_n(key, cost).await?.into()),
            Kind::Resource(limiter, resource) => match &limiter.0 {
                ResourceKind::Here(limiter) => Ok(limiter.peek_n(resource, key, cost)?.into()),
                ResourceKind::Shared(limiter) => {
                    Ok(limiter.peek_n(resource, key, cost).await?.into())
                }
            },
        }
    }

    pub(crate) async fn give_back(&self, key: &RequestKey, cost: u32) -> Result<(), StoreError> {
        match &self.0 {
            Kind::Here(limiter) => {
                limiter.give_back(key, cost);
                Ok(())
            }
            Kind::Shared(limiter) => limiter.give_back(key, cost).await,
            Kind::Resource(limiter, resource) => match &limiter.0 {
                ResourceKind::Here(limiter) => {
                    limiter.give_back(resource, key, cost);
                    Ok(())
                }
                ResourceKind::Shared(limiter) => limiter.give_back(resource, key, cost).await,
            },
        }
    }
}

impl From<Decision> for Ruling {
    fn from(decision: Decision) -> Self {
        Self { decision, all: None }
    }
}

impl From<MultiDecision> for Ruling {
    fn from(all: MultiDecision) -> Self {
        let decision = *all.binding().1;
        Self { decision, all: (all.len() > 1).then(|| Box::new(all)) }
    }
}

impl From<ResourceLimiter> for ResourceDecider {
    fn from(limiter: ResourceLimiter) -> Self {
        Self(ResourceKind::Here(Arc::new(limiter)))
    }
}

impl From<Arc<ResourceLimiter>> for ResourceDecider {
    fn from(limiter: Arc<ResourceLimiter>) -> Self {
        Self(ResourceKind::Here(limiter))
    }
}

impl From<AsyncResourceLimiter> for ResourceDecider {
    fn from(limiter: AsyncResourceLimiter) -> Self {
        Self(ResourceKind::Shared(limiter))
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
