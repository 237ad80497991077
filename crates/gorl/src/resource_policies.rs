//! Which policies apply to which resource, and a default for all others.

use std::collections::HashMap;
use std::sync::Arc;

use crate::MultiPolicy;

/// Named policies over a default.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use gorl::{Policy, ResourcePolicies};
///
/// let minute = Duration::from_secs(60);
/// let policies = ResourcePolicies::new(Policy::sliding_window(100, minute)?)
///     .resource("login", Policy::sliding_window(5, minute)?);
/// assert_eq!(policies.of("login").capacity(), 5);
/// assert_eq!(policies.of("search").capacity(), 100);
/// assert!(policies.names().eq(["login"]));
/// # Ok::<(), gorl::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourcePolicies {
    default: Arc<MultiPolicy>,
    resources: HashMap<Box<str>, Arc<MultiPolicy>>,
}

impl ResourcePolicies {
    /// What applies to resources that have no policy of their own.
    #[must_use]
    pub fn new(default: impl Into<MultiPolicy>) -> Self {
        Self { default: Arc::new(default.into()), resources: HashMap::new() }
    }

    /// What applies to a resource.
    #[must_use]
    pub fn resource(mut self, name: impl Into<Box<str>>, policy: impl Into<MultiPolicy>) -> Self {
        self.resources.insert(name.into(), Arc::new(policy.into()));
        self
    }

    /// What applies to a resource: its own policies or the default.
    #[must_use]
    pub fn of(&self, resource: &str) -> &MultiPolicy {
        self.known(resource).unwrap_or(&self.default)
    }

    /// The default.
    #[must_use]
    pub fn default(&self) -> &MultiPolicy {
        &self.default
    }

    /// The resources that have policies of their own, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let mut names: Vec<&str> = self.resources.keys().map(|name| &**name).collect();
        names.sort_unstable();
        names.into_iter()
    }

    /// The most policies that apply to one resource; at least one.
    #[must_use]
    pub fn most_limits(&self) -> usize {
        let own = self.resources.values().map(|policy| policy.len());
        own.max().unwrap_or(1).max(self.default.len())
    }

    pub(crate) fn known(&self, resource: &str) -> Option<&Arc<MultiPolicy>> {
        self.resources.get(resource)
    }

    pub(crate) fn default_shared(&self) -> &Arc<MultiPolicy> {
        &self.default
    }

    /// Every policy that takes the place of another for some keys, in `new`.
    pub(crate) fn replaced_by<'a>(
        &'a self,
        new: &'a Self,
    ) -> impl Iterator<Item = (&'a gorl_core::Policy, &'a gorl_core::Policy)> {
        let named = self.resources.keys().chain(new.resources.keys());
        let pairs = named.map(|name| (self.of(name), new.of(name)));
        let pairs = pairs.chain([(self.default(), new.default())]);
        pairs
            .flat_map(|(old, new)| {
                old.iter().filter_map(|(name, old)| new.get(name).map(|new| (old, new)))
            })
            .filter(|(old, new)| old != new)
    }
}
