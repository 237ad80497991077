//! From values to types by serde, with the place and the field of whatever does not fit.

use serde::de::value::{StrDeserializer, UsizeDeserializer};
use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error as _, IntoDeserializer, MapAccess, SeqAccess,
    Visitor,
};

use crate::error::ConfigError;
use crate::located::LOCATED;
use crate::node::{Key, Kind, Node};

/// Reads a type out of a value.
pub(crate) fn from_node<'de, T: Deserialize<'de>>(node: &'de Node) -> Result<T, ConfigError> {
    T::deserialize(De(node))
}

/// A value for serde.
#[derive(Clone, Copy)]
struct De<'de>(&'de Node);

impl<'de> De<'de> {
    /// Has `read` read, and says where it failed, without what a variable of the environment held.
    fn read<T>(self, read: impl FnOnce() -> Result<T, ConfigError>) -> Result<T, ConfigError> {
        read().map_err(|error| {
            let error = error.at(self.0.at);
            match &self.0.kind {
                Kind::Secret { shown, .. } => error.hiding(shown),
                _ => error,
            }
        })
    }

    fn unfit<V: Visitor<'de>, T>(self, visitor: &V) -> Result<T, ConfigError> {
        struct Wanted<'a, V>(&'a V);
        impl<'de, V: Visitor<'de>> std::fmt::Display for Wanted<'_, V> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.expecting(f)
            }
        }
        let wanted = match Wanted(visitor).to_string() {
            wanted if wanted == "a sequence" => "a list".to_owned(),
            wanted => wanted,
        };
        let message = format!("expected {wanted}, found {}", self.0.describe());
        Err(ConfigError::new(message).at(self.0.at))
    }

    fn text(self) -> Option<&'de str> {
        match &self.0.kind {
            Kind::Text(text) | Kind::Plain(text) | Kind::Secret { value: text, .. } => Some(text),
            _ => None,
        }
    }

    fn whole<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConfigError> {
        self.read(|| match &self.0.kind {
            Kind::Number(text) | Kind::Plain(text) | Kind::Secret { value: text, .. } => {
                visitor.visit_u64(whole_number(text)?)
            }
            Kind::Text(text) if whole_number(text).is_ok() => Err(ConfigError::new(format!(
                "expected a number, found text; write {text} without quotes"
            ))),
            Kind::Other(_) => Err(ConfigError::new("write the number in decimal digits")),
            _ => {
                let found = self.0.describe();
                Err(ConfigError::new(format!("expected a whole number, found {found}")))
            }
        })
    }
}

/// A number of decimal digits and nothing else.
fn whole_number(text: &str) -> Result<u64, ConfigError> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    if text.is_empty() || !digits {
        let message =
            format!("expected a whole number in decimal digits, such as 100, found `{text}`");
        return Err(ConfigError::new(message));
    }
    if text.len() > 1 && text.starts_with('0') {
        let plain = text.trim_start_matches('0');
        let message = format!(
            "`{text}` is read as octal by some and as decimal by others; write {} for the decimal one",
            if plain.is_empty() { "0" } else { plain },
        );
        return Err(ConfigError::new(message));
    }
    text.parse().map_err(|_| ConfigError::new(format!("`{text}` is too large")))
}

/// Numbers of every size are read alike; who wants one checks it.
macro_rules! whole_numbers {
    ($($method:ident)*) => { $(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConfigError> {
            self.whole(visitor)
        }
    )* };
}

