//! From what is written to what it means, with all that can be wrong between two fields.

use std::collections::HashSet;
use std::num::NonZeroU32;
use std::time::Duration;

use gorl::{
    DenialCache, FailurePolicy, LocalShare, MultiPolicy, Policy, PolicyError, ResourcePolicies,
    Strategy,
};

use crate::config::{BreakerOptions, Config, RedisOptions, Settled};
use crate::document::{Document, Failure, LimitFields, Limits, NamedLimit, Redis};
use crate::error::{ConfigError, unknown};
use crate::format_duration;
use crate::located::Located;
use crate::rate::{Rate, parse_rates};
use crate::routes::Routes;
use crate::scalar::{Secret, Span, StrategyName};

/// The fields of one limit, wherever they stand.
#[derive(Clone, Copy)]
struct Fields<'a> {
    strategy: Option<Strategy>,
    limit: Option<&'a Located<u64>>,
    window: Option<&'a Located<Span>>,
    burst: Option<&'a Located<u64>>,
    rate: Option<&'a Located<String>>,
}

/// Some four gigabytes of keys.
const MOST_KEYS: usize = 100_000_000;

/// How a URL of Redis begins.
const REDIS: [&str; 7] = [
    "redis://",
    "rediss://",
    "unix:",
    "redis+sentinel://",
    "rediss+sentinel://",
    "redis+cluster://",
    "rediss+cluster://",
];

/// Redis counts in these.
const MICROSECOND: u32 = 1_000;

pub(crate) fn compile(document: Document) -> Result<Config, ConfigError> {
    let strategy = document.strategy.map(|StrategyName(strategy)| strategy);
    let on_redis = redis_url(&document).is_some();
    let limits = |limits: &Located<Limits>| multi_policy(limits, strategy, on_redis);
    let default = limits(&document.default).map_err(|error| error.inside("default"))?;
    let mut policies = ResourcePolicies::new(default);
    for (name, own) in &document.resources {
        let inside = |error: ConfigError| error.inside(name).inside("resources");
        if name.is_empty() {
            return Err(inside(own.error("a resource needs a name")));
        }
        if name == "default" {
            let message =
                "`default` is what all other resources are called; set the field `default`";
            return Err(inside(own.error(message)));
        }
        policies = policies.resource(&**name, limits(own).map_err(inside)?);
    }
    let routes = routes(&document, &policies)?;
    Ok(Config { policies, routes, headers: document.headers.clone(), settled: settled(document)? })
}

fn routes(document: &Document, policies: &ResourcePolicies) -> Result<Routes, ConfigError> {
    let mut routes = Vec::new();
    let known: HashSet<&str> = policies.names().collect();
    for (pattern, resource) in &document.routes {
        let inside = |error: ConfigError| error.inside(pattern).inside("routes");
        if resource.is_hidden() {
            return Err(inside(resource.error("")));
        }
        if !known.contains(&*resource.value) {
            let names: Vec<&str> = policies.names().collect();
            let message =
                format!("`{}`: {}", resource.value, unknown("resource", &resource.value, &names));
            return Err(inside(resource.error(message)));
        }
        routes.push((&**pattern, &*resource.value));
    }
    Routes::new(routes).map_err(|error| {
        let wrong = document.routes.iter().find(|(pattern, _)| pattern == error.pattern());
        let told = ConfigError::new(error.to_string());
        let told = wrong.map_or(told.clone(), |(_, resource)| told.at(resource.at));
        told.inside(error.pattern()).inside("routes")
    })
}

fn multi_policy(
    limits: &Located<Limits>,
    strategy: Option<Strategy>,
    on_redis: bool,
) -> Result<MultiPolicy, ConfigError> {
    let fields = match &limits.value {
        Limits::Rate(text) => return of_rates(limits, text, strategy, on_redis),
        Limits::Fields(fields) => fields,
    };
    let strategy = fields.strategy.map_or(strategy, |StrategyName(own)| Some(own));
    let Some(several) = &fields.limits else {
        return one_or_rates(limits, fields, strategy, on_redis);
    };
    if fields.limit.is_some() || fields.window.is_some() || fields.rate.is_some() {
        let message =
            "there are `limits` beside `limit`, `window` or `rate`; put all into `limits`";
        return Err(limits.error(message));
    }
    if let Some(burst) = &fields.burst {
        return Err(burst.error("each of the `limits` has a burst of its own").inside("burst"));
    }
    let mut all: Option<MultiPolicy> = None;
    for (index, limit) in several.iter().enumerate() {
        let inside = |error: ConfigError| error.inside(&format!("limits[{index}]"));
        let policy = named(limit, strategy, on_redis).map_err(inside)?;
        let name = &limit.value.name;
        if name.is_hidden() {
            return Err(inside(name.error("").inside("name")));
        }
        let added = match all.take() {
            None => MultiPolicy::named(&name.value, policy),
            Some(all) => all.and(&name.value, policy),
        };
        let failed =
            |error: gorl::MultiPolicyError| inside(name.error(error.to_string()).inside("name"));
        all = Some(added.map_err(failed)?);
    }
    all.ok_or_else(|| {
        limits.error("the list is empty; it needs at least one limit").inside("limits")
    })
}

