//! One subject under wrk, and what its process took for it.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::process;

/// Enough to keep the server busy.
pub(crate) const CONNECTIONS: u32 = 32;

/// A subject that serves, in a process of its own that ends with this value.
pub(crate) struct Server {
    child: Child,
    address: String,
}

/// One round of one subject.
pub(crate) struct Round {
    pub(crate) rate: f64,
    pub(crate) server_ns: f64,
}

impl Server {
    pub(crate) fn start(subject: &str) -> Result<Self> {
        // The server has one processor and the load another, or the scheduler would decide who wins.
        let mut child = Command::new("taskset")
            .args(["-c", "0"])
            .arg(std::env::current_exe()?)
            .args(["http-serve", subject])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut address = String::new();
        let output = child.stdout.take().context("its output")?;
        BufReader::new(output).read_line(&mut address)?;
        let address = address.trim().to_owned();
        ensure!(!address.is_empty(), "{subject} does not serve");
        Ok(Self { child, address })
    }

    /// Loads it for some seconds.
    pub(crate) fn load(&self, seconds: u32) -> Result<Round> {
        let before = process::cpu(self.child.id())?;
        let output = Command::new("taskset")
            .args(["-c", "1", "wrk"])
            .args(["-t1", &format!("-c{CONNECTIONS}"), &format!("-d{seconds}s")])
            .arg(format!("http://{}/", self.address))
            .output()
            .context("cannot start taskset; on Debian: `apt-get install util-linux`")?;
        ensure!(output.status.success(), "cannot run wrk; on Debian: `apt-get install wrk`");
        let took = process::cpu(self.child.id())?.saturating_sub(before);
        let text = String::from_utf8_lossy(&output.stdout);
        ensure!(!text.contains("Non-2xx"), "not every request was served:\n{text}");
        let number = |before: &str| {
            text.lines().find_map(|line| {
                let (number, rest) = line.trim().split_once(' ')?;
                rest.starts_with(before).then(|| number.parse::<f64>().ok()).flatten()
            })
        };
        let rate = text.lines().find_map(|line| line.strip_prefix("Requests/sec:"));
        let rate = rate.and_then(|rate| rate.trim().parse().ok());
        let requests = number("requests in").with_context(|| format!("wrk said:\n{text}"))?;
        Ok(Round {
            rate: rate.with_context(|| format!("wrk said:\n{text}"))?,
            server_ns: took.as_secs_f64() * 1e9 / requests,
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // An error means that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
