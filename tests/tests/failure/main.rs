//! What a limiter does when its store fails, and what it need not ask its store.

mod cache;
mod fake;
mod policies;
mod probes;
mod redis;
mod together;
