//! The examples of the book, which are compiled and run as this crate's doc tests.

macro_rules! pages {
    ($($name:ident $path:literal)*) => {
        $(#[doc = include_str!(concat!("../../", $path))] mod $name {})*
    };
}

pages! {
    introduction "docs/src/introduction.md"
    choosing "docs/src/choosing.md"
    redis "docs/src/redis.md"
    failure "docs/src/failure.md"
    distributed "docs/src/distributed.md"
    redis_production "docs/src/redis-production.md"
    http "docs/src/http.md"
    waiting "docs/src/waiting.md"
    configuration "docs/src/configuration.md"
    observability "docs/src/observability.md"
    custom_stores "docs/src/custom-stores.md"
    from_gorl_go "docs/src/from-gorl-go.md"
    architecture "docs/src/architecture.md"
    benchmarks "docs/src/benchmarks.md"
    dependencies "docs/src/dependencies.md"
}
