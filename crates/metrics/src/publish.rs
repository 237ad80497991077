//! Figures that are asked for now and then: how much is in memory, and what was counted elsewhere.

use gorl::{AsyncResourceLimiter, MemoryStore, ResourceLimiter};
use metrics::{counter, gauge};

use crate::Metrics;
use crate::observer::owned;

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

    /// Publishes how many unknown resources a limiter over any store has.
    pub fn publish_async(&self, limiter: &str, of: &AsyncResourceLimiter) {
        self.unknown(limiter, of.unknown_resources());
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
        let labels = [("limit", owned(event.limit)), ("outcome", owned(event.outcome.as_str()))];
        counter!("gorl_http_requests_total", &labels).increment(1);
    }
}

/// Gauges are doubles, which are exact up to 2^53.
#[expect(clippy::cast_precision_loss, reason = "no store holds so many keys or bytes")]
fn as_f64(number: u64) -> f64 {
    number as f64
}
