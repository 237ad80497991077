//! A service of plain hyper that limits each client by its address.
//!
//! ```text
//! cargo run -p gorl-tower --example hyper
//! curl -i http://127.0.0.1:3001/
//! ```
//!
//! With `REDIS_URL` set all instances share the counts.

use std::convert::Infallible;
use std::error::Error;
use std::time::Duration;

use gorl::{AsyncLimiter, Limiter, Policy, RedisStore};
use gorl_tower::{Decider, Peer, RateLimitLayer};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tower::{ServiceBuilder, service_fn};

async fn hello(_request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    Ok(Response::new(Full::from("hello\n")))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let policy = Policy::token_bucket(10, Duration::from_secs(1))?;
    let decider: Decider = match std::env::var("REDIS_URL") {
        Ok(url) => AsyncLimiter::new(policy, RedisStore::connect(&url).await?).into(),
        Err(_) => Limiter::new(policy).into(),
    };
    let layer = RateLimitLayer::per_ip(decider);

    let listener = tokio::net::TcpListener::bind("127.0.0.1:3001").await?;
    println!("listening on http://127.0.0.1:3001");
    loop {
        let (stream, peer) = listener.accept().await?;
        // hyper does not tell requests whose they are, so this does.
        let service = ServiceBuilder::new()
            .map_request(move |mut request: Request<Incoming>| {
                request.extensions_mut().insert(Peer(peer.ip()));
                request
            })
            .layer(layer.clone())
            .service(service_fn(hello));
        tokio::spawn(async move {
            let served = Builder::new(TokioExecutor::new());
            let service = TowerToHyperService::new(service);
            if let Err(error) = served.serve_connection(TokioIo::new(stream), service).await {
                eprintln!("{peer}: {error}");
            }
        });
    }
}
