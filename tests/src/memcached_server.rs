//! A memcached of a test's own: on a free loopback port, ended with the test.

use std::net::{Ipv4Addr, TcpStream};
use std::process::{Child, Command, Stdio};

use crate::redis_server::free_port;

/// A server that lives as long as this value.
#[derive(Debug)]
pub struct MemcachedServer {
    child: Child,
    port: u16,
}

/// How often a port that was free may be taken by somebody else before the server has it.
const TRIES: usize = 20;

impl MemcachedServer {
    /// Starts a server and waits until it serves.
    ///
    /// # Panics
    ///
    /// If there is no `memcached`: a test that cannot run fails, and says what it needs.
    #[must_use]
    pub fn start() -> Self {
        let started = (0..TRIES).find_map(|_| Self::start_on(free_port()));
        started.expect("memcached starts and serves")
    }

    fn start_on(port: u16) -> Option<Self> {
        let mut command = Command::new("memcached");
        // It will not run as the superuser unless it is told to.
        command.args(["-l", "127.0.0.1", "-p", &port.to_string(), "-U", "0", "-u", "root"]);
        command.args(["-m", "64", "-c", "256"]).stdin(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().unwrap_or_else(|error| {
            panic!(
                "cannot start memcached ({error}); install it, on Debian and Ubuntu by \
                 `apt-get install memcached`"
            )
        });
        let mut server = Self { child, port };
        // It says nothing when it serves, so it is asked until it does or has ended.
        while server.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok() {
                return Some(server);
            }
            std::thread::yield_now();
        }
        None
    }

    /// The server's address.
    #[must_use]
    pub fn address(&self) -> String {
        format!("tcp://127.0.0.1:{}", self.port)
    }

    /// Ends the server as a crash does.
    pub fn stop(&mut self) {
        // An error means that it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for MemcachedServer {
    fn drop(&mut self) {
        self.stop();
    }
}
