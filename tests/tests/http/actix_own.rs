//! What is actix-web's own: workers, scopes, layers within layers, extensions.

use std::time::Duration;

use actix_web::body::MessageBody;
use actix_web::dev::{Service, ServiceRequest, ServiceResponse};
use actix_web::middleware::{Next, from_fn};
use actix_web::test::{TestRequest, init_service};
use actix_web::{App, Error, HttpMessage, web};
use gorl::{Limiter, Policy};
use gorl_actix::{KeySource, Limit, RateLimit, RateLimitMiddleware, key_of_extension};

use super::servers::actix;
use super::{Connection, ask};

fn per_minute(limit: u64) -> Limiter {
    Limiter::new(Policy::token_bucket(limit, Duration::from_secs(60)).expect("a valid policy"))
}

fn everybody(name: &'static str, limit: u64) -> RateLimitMiddleware {
    let limit = Limit::new(name, per_minute(limit), KeySource::everybody());
    RateLimitMiddleware::new(RateLimit::new(limit))
}

#[test]
fn eight_workers_share_the_budget_of_one_address() {
    let server = actix(RateLimitMiddleware::per_ip(per_minute(50)));
    let mut connections: Vec<_> = (0..64).map(|_| Connection::open(server.address)).collect();
    let asks = connections.iter_mut().map(|connection| connection.ask("GET", "/", &[]).status);
    let statuses: Vec<_> = asks.collect();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 50);
    assert_eq!(ask(server.address, "/", &[]).status, 429);
}

fn run<T>(future: impl Future<Output = T>) -> T {
    actix_web::rt::System::new().block_on(future)
}

#[test]
fn r37_the_tightest_of_scopes_within_the_app_is_told_once() {
    run(async {
        let scope = web::scope("/api")
            .wrap(everybody("inner", 10))
            .route("/x", web::get().to(|| async { "x" }));
        let app = App::new().wrap(everybody("outer", 100)).service(scope);
        let app = init_service(app).await;
        let response = app.call(TestRequest::get().uri("/api/x").to_request()).await;
        let response = response.expect("a response");
        let fields: Vec<_> = response.headers().get_all("ratelimit-limit").collect();
        assert_eq!(fields, ["10"]);
        assert_eq!(response.headers().get("ratelimit-remaining").expect("told"), "9");
    });
}

#[derive(Clone)]
struct User(u64);

async fn find_user(
    request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let id = request.headers().get("user").and_then(|id| id.to_str().ok()?.parse().ok());
    if let Some(id) = id {
        request.extensions_mut().insert(User(id));
    }
    next.call(request).await
}

#[test]
fn a_user_that_an_earlier_middleware_found_is_the_key() {
    run(async {
        let key = key_of_extension(|user: &User| user.0);
        let limits = RateLimit::new(Limit::new("users", per_minute(1), key));
        // What is wrapped last runs first.
        let app = App::new()
            .wrap(RateLimitMiddleware::new(limits))
            .wrap(from_fn(find_user))
            .route("/", web::get().to(|| async { "x" }));
        let app = init_service(app).await;
        for (user, status) in [("1", 200), ("1", 429), ("2", 200), ("x", 400)] {
            let request = TestRequest::get().uri("/").insert_header(("user", user));
            let response = app.call(request.to_request()).await.expect("a response");
            assert_eq!(response.status().as_u16(), status, "{user}");
        }
    });
}
