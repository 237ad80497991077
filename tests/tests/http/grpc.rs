//! Calls of gRPC, to a service of tonic: a refusal is a status that says when to try again.

use std::net::SocketAddr;
use std::time::Duration;

use ::tonic::Code;
use ::tonic::transport::{Channel, Endpoint};
use gorl::{AsyncLimiter, Limiter, Policy, Request, Store, StoreError, StoreErrorKind};
use gorl_tower::{Decider, KeySource, Limit, RateLimit, RateLimitLayer};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;
use tonic_types::StatusExt;

use super::Server;
use super::servers::{runtime, tonic};

fn serve(decider: impl Into<Decider>) -> Server {
    tonic(RateLimitLayer::per_ip(decider))
}

async fn client(address: SocketAddr) -> HealthClient<Channel> {
    let endpoint = Endpoint::from_shared(format!("http://{address}")).expect("an address");
    HealthClient::new(endpoint.connect().await.expect("it listens"))
}

fn bucket(limit: u64) -> Policy {
    Policy::token_bucket(limit, Duration::from_secs(60)).expect("a valid policy")
}

#[test]
fn a_call_that_is_denied_has_its_resource_exhausted_and_a_time_to_retry() {
    let server = serve(Limiter::new(bucket(3)));
    runtime().block_on(async {
        // Connections of one address share its budget.
        for _ in 0..3 {
            let mut client = client(server.address).await;
            let response = client.check(HealthCheckRequest::default()).await.expect("served");
            assert!(response.metadata().contains_key("ratelimit-remaining"));
        }
        let mut client = client(server.address).await;
        let status = client.check(HealthCheckRequest::default()).await.expect_err("denied");
        assert_eq!(status.code(), Code::ResourceExhausted);
        assert!(status.message().contains("try again in 20 s"), "{}", status.message());
        let info = status.get_details_retry_info().expect("when to retry");
        let delay = info.retry_delay.expect("a delay");
        assert!(delay > Duration::from_secs(19) && delay <= Duration::from_secs(20), "{delay:?}");
        assert!(status.metadata().contains_key("grpc-retry-pushback-ms"));
        assert_eq!(status.metadata().get("ratelimit-remaining").expect("told"), "0");
    });
}

struct Gone;

impl Store for Gone {
    async fn decide(&self, _request: Request<'_>) -> Result<gorl::Decision, gorl::DecideError> {
        Err(StoreError::new(StoreErrorKind::Unavailable).into())
    }
}

#[test]
fn a_call_whose_limit_has_no_store_is_unavailable() {
    let server = serve(AsyncLimiter::new(bucket(3), Gone));
    runtime().block_on(async {
        let mut client = client(server.address).await;
        let status = client.check(HealthCheckRequest::default()).await.expect_err("nobody counts");
        assert_eq!(status.code(), Code::Unavailable);
        assert!(status.get_details_retry_info().is_none());
    });
}

#[test]
fn a_hundred_calls_on_one_connection_are_admitted_exactly_the_limit() {
    let server = serve(Limiter::new(bucket(10)));
    runtime().block_on(async {
        let client = client(server.address).await;
        let calls = (0..100).map(|_| {
            let mut client = client.clone();
            tokio::spawn(async move { client.check(HealthCheckRequest::default()).await.is_ok() })
        });
        let mut admitted = 0;
        for call in calls.collect::<Vec<_>>() {
            admitted += usize::from(call.await.expect("it ends"));
        }
        assert_eq!(admitted, 10);
    });
}

#[test]
fn a_call_counts_by_what_became_of_it() {
    let limit = Limit::new("unknown", Limiter::new(bucket(2)), KeySource::everybody())
        .charge_if(|status| status == 404);
    let server = tonic(RateLimitLayer::new(RateLimit::new(limit)));
    runtime().block_on(async {
        let mut client = client(server.address).await;
        for _ in 0..5 {
            client.check(HealthCheckRequest::default()).await.expect("served");
        }
        let codes = [Code::NotFound, Code::NotFound, Code::ResourceExhausted];
        for code in codes {
            let unknown = HealthCheckRequest { service: "unknown".to_owned() };
            assert_eq!(client.check(unknown).await.expect_err("no such service").code(), code);
        }
    });
}
