//! A configuration that was read and found right.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use gorl::ResourcePolicies;

use crate::compile::compile;
use crate::de::from_node;
use crate::document::{Document, HeaderStyle};
use crate::env::{Lookup, expand};
use crate::error::ConfigError;
use crate::node::{Kind, Node};
use crate::read::{Format, read};
use crate::routes::Routes;
use crate::scalar::Secret;

/// Limits by resource, and how they are kept.
///
/// A configuration that exists is right in all its parts; one that has an error is not loaded in part.
///
/// # Examples
///
/// ```
/// use gorl_config::{Config, Format};
///
/// let config = Config::parse(
///     "
/// strategy: sliding_window
/// default: {limit: 100, window: 1m}
/// resources:
///   login: 5 per minute
///   search:
///     strategy: token_bucket
///     limits:
///       - {name: second, rate: 10 per second, burst: 20}
///       - {name: day, rate: 5000 per day}
/// ",
///     Format::Yaml,
/// )?;
/// let limiter = config.memory_limiter()?;
/// assert_eq!(limiter.check("login", "user-1").remaining(), 4);
/// assert_eq!(limiter.check("search", "user-1").remaining(), 19);
/// assert_eq!(limiter.check("home", "user-1").remaining(), 99);
/// # Ok::<(), gorl_config::ConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    pub(crate) policies: ResourcePolicies,
    pub(crate) routes: Routes,
    pub(crate) headers: Option<Vec<HeaderStyle>>,
    pub(crate) settled: Settled,
}

/// What cannot change while a limiter serves.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Settled {
    pub(crate) redis_url: Option<Secret>,
    pub(crate) failure: gorl::FailurePolicy,
    pub(crate) redis: RedisOptions,
    pub(crate) capacity: Option<usize>,
    pub(crate) breaker: BreakerOptions,
    pub(crate) denial_cache: Option<gorl::DenialCache>,
    pub(crate) unknown_resources: Option<usize>,
}

/// Options of the connection to Redis, as far as they are set.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RedisOptions {
    pub(crate) prefix: Option<String>,
    pub(crate) hash_keys: Option<bool>,
    pub(crate) tag_resource: Option<bool>,
    pub(crate) connect_timeout: Option<Duration>,
    pub(crate) command_timeout: Option<Duration>,
    pub(crate) start_degraded: bool,
}

/// Options of the breaker, as far as they are set.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct BreakerOptions {
    pub(crate) failures: Option<u32>,
    pub(crate) wait: Option<Duration>,
    pub(crate) longest_wait: Option<Duration>,
}

/// The section that GoRL's files may be in, beside those of the application.
const SECTION: &str = "gorl";

/// Larger files are no configuration.
const MOST_BYTES: u64 = 16 << 20;