fn named(
    limit: &Located<NamedLimit>,
    strategy: Option<Strategy>,
    on_redis: bool,
) -> Result<Policy, ConfigError> {
    let NamedLimit { strategy: own, limit: most, window, burst, rate, .. } = &limit.value;
    let fields = Fields {
        strategy: own.map_or(strategy, |StrategyName(own)| Some(own)),
        limit: most.as_ref(),
        window: window.as_ref(),
        burst: burst.as_ref(),
        rate: rate.as_ref(),
    };
    let rates = rates(&fields, limit)?;
    match &*rates {
        [rate] => policy(&fields, *rate, limit, on_redis),
        _ => Err(limit
            .error("one of several limits has one rate; add another for the next")
            .inside("rate")),
    }
}

fn one_or_rates(
    place: &Located<Limits>,
    given: &LimitFields,
    strategy: Option<Strategy>,
    on_redis: bool,
) -> Result<MultiPolicy, ConfigError> {
    let fields = Fields {
        strategy,
        limit: given.limit.as_ref(),
        window: given.window.as_ref(),
        burst: given.burst.as_ref(),
        rate: given.rate.as_ref(),
    };
    let rates = rates(&fields, place)?;
    if let ([_, _, ..], Some(burst)) = (&*rates, fields.burst) {
        let message =
            "of several rates none has the burst; write them as `limits`, each with its own";
        return Err(burst.error(message).inside("burst"));
    }
    several(&fields, &rates, place, on_redis)
}

fn of_rates(
    place: &Located<Limits>,
    text: &str,
    strategy: Option<Strategy>,
    on_redis: bool,
) -> Result<MultiPolicy, ConfigError> {
    let rates = parse_rates(text).map_err(|why| place.error(why))?;
    let fields = Fields { strategy, limit: None, window: None, burst: None, rate: None };
    several(&fields, &rates, place, on_redis)
}

/// One policy without a name, or several that are called by their windows.
fn several<T>(
    fields: &Fields<'_>,
    rates: &[Rate],
    place: &Located<T>,
    on_redis: bool,
) -> Result<MultiPolicy, ConfigError> {
    if let [rate] = rates {
        return Ok(policy(fields, *rate, place, on_redis)?.into());
    }
    let mut all: Option<MultiPolicy> = None;
    for rate in rates {
        let (name, policy) =
            (format_duration(rate.window), policy(fields, *rate, place, on_redis)?);
        let added = match all.take() {
            None => MultiPolicy::named(&name, policy),
            Some(all) => all.and(&name, policy),
        };
        let failed =
            |_| place.error(format!("there are two rates for a window of {name}; keep the lower"));
        all = Some(added.map_err(failed)?);
    }
    all.ok_or_else(|| place.error("there is no rate"))
}

/// Limit and window, as fields or in words.
fn rates<T>(fields: &Fields<'_>, place: &Located<T>) -> Result<Vec<Rate>, ConfigError> {
    let both = "there is a `rate` beside `limit` or `window`; keep one of the two ways";
    match (fields.rate, fields.limit, fields.window) {
        (Some(rate), None, None) => {
            parse_rates(&rate.value).map_err(|why| rate.error(why).inside("rate"))
        }
        (Some(rate), ..) => Err(rate.error(both).inside("rate")),
        (None, Some(limit), Some(window)) => {
            Ok(vec![Rate { limit: limit.value, window: window.value.0 }])
        }
        (None, None, _) => Err(place.error("the field `limit` is missing")),
        (None, Some(_), None) => Err(place.error("the field `window` is missing")),
    }
}

fn policy<T>(
    fields: &Fields<'_>,
    rate: Rate,
    place: &Located<T>,
    on_redis: bool,
) -> Result<Policy, ConfigError> {
    let Some(strategy) = fields.strategy else {
        let names = Strategy::ALL.map(Strategy::as_str).join(", ");
        let message = format!("there is no strategy; set `strategy` here or for all: {names}");
        return Err(place.error(message));
    };
    let policy = Policy::new(strategy, rate.limit, rate.window);
    let policy = policy.map_err(|error| wrong(&error, fields, place))?;
    if on_redis && !rate.window.subsec_nanos().is_multiple_of(MICROSECOND) {
        let error = PolicyError::WindowTooFine { given: rate.window };
        return Err(wrong(&error, fields, place));
    }
    match fields.burst {
        None => Ok(policy),
        Some(burst) => policy
            .with_burst(burst.value)
            .map_err(|error| burst.error(error.to_string()).inside("burst")),
    }
}

/// An error of a policy, at the field that it is about.
fn wrong<T>(error: &PolicyError, fields: &Fields<'_>, place: &Located<T>) -> ConfigError {
    let message = error.to_string();
    let rate = || fields.rate.map(|rate| rate.error(&*message).inside("rate"));
    let found = match error {
        PolicyError::Limit { .. } => {
            fields.limit.map(|limit| limit.error(&*message).inside("limit")).or_else(rate)
        }
        _ => fields.window.map(|window| window.error(&*message).inside("window")).or_else(rate),
    };
    found.unwrap_or_else(|| place.error(&*message))
}

