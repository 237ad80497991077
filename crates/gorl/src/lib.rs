//! An exact, fast rate limiter.
