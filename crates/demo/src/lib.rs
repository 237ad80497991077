//! A service that is limited by a configuration file: reloaded while it serves, measured, and never without an answer.
#![forbid(unsafe_code)]

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use axum::Router;
use axum::routing::{any, get};
use gorl::{AsyncResourceLimiter, TopDenied};
use gorl_config::{Config, Reloader, Watch};
use gorl_metrics::{Metrics, Traced};
use gorl_tower::{ClientIp, KeySource, Limit, RateLimit, RateLimitLayer};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tokio::net::TcpListener;

/// The service, until it is dropped.
#[derive(Debug)]
pub struct Demo {
    app: Router,
    reloader: Reloader,
    limiter: AsyncResourceLimiter,
    _watch: Watch,
}

/// How often the configuration file is looked at.
const LOOK: Duration = Duration::from_secs(1);

/// Denials are counted for so many keys.
const TOP: usize = 200;

/// From a decision in memory to one that waits for a deadline, in seconds.
const BUCKETS: [f64; 10] = [1e-6, 1e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 1e-2, 5e-2, 2.5e-1];

impl Demo {
    /// Makes the service by a configuration file.
    ///
    /// # Errors
    ///
    /// If the file has an error, or if a recorder of metrics is installed already.
    pub async fn new(file: &Path) -> Result<Self> {
        let config = Config::from_file(file)?;
        let scrapes = PrometheusBuilder::new().set_buckets(&BUCKETS)?.install_recorder()?;
        let metrics = Metrics::new();
        let top = Arc::new(TopDenied::new(TOP));
        // The events go to whoever installed a subscriber, the metrics to the recorder.
        let limiter = config
            .connect_with(|builder| {
                builder.observer(Traced::and(metrics.clone())).top_denied(Arc::clone(&top))
            })
            .await?;
        let reloader = Reloader::new(file, config, limiter.clone());
        let watch = reloader.watch(LOOK, |outcome| match outcome {
            Ok(done) => println!("{done:?}"),
            Err(error) => eprintln!("the limits stay as they are: {error}"),
        });
        let watch = watch.context("the configuration file cannot be watched")?;
        let app =
            pages(&reloader, &limiter, &metrics).merge(figures(scrapes, &metrics, &limiter, top));
        Ok(Self { app, reloader, limiter, _watch: watch })
    }

    /// Serves until the future is dropped.
    ///
    /// # Errors
    ///
    /// If the listener fails.
    pub async fn serve(&self, listener: TcpListener) -> Result<()> {
        let app = self.app.clone().into_make_service_with_connect_info::<SocketAddr>();
        axum::serve(listener, app).await.context("the service ended")
    }

    /// What follows the configuration file.
    #[must_use]
    pub fn reloader(&self) -> &Reloader {
        &self.reloader
    }

    /// What decides.
    #[must_use]
    pub fn limiter(&self) -> &AsyncResourceLimiter {
        &self.limiter
    }
}

/// What is limited: each client by its address, and by the resource that its route is for.
fn pages(reloader: &Reloader, limiter: &AsyncResourceLimiter, metrics: &Metrics) -> Router {
    let (routes, metrics) = (reloader.clone(), metrics.clone());
    let limit = Limit::by_resource(
        "demo",
        limiter.clone(),
        move |_, view| {
            let config = routes.config();
            let resource = config.routes().find(view.method(), view.path());
            Some(resource.unwrap_or("page").to_owned().into())
        },
        KeySource::client_ip(ClientIp::peer()),
    );
    let limits = RateLimit::new(limit)
        .headers(reloader.config().header_styles())
        .observe(move |event| metrics.http(event));
    Router::new()
        .route("/", get(async || "hello\n"))
        .route("/login", any(async || "welcome\n"))
        .route("/search", get(async || "nothing found\n"))
        .layer(RateLimitLayer::new(limits))
}

/// What operators ask for: not limited, and not for everybody.
fn figures(
    scrapes: PrometheusHandle,
    metrics: &Metrics,
    limiter: &AsyncResourceLimiter,
    top: Arc<TopDenied>,
) -> Router {
    let (metrics, limiter) = (metrics.clone(), limiter.clone());
    let scrape = move || {
        metrics.publish_async("demo", &limiter);
        let text = scrapes.render();
        async move { text }
    };
    let denied = move || {
        let line =
            |key: gorl::TopKey| format!("{:>9}  {}  {}\n", key.denials, key.resource, key.key);
        let text: String = top.top(10).into_iter().map(line).collect();
        async move { text }
    };
    Router::new().route("/metrics", get(scrape)).route("/top", get(denied))
}
