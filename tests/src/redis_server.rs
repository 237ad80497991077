//! A Redis server of a test's own: on a free loopback port, without files, ended with the test.

use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener};
use std::process::{Child, Command, Stdio};

use crate::Scratch;

/// A server that lives as long as this value.
#[derive(Debug)]
pub struct RedisServer {
    child: Child,
    port: u16,
    options: Vec<String>,
    /// Where the server may write, which a replica does. It is empty when the server starts.
    _folder: Scratch,
}

/// What a server or a sentinel says when it serves.
const READY: [&str; 2] = ["eady to accept connections", "Sentinel ID is"];

/// How often a port that was free may be taken by somebody else before the server has it.
const TRIES: usize = 20;

impl RedisServer {
    /// Starts a server and waits until it serves.
    ///
    /// # Panics
    ///
    /// If there is no `redis-server`: a test that cannot run fails, and says what it needs.
    #[must_use]
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// Starts a server with further options.
    ///
    /// # Panics
    ///
    /// As [`start`](Self::start).
    #[must_use]
    pub fn start_with(options: &[&str]) -> Self {
        let options: Vec<String> = options.iter().map(ToString::to_string).collect();
        let started = (0..TRIES).find_map(|_| Self::start_on(free_port(), &options));
        started.expect("redis-server starts and serves")
    }

    /// Starts a server with options that its port is a part of.
    ///
    /// # Panics
    ///
    /// As [`start`](Self::start).
    #[must_use]
    pub fn start_by(options: impl Fn(u16) -> Vec<String>) -> Self {
        let started = (0..TRIES).find_map(|_| {
            let port = free_port();
            Self::start_on(port, &options(port))
        });
        started.expect("redis-server starts and serves")
    }

    /// Starts a server with options that a second port of its own is a part of.
    ///
    /// # Panics
    ///
    /// As [`start`](Self::start).
    #[must_use]
    pub fn start_by_two(mut options: impl FnMut(u16) -> Vec<String>) -> Self {
        let started = (0..TRIES).find_map(|_| Self::start_on(free_port(), &options(free_port())));
        started.expect("redis-server starts and serves")
    }

    /// Starts a sentinel with the configuration file that is written for its port.
    pub(crate) fn start_sentinel(config: impl Fn(u16) -> String) -> Self {
        let started = (0..TRIES).find_map(|_| {
            let port = free_port();
            let options = vec![config(port), "--sentinel".to_owned()];
            Self::wait_until_ready(
                port,
                options.clone(),
                Command::new("redis-server").args(options),
            )
        });
        started.expect("a sentinel starts")
    }

    /// Starts a server on a port; `None` if it did not come to serve, as when the port is taken.
    fn start_on(port: u16, options: &[String]) -> Option<Self> {
        let mut command = Command::new("redis-server");
        command
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""])
            .args(["--appendonly", "no", "--daemonize", "no", "--logfile", ""])
            .args(options);
        Self::wait_until_ready(port, options.to_vec(), &mut command)
    }

    fn wait_until_ready(port: u16, options: Vec<String>, command: &mut Command) -> Option<Self> {
        let folder = Scratch::new();
        command.current_dir(folder.path()).stdin(Stdio::null()).stdout(Stdio::piped());
        let child = command.spawn().unwrap_or_else(|error| {
            panic!(
                "cannot start redis-server ({error}); install Redis 7 or later, on Debian \
                     and Ubuntu by `apt-get install redis-server`"
            )
        });
        let mut server = Self { child, port, options, _folder: folder };
        let mut log = BufReader::new(server.child.stdout.take()?);
        let mut line = String::new();
        // The log ends when the server does, so this waits for no longer than it lives.
        while log.read_line(&mut line).is_ok_and(|length| length > 0) {
            if READY.iter().any(|ready| line.contains(ready)) {
                // The pipe is emptied until the end, or a full one would stop the server.
                std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
                return Some(server);
            }
            line.clear();
        }
        None
    }

    /// The server's address.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}/", self.port)
    }

    /// The server's port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Ends the server as a crash does, and starts an empty one on the same port.
    ///
    /// # Panics
    ///
    /// If it does not start.
    pub fn restart(&mut self) {
        self.stop();
        let again = (0..TRIES).find_map(|_| Self::start_on(self.port, &self.options));
        *self = again.expect("the port is free again");
    }

    /// Stops the server from running, as a machine does that is out of time.
    ///
    /// # Panics
    ///
    /// If the signal cannot be sent.
    pub fn freeze(&self) {
        self.signal("-STOP");
    }

    /// Lets the server run again.
    ///
    /// # Panics
    ///
    /// If the signal cannot be sent.
    pub fn thaw(&self) {
        self.signal("-CONT");
    }

    fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.child.id().to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()), "kill {signal}");
    }

    /// Ends the server as a crash does.
    pub fn stop(&mut self) {
        // An error means that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// A connection to look at what is stored, beside the store.
    ///
    /// # Panics
    ///
    /// If the server does not serve.
    #[must_use]
    pub fn look(&self) -> redis::Connection {
        let client = redis::Client::open(self.url()).expect("a valid URL");
        client.get_connection().expect("the server serves")
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A port that is free, and whose counterpart for a cluster's own traffic is free as well.
pub(crate) fn free_port() -> u16 {
    loop {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let counterpart = port.checked_add(CLUSTER_OFFSET);
        if counterpart.is_some_and(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()) {
            return port;
        }
    }
}

/// How far above a node's port that of the cluster's own traffic is.
const CLUSTER_OFFSET: u16 = 10_000;
