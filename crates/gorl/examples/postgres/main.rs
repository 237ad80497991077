//! Counts in PostgreSQL: `POSTGRES='host=localhost user=app' cargo run -p gorl --features custom --example postgres`

mod backend;

use std::time::Duration;

use backend::Postgres;
use gorl::{AsyncLimiter, Breaker, Cas, FailurePolicy, Policy};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let config = std::env::var("POSTGRES").unwrap_or("host=localhost user=postgres".to_owned());
    let store = Cas::new(Postgres::new(config, Duration::from_millis(500)));
    let forgotten = store.backend().forget_expired().await?;
    println!("{forgotten} states were at rest");
    // Whatever the store, the limiter has a failure policy and a breaker for the day it is gone.
    let limiter = AsyncLimiter::builder(Policy::token_bucket(5, Duration::from_secs(60))?)
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
