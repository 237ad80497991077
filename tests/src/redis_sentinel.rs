//! A master, its replica and sentinels of a test's own.

use std::time::Duration;

use crate::redis_cluster::wait;
use crate::{RedisServer, Scratch};

/// A master and a replica that sentinels watch.
#[derive(Debug)]
pub struct RedisSentinel {
    /// The master that it began with, and its replica.
    nodes: [RedisServer; 2],
    sentinels: Vec<RedisServer>,
    _files: Scratch,
}

/// How many sentinels there are, and how many have to agree.
const SENTINELS: usize = 3;
const QUORUM: usize = 2;

impl RedisSentinel {
    /// Starts them and waits until the sentinels know each other and both nodes.
    ///
    /// # Panics
    ///
    /// As [`RedisServer::start`].
    #[must_use]
    pub fn start() -> Self {
        let files = Scratch::new();
        let master = RedisServer::start();
        let port = master.port().to_string();
        let replica = RedisServer::start_with(&["--replicaof", "127.0.0.1", &port]);
        let sentinels = (0..SENTINELS).map(|place| {
            RedisServer::start_sentinel(|own| {
                let config = format!(
                    "port {own}\nbind 127.0.0.1\ndir {}\nsentinel monitor main 127.0.0.1 {port} {QUORUM}\n\
                     sentinel down-after-milliseconds main 500\nsentinel failover-timeout main 3000\n",
                    files.path().display(),
                );
                files.file(&format!("sentinel-{place}-{own}.conf"), config)
            })
        });
        let these =
            Self { nodes: [master, replica], sentinels: sentinels.collect(), _files: files };
        for sentinel in &these.sentinels {
            wait("the sentinels know each other and the replica", || {
                let told: String =
                    redis::cmd("INFO").arg("sentinel").query(&mut sentinel.look()).expect("told");
                told.contains(&format!("slaves=1,sentinels={SENTINELS}"))
                    && told.contains("status=ok")
            });
        }
        wait("the replica follows", || {
            let told: String = redis::cmd("INFO")
                .arg("replication")
                .query(&mut these.nodes[1].look())
                .expect("told");
            told.contains("master_link_status:up")
        });
        these
    }

    /// What names the master, by way of the sentinels.
    #[must_use]
    pub fn url(&self) -> String {
        let sentinels: Vec<String> = self
            .sentinels
            .iter()
            .map(|sentinel| format!("127.0.0.1:{}", sentinel.port()))
            .collect();
        format!("redis+sentinel://{}/main", sentinels.join(","))
    }

    /// The master that it began with (0), or its replica (1).
    #[must_use]
    pub fn node(&mut self, place: usize) -> &mut RedisServer {
        &mut self.nodes[place]
    }

    /// A sentinel.
    #[must_use]
    pub fn sentinel(&mut self, place: usize) -> &mut RedisServer {
        &mut self.sentinels[place]
    }

    /// Has the sentinels put the replica in the master's place.
    ///
    /// # Panics
    ///
    /// If they refuse.
    pub fn fail_over(&self) {
        wait("a failover can begin", || {
            let mut command = redis::cmd("SENTINEL");
            command.arg("FAILOVER").arg("main").query::<()>(&mut self.sentinels[0].look()).is_ok()
        });
    }
}

/// Longer than sentinels take to notice that a master is gone and to agree on another.
pub const SENTINELS_TAKE: Duration = Duration::from_secs(15);
