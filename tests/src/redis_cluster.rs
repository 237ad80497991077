//! A Redis Cluster of a test's own, of plain processes on free loopback ports.

use std::time::{Duration, Instant};

use redis::{Commands, Value};

use crate::{RedisServer, Scratch};

/// Some masters with a replica each, which have all slots.
#[derive(Debug)]
pub struct RedisCluster {
    /// Masters first, then their replicas, in the same order.
    nodes: Vec<RedisServer>,
    masters: usize,
    _files: Scratch,
}

/// How long a node may be silent before the others take it for gone.
const NODE_TIMEOUT_MS: u32 = 1_000;

/// How long a cluster may take to agree before a test calls it broken.
const AGREES: Duration = Duration::from_secs(60);

const SLOTS: usize = 16_384;

impl RedisCluster {
    /// Starts a cluster and waits until it serves.
    ///
    /// # Panics
    ///
    /// As [`RedisServer::start`], or if the nodes do not agree.
    #[must_use]
    pub fn start(masters: usize) -> Self {
        let files = Scratch::new();
        let start = |_| {
            RedisServer::start_by(|port| {
                let file = format!("nodes-{port}.conf");
                let timeout = NODE_TIMEOUT_MS.to_string();
                let dir = files.path().display().to_string();
                let options =
                    ["--cluster-enabled", "yes", "--cluster-config-file", &file, "--dir", &dir];
                let more =
                    ["--cluster-node-timeout", &timeout, "--cluster-replica-validity-factor", "0"];
                options.iter().chain(&more).map(ToString::to_string).collect()
            })
        };
        let nodes: Vec<RedisServer> = (0..2 * masters).map(start).collect();
        let cluster = Self { nodes, masters, _files: files };
        cluster.join();
        cluster
    }

    /// Makes one cluster of the nodes.
    fn join(&self) {
        let first = &self.nodes[0];
        for (place, node) in self.nodes.iter().enumerate() {
            run(node, &["SET-CONFIG-EPOCH", &(place + 1).to_string()]);
            if place > 0 {
                run(node, &["MEET", "127.0.0.1", &first.port().to_string()]);
            }
        }
        for (place, master) in self.nodes[..self.masters].iter().enumerate() {
            let from = SLOTS * place / self.masters;
            let to = SLOTS * (place + 1) / self.masters;
            let slots: Vec<String> = (from..to).map(|slot| slot.to_string()).collect();
            let words: Vec<&str> =
                std::iter::once("ADDSLOTS").chain(slots.iter().map(String::as_str)).collect();
            run(master, &words);
        }
        let all = format!("cluster_known_nodes:{}", self.nodes.len());
        self.until("every node knows every other", |node| info(node).contains(&all));
        for (master, replica) in self.nodes[..self.masters].iter().zip(&self.nodes[self.masters..])
        {
            let id: String =
                redis::cmd("CLUSTER").arg("MYID").query(&mut master.look()).expect("it answers");
            let replicate = || {
                let mut command = redis::cmd("CLUSTER");
                command.arg("REPLICATE").arg(&id).query::<()>(&mut replica.look()).is_ok()
            };
            wait("the replica knows its master", replicate);
        }
        self.until("the cluster serves", |node| info(node).contains("cluster_state:ok"));
        for replica in &self.nodes[self.masters..] {
            wait("the replica follows", || {
                let info: String = redis::cmd("INFO")
                    .arg("replication")
                    .query(&mut replica.look())
                    .expect("it answers");
                info.contains("master_link_status:up")
            });
        }
        self.until("every node knows the replicas", |node| {
            let nodes: String =
                redis::cmd("CLUSTER").arg("NODES").query(&mut node.look()).expect("it answers");
            nodes.matches("slave").count() == self.nodes.len() - self.masters
        });
    }