impl Config {
    /// Reads a file, whose name says its format: `.json`, `.yaml`, `.yml` or `.toml`.
    ///
    /// `${NAME}` in a value is the environment's variable of that name.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] with file, line, field and what would be right.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, ConfigError> {
        let path = path.as_ref();
        let format = Format::of_file(path)?;
        let text = read_file(path).map_err(|error| error.in_file(path))?;
        Self::parse(&text, format).map_err(|error| error.in_file(path))
    }

    /// Reads a text.
    ///
    /// # Errors
    ///
    /// As [`from_file`](Self::from_file), without the file.
    pub fn parse(text: &str, format: Format) -> Result<Self, ConfigError> {
        Self::parse_with(text, format, &|name| std::env::var(name).ok())
    }

    /// Reads a text whose variables come from elsewhere than the environment.
    ///
    /// # Errors
    ///
    /// As [`parse`](Self::parse).
    ///
    /// # Examples
    ///
    /// ```
    /// use gorl_config::{Config, Format};
    ///
    /// let text = r#"{"strategy": "fixed_window", "default": {"limit": "${LIMIT}", "window": "1m"}}"#;
    /// let config = Config::parse_with(text, Format::Json, &|_| Some("7".to_owned()))?;
    /// assert_eq!(config.policies().default().capacity(), 7);
    /// # Ok::<(), gorl_config::ConfigError>(())
    /// ```
    pub fn parse_with(
        text: &str,
        format: Format,
        variables: Lookup<'_>,
    ) -> Result<Self, ConfigError> {
        let Some(node) = read(text, format)? else {
            return Err(ConfigError::new(
                "the configuration is empty; it needs at least `default`",
            ));
        };
        let (mut node, is_section) = section(node)?;
        let read = |node: &mut Node| {
            expand(node, variables)?;
            compile(from_node::<Document>(node)?)
        };
        let read = read(&mut node);
        if is_section { read.map_err(|error| error.inside(SECTION)) } else { read }
    }

    /// The policies of the resources.
    #[must_use]
    pub fn policies(&self) -> &ResourcePolicies {
        &self.policies
    }

    /// Which resource a request is for.
    #[must_use]
    pub fn routes(&self) -> &Routes {
        &self.routes
    }

    /// The header fields of answers over HTTP, if they are set.
    #[must_use]
    pub fn headers(&self) -> Option<&[HeaderStyle]> {
        self.headers.as_deref()
    }

    /// The header fields of answers over HTTP; the default of gorl-http if they are not set.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn header_styles(&self) -> gorl_http::HeaderStyles {
        use gorl_http::HeaderStyles;
        let Some(styles) = &self.headers else {
            return HeaderStyles::default();
        };
        styles.iter().fold(HeaderStyles::NONE, |all, style| {
            all.and(match style {
                HeaderStyle::Plain => HeaderStyles::PLAIN,
                HeaderStyle::Prefixed => HeaderStyles::PREFIXED,
                HeaderStyle::Structured => HeaderStyles::STRUCTURED,
            })
        })
    }

    /// Whether counts are shared over Redis.
    #[must_use]
    pub fn uses_redis(&self) -> bool {
        self.settled.redis_url.is_some()
    }

    /// The same, held against a store that counts microseconds and stays in use, whatever the
    /// configuration says of it.
    pub(crate) fn for_redis(self) -> Result<Self, ConfigError> {
        let names: Vec<&str> = self.policies.names().chain([""]).collect();
        for name in names {
            for (_, policy) in self.policies.of(name).iter() {
                if let Err(error) = policy.in_micros() {
                    let message =
                        format!("{error}; counts are on Redis until the service starts anew");
                    let field = if name.is_empty() {
                        "default".to_owned()
                    } else {
                        format!("resources.{name}")
                    };
                    return Err(ConfigError::new(message).of_field(field));
                }
            }
        }
        Ok(self)
    }

    /// The fields that differ in `new` and that take effect only when the service starts.
    pub(crate) fn settled_changes(&self, new: &Self) -> Vec<&'static str> {
        let (old, new) = (&self.settled, &new.settled);
        let changes = [
            ("redis_url", old.redis_url != new.redis_url),
            ("failure", old.failure != new.failure),
            ("redis", old.redis != new.redis),
            ("memory", old.capacity != new.capacity),
            ("breaker", old.breaker != new.breaker),
            ("denial_cache", old.denial_cache != new.denial_cache),
            ("unknown_resources", old.unknown_resources != new.unknown_resources),
        ];
        changes.into_iter().filter(|(_, changed)| *changed).map(|(name, _)| name).collect()
    }
}

fn read_file(path: &Path) -> Result<String, ConfigError> {
    use std::io::Read;
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::InvalidData => ConfigError::new("the file is not UTF-8"),
        _ => ConfigError::new(format!("the file cannot be read: {error}")),
    };
    let mut text = String::new();
    // A pipe would be waited for, and a device read without end.
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Err(ConfigError::new("this is no file"));
    }
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(MOST_BYTES + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > MOST_BYTES {
        return Err(ConfigError::new("the file is larger than 16 MiB"));
    }
    Ok(text)
}

/// What is gorl's of a text: all of it, or one section.
fn section(node: Node) -> Result<(Node, bool), ConfigError> {
    if node.get(SECTION).is_none() {
        return Ok((node, false));
    }
    let (Kind::Map(fields), at) = (node.kind, node.at) else {
        return Ok((Node { kind: Kind::Null, at: node.at }, false));
    };
    // Beside the section may be what belongs to others, but no second configuration.
    let doubled = fields.iter().find(|(key, _)| ["default", "resources"].contains(&&*key.name));
    if let Some((key, _)) = doubled {
        let message = format!("this is beside the section `{SECTION}`; move it into it");
        return Err(ConfigError::new(message).of_field(key.name.clone()).at(key.at));
    }
    let inner = fields.into_iter().find(|(key, _)| key.name == SECTION).map(|(_, node)| node);
    Ok((inner.unwrap_or(Node { kind: Kind::Null, at }), true))
}

/// What each resource allows, in words.
impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::describe::describe(self, f)
    }
}