impl<'de> Deserializer<'de> for De<'de> {
    type Error = ConfigError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConfigError> {
        self.read(|| match &self.0.kind {
            Kind::Null => visitor.visit_unit(),
            Kind::Bool(value) => visitor.visit_bool(*value),
            Kind::Number(text) => visitor.visit_u64(whole_number(text)?),
            Kind::Plain(text) if matches!(&**text, "true" | "false") => {
                visitor.visit_bool(text == "true")
            }
            Kind::Text(text) | Kind::Plain(text) | Kind::Secret { value: text, .. } => {
                visitor.visit_str(text)
            }
            Kind::Other(_) => self.unfit(&visitor),
            Kind::List(nodes) => visitor.visit_seq(List { nodes, index: 0 }),
            Kind::Map(fields) => visitor.visit_map(Map { fields, value: None }),
        })
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConfigError> {
        self.read(|| match (&self.0.kind, self.text()) {
            (Kind::Bool(value), _) => visitor.visit_bool(*value),
            (Kind::Plain(_) | Kind::Secret { .. }, Some("true")) => visitor.visit_bool(true),
            (Kind::Plain(_) | Kind::Secret { .. }, Some("false")) => visitor.visit_bool(false),
            _ => Err(ConfigError::new(format!(
                "expected `true` or `false`, found {}",
                self.0.describe()
            ))),
        })
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConfigError> {
        self.read(|| match self.text() {
            Some(text) => visitor.visit_str(text),
            None => self.unfit(&visitor),
        })
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConfigError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConfigError> {
        match self.0.kind {
            Kind::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ConfigError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConfigError> {
        self.read(|| match &self.0.kind {
            Kind::List(nodes) => visitor.visit_seq(List { nodes, index: 0 }),
            _ => self.unfit(&visitor),
        })
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConfigError> {
        self.read(|| match &self.0.kind {
            Kind::Map(fields) => visitor.visit_map(Map { fields, value: None }),
            _ => Err(ConfigError::new(format!(
                "expected a map of fields, found {}",
                self.0.describe()
            ))),
        })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ConfigError> {
        if name == LOCATED {
            return self.read(|| visitor.visit_seq(Place { of: self.0, index: 0 }));
        }
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ConfigError> {
        self.read(|| match self.text() {
            Some(text) => {
                let text: StrDeserializer<'_, ConfigError> = text.into_deserializer();
                visitor.visit_enum(text)
            }
            None => self.unfit(&visitor),
        })
    }

    whole_numbers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
        deserialize_f32 deserialize_f64
    }

    serde::forward_to_deserialize_any! {
        char bytes byte_buf unit unit_struct tuple tuple_struct identifier ignored_any
    }
}

/// The values of a list.
struct List<'de> {
    nodes: &'de [Node],
    index: usize,
}

impl<'de> SeqAccess<'de> for List<'de> {
    type Error = ConfigError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ConfigError> {
        let Some(node) = self.nodes.get(self.index) else {
            return Ok(None);
        };
        let name = format!("[{}]", self.index);
        self.index += 1;
        seed.deserialize(De(node)).map(Some).map_err(|error| error.inside(&name))
    }
}

/// The fields of a map.
struct Map<'de> {
    fields: &'de [(Key, Node)],
    value: Option<(&'de Key, &'de Node)>,
}

impl<'de> MapAccess<'de> for Map<'de> {
    type Error = ConfigError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ConfigError> {
        let Some(((key, value), rest)) = self.fields.split_first() else {
            return Ok(None);
        };
        self.fields = rest;
        self.value = Some((key, value));
        let name: StrDeserializer<'_, ConfigError> = key.name.as_str().into_deserializer();
        seed.deserialize(name).map(Some).map_err(|error| error.at(key.at))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, ConfigError> {
        let Some((key, value)) = self.value.take() else {
            return Err(ConfigError::custom("a field was read before its name"));
        };
        seed.deserialize(De(value)).map_err(|error| error.inside(&key.name))
    }
}

/// A value after its line, its column, and what of it must not be shown.
struct Place<'de> {
    of: &'de Node,
    index: u8,
}

impl<'de> SeqAccess<'de> for Place<'de> {
    type Error = ConfigError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ConfigError> {
        self.index += 1;
        let number =
            |number: usize| -> UsizeDeserializer<ConfigError> { number.into_deserializer() };
        match self.index {
            1 => seed.deserialize(number(self.of.at.line)).map(Some),
            2 => seed.deserialize(number(self.of.at.column)).map(Some),
            3 => seed.deserialize(Hidden(self.of.hidden())).map(Some),
            4 => seed.deserialize(De(self.of)).map(Some),
            _ => Ok(None),
        }
    }
}

/// A text that may be none.
struct Hidden<'de>(Option<&'de str>);

impl<'de> Deserializer<'de> for Hidden<'de> {
    type Error = ConfigError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConfigError> {
        match self.0 {
            Some(text) => {
                let text: StrDeserializer<'_, ConfigError> = text.into_deserializer();
                visitor.visit_some(text)
            }
            None => visitor.visit_none(),
        }
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}
