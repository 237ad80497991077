//! A network between the store and its server that loses what is sent, without closing anything.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Forwards connections to a server until it is told to lose them.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    /// Connections with a lower number than this lose all that is sent.
    lost: Arc<AtomicUsize>,
}

impl Proxy {
    /// A proxy for the server on this port. Its threads end with their connections, or the test.
    pub(crate) fn start(server: u16) -> Self {
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
                    thread::spawn(move || forward(from, to, is_lost));
                }
                thread::spawn(move || forward(client, server, is_lost));
            }
        });
        proxy
    }

    /// From now on the first so many connections lose all that is sent on them.
    pub(crate) fn lose_the_first(&self, connections: usize) {
        self.lost.store(connections, Ordering::Relaxed);
    }
}

fn forward(mut from: TcpStream, mut to: TcpStream, is_lost: impl Fn() -> bool) {
    let mut buffer = [0; 4_096];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        if !is_lost() && to.write_all(&buffer[..length]).is_err() {
            return;
        }
    }
}
