//! `gorl-demo [FILE]`: serves on 127.0.0.1:3000, by the limits of a file.
#![forbid(unsafe_code)]

use std::path::PathBuf;

use anyhow::Result;
use gorl_demo::Demo;
use tokio::net::TcpListener;
use tracing_subscriber::EnvFilter;

#[tokio::main]
async fn main() -> Result<()> {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).init();
    let file = std::env::args_os().nth(1).unwrap_or("crates/demo/limits.yaml".into());
    let demo = Demo::new(&PathBuf::from(file)).await?;
    print!("{}", demo.reloader().config());
    let listener = TcpListener::bind("127.0.0.1:3000").await?;
    println!("listening on http://{}", listener.local_addr()?);
    tokio::select! {
        ended = demo.serve(listener) => ended,
        _ = tokio::signal::ctrl_c() => Ok(()),
    }
}
