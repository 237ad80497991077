//! The schema of configurations, for editors.

use crate::document::Document;

/// The JSON Schema (draft 2020-12) of a configuration, made from the types that read it.
///
/// Editors check and complete files by it, in YAML with the comment
/// `# yaml-language-server: $schema=gorl.schema.json`. What is wrong between two fields only the loader
/// knows.
///
/// # Examples
///
/// ```
/// let schema = gorl_config::json_schema();
/// assert!(schema.contains("\"sliding_window\"") && schema.contains("\"redis_url\""));
/// ```
#[must_use]
pub fn json_schema() -> String {
    let schema = schemars::schema_for!(Document);
    let mut text = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
    text.push('\n');
    text
}
