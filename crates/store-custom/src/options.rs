//! What both kinds of store can be told: the prefix of keys, the clock, whether keys are secret.

use std::sync::Arc;

use gorl_core::{Clock, KeyRef, Policy, State, StoreError, StoreErrorKind, Strategy, rested_at};
use gorl_key_text::KeyText;

/// How a [`Cas`](crate::Cas) or [`Locked`](crate::Locked) names keys and reads the time.
///
/// # Examples
///
/// ```
/// use gorl_store_custom::Options;
///
/// let options = Options::new().prefix("shop:").hash_keys(true);
/// # let _ = options;
/// ```
#[derive(Clone)]
pub struct Options {
    prefix: String,
    text: KeyText,
    clock: Arc<dyn Clock>,
}

/// The time of day by [`std::time::SystemTime`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SystemTime;

impl Clock for SystemTime {
    fn now_ns(&self) -> u64 {
        let since = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    }
}

/// The longest key, with its prefix: memcached takes 250 bytes, and nothing common takes fewer.
const LONGEST_KEY: usize = 250;

/// Between prefix and key: the strategy and the version of the layout.
const TAG: usize = "fw1:".len();

/// The longest prefix, which leaves a key room to be readable.
const LONGEST_PREFIX: usize = 100;

/// A backend may forget a state so much later than it rests, for its clock may differ.
const GRACE_NS: u64 = 60_000_000_000;

impl Options {
    /// The prefix `gorl:`, readable keys, the time of day.
    #[must_use]
    pub fn new() -> Self {
        let text = KeyText::new().spaces(false);
        Self { prefix: String::new(), text, clock: Arc::new(SystemTime) }.prefix("gorl:")
    }

    /// What every key begins with, so that others can use the same server.
    ///
    /// # Panics
    ///
    /// If it is longer than 100 bytes, or has anything but printable ASCII in it, or a space.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        let is_plain = self.prefix.bytes().all(|byte| byte.is_ascii_graphic());
        let fits = self.prefix.len() <= LONGEST_PREFIX;
        assert!(
            is_plain && fits,
            "a prefix is at most {LONGEST_PREFIX} printable ASCII characters without spaces, got {:?}",
            self.prefix
        );
        self.text = self.text.longest(LONGEST_KEY - TAG - self.prefix.len());
        self
    }

    /// Whether keys are hashed, so that the server never sees them.
    #[must_use]
    pub fn hash_keys(mut self, hash: bool) -> Self {
        self.text = self.text.hash_all(hash);
        self
    }

    /// The clock to decide by.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    pub(crate) fn key(&self, strategy: Strategy, key: KeyRef<'_>) -> String {
        let tag = match strategy {
            Strategy::SlidingWindow => "sw1:",
            Strategy::TokenBucket => "tb1:",
            Strategy::LeakyBucket => "lb1:",
            _ => "fw1:",
        };
        [&self.prefix, tag, &self.text.of(key)].concat()
    }

    pub(crate) fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

/// When a state may be forgotten, from `now_ns` on: one window after it rests and a minute, so that a
/// clock which steps back by a window finds it there.
pub(crate) fn expires_in(policy: &Policy, state: State, now_ns: u64) -> std::time::Duration {
    let rests = rested_at(policy, state).saturating_sub(now_ns);
    let kept = rests.saturating_add(policy.window_ticks()).saturating_add(GRACE_NS);
    std::time::Duration::from_nanos(kept)
}

/// The policies of these stores count nanoseconds.
pub(crate) fn check_tick(policy: &Policy) -> Result<(), StoreError> {
    if policy.tick() == gorl_core::Tick::Nanosecond {
        return Ok(());
    }
    Err(StoreError::with_source(
        StoreErrorKind::Policy,
        "this store counts nanoseconds, and the policy is one of microseconds: leave out `in_micros`",
    ))
}
