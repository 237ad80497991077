//! Exactly the limit, however many connections ask at once.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use gorl::{Policy, Strategy};

use super::{Adaptor, Connection, Setup};

const CONNECTIONS: usize = 100;
const EACH: usize = 30;
const LIMIT: u64 = 1_000;

#[test]
fn a_hundred_connections_are_admitted_exactly_the_limit_in_each_window() {
    for adaptor in Adaptor::ALL {
        for strategy in Strategy::ALL {
            let policy = Policy::new(strategy, LIMIT, Duration::from_secs(60));
            let setup = Setup::of(policy.expect("a valid policy"));
            let server = adaptor.serve(&setup);
            let mut connections: Vec<_> =
                (0..CONNECTIONS).map(|_| Connection::open(server.address)).collect();
            for _ in 0..2 {
                let admitted = AtomicU32::new(0);
                std::thread::scope(|scope| {
                    for connection in &mut connections {
                        let admitted = &admitted;
                        scope.spawn(move || {
                            for _ in 0..EACH {
                                if connection.ask("GET", "/", &[]).status == 200 {
                                    admitted.fetch_add(1, Ordering::Relaxed);
                                }
                            }
                        });
                    }
                });
                assert_eq!(u64::from(admitted.into_inner()), LIMIT, "{adaptor:?} {strategy}");
                // Two windows on, nothing of any strategy weighs any more.
                setup.advance(Duration::from_secs(120));
            }
        }
    }
}
