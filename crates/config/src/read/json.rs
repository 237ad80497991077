//! Strict JSON: no comments, no trailing commas, nothing but what RFC 8259 allows.

use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use crate::error::ConfigError;
use crate::node::{Fields, Key, Kind, Lines, Node};

const STRICT: ParseOptions = ParseOptions {
    allow_comments: false,
    allow_loose_object_property_names: false,
    allow_trailing_commas: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

pub(super) fn read(text: &str) -> Result<Option<Node>, ConfigError> {
    let lines = Lines::new(text);
    let parsed = parse_to_ast(text, &CollectOptions::default(), &STRICT).map_err(|error| {
        let at = lines.position(error.range().start);
        ConfigError::new(format!("this is no JSON: {}", lower(&error.kind().to_string()))).at(at)
    })?;
    parsed.value.map(|value| node(&value, &lines)).transpose()
}

fn node(value: &Value<'_>, lines: &Lines<'_>) -> Result<Node, ConfigError> {
    let kind = match value {
        Value::NullKeyword(_) => Kind::Null,
        Value::BooleanLit(literal) => Kind::Bool(literal.value),
        Value::NumberLit(literal) => Kind::Number(literal.value.to_owned()),
        Value::StringLit(literal) => Kind::Text(literal.value.to_string()),
        Value::Array(array) => {
            let nodes = array.elements.iter().map(|element| node(element, lines));
            Kind::List(nodes.collect::<Result<_, _>>()?)
        }
        Value::Object(object) => {
            let mut fields = Fields::default();
            for property in &object.properties {
                let name = property.name.as_str().to_owned();
                let at = lines.position(property.range.start);
                fields.add(Key { name, at }, node(&property.value, lines)?)?;
            }
            Kind::Map(fields.into_map())
        }
    };
    Ok(Node { kind, at: lines.position(value.range().start) })
}

/// The parser's messages begin with a capital letter; ours do not.
fn lower(message: &str) -> String {
    let mut chars = message.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}
