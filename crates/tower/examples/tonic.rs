//! A service of tonic, the standard health service, that limits each client by its address.
//!
//! ```text
//! cargo run -p gorl-tower --features tonic --example tonic
//! grpcurl -plaintext 127.0.0.1:3002 grpc.health.v1.Health/Check
//! ```
//!
//! A call too many ends with `RESOURCE_EXHAUSTED` and a `google.rpc.RetryInfo`. With `REDIS_URL` set all
//! instances share the counts.

use std::error::Error;
use std::time::Duration;

use gorl::{AsyncLimiter, Limiter, Policy, RedisStore};
use gorl_tower::{Decider, RateLimitLayer};
use tonic::transport::Server;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let policy = Policy::token_bucket(10, Duration::from_secs(1))?;
    let decider: Decider = match std::env::var("REDIS_URL") {
        Ok(url) => AsyncLimiter::new(policy, RedisStore::connect(&url).await?).into(),
        Err(_) => Limiter::new(policy).into(),
    };

    let (_reporter, health) = tonic_health::server::health_reporter();
    println!("listening on http://127.0.0.1:3002");
    Server::builder()
        .layer(RateLimitLayer::per_ip(decider))
        .add_service(health)
        .serve("127.0.0.1:3002".parse()?)
        .await?;
    Ok(())
}
