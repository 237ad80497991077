//! The same small service in every framework, behind the limits, on a free loopback port.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::mpsc;
use std::thread::JoinHandle;

use actix_web::{App, HttpResponse, HttpServer, web};
use axum::Router;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::routing::any;
use gorl_actix::RateLimitMiddleware;
use gorl_tower::{Peer, RateLimitLayer};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio_stream::wrappers::TcpListenerStream;
use tower::{ServiceBuilder, service_fn};

use super::Setup;

/// A framework. Each serves `/`, `/login`, `/users/{id}`, and `/status/{code}` with that status; but
/// tonic, which has no pages, answers everything with status 200 and a status of gRPC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Adaptor {
    Axum,
    Hyper,
    Actix,
    Tonic,
}

impl Adaptor {
    pub(crate) const ALL: [Self; 4] = [Self::Axum, Self::Hyper, Self::Actix, Self::Tonic];

    /// Those that serve pages.
    pub(crate) const WITH_PAGES: [Self; 3] = [Self::Axum, Self::Hyper, Self::Actix];

    /// Serves behind these limits.
    pub(crate) fn serve(self, setup: &Setup) -> Server {
        match self {
            Self::Axum => Server::axum(router().layer(RateLimitLayer::new(setup.limits()))),
            Self::Hyper => hyper(setup),
            Self::Actix => actix(RateLimitMiddleware::new(setup.limits())),
            Self::Tonic => tonic(RateLimitLayer::new(setup.limits())),
        }
    }
}

/// A server that ends with this value.
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    stop: Option<Stop>,
}

enum Stop {
    Tokio(Runtime),
    Actix(actix_web::dev::ServerHandle, JoinHandle<()>),
}

/// The workers of actix-web, each of which has a service of its own.
const WORKERS: usize = 8;

pub(crate) fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("one")
}

pub(crate) fn listen(runtime: &Runtime) -> (TcpListener, SocketAddr) {
    let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)));
    let listener = listener.expect("a free port");
    let address = listener.local_addr().expect("its address");
    (listener, address)
}

/// The service of axum.
pub(crate) fn router() -> Router {
    Router::new()
        .route("/", any(async || "hello"))
        .route("/login", any(async || "in"))
        .route("/users/{id}", any(async || "a user"))
        .route(
            "/status/{code}",
            any(async |Path(code): Path<u16>| StatusCode::from_u16(code).expect("a status")),
        )
}

impl Server {
    pub(crate) fn axum(router: Router) -> Self {
        let runtime = runtime();
        let (listener, address) = listen(&runtime);
        let service = router.into_make_service_with_connect_info::<SocketAddr>();
        runtime.spawn(async move { axum::serve(listener, service).await });
        Self::over(runtime, address)
    }

    pub(crate) const fn over(runtime: Runtime, address: SocketAddr) -> Self {
        Self { address, stop: Some(Stop::Tokio(runtime)) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        match self.stop.take() {
            Some(Stop::Tokio(runtime)) => runtime.shutdown_background(),
            Some(Stop::Actix(handle, thread)) => {
                pollster::block_on(handle.stop(false));
                thread.join().expect("it ends");
            }
            None => {}
        }
    }
}

fn hyper(setup: &Setup) -> Server {
    let runtime = runtime();
    let (listener, address) = listen(&runtime);
    let layer = RateLimitLayer::new(setup.limits());
    runtime.spawn(async move {
        while let Ok((stream, peer)) = listener.accept().await {
            let limited = ServiceBuilder::new()
                .map_request(move |mut request: hyper::Request<Incoming>| {
                    request.extensions_mut().insert(Peer(peer.ip()));
                    request
                })
                .layer(layer.clone())
                .service(service_fn(hello));
            tokio::spawn(async move {
                let service = TowerToHyperService::new(limited);
                let served = Builder::new(TokioExecutor::new());
                // A client that goes away is no concern of the test's.
                let _ = served.serve_connection(TokioIo::new(stream), service).await;
            });
        }
    });
    Server::over(runtime, address)
}

async fn hello(
    request: hyper::Request<Incoming>,
) -> Result<hyper::Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path();
    let status = path.strip_prefix("/status/").and_then(|code| code.parse().ok()).unwrap_or(200);
    let response = hyper::Response::builder().status(status);
    Ok(response.body(Full::from("hello")).expect("a response"))
}

/// The health service, to clients of gRPC and to others.
pub(crate) fn tonic(layer: RateLimitLayer) -> Server {
    let runtime = runtime();
    let (listener, address) = listen(&runtime);
    runtime.spawn(async move {
        let (_, health) = tonic_health::server::health_reporter();
        let mut server = tonic::transport::Server::builder().accept_http1(true).layer(layer);
        server.add_service(health).serve_with_incoming(TcpListenerStream::new(listener)).await
    });
    Server::over(runtime, address)
}

pub(crate) fn actix(limits: RateLimitMiddleware) -> Server {
    let (sender, receiver) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        let serve = async move {
            let app = move || {
                let status = |code: web::Path<u16>| async move {
                    let status = actix_web::http::StatusCode::from_u16(*code).expect("a status");
                    HttpResponse::new(status)
                };
                App::new()
                    .wrap(limits.clone())
                    .route("/", web::to(|| async { "hello" }))
                    .route("/login", web::to(|| async { "in" }))
                    .route("/users/{id}", web::to(|| async { "a user" }))
                    .route("/status/{code}", web::to(status))
            };
            let server = HttpServer::new(app).workers(WORKERS).disable_signals();
            let server = server.bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
            let address = *server.addrs().first().expect("its address");
            let running = server.run();
            sender.send((address, running.handle())).expect("somebody waits");
            running.await.expect("it serves");
        };
        actix_web::rt::System::new().block_on(serve);
    });
    let (address, handle) = receiver.recv().expect("it serves");
    Server { address, stop: Some(Stop::Actix(handle, thread)) }
}
