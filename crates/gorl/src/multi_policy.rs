//! Several limits that apply together, each by a name.

use std::fmt;

use gorl_core::Policy;

/// One or several policies that must all admit: ten a second *and* a thousand an hour.
///
/// Each has a name, which is a part of the key under which it counts and tells it apart in a
/// [`MultiDecision`](crate::MultiDecision). A policy alone needs none.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use gorl::{MultiPolicy, Policy};
///
/// let second = Policy::token_bucket(10, Duration::from_secs(1))?;
/// let hour = Policy::sliding_window(1_000, Duration::from_secs(3600))?;
/// let both = MultiPolicy::named("second", second)?.and("hour", hour)?;
/// assert_eq!(both.len(), 2);
/// assert_eq!(both.get("hour"), Some(&hour));
/// assert!(both.clone().and("hour", second).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MultiPolicy {
    limits: Box<[(Box<str>, Policy)]>,
}

/// Names by which limits cannot be told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MultiPolicyError {
    /// The name is empty, which is that of a policy alone.
    NoName,
    /// There is a limit of this name already.
    Taken {
        /// The name.
        name: String,
    },
    /// There are too many limits for one request.
    TooMany,
}

/// The most limits of one request: each is looked at for each request.
const MOST_LIMITS: usize = 32;

impl MultiPolicy {
    /// A policy alone.
    #[must_use]
    pub fn one(policy: Policy) -> Self {
        Self { limits: Box::new([(Box::from(""), policy)]) }
    }

    /// A policy with a name, to which others can be added.
    ///
    /// # Errors
    ///
    /// [`MultiPolicyError::NoName`] if the name is empty.
    pub fn named(name: &str, policy: Policy) -> Result<Self, MultiPolicyError> {
        if name.is_empty() {
            return Err(MultiPolicyError::NoName);
        }
        Ok(Self { limits: Box::new([(Box::from(name), policy)]) })
    }

    /// One more policy, which must admit as well.
    ///
    /// # Errors
    ///
    /// [`MultiPolicyError`] if the name is empty or taken, if the policy before has no name, or if there
    /// are 32 limits already.
    pub fn and(self, name: &str, policy: Policy) -> Result<Self, MultiPolicyError> {
        if name.is_empty() || self.get("").is_some() {
            return Err(MultiPolicyError::NoName);
        }
        if self.get(name).is_some() {
            return Err(MultiPolicyError::Taken { name: name.to_owned() });
        }
        if self.limits.len() >= MOST_LIMITS {
            return Err(MultiPolicyError::TooMany);
        }
        let mut limits = self.limits.into_vec();
        limits.push((Box::from(name), policy));
        Ok(Self { limits: limits.into_boxed_slice() })
    }

    /// How many limits there are; at least one.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "there is always one")]
    pub fn len(&self) -> usize {
        self.limits.len()
    }

    /// The policy of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Policy> {
        self.iter().find(|(own, _)| *own == name).map(|(_, policy)| policy)
    }

    /// Names and policies, in the order in which they were added.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Policy)> {
        self.limits.iter().map(|(name, policy)| (&**name, policy))
    }

    /// The name of the limit of this number.
    pub(crate) fn name(&self, index: usize) -> &str {
        self.limits.get(index).map_or("", |(name, _)| name)
    }

    /// The largest cost that all limits can ever admit at once.
    #[must_use]
    pub fn capacity(&self) -> u32 {
        self.iter().map(|(_, policy)| policy.capacity()).min().unwrap_or(u32::MAX)
    }
}

impl From<Policy> for MultiPolicy {
    fn from(policy: Policy) -> Self {
        Self::one(policy)
    }
}

impl fmt::Display for MultiPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, policy)) in self.iter().enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            if !name.is_empty() {
                write!(f, "{name}: ")?;
            }
            write!(f, "{policy}")?;
        }
        Ok(())
    }
}

impl fmt::Display for MultiPolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoName => f.write_str("a limit beside others needs a name that is not empty"),
            Self::Taken { name } => write!(f, "there are two limits of the name {name:?}"),
            Self::TooMany => write!(f, "there are more than {MOST_LIMITS} limits"),
        }
    }
}

impl std::error::Error for MultiPolicyError {}
