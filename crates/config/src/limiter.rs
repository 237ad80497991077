//! Limiters by a configuration.

use gorl::{
    AsyncResourceLimiter, AsyncResourceLimiterBuilder, Breaker, MemoryStore, ResourceLimiter,
    ResourceLimiterBuilder,
};

use crate::config::Config;
use crate::error::ConfigError;

impl Config {
    /// A limiter over the memory of this process, whose `check` answers at once and cannot fail.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] if the configuration has a `redis_url`: counts that are meant to be shared
    /// would not be.
    pub fn memory_limiter(&self) -> Result<ResourceLimiter, ConfigError> {
        if self.uses_redis() {
            let message = "counts are to be shared over Redis, and this limiter is over memory; \
                           remove `redis_url`, or use `connect`";
            return Err(ConfigError::new(message).of_field("redis_url"));
        }
        Ok(self.memory_builder().build())
    }

    /// What the configuration says of a limiter over memory, for options that are no part of one, such as
    /// a clock. A `redis_url` is left aside: this is for those who rehearse a configuration, and nothing
    /// that such a limiter counts is shared.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use gorl::ManualClock;
    /// use gorl_config::{Config, Format};
    ///
    /// let config = Config::parse("strategy: fixed_window\ndefault: 1 per hour", Format::Yaml)?;
    /// let clock = Arc::new(ManualClock::new(0));
    /// let limiter = config.memory_builder().clock(Arc::clone(&clock)).build();
    /// assert!(limiter.check("home", "user-1").is_allowed());
    /// assert!(!limiter.check("home", "user-1").is_allowed());
    /// clock.set(3_600_000_000_000);
    /// assert!(limiter.check("home", "user-1").is_allowed());
    /// # Ok::<(), gorl_config::ConfigError>(())
    /// ```
    pub fn memory_builder(&self) -> ResourceLimiterBuilder {
        let mut builder = ResourceLimiter::builder(self.policies.clone());
        if let Some(most) = self.settled.unknown_resources {
            builder = builder.unknown_resources(most);
        }
        if let Some(keys) = self.settled.capacity {
            builder = builder.capacity(keys);
        }
        builder
    }

    /// A limiter over what the configuration says: Redis if there is a `redis_url`, and otherwise the
    /// memory of this process.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] if Redis cannot be reached or its URL is none, and if there is one and this
    /// crate was built without the feature `redis`.
    pub async fn connect(&self) -> Result<AsyncResourceLimiter, ConfigError> {
        self.connect_with(|builder| builder).await
    }

    /// The same, with options that are no part of a configuration, such as an observer.
    ///
    /// # Errors
    ///
    /// As [`connect`](Self::connect).
    ///
    /// # Examples
    ///
    /// ```
    /// # pollster::block_on(async {
    /// use std::sync::Arc;
    /// use gorl::TopDenied;
    /// use gorl_config::{Config, Format};
    ///
    /// let top = Arc::new(TopDenied::new(100));
    /// let config = Config::parse("strategy: fixed_window\ndefault: 1 per hour", Format::Yaml)?;
    /// let limiter = config.connect_with(|builder| builder.top_denied(Arc::clone(&top))).await?;
    /// # let _ = limiter;
    /// # Ok::<(), gorl_config::ConfigError>(())
    /// # }).unwrap();
    /// ```
    #[cfg_attr(not(feature = "redis"), expect(clippy::unused_async, reason = "as with Redis"))]
    pub async fn connect_with(
        &self,
        options: impl FnOnce(AsyncResourceLimiterBuilder) -> AsyncResourceLimiterBuilder,
    ) -> Result<AsyncResourceLimiter, ConfigError> {
        let Some(url) = &self.settled.redis_url else {
            let mut store = MemoryStore::builder();
            if let Some(keys) = self.settled.capacity {
                store = store.capacity(keys.saturating_mul(self.policies.most_limits()));
            }
            return Ok(options(self.builder()).build(store.build()));
        };
        #[cfg(feature = "redis")]
        return Ok(options(self.builder()).build(self.redis_store(&url.0).await?));
        #[cfg(not(feature = "redis"))]
        {
            let _ = url;
            let message = "this program was built without Redis; build it with the feature `redis`";
            Err(ConfigError::new(message).of_field("redis_url"))
        }
    }

    /// What the configuration says of a limiter, for a store of your own.
    pub fn builder(&self) -> AsyncResourceLimiterBuilder {
        let settled = &self.settled;
        let mut breaker = Breaker::new();
        if let Some(failures) = settled.breaker.failures {
            breaker = breaker.failures(failures);
        }
        if let Some(wait) = settled.breaker.wait {
            breaker = breaker.wait(wait);
        }
        if let Some(wait) = settled.breaker.longest_wait {
            breaker = breaker.longest_wait(wait);
        }
        let mut builder = AsyncResourceLimiter::builder(self.policies.clone())
            .failure_policy(settled.failure.clone())
            .breaker(breaker);
        if let Some(most) = settled.unknown_resources {
            builder = builder.unknown_resources(most);
        }
        if let Some(cache) = &settled.denial_cache {
            builder = builder.denial_cache(cache.clone());
        }
        builder
    }

    #[cfg(feature = "redis")]
    async fn redis_store(&self, url: &str) -> Result<gorl::RedisStore, ConfigError> {
        let options = &self.settled.redis;
        let mut store = gorl::RedisStore::builder(url).start_degraded(options.start_degraded);
        if let Some(prefix) = &options.prefix {
            store = store.prefix(prefix);
        }
        if let Some(always) = options.hash_keys {
            store = store.hash_keys(always);
        }
        if let Some(tagged) = options.tag_resource {
            store = store.tag_first_part(tagged);
        }
        if let Some(deadline) = options.connect_timeout {
            store = store.connect_timeout(deadline);
        }
        if let Some(deadline) = options.command_timeout {
            store = store.command_timeout(deadline);
        }
        store.connect().await.map_err(|error| {
            // What the store says of a URL is not what is in it.
            let source = std::error::Error::source(&error).map(|source| format!(": {source}"));
            ConfigError::new(format!("{error}{}", source.unwrap_or_default())).of_field("redis_url")
        })
    }
}
