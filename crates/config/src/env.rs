//! Variables of the environment in values: `${NAME}` and `${NAME:-default}`.

use crate::error::ConfigError;
use crate::node::{Kind, Node};

/// Where a variable's value comes from; nothing if it is not set.
pub(crate) type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Puts the values of variables into all texts. Names of fields stay as they are, and what comes out of
/// a variable is a value and no structure, whatever is in it.
pub(crate) fn expand(node: &mut Node, lookup: Lookup<'_>) -> Result<(), ConfigError> {
    let at = node.at;
    match &mut node.kind {
        Kind::Text(text) | Kind::Plain(text) if text.contains('$') => {
            node.kind = expanded(text, lookup).map_err(|error| error.at(at))?;
        }
        Kind::List(nodes) => {
            for (index, node) in nodes.iter_mut().enumerate() {
                expand(node, lookup).map_err(|error| error.inside(&format!("[{index}]")))?;
            }
        }
        Kind::Map(fields) => {
            for (key, value) in fields {
                expand(value, lookup).map_err(|error| error.inside(&key.name))?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// A text with its variables replaced. `$$` is a dollar sign.
fn expanded(text: &str, lookup: Lookup<'_>) -> Result<Kind, ConfigError> {
    let (mut value, mut names) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        value.push_str(before);
        if let Some(after) = after.strip_prefix('$') {
            value.push('$');
            rest = after;
        } else if let Some(inside) = after.strip_prefix('{') {
            let Some((variable, after)) = inside.split_once('}') else {
                return Err(ConfigError::new("`${` has no `}`; write `$$` for a dollar sign"));
            };
            value.push_str(&variable_value(variable, lookup)?);
            names.push(variable.split(':').next().unwrap_or_default());
            rest = after;
        } else {
            value.push('$');
            rest = after;
        }
    }
    value.push_str(rest);
    if names.is_empty() {
        return Ok(Kind::Text(value));
    }
    let shown: Vec<String> = names.iter().map(|name| format!("${{{name}}}")).collect();
    Ok(Kind::Secret { value, shown: format!("the value of {}", shown.join(" and ")) })
}

fn variable_value(variable: &str, lookup: Lookup<'_>) -> Result<String, ConfigError> {
    let (name, default) = match variable.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (variable, None),
    };
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
    if !is_name {
        let message = format!(
            "`${{{variable}}}` names no variable; write `${{NAME}}` or `${{NAME:-default}}`"
        );
        return Err(ConfigError::new(message));
    }
    // An empty variable is as good as none where there is a default, as in a shell.
    let found = lookup(name).filter(|value| !value.is_empty() || default.is_none());
    found.or_else(|| default.map(str::to_owned)).ok_or_else(|| {
        ConfigError::new(format!(
            "the environment variable {name} is not set; set it, or write `${{{name}:-default}}`"
        ))
    })
}
