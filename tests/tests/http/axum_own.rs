//! What is axum's own: connect info, layers within layers, CORS, extensions, closures that wait.

use std::net::SocketAddr;
use std::time::Duration;

use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use gorl::{Limiter, Policy};
use gorl_tower::{
    Answer, ClientIp, HeaderStyles, KeySource, Limit, RateLimit, RateLimitLayer, RequestKey,
    key_of_extension,
};
use http::request::Parts;
use tower_http::cors::CorsLayer;

use super::servers::{listen, router, runtime};
use super::{Connection, Server, ask};

fn per_minute(limit: u64) -> Limiter {
    Limiter::new(Policy::token_bucket(limit, Duration::from_secs(60)).expect("a valid policy"))
}

fn layer(name: &'static str, limit: u64) -> RateLimitLayer {
    let key = KeySource::client_ip(ClientIp::peer());
    RateLimitLayer::new(RateLimit::new(Limit::new(name, per_minute(limit), key)))
}

#[test]
fn r37_the_tightest_of_layers_within_layers_is_told_once() {
    for (inner, outer) in [(10, 100), (100, 10)] {
        let app = router().layer(layer("inner", inner)).layer(layer("outer", outer));
        let server = Server::axum(app);
        let first = ask(server.address, "/", &[]);
        assert_eq!(first.number("ratelimit-limit"), 10);
        assert_eq!(first.number("ratelimit-remaining"), 9);
        let rest: Vec<_> = (0..10).map(|_| ask(server.address, "/", &[])).collect();
        assert_eq!(rest.iter().filter(|response| response.status == 200).count(), 9);
        let denied = rest.last().expect("ten");
        assert_eq!((denied.status, denied.number("ratelimit-limit")), (429, 10));
        assert_eq!(denied.number("ratelimit-remaining"), 0);
        assert!(denied.number("retry-after") >= 1);
    }
}

