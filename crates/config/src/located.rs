//! A value that knows its place in the text, for what is checked after it was read.

use std::borrow::Cow;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

use crate::error::{ConfigError, Position};

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct Located<T> {
    pub(crate) value: T,
    pub(crate) at: Position,
    /// What stands in errors for what a variable of the environment held.
    hidden: Option<String>,
}

/// The name by which our deserializer knows that it is asked for the place as well.
pub(crate) const LOCATED: &str = "$gorl_config::Located";

impl<T> Located<T> {
    /// Whether a variable of the environment is in it.
    pub(crate) fn is_hidden(&self) -> bool {
        self.hidden.is_some()
    }

    /// An error about the value.
    pub(crate) fn error(&self, message: impl Into<String>) -> ConfigError {
        let error = ConfigError::new(message).at(self.at);
        match &self.hidden {
            Some(shown) => error.hiding(shown),
            None => error,
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Located<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Parts<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Parts<T> {
            type Value = Located<T>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a value with its place")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Located<T>, A::Error> {
                let missing = || A::Error::custom("a value without its place");
                let line = parts.next_element()?.ok_or_else(missing)?;
                let column = parts.next_element()?.ok_or_else(missing)?;
                let hidden = parts.next_element()?.ok_or_else(missing)?;
                let value = parts.next_element()?.ok_or_else(missing)?;
                Ok(Located { value, at: Position { line, column }, hidden })
            }
        }
        const FIELDS: &[&str] = &["line", "column", "hidden", "value"];
        deserializer.deserialize_struct(LOCATED, FIELDS, Parts(PhantomData))
    }
}

impl<T: JsonSchema> JsonSchema for Located<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}
