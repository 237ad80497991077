//! A Redis server of the benchmark's own, and what it says of itself.

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::process;

/// A server on a free loopback port, without files, which ends with this value.
pub(crate) struct Server {
    child: Child,
    port: u16,
}

/// How often a port that was free may be taken by somebody else before the server has it.
const TRIES: usize = 20;

impl Server {
    pub(crate) fn start() -> Result<Self> {
        for _ in 0..TRIES {
            if let Some(server) = Self::start_once()? {
                return Ok(server);
            }
        }
        bail!("redis-server does not come to serve")
    }

    fn start_once() -> Result<Option<Self>> {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let child = Command::new("redis-server")
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""])
            .args(["--appendonly", "no", "--daemonize", "no", "--logfile", ""])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start redis-server; on Debian: `apt-get install redis-server`")?;
        let mut server = Self { child, port };
        let log = server.child.stdout.take().context("the server's log")?;
        let mut log = BufReader::new(log);
        let mut line = String::new();
        while log.read_line(&mut line)? > 0 {
            if line.contains("eady to accept connections") {
                std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
                return Ok(Some(server));
            }
            line.clear();
        }
        Ok(None)
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    pub(crate) fn client(&self) -> Result<redis::Client> {
        Ok(redis::Client::open(self.url())?)
    }

    /// Forgets all keys.
    pub(crate) fn flush(&self) -> Result<()> {
        Ok(redis::cmd("FLUSHALL").query(&mut self.client()?.get_connection()?)?)
    }

    pub(crate) fn version(&self) -> Result<String> {
        let info = self.info("server")?;
        let version = info.lines().find_map(|line| line.strip_prefix("redis_version:"));
        Ok(format!("Redis {}", version.unwrap_or("unknown")))
    }

    /// How many commands clients have sent that a limiter sends; what scripts call is not counted.
    pub(crate) fn requests(&self) -> Result<u64> {
        let info = self.info("commandstats")?;
        let calls = |name: &str| {
            let line = info.lines().find_map(|line| line.strip_prefix(name));
            let calls = line.and_then(|line| line.strip_prefix(":calls=")?.split(',').next());
            calls.and_then(|calls| calls.parse::<u64>().ok()).unwrap_or(0)
        };
        let sent = ["evalsha", "eval", "ping", "incr"];
        Ok(sent.iter().map(|name| calls(&format!("cmdstat_{name}"))).sum())
    }

    /// The time that the server's process was running.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        process::cpu(self.child.id())
    }

    fn info(&self, section: &str) -> Result<String> {
        Ok(redis::cmd("INFO").arg(section).query(&mut self.client()?.get_connection()?)?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // An error means that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
