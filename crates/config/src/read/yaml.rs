//! YAML, from the parser's events, so that words without quotes stay the words that were written.

use std::collections::HashMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span, Tag};

use crate::error::{ConfigError, Position};
use crate::node::{Fields, Key, Kind, Node};

/// Collections in collections: more than any configuration has.
const DEEPEST: usize = 64;

/// Values in all, those that aliases repeat among them: a small text can stand for billions.
const MOST_NODES: usize = 200_000;

/// The events of a text, with what aliases may refer to.
struct Reader<'a> {
    events: Parser<'a, saphyr_parser::StrInput<'a>>,
    anchored: HashMap<usize, (Node, usize)>,
    nodes: usize,
}

pub(super) fn read(text: &str) -> Result<Option<Node>, ConfigError> {
    let events = Parser::new_from_str(text);
    let mut reader = Reader { events, anchored: HashMap::new(), nodes: 0 };
    let mut document = None;
    loop {
        let (event, span) = reader.next()?;
        match event {
            Event::StreamEnd => return Ok(document),
            Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd | Event::Nothing => {}
            _ if document.is_some() => {
                let message = "there is a second document; a configuration is one";
                return Err(ConfigError::new(message).at(position(&span.start)));
            }
            event => document = Some(reader.node(event, span, 0)?),
        }
    }
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), ConfigError> {
        match self.events.next() {
            Some(Ok(next)) => Ok(next),
            Some(Err(error)) => Err(no_yaml(&error)),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Node, ConfigError> {
        let at = position(&span.start);
        let too = |what| Err(ConfigError::new(format!("there are too many {what}")).at(at));
        if depth > DEEPEST {
            return too("collections inside each other");
        }
        let before = self.nodes;
        self.nodes += 1;
        let (kind, anchor) = match event {
            Event::Alias(anchor) => {
                let Some((node, size)) = self.anchored.get(&anchor) else {
                    return Err(ConfigError::new("this alias refers to nothing before it").at(at));
                };
                self.nodes += size;
                if self.nodes > MOST_NODES {
                    return too("values");
                }
                // Errors are told at the place that is read, not where it is repeated.
                return Ok(node.clone());
            }
            Event::Scalar(text, style, anchor, tag) => {
                (scalar(&text, style, tag.as_deref(), at)?, anchor)
            }
            Event::SequenceStart(anchor, _) => (self.list(depth)?, anchor),
            Event::MappingStart(anchor, _) => (self.map(depth)?, anchor),
            _ => return Err(ConfigError::new("expected a value").at(at)),
        };
        if self.nodes > MOST_NODES {
            return too("values");
        }
        let node = Node { kind, at };
        if anchor > 0 {
            self.anchored.insert(anchor, (node.clone(), self.nodes - before));
        }
        Ok(node)
    }

    fn list(&mut self, depth: usize) -> Result<Kind, ConfigError> {
        let mut nodes = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(Kind::List(nodes)),
                (event, span) => nodes.push(self.node(event, span, depth + 1)?),
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Kind, ConfigError> {
        let mut fields = Fields::default();
        loop {
            let (event, span) = self.next()?;
            let at = position(&span.start);
            let name = match event {
                Event::MappingEnd => return Ok(Kind::Map(fields.into_map())),
                Event::Scalar(name, ..) => name.into_owned(),
                _ => return Err(ConfigError::new("the name of a field must be text").at(at)),
            };
            if name == "<<" {
                let message = "merging with `<<` is not supported; write the fields out";
                return Err(ConfigError::new(message).at(at));
            }
            let (event, span) = self.next()?;
            let value = self.node(event, span, depth + 1).map_err(|error| error.inside(&name))?;
            fields.add(Key { name, at }, value)?;
        }
    }
}

fn scalar(
    text: &str,
    style: ScalarStyle,
    tag: Option<&Tag>,
    at: Position,
) -> Result<Kind, ConfigError> {
    let is_text = match tag {
        None => style != ScalarStyle::Plain,
        Some(tag) if tag.is_yaml_core_schema() && tag.suffix == "str" => true,
        Some(tag) => {
            let message =
                format!("the tag `{}{}` is not supported; leave it out", tag.handle, tag.suffix);
            return Err(ConfigError::new(message).at(at));
        }
    };
    Ok(match text {
        _ if is_text => Kind::Text(text.to_owned()),
        "" | "~" | "null" | "Null" | "NULL" => Kind::Null,
        _ => Kind::Plain(text.to_owned()),
    })
}

fn no_yaml(error: &ScanError) -> ConfigError {
    ConfigError::new(format!("this is no YAML: {}", error.info())).at(position(error.marker()))
}

fn position(marker: &Marker) -> Position {
    Position { line: marker.line().max(1), column: marker.col() + 1 }
}
