//! Serves `/metrics` for Prometheus to this host alone, and prints one scrape.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::time::Duration;

use gorl::{Policy, ResourceLimiter, ResourcePolicies};
use gorl_metrics::Metrics;
use metrics_exporter_prometheus::PrometheusBuilder;

/// From a decision in memory to one that waits for a deadline, in seconds.
const BUCKETS: [f64; 6] = [1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 2.5e-1];

/// A client that says nothing must not keep others from their scrape.
const DEADLINE: Duration = Duration::from_secs(5);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The recorder comes first: handles go to the one that is there when they are made.
    let scrapes = PrometheusBuilder::new().set_buckets(&BUCKETS)?.install_recorder()?;
    let metrics = Metrics::new();
    let policies = ResourcePolicies::new(Policy::token_bucket(100, Duration::from_secs(1))?)
        .resource("login", Policy::sliding_window(5, Duration::from_secs(60))?);
    let limiter = ResourceLimiter::builder(policies).observer(metrics.clone()).build();

    for _ in 0..8 {
        let _ = limiter.check("login", "user-1");
    }
    for user in 0..20_u32 {
        let _ = limiter.check("search", user);
    }

    // What is in memory is asked for at each scrape.
    let render = move || {
        metrics.publish("example", &limiter);
        scrapes.render()
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let server = std::thread::spawn(move || serve_one(&listener, render));

    let mut client = TcpStream::connect(address)?;
    client.set_read_timeout(Some(DEADLINE))?;
    client.write_all(b"GET /metrics HTTP/1.0\r\n\r\n")?;
    let mut scrape = String::new();
    client.read_to_string(&mut scrape)?;
    server.join().map_err(|_| "the server panicked")??;

    println!("{scrape}");
    let denied = r#"gorl_decisions_total{resource="login",outcome="denied",origin="store"} 3"#;
    assert!(scrape.contains(denied), "three of eight log-ins were denied");
    assert!(!scrape.contains("user-1"), "no label holds a key");
    Ok(())
}

/// Answers one request. A service has a server of its own, with a route that renders.
fn serve_one(listener: &TcpListener, render: impl Fn() -> String) -> std::io::Result<()> {
    let (mut stream, _) = listener.accept()?;
    stream.set_read_timeout(Some(DEADLINE))?;
    let mut request = [0; 1_024];
    let length = stream.read(&mut request)?;
    if request[..length].starts_with(b"GET /metrics ") {
        let body = render();
        write!(stream, "HTTP/1.0 200 OK\r\ncontent-type: text/plain; version=0.0.4\r\n\r\n{body}")
    } else {
        write!(stream, "HTTP/1.0 404 Not Found\r\n\r\n")
    }
}
