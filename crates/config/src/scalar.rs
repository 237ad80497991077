//! Single values of a configuration: durations, strategies, secrets.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use gorl::Strategy;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, Visitor};

use crate::error::unknown;
use crate::parse_duration;

/// A duration such as `30s` or `1h30m`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span(pub(crate) Duration);

/// The name of a strategy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StrategyName(pub(crate) Strategy);

/// A text that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(pub(crate) String);

/// Reads a text by a function that says what is wrong with it.
struct Text<T, F> {
    what: &'static str,
    read: F,
    of: std::marker::PhantomData<T>,
}

impl<T, F: FnOnce(&str) -> Result<T, String>> Visitor<'_> for Text<T, F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.read)(text).map_err(E::custom)
    }
}

fn read_text<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    what: &'static str,
    read: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, D::Error> {
    deserializer.deserialize_str(Text { what, read, of: std::marker::PhantomData })
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_text(deserializer, "a duration such as 30s or 1h30m", |text| {
            parse_duration(text)
                .map(Self)
                .map_err(|error| format!("`{text}` is no duration: {error}"))
        })
    }
}

impl<'de> Deserialize<'de> for StrategyName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let names = Strategy::ALL.map(Strategy::as_str);
        read_text(deserializer, "the name of a strategy", |text| {
            let known = text.parse().map(Self);
            known.map_err(|_| format!("`{text}`: {}", unknown("strategy", text, &names)))
        })
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_text(deserializer, "text", |text| Ok(Self(text.to_owned())))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

impl JsonSchema for Span {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "numbers with units: ns, us, ms, s, m, h, d",
            "examples": ["250ms", "1m", "1h30m"],
            "pattern": r"^(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h|d))+$|\$\{",
        })
    }
}

impl JsonSchema for StrategyName {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Strategy".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": Strategy::ALL.map(Strategy::as_str) })
    }
}

impl JsonSchema for Secret {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Secret".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}
