//! TOML, with the place of each value.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::ConfigError;
use crate::node::{Fields, Key, Kind, Lines, Node};

pub(super) fn read(text: &str) -> Result<Option<Node>, ConfigError> {
    let lines = Lines::new(text);
    let table = DeTable::parse(text).map_err(|error| {
        let at = lines.position(error.span().map_or(0, |span| span.start));
        ConfigError::new(format!("this is no TOML: {}", error.message())).at(at)
    })?;
    let fields = map(table.get_ref(), &lines)?;
    Ok(Some(Node { kind: Kind::Map(fields), at: lines.position(0) }))
}

fn map(table: &DeTable<'_>, lines: &Lines<'_>) -> Result<Vec<(Key, Node)>, ConfigError> {
    let mut fields = Fields::default();
    for (name, value) in table {
        let at = lines.position(name.span().start);
        let key = Key { name: name.get_ref().to_string(), at };
        fields.add(key, node(value, lines)?)?;
    }
    // In the order of the text, so that the first error is the first to be told.
    let mut fields = fields.into_map();
    fields.sort_by_key(|(key, _)| (key.at.line, key.at.column));
    Ok(fields)
}

fn node(value: &Spanned<DeValue<'_>>, lines: &Lines<'_>) -> Result<Node, ConfigError> {
    let kind = match value.get_ref() {
        DeValue::String(text) => Kind::Text(text.to_string()),
        DeValue::Integer(number) if number.radix() == 10 => {
            Kind::Number(number.as_str().to_owned())
        }
        DeValue::Integer(_) => Kind::Other("a number that is not decimal"),
        DeValue::Float(number) => Kind::Number(number.as_str().to_owned()),
        DeValue::Boolean(value) => Kind::Bool(*value),
        DeValue::Datetime(_) => Kind::Other("a date"),
        DeValue::Array(values) => {
            let nodes = values.iter().map(|value| node(value, lines));
            Kind::List(nodes.collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => Kind::Map(map(table, lines)?),
    };
    Ok(Node { kind, at: lines.position(value.span().start) })
}
