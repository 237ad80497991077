//! What a text says, with the place of each part, before it is known what was wanted.

use std::collections::HashMap;

use crate::error::{ConfigError, Position};

/// A value with its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) at: Position,
}

/// A value of any of the formats.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Null,
    Bool(bool),
    /// A number as it was written, without underscores.
    Number(String),
    /// Text in quotes.
    Text(String),
    /// Words of YAML without quotes: what they are depends on what is wanted.
    Plain(String),
    /// Text that a variable of the environment is in.
    Secret {
        value: String,
        shown: String,
    },
    /// What no field takes, by its name.
    Other(&'static str),
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

/// The name of a field, with its place.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) name: String,
    pub(crate) at: Position,
}

impl Node {
    /// The field of a map.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        let Kind::Map(fields) = &self.kind else {
            return None;
        };
        fields.iter().find(|(key, _)| key.name == name).map(|(_, value)| value)
    }

    /// What stands for what a variable of the environment held.
    pub(crate) fn hidden(&self) -> Option<&str> {
        match &self.kind {
            Kind::Secret { shown, .. } => Some(shown),
            _ => None,
        }
    }

    /// What kind of value it is, for errors.
    pub(crate) fn describe(&self) -> String {
        match &self.kind {
            Kind::Null => "nothing".to_owned(),
            Kind::Bool(value) => format!("`{value}`"),
            Kind::Number(text) | Kind::Plain(text) => format!("`{text}`"),
            Kind::Text(text) => format!("the text {text:?}"),
            Kind::Secret { shown, .. } => shown.clone(),
            Kind::Other(name) => (*name).to_owned(),
            Kind::List(_) => "a list".to_owned(),
            Kind::Map(_) => "a map of fields".to_owned(),
        }
    }
}

/// The fields of a map while it is read: each name may come once.
#[derive(Default)]
pub(crate) struct Fields {
    fields: Vec<(Key, Node)>,
    /// The line of each name.
    lines: HashMap<String, usize>,
}

impl Fields {
    pub(crate) fn add(&mut self, key: Key, value: Node) -> Result<(), ConfigError> {
        if let Some(line) = self.lines.insert(key.name.clone(), key.at.line) {
            let message =
                format!("this is defined twice, first on line {line}; remove one of the two");
            return Err(ConfigError::new(message).of_field(key.name).at(key.at));
        }
        self.fields.push((key, value));
        Ok(())
    }

    pub(crate) fn into_map(self) -> Vec<(Key, Node)> {
        self.fields
    }
}

/// The places of a text by byte offset.
pub(crate) struct Lines<'a> {
    text: &'a str,
    /// Where each line begins.
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(ends.map(|(end, _)| end + 1)).collect();
        Self { text, starts }
    }

    pub(crate) fn position(&self, offset: usize) -> Position {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let before = self.text.get(start..offset).unwrap_or_default();
        Position { line: line.max(1), column: before.chars().count() + 1 }
    }
}
