//! Any text as a configuration: no panic, the same answer twice, and no secret in what is shown.

use gorl_config::{Config, Format};

/// What every variable of the environment holds. It is nothing that a text would say by itself.
const SECRET: &str = "s3cret-7f1e";

/// The first byte chooses the format, the rest is the text.
///
/// # Panics
///
/// If a promise of the loader does not hold for the text.
pub fn config(bytes: &[u8]) {
    let Some((first, text)) = bytes.split_first() else {
        return;
    };
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    // The fuzzer reads constants out of the program, and what a text says itself is no secret.
    if text.contains("s3cret") || text.contains("7f1e") {
        return;
    }
    let format = [Format::Json, Format::Yaml, Format::Toml][usize::from(first % 3)];
    let load = || Config::parse_with(text, format, &|_| Some(SECRET.to_owned()));
    let loaded = load();
    assert_eq!(loaded, load(), "the same text is read the same way");
    match loaded {
        Ok(config) => {
            let shown = format!("{config} {config:?}");
            // A variable may name what is no secret: a resource that a route is for, or a prefix.
            let named = config.routes().iter().any(|(_, resource)| resource.contains(SECRET));
            assert!(named || !config.to_string().contains(SECRET), "{shown}");
            for name in config.policies().names().chain(["none of these"]) {
                let policy = config.policies().of(name);
                assert!(policy.len() >= 1 && policy.capacity() >= 1);
            }
            if !config.uses_redis() && !text.contains("capacity") {
                let limiter = config.memory_limiter().expect("nothing is shared");
                assert!(limiter.check("a resource", "a key").is_allowed(), "the first is admitted");
            }
        }
        Err(error) => {
            assert!(!error.to_string().contains(SECRET), "{error}");
            assert!(!error.message().is_empty());
            if let (Some(line), Some(column)) = (error.line(), error.column()) {
                assert!(line >= 1 && column >= 1);
            }
        }
    }
}
