//! From a text in one of three formats to the values in it.

mod json;
mod toml;
mod yaml;

use std::path::Path;

use crate::error::ConfigError;
use crate::node::Node;

/// How a configuration is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// JSON (RFC 8259), without comments.
    Json,
    /// YAML. Words without quotes are what the field wants: `on` is text and no truth value, and a number
    /// that versions of YAML read differently, such as `010`, is an error.
    Yaml,
    /// TOML.
    Toml,
}

impl Format {
    /// The format of a file by the end of its name: `.json`, `.yaml`, `.yml` or `.toml`.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] for any other name.
    pub fn of_file(path: &Path) -> Result<Self, ConfigError> {
        let extension = path.extension().and_then(|extension| extension.to_str());
        match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("json") => Ok(Self::Json),
            Some("yaml" | "yml") => Ok(Self::Yaml),
            Some("toml") => Ok(Self::Toml),
            _ => Err(ConfigError::new(
                "the name of a configuration file ends with .json, .yaml, .yml or .toml",
            )
            .in_file(path)),
        }
    }
}

/// The values of a text; nothing if it holds none.
pub(crate) fn read(text: &str, format: Format) -> Result<Option<Node>, ConfigError> {
    // Some editors mark a file as UTF-8 by an invisible character.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match format {
        Format::Json => json::read(text),
        Format::Yaml => yaml::read(text),
        Format::Toml => toml::read(text),
    }
}