#[test]
fn an_outer_layer_of_another_style_tells_the_figures_of_the_tightest() {
    let inner = RateLimit::new(Limit::new("in", per_minute(10), KeySource::everybody()));
    let outer = RateLimit::new(Limit::new("out", per_minute(100), KeySource::everybody()))
        .headers(HeaderStyles::STRUCTURED);
    let app = router().layer(RateLimitLayer::new(inner)).layer(RateLimitLayer::new(outer));
    let server = Server::axum(app);
    let response = ask(server.address, "/", &[]);
    assert_eq!(response.number("ratelimit-limit"), 10);
    assert!(response.field("ratelimit").expect("a field").starts_with(r#""in";r=9;"#));
}

#[test]
fn r99_without_connect_info_nobody_is_counted_and_nobody_passes() {
    let runtime = runtime();
    let (listener, address) = listen(&runtime);
    let app = router().layer(layer("test", 1));
    runtime.spawn(async move { axum::serve(listener, app).await });
    let server = Server::over(runtime, address);
    for _ in 0..3 {
        let response = ask(server.address, "/", &[]);
        assert_eq!(response.status, 500);
        let help = "into_make_service_with_connect_info::<SocketAddr>()";
        assert!(response.body.contains(help), "{}", response.body);
        assert_eq!(response.field("retry-after"), None);
    }
}

#[test]
fn a_browser_may_read_a_refusal_if_cors_is_outside() {
    let app = router().layer(layer("test", 1)).layer(CorsLayer::permissive());
    let server = Server::axum(app);
    let origin: (&str, &[u8]) = ("origin", b"https://example.org");
    let wanted: (&str, &[u8]) = ("access-control-request-method", b"GET");
    // What CORS answers itself never reaches the limit.
    let preflight = Connection::open(server.address).ask("OPTIONS", "/", &[origin, wanted]);
    assert_eq!(preflight.status, 200);
    for status in [200, 429] {
        let response = ask(server.address, "/", &[origin]);
        assert_eq!(response.status, status);
        assert_eq!(response.field("access-control-allow-origin"), Some("*"));
    }
}

#[derive(Clone)]
struct User(u64);

#[test]
fn a_user_that_an_earlier_layer_found_is_the_key() {
    async fn find_user(mut request: Request, next: Next) -> axum::response::Response {
        let name = request.headers().get("user").and_then(|user| user.to_str().ok());
        if let Some(id) = name.and_then(|name| name.parse().ok()) {
            request.extensions_mut().insert(User(id));
        }
        next.run(request).await
    }
    let key = key_of_extension(|user: &User| user.0);
    let limits = RateLimit::new(Limit::new("users", per_minute(1), key));
    let app = router().layer(RateLimitLayer::new(limits)).layer(from_fn(find_user));
    let server = Server::axum(app);
    for user in ["1", "2"] {
        let asks = [200, 429].map(|_| ask(server.address, "/", &[("user", user.as_bytes())]));
        assert_eq!(asks.map(|response| response.status), [200, 429]);
    }
    assert_eq!(ask(server.address, "/", &[]).status, 400);
}

#[test]
fn tiers_costs_conditions_and_closures_that_wait_are_the_services_own() {
    let tier = |parts: &Parts| {
        let tier = parts.headers.get("tier").and_then(|tier| tier.to_str().ok());
        tier.map(|tier| tier.to_owned().into())
    };
    let key = KeySource::by_async(|parts: &Parts| {
        let user = parts.headers.get("user").map(|user| user.as_bytes().to_vec());
        async move {
            tokio::task::yield_now().await;
            user.map(|user| RequestKey::of(&*user))
        }
    });
    let of = [("free", per_minute(4)), ("paid", per_minute(40))];
    let limit = Limit::by_tier("api", tier, of, None, key)
        .cost(|parts: &Parts| if parts.method == "POST" { 4 } else { 1 })
        .only(|parts| parts.uri.path() != "/login");
    let limits = RateLimit::new(limit).on_refused(|_, refusal| {
        Answer::new(420).field("X-Limit", refusal.limit()).text(refusal.detail())
    });
    let server = Server::axum(router().layer(RateLimitLayer::new(limits)));
    let mut connection = Connection::open(server.address);
    let free: [(&str, &[u8]); 2] = [("tier", b"free"), ("user", b"u")];
    let paid: [(&str, &[u8]); 2] = [("tier", b"paid"), ("user", b"u")];
    assert_eq!(connection.ask("GET", "/", &free).number("ratelimit-remaining"), 3);
    // Four do not fit into three.
    let refused = connection.ask("POST", "/", &free);
    assert_eq!((refused.status, refused.field("x-limit")), (420, Some("api")));
    assert!(refused.body.contains("try again in 15 s"), "{}", refused.body);
    assert_eq!(refused.number("retry-after"), 15);
    // The same user of another tier is counted apart.
    assert_eq!(connection.ask("POST", "/", &paid).number("ratelimit-remaining"), 36);
    // Neither a tier without a limit nor a path that it is not for.
    assert_eq!(connection.ask("GET", "/", &[("tier", b"none")]).field("ratelimit-limit"), None);
    assert_eq!(connection.ask("GET", "/login", &free).field("ratelimit-limit"), None);
    assert_eq!(connection.ask("GET", "/", &[("tier", b"free")]).status, 420);
}

#[test]
fn a_cost_that_can_never_fit_is_the_requests_fault() {
    let limit = Limit::new("api", per_minute(4), KeySource::everybody()).cost(|_| 5);
    let server = Server::axum(router().layer(RateLimitLayer::new(RateLimit::new(limit))));
    let response = ask(server.address, "/", &[]);
    assert_eq!((response.status, response.field("retry-after")), (400, None));
}

#[test]
fn routes_have_limits_of_their_own() {
    let key = || KeySource::client_ip(ClientIp::peer());
    let of = [("/login", per_minute(1)), ("/users/{id}", per_minute(2))];
    let limit = Limit::by_route("routes", of, Some(per_minute(3).into()), key());
    let server = Server::axum(router().layer(RateLimitLayer::new(RateLimit::new(limit))));
    let count = |path: &str| {
        let asks = (0..6).map(|_| ask(server.address, path, &[]).status);
        asks.filter(|status| *status == 200).count()
    };
    assert_eq!(
        [count("/login"), count("/users/1"), count("/"), count("/status/200")],
        [1, 2, 3, 3]
    );
}

#[test]
fn totals_and_events_tell_of_requests_and_never_of_keys() {
    let (sender, events) = std::sync::mpsc::channel();
    let limits = RateLimit::new(Limit::new("api", per_minute(2), KeySource::header("x-api-key")))
        .observe(move |event| {
            let told = format!("{} {}", event.limit, event.outcome.as_str());
            sender.send(told).expect("somebody listens");
        });
    let layer = RateLimitLayer::new(limits);
    let server = Server::axum(router().layer(layer.clone()));
    for _ in 0..3 {
        ask(server.address, "/", &[("x-api-key", b"secret")]);
    }
    ask(server.address, "/", &[]);
    let told: Vec<String> = events.try_iter().collect();
    assert_eq!(told, ["api allowed", "api allowed", "api denied", "api without_key"]);
    let tallies: Vec<_> = layer.rate_limit().tallies().collect();
    let (name, tally) = tallies[0];
    assert_eq!((tallies.len(), name), (1, "api"));
    assert_eq!((tally.allowed, tally.denied, tally.without_key), (2, 1, 1));
}

#[test]
fn the_layer_can_be_named_cloned_and_kept() {
    struct Kept {
        layer: RateLimitLayer,
    }
    let kept = Kept { layer: layer("test", 1) };
    let app = router().layer(kept.layer.clone());
    let (one, other) = (Server::axum(app.clone()), Server::axum(app.layer(kept.layer)));
    assert_eq!(ask(one.address, "/", &[]).status, 200);
    assert_eq!(ask(other.address, "/", &[]).status, 429);
    let _: SocketAddr = one.address;
}

#[test]
fn a_key_is_the_limits_name_and_its_parts_however_the_limit_is_asked() {
    use std::sync::Arc;
    let limiter = Arc::new(per_minute(4));
    let key = || KeySource::client_ip(ClientIp::peer());
    let limit = || Limit::new("api", Arc::clone(&limiter), key());
    // The usual case has a way of its own; a condition on the charge, and a second limit, have not.
    let usual = RateLimit::new(limit());
    let charged = RateLimit::new(limit().charge_if(|_| true));
    let second = Limit::new("wide", per_minute(100), key());
    let several = RateLimit::new(limit()).and(second);
    for (left, limits) in [usual, charged, several].into_iter().enumerate() {
        let server = Server::axum(router().layer(RateLimitLayer::new(limits)));
        let response = ask(server.address, "/", &[]);
        assert_eq!(response.number("ratelimit-remaining"), 3 - left as u64);
    }
    let peer: std::net::IpAddr = "127.0.0.1".parse().expect("an address");
    assert_eq!(limiter.peek(("api", peer)).remaining(), 1);
    limiter.reset(("api", peer));
    assert_eq!(limiter.peek(("api", peer)).remaining(), 4);
}

#[test]
fn the_service_that_became_ready_is_the_one_that_serves() {
    use tower::{Layer, Service, ServiceExt, service_fn};

    // It panics if it is called before it was ready for this very call.
    let guarded = tower::limit::ConcurrencyLimit::new(
        service_fn(async |_: http::Request<String>| {
            Ok::<_, std::convert::Infallible>(http::Response::new(String::new()))
        }),
        1,
    );
    let waits = KeySource::by_async(|_: &Parts| async {
        tokio::task::yield_now().await;
        Some("key")
    });
    for key in [KeySource::everybody(), waits] {
        let limits = RateLimit::new(Limit::new("test", per_minute(2), key));
        let mut service = RateLimitLayer::new(limits).layer(guarded.clone());
        runtime().block_on(async {
            for status in [200, 200, 429] {
                let request = http::Request::new(String::new());
                let response = service.ready().await.expect("ready").call(request).await;
                assert_eq!(response.expect("answered").status(), status);
            }
        });
    }
}
