//! A service of actix-web that limits each client by its address.
//!
//! ```text
//! cargo run -p gorl-actix --example actix
//! curl -i http://127.0.0.1:3003/
//! ```
//!
//! With `REDIS_URL` set, as in `REDIS_URL=redis://127.0.0.1/`, all instances share the counts.

use std::error::Error;
use std::time::Duration;

use actix_web::{App, HttpServer, web};
use gorl::{AsyncLimiter, Limiter, Policy, RedisStore};
use gorl_actix::{ClientIp, Decider, KeySource, Limit, RateLimit, RateLimitMiddleware};

#[actix_web::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let policy = Policy::token_bucket(10, Duration::from_secs(1))?.with_burst(20)?;
    let decider: Decider = match std::env::var("REDIS_URL") {
        // Here, and not in a worker: its connection lives as long as the runtime that made it.
        Ok(url) => AsyncLimiter::new(policy, RedisStore::connect(&url).await?).into(),
        Err(_) => Limiter::new(policy).into(),
    };
    let key = KeySource::client_ip(ClientIp::peer());
    let limits =
        RateLimit::new(Limit::new("api", decider, key)).skip_preflight().skip_paths(["/healthz"]);
    // Outside of the closure, which runs once for each worker.
    let limits = RateLimitMiddleware::new(limits);

    println!("listening on http://127.0.0.1:3003");
    let server = HttpServer::new(move || {
        App::new()
            .wrap(limits.clone())
            .route("/", web::get().to(|| async { "hello\n" }))
            .route("/healthz", web::get().to(|| async { "well\n" }))
    });
    server.bind(("127.0.0.1", 3003))?.run().await?;
    Ok(())
}
