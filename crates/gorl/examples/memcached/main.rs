//! Counts in memcached: `MEMCACHED=tcp://127.0.0.1:11211 cargo run -p gorl --features custom --example memcached`

mod backend;

use std::time::Duration;

use backend::Memcached;
use gorl::{AsyncLimiter, Breaker, Cas, FailurePolicy, Policy};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::var("MEMCACHED").unwrap_or("tcp://127.0.0.1:11211".to_owned());
    let store = Cas::new(Memcached::new(address, Duration::from_millis(100)));
    // Whatever the store, the limiter has a failure policy and a breaker for the day it is gone.
    let limiter = AsyncLimiter::builder(Policy::sliding_window(5, Duration::from_secs(60))?)
        .failure_policy(FailurePolicy::Closed)
        .breaker(Breaker::new())
        .build(store);
    for request in 1..=7 {
        let decision = limiter.check("user-1").await?;
        println!(
            "request {request}: {}, {} left, retry after {:?}",
            if decision.is_allowed() { "allowed" } else { "denied" },
            decision.remaining(),
            decision.retry_after(),
        );
    }
    Ok(())
}
