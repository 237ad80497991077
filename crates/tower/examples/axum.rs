//! A service of axum that limits each client by its address, and log-ins more strictly.
//!
//! ```text
//! cargo run -p gorl-tower --features axum --example axum
//! curl -i http://127.0.0.1:3000/
//! ```
//!
//! With `REDIS_URL` set, as in `REDIS_URL=redis://127.0.0.1/`, all instances share the counts.

use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use axum::routing::{get, post};
use gorl::{AsyncLimiter, FailurePolicy, Limiter, Policy, RedisStore};
use gorl_tower::{ClientIp, Decider, HeaderStyles, KeySource, Limit, RateLimit, RateLimitLayer};

/// A limiter of this process, or of all that share a Redis.
async fn decider(policy: Policy) -> Result<Decider, Box<dyn Error>> {
    let Ok(url) = std::env::var("REDIS_URL") else {
        return Ok(Limiter::new(policy).into());
    };
    let limiter = AsyncLimiter::builder(policy)
        .failure_policy(FailurePolicy::Open)
        .connect(RedisStore::builder(url))
        .await?;
    Ok(limiter.into())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // Behind a load balancer: `ClientIp::behind(["10.0.0.0/8"])?`.
    let client = || KeySource::client_ip(ClientIp::peer());

    let policy = Policy::token_bucket(10, Duration::from_secs(1))?.with_burst(20)?;
    let api = RateLimit::new(Limit::new("api", decider(policy).await?, client()))
        .skip_preflight()
        .skip_paths(["/healthz"])
        .headers(HeaderStyles::PLAIN.and(HeaderStyles::STRUCTURED));

    // Three failed log-ins a minute; those that succeed cost nothing.
    let policy = Policy::sliding_window(3, Duration::from_secs(60))?;
    let failed =
        Limit::new("log-in", decider(policy).await?, client()).charge_if(|status| status == 401);

    let app = Router::new()
        .route("/login", post(async || StatusCode::UNAUTHORIZED))
        .layer(RateLimitLayer::new(RateLimit::new(failed)))
        .route("/", get(async || "hello\n"))
        .route("/healthz", get(async || "well\n"))
        .layer(RateLimitLayer::new(api));

    let address: SocketAddr = "127.0.0.1:3000".parse()?;
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("listening on http://{address}");
    // Without connect info nobody's address is known, and every request is refused with a text that
    // says so.
    axum::serve(listener, app.into_make_service_with_connect_info::<SocketAddr>()).await?;
    Ok(())
}
