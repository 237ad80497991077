//! The fields of a configuration, as they are written; the JSON Schema is made of these.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

use crate::located::Located;
use crate::scalar::{Secret, Span, StrategyName};

/// Limits by resource.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Document {
    /// The strategy of all limits that name none.
    pub(crate) strategy: Option<StrategyName>,
    /// A Redis that processes share their counts in, such as `redis://host:6379/0`. Without it, counts
    /// are in memory, and so they are if it is empty. Write `${REDIS_URL}` to take it out of the
    /// environment.
    pub(crate) redis_url: Option<Located<Secret>>,
    /// Whether requests are admitted when the store is gone; the same as `failure: open`.
    pub(crate) fail_open: Option<Located<bool>>,
    /// What becomes of requests when the store is gone.
    pub(crate) failure: Option<Located<Failure>>,
    /// Among how many processes a limit is divided while each counts by itself, for `failure: local`.
    pub(crate) instances: Option<Located<u32>>,
    /// Options of the connection to Redis.
    pub(crate) redis: Option<Located<Redis>>,
    /// Options of counts in memory.
    pub(crate) memory: Option<Located<Memory>>,
    /// When a store that fails is left alone, and for how long.
    pub(crate) breaker: Option<Breaker>,
    /// Denials that are answered without asking the store.
    pub(crate) denial_cache: Option<Located<Denials>>,
    /// The header fields of answers over HTTP.
    pub(crate) headers: Option<Vec<HeaderStyle>>,
    /// How many resources without a limit of their own are counted apart.
    pub(crate) unknown_resources: Option<usize>,
    /// The limit of all resources that have none of their own.
    pub(crate) default: Located<Limits>,
    /// Limits by the name of the resource.
    #[serde(default, deserialize_with = "map")]
    #[schemars(with = "BTreeMap<String, Limits>")]
    pub(crate) resources: Vec<(String, Located<Limits>)>,
    /// Which resource a request is for, by patterns such as `POST /login`, `/users/{id}` or
    /// `/static/{*path}`. The most specific pattern wins.
    #[serde(default, deserialize_with = "map")]
    #[schemars(with = "BTreeMap<String, String>")]
    pub(crate) routes: Vec<(String, Located<String>)>,
}

/// What becomes of requests when the store is gone.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Failure {
    /// They end with an error.
    Closed,
    /// They are admitted.
    Open,
    /// Each process counts by itself, with its share of the limit.
    Local,
}

/// The header fields of answers.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum HeaderStyle {
    /// `RateLimit-Limit`, `RateLimit-Remaining`, `RateLimit-Reset`.
    Plain,
    /// The same with `X-` before them.
    Prefixed,
    /// `RateLimit` and `RateLimit-Policy`, the structured fields of the IETF's draft.
    Structured,
}

/// Options of the connection to Redis.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Redis {
    /// What every key begins with.
    pub(crate) prefix: Option<Located<String>>,
    /// Whether keys are hashed, so that the server never sees them.
    pub(crate) hash_keys: Option<bool>,
    /// Whether the resource is the hash tag, so that several limits of one resource can be decided on
    /// together in a Cluster.
    pub(crate) tag_resource: Option<bool>,
    /// How long to connect may take.
    pub(crate) connect_timeout: Option<Span>,
    /// How long a decision may take.
    pub(crate) command_timeout: Option<Span>,
    /// Whether the service starts although Redis is gone. It needs `failure: open` or `local`.
    pub(crate) start_degraded: Option<Located<bool>>,
}

/// Options of counts in memory.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Memory {
    /// How many keys are counted at most.
    pub(crate) capacity: Option<Located<usize>>,
}

/// When a store that fails is left alone, and for how long.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Breaker {
    /// Failures in a row after which it is left alone.
    pub(crate) failures: Option<u32>,
    /// How long it is left alone at first.
    pub(crate) wait: Option<Span>,
    /// How long it is left alone at most.
    pub(crate) longest_wait: Option<Span>,
}

/// Denials that are answered without asking the store.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Denials {
    /// How many are kept at most.
    pub(crate) capacity: Option<usize>,
    /// How long one is believed at most.
    pub(crate) max_age: Option<Span>,
}

/// The limit or the limits of a resource: a rate such as `10 per minute`, or fields.
#[derive(Debug, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum Limits {
    /// One or several rates: `10 per second; 1000 per hour`.
    Rate(String),
    /// By fields.
    Fields(Box<LimitFields>),
}

/// A limit by its fields.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct LimitFields {
    /// How the limit counts.
    pub(crate) strategy: Option<StrategyName>,
    /// How much is allowed in each window, from 1 to 4294967295.
    pub(crate) limit: Option<Located<u64>>,
    /// The length of the window.
    pub(crate) window: Option<Located<Span>>,
    /// How much a bucket holds; by default as much as its limit.
    pub(crate) burst: Option<Located<u64>>,
    /// Limit and window in words: `10 per minute`, `100/s`.
    pub(crate) rate: Option<Located<String>>,
    /// Several limits, all of which must admit.
    pub(crate) limits: Option<Vec<Located<NamedLimit>>>,
}

/// One of several limits of a resource.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NamedLimit {
    /// What tells it from the others; counts are kept by it.
    pub(crate) name: Located<String>,
    /// How the limit counts.
    pub(crate) strategy: Option<StrategyName>,
    /// How much is allowed in each window.
    pub(crate) limit: Option<Located<u64>>,
    /// The length of the window.
    pub(crate) window: Option<Located<Span>>,
    /// How much a bucket holds; by default as much as its limit.
    pub(crate) burst: Option<Located<u64>>,
    /// Limit and window in words.
    pub(crate) rate: Option<Located<String>>,
}

impl<'de> Deserialize<'de> for Limits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Limits;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a rate such as `10 per minute`, or fields such as `limit` and `window`",
                )
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Limits, E> {
                Ok(Limits::Rate(text.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Limits, A::Error> {
                let fields = LimitFields::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Limits::Fields(Box::new(fields)))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// A map in the order of the text; that no name comes twice was seen to before.
fn map<'de, D, T>(deserializer: D) -> Result<Vec<(String, T)>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct Entries<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
        type Value = Vec<(String, T)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a map of fields")
        }

        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
            Ok(Vec::new())
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut entries = Vec::new();
            while let Some(entry) = map.next_entry()? {
                entries.push(entry);
            }
            Ok(entries)
        }
    }
    deserializer.deserialize_any(Entries(PhantomData))
}