    /// What names the cluster, by its first node alone.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis+cluster://127.0.0.1:{}", self.nodes[0].port())
    }

    /// What names the cluster, by all of its nodes.
    #[must_use]
    pub fn url_of_all(&self) -> String {
        let nodes: Vec<String> =
            self.nodes.iter().map(|node| format!("127.0.0.1:{}", node.port())).collect();
        format!("redis+cluster://{}", nodes.join(","))
    }

    /// A node: the masters that the cluster began with first, then their replicas in the same order.
    #[must_use]
    pub fn node(&mut self, place: usize) -> &mut RedisServer {
        &mut self.nodes[place]
    }

    /// How many masters it began with.
    #[must_use]
    pub const fn masters(&self) -> usize {
        self.masters
    }

    /// The place of the node that has a slot, as a node at `asked` sees it.
    ///
    /// # Panics
    ///
    /// If that node does not answer, or nobody has the slot.
    #[must_use]
    pub fn owner(&self, slot: u16, asked: usize) -> usize {
        let told: Value =
            redis::cmd("CLUSTER").arg("SLOTS").query(&mut self.nodes[asked].look()).expect("slots");
        let Value::Array(ranges) = told else { panic!("{told:?}") };
        let port = ranges.iter().find_map(|range| {
            let Value::Array(parts) = range else { return None };
            let [Value::Int(first), Value::Int(last), Value::Array(master), ..] = &**parts else {
                return None;
            };
            let Value::Int(port) = master[1] else { return None };
            (*first..=*last).contains(&i64::from(slot)).then_some(port)
        });
        let port = port.expect("somebody has the slot");
        self.nodes.iter().position(|node| i64::from(node.port()) == port).expect("a node of ours")
    }

    /// Moves a slot with its keys from one master to another, step by step as an operator's tool
    /// does.
    ///
    /// # Panics
    ///
    /// If a node does not agree.
    pub fn migrate(&self, slot: u16, from: usize, to: usize) {
        self.begin_to_migrate(slot, from, to);
        let (to_id, slot_text) = (self.id(to), slot.to_string());
        let mut source = self.nodes[from].look();
        loop {
            let keys: Vec<String> = redis::cmd("CLUSTER")
                .arg("GETKEYSINSLOT")
                .arg(slot)
                .arg(100)
                .query(&mut source)
                .expect("keys");
            if keys.is_empty() {
                break;
            }
            let mut migrate = redis::cmd("MIGRATE");
            migrate
                .arg("127.0.0.1")
                .arg(self.nodes[to].port())
                .arg("")
                .arg(0)
                .arg(5_000)
                .arg("KEYS");
            let () = migrate.arg(&keys).query(&mut source).expect("migrated");
        }
        for node in [&self.nodes[to], &self.nodes[from]] {
            run(node, &["SETSLOT", &slot_text, "NODE", &to_id]);
        }
        for node in &self.nodes[..self.masters] {
            run(node, &["SETSLOT", &slot_text, "NODE", &to_id]);
        }
    }

    /// Has two masters agree that a slot is being moved, and moves no key: from then on keys that the
    /// first does not have are asked for at the second.
    ///
    /// # Panics
    ///
    /// If a node does not agree.
    pub fn begin_to_migrate(&self, slot: u16, from: usize, to: usize) {
        let slot = slot.to_string();
        run(&self.nodes[to], &["SETSLOT", &slot, "IMPORTING", &self.id(from)]);
        run(&self.nodes[from], &["SETSLOT", &slot, "MIGRATING", &self.id(to)]);
    }

    fn id(&self, place: usize) -> String {
        redis::cmd("CLUSTER").arg("MYID").query(&mut self.nodes[place].look()).expect("an id")
    }

    fn until(&self, what: &str, holds: impl Fn(&RedisServer) -> bool) {
        for node in &self.nodes {
            wait(what, || holds(node));
        }
    }
}

fn run(node: &RedisServer, words: &[&str]) {
    let mut command = redis::cmd("CLUSTER");
    for word in words {
        command.arg(*word);
    }
    let () = command.query(&mut node.look()).unwrap_or_else(|error| panic!("{words:?}: {error}"));
}

fn info(node: &RedisServer) -> String {
    redis::cmd("CLUSTER").arg("INFO").query(&mut node.look()).expect("the node answers")
}

/// Asks until it holds.
///
/// # Panics
///
/// If it does not come to hold.
pub fn wait(what: &str, holds: impl Fn() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < AGREES, "it does not come about that {what}");
        // Servers have to act, which give no signal; they would lack the time if they were always asked.
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

/// How many keys a server has.
///
/// # Panics
///
/// If it does not answer.
#[must_use]
pub fn count_keys(node: &RedisServer) -> usize {
    node.look().keys::<_, Vec<String>>("*").expect("the node answers").len()
}