/// The URL of Redis. An empty one is none, so that a variable of the environment can decide.
fn redis_url(document: &Document) -> Option<&Secret> {
    document.redis_url.as_ref().map(|url| &url.value).filter(|url| !url.0.is_empty())
}

fn settled(document: Document) -> Result<Settled, ConfigError> {
    let failure = failure(&document)?;
    let redis_url = redis_url(&document).cloned();
    if let (Some(url), Some(given)) = (&redis_url, &document.redis_url)
        && !REDIS.iter().any(|scheme| url.0.starts_with(scheme))
    {
        // What it says may be a password.
        let message = format!("this is no URL of Redis; it begins with {}", REDIS.join(", "));
        return Err(ConfigError::new(message).at(given.at).inside("redis_url"));
    }
    let redis = document.redis.map_or_else(
        || Ok(RedisOptions::default()),
        |redis| {
            if document.redis_url.is_none() {
                let message = "these options are for Redis, and there is no `redis_url`";
                return Err(redis.error(message).inside("redis"));
            }
            redis_options(redis.value, &failure).map_err(|error| error.inside("redis"))
        },
    )?;
    let capacity = match document.memory.and_then(|memory| memory.value.capacity) {
        Some(capacity) if capacity.value == 0 => {
            let message = "capacity must be at least 1; leave it out for none";
            return Err(capacity.error(message).inside("capacity").inside("memory"));
        }
        Some(capacity) if capacity.value > MOST_KEYS => {
            let message =
                format!("capacity must be at most {MOST_KEYS}, for its room is taken at once");
            return Err(capacity.error(message).inside("capacity").inside("memory"));
        }
        capacity => capacity.map(|capacity| capacity.value),
    };
    let breaker = document.breaker.unwrap_or_default();
    let duration = |span: Option<Span>| span.map(|Span(duration)| duration);
    let denial_cache = document.denial_cache.map(|cache| {
        let mut denials = DenialCache::new();
        if let Some(capacity) = cache.value.capacity {
            denials = denials.capacity(capacity);
        }
        duration(cache.value.max_age).map_or(denials.clone(), |age| denials.max_age(age))
    });
    Ok(Settled {
        redis_url,
        failure,
        redis,
        capacity,
        breaker: BreakerOptions {
            failures: breaker.failures,
            wait: duration(breaker.wait),
            longest_wait: duration(breaker.longest_wait),
        },
        denial_cache,
        unknown_resources: document.unknown_resources,
    })
}

fn failure(document: &Document) -> Result<FailurePolicy, ConfigError> {
    let failure = match (&document.fail_open, &document.failure) {
        (Some(open), Some(_)) => {
            let message = "there are `fail_open` and `failure`; keep `failure`";
            return Err(open.error(message).inside("fail_open"));
        }
        (Some(open), None) => {
            if open.value {
                Failure::Open
            } else {
                Failure::Closed
            }
        }
        (None, Some(failure)) => failure.value,
        (None, None) => Failure::Closed,
    };
    match (failure, &document.instances) {
        (Failure::Local, Some(instances)) => match NonZeroU32::new(instances.value) {
            Some(instances) => Ok(FailurePolicy::Local(LocalShare::of(instances))),
            None => Err(instances.error("there is at least one process").inside("instances")),
        },
        (Failure::Local, None) => {
            let message = "with `failure: local` set `instances` as well: among how many processes \
                           each limit is divided while each counts by itself";
            let at = document.failure.as_ref().map(|failure| failure.at);
            let error = ConfigError::new(message).of_field("instances");
            Err(at.map_or(error.clone(), |at| error.at(at)))
        }
        (_, Some(instances)) => {
            Err(instances.error("this is for `failure: local` only").inside("instances"))
        }
        (Failure::Open, None) => Ok(FailurePolicy::Open),
        (Failure::Closed, None) => Ok(FailurePolicy::Closed),
    }
}

fn redis_options(redis: Redis, failure: &FailurePolicy) -> Result<RedisOptions, ConfigError> {
    if let Some(start) = redis.start_degraded.as_ref().filter(|start| start.value)
        && *failure == FailurePolicy::Closed
    {
        let message =
            "a service that starts without its store needs `failure: open` or `failure: local`";
        return Err(start.error(message).inside("start_degraded"));
    }
    let positive = |span: Option<Span>, name: &str| match span {
        Some(Span(Duration::ZERO)) => {
            Err(ConfigError::new("a deadline is above zero").of_field(name))
        }
        span => Ok(span.map(|Span(duration)| duration)),
    };
    Ok(RedisOptions {
        connect_timeout: positive(redis.connect_timeout, "connect_timeout")?,
        command_timeout: positive(redis.command_timeout, "command_timeout")?,
        prefix: redis.prefix.map(|prefix| prefix.value),
        hash_keys: redis.hash_keys,
        tag_resource: redis.tag_resource,
        start_degraded: redis.start_degraded.is_some_and(|start| start.value),
    })
}
