//! The service that is loaded, in a process of its own.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use axum::Router;
use axum::routing::get;
use gorl::{Limiter, Policy};
use gorl_tower::{ClientIp, HeaderStyles, KeySource, Limit, RateLimit, RateLimitLayer};
use tower_governor::GovernorLayer;
use tower_governor::governor::GovernorConfigBuilder;

/// Nobody is to be denied.
const LIMIT: u64 = 4_000_000_000;

/// Serves as one of the subjects until its input ends. The address is the first line of its output.
pub(crate) fn serve(subject: &str) -> Result<()> {
    let app = Router::new().route("/", get(async || "hello, world"));
    let app = match subject {
        "plain" => app,
        "gorl" => app.layer(gorl(HeaderStyles::PLAIN)?),
        "gorl-bare" => app.layer(gorl(HeaderStyles::NONE)?),
        "governor" => {
            let config = GovernorConfigBuilder::default()
                .per_nanosecond(1)
                .burst_size(1_000_000_000)
                .use_headers()
                .finish()
                .context("a valid configuration")?;
            app.layer(GovernorLayer::new(Arc::new(config)))
        }
        "governor-bare" => {
            let config = GovernorConfigBuilder::default()
                .per_nanosecond(1)
                .burst_size(1_000_000_000)
                .finish()
                .context("a valid configuration")?;
            app.layer(GovernorLayer::new(Arc::new(config)))
        }
        other => bail!("there is no subject {other}"),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async move {
        let listener = tokio::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)).await?;
        println!("{}", listener.local_addr()?);
        std::io::stdout().flush()?;
        std::thread::spawn(|| {
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            std::process::exit(0);
        });
        axum::serve(listener, app.into_make_service_with_connect_info::<SocketAddr>()).await?;
        Ok(())
    })
}

fn gorl(styles: HeaderStyles) -> Result<RateLimitLayer> {
    let limiter = Limiter::new(Policy::token_bucket(LIMIT, Duration::from_secs(1))?);
    let key = KeySource::client_ip(ClientIp::peer());
    let limits = RateLimit::new(Limit::new("default", limiter, key)).headers(styles);
    Ok(RateLimitLayer::new(limits))
}
