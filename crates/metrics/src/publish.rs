//! Figures that are asked for now and then: how much is in memory, and what was counted elsewhere.

use gorl::{AsyncResourceLimiter, Breaker, MemoryStore, ResourceLimiter};
use metrics::{counter, gauge};

use crate::Metrics;
use crate::observer::{owned, set_breaker};

/// What limiters by resource are called where all their resources are meant.
const DEFAULT_RESOURCE: &str = "default";

impl Metrics {
    /// Publishes what a store in memory holds. Call it before each scrape or every few seconds: it looks
    /// at each shard for some nanoseconds.
    pub fn publish_store(&self, limiter: &str, store: &MemoryStore) {
        let label = || [("limiter", owned(limiter))];
        gauge!("gorl_keys", &label()).set(as_f64(store.len() as u64));
        gauge!("gorl_memory_bytes", &label()).set(as_f64(store.memory_bytes() as u64));
        counter!("gorl_evictions_total", &label()).absolute(store.evictions());
    }

    /// Publishes what a limiter over memory holds; see [`publish_store`](Self::publish_store).
    pub fn publish(&self, limiter: &str, of: &ResourceLimiter) {
        self.publish_store(limiter, of.store());
        self.unknown(limiter, of.unknown_resources());
    }

    /// Publishes how many unknown resources a limiter over any store has, and where its breaker stands; see
    /// [`publish_breaker`](Self::publish_breaker).
    pub fn publish_async(&self, limiter: &str, of: &AsyncResourceLimiter) {
        self.unknown(limiter, of.unknown_resources());
        if let Some(breaker) = of.breaker() {
            self.publish_breaker(DEFAULT_RESOURCE, breaker);
        }
    }

    /// Publishes where a breaker stands. Call it before each scrape, with the name that the limiter's
    /// observer has.
    ///
    /// The observer hears of changes as well, but not of all: of those that another limiter with the same
    /// breaker brought about, it does not; nor of a probe that was given up; and two changes at the same
    /// time may be told in either order.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use gorl::{AsyncLimiter, MemoryStore, Policy};
    /// use gorl_metrics::Metrics;
    ///
    /// let metrics = Metrics::new();
    /// let limiter = AsyncLimiter::builder(Policy::token_bucket(10, Duration::from_secs(1))?)
    ///     .observer("login", metrics.clone())
    ///     .build(MemoryStore::new());
    /// let breaker = limiter.breaker().expect("it has one unless built without");
    /// metrics.publish_breaker("login", breaker);
    /// # Ok::<(), gorl::PolicyError>(())
    /// ```
    pub fn publish_breaker(&self, resource: &str, breaker: &Breaker) {
        set_breaker(resource, breaker.state());
    }

    #[expect(clippy::unused_self, reason = "the facade's recorder is known to nobody else")]
    fn unknown(&self, limiter: &str, count: usize) {
        gauge!("gorl_unknown_resources", "limiter" => owned(limiter)).set(as_f64(count as u64));
    }

    /// Counts a request over HTTP, for [`RateLimit::observe`](gorl_http::RateLimit::observe).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    /// use gorl::{Limiter, Policy};
    /// use gorl_http::RateLimit;
    /// use gorl_metrics::Metrics;
    ///
    /// let metrics = Metrics::new();
    /// let limiter = Limiter::new(Policy::token_bucket(10, Duration::from_secs(1))?);
    /// let limits = RateLimit::<()>::per_ip(limiter).observe(move |event| metrics.http(event));
    /// # Ok::<(), gorl::PolicyError>(())
    /// ```
    #[cfg(feature = "http")]
    pub fn http(&self, event: &gorl_http::Event<'_>) {
        let outcome = event.outcome.as_str();
        let outcomes = self.shared.http.get(event.limit, Default::default);
        let requests = outcomes.get(outcome, || {
            let labels = [("limit", owned(event.limit)), ("outcome", owned(outcome))];
            counter!("gorl_http_requests_total", &labels)
        });
        requests.increment(1);
    }
}

/// Gauges are doubles, which are exact up to 2^53.
#[expect(clippy::cast_precision_loss, reason = "no store holds so many keys or bytes")]
fn as_f64(number: u64) -> f64 {
    number as f64
}
