//! What is wrong with a configuration: where, which field, and what would be right.

use std::fmt;
use std::path::{Path, PathBuf};

/// A configuration that was not loaded: nothing of it is in force.
///
/// # Examples
///
/// ```
/// use gorl_config::{Config, Format};
///
/// let error = Config::parse("default: {limit: 10, windwo: 1m}", Format::Yaml).unwrap_err();
/// assert_eq!((error.line(), error.field()), (Some(1), Some("default.windwo")));
/// assert_eq!(
///     error.to_string(),
///     "line 1, column 22: default.windwo: there is no such field, did you mean `window`? allowed \
///      are strategy, limit, window, burst, rate, limits"
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    file: Option<PathBuf>,
    at: Option<Position>,
    field: Option<String>,
    message: String,
    is_hidden: bool,
}

/// A place in a text, counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl ConfigError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { file: None, at: None, field: None, message: message.into(), is_hidden: false }
    }

    /// The same, of a file.
    pub(crate) fn in_file(mut self, file: &Path) -> Self {
        self.file = Some(file.to_owned());
        self
    }

    /// The same, at a place, unless it has one that is more exact.
    pub(crate) fn at(mut self, at: Position) -> Self {
        self.at.get_or_insert(at);
        self
    }

    /// The same, of a field.
    pub(crate) fn of_field(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }

    /// The same, of what is inside the field `outer`.
    pub(crate) fn inside(mut self, outer: &str) -> Self {
        self.field = Some(match self.field {
            Some(inner) if inner.starts_with('[') => format!("{outer}{inner}"),
            Some(inner) => format!("{outer}.{inner}"),
            None => outer.to_owned(),
        });
        self
    }

    /// The same without what a variable of the environment held: nothing of it is shown, nor what was
    /// made of it. `shown` stands for it.
    pub(crate) fn hiding(mut self, shown: &str) -> Self {
        if !self.is_hidden {
            self.message =
                format!("{shown} does not fit here; it is not shown, as it may be a secret");
            self.is_hidden = true;
        }
        self
    }

    /// The file, if it was read from one.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// The line, counted from one, if the error has a place.
    #[must_use]
    pub fn line(&self) -> Option<usize> {
        self.at.map(|at| at.line)
    }

    /// The column in characters, counted from one, if the error has a place.
    #[must_use]
    pub fn column(&self) -> Option<usize> {
        self.at.map(|at| at.column)
    }

    /// The field, such as `resources.login.limit`, if the error is about one.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        self.field.as_deref()
    }

    /// What is wrong, and what would be right.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}: ", file.display())?;
        }
        if let Some(Position { line, column }) = self.at {
            write!(f, "line {line}, column {column}: ")?;
        }
        if let Some(field) = &self.field {
            write!(f, "{field}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for ConfigError {}

impl serde::de::Error for ConfigError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    fn invalid_type(found: serde::de::Unexpected<'_>, expected: &dyn serde::de::Expected) -> Self {
        if found == serde::de::Unexpected::Unit {
            return Self::new(format!("expected {expected}, found nothing"));
        }
        Self::new(format!("expected {expected}, found {found}"))
    }

    fn invalid_value(found: serde::de::Unexpected<'_>, expected: &dyn serde::de::Expected) -> Self {
        Self::new(format!("expected {expected}, found {found}"))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::new(unknown("field", field, expected)).of_field(field)
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::new(format!("`{variant}`: {}", unknown("value", variant, expected)))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(format!("the field `{field}` is missing"))
    }
}

/// That there is no such thing, what may have been meant, and what there is.
pub(crate) fn unknown(kind: &str, given: &str, allowed: &[&str]) -> String {
    let close = |name: &&&str| strsim::osa_distance(given, name);
    let meant = allowed.iter().min_by_key(close).filter(|name| close(name) <= 1 + name.len() / 4);
    let meant = meant.map_or_else(String::new, |name| format!(", did you mean `{name}`?"));
    if allowed.is_empty() {
        return format!("there is no such {kind}; there are none");
    }
    let separator = if meant.is_empty() { "; allowed are " } else { " allowed are " };
    format!("there is no such {kind}{meant}{separator}{}", allowed.join(", "))
}
