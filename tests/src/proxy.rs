//! A network between the store and its server that is slow, or loses what is sent without a word.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Forwards connections to a server until it is told to lose them.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    /// Connections with a lower number than this lose all that is sent.
    lost: Arc<AtomicUsize>,
}

impl Proxy {
    /// A proxy for the server on this port. Its threads end with their connections, or the test.
    ///
    /// # Panics
    ///
    /// If there is no free port.
    #[must_use]
    pub fn start(server: u16) -> Self {
        Self::start_late(server, Duration::ZERO)
    }

    /// A proxy that hands on what the server says only after this time.
    ///
    /// # Panics
    ///
    /// As [`start`](Self::start).
    #[must_use]
    pub fn start_late(server: u16, late: Duration) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let lost = Arc::new(AtomicUsize::new(0));
        let proxy = Self { port, lost: Arc::clone(&lost) };
        thread::spawn(move || {
            for (number, client) in listener.incoming().flatten().enumerate() {
                let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, server)) else {
                    continue;
                };
                let lost = Arc::clone(&lost);
                let is_lost = move || number < lost.load(Ordering::Relaxed);
                if let (Ok(from), Ok(to)) = (server.try_clone(), client.try_clone()) {
                    let is_lost = is_lost.clone();
                    thread::spawn(move || forward(from, to, late, is_lost));
                }
                thread::spawn(move || forward(client, server, Duration::ZERO, is_lost));
            }
        });
        proxy
    }

    /// The port that it listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// From now on the first so many connections lose all that is sent on them.
    pub fn lose_the_first(&self, connections: usize) {
        self.lost.store(connections, Ordering::Relaxed);
    }
}

fn forward(mut from: TcpStream, mut to: TcpStream, late: Duration, is_lost: impl Fn() -> bool) {
    let mut buffer = [0; 4_096];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        wait_until(Instant::now() + late);
        if !is_lost() && to.write_all(&buffer[..length]).is_err() {
            return;
        }
    }
    // Whoever ended the connection ends it for the other side as well, unless it is lost.
    if !is_lost() {
        // An error means that it has ended already.
        let _ = to.shutdown(Shutdown::Write);
    }
}

/// A thread that is parked may wake before it is time.
fn wait_until(instant: Instant) {
    while let Some(left) = instant.checked_duration_since(Instant::now()).filter(|d| !d.is_zero()) {
        thread::park_timeout(left);
    }
}
