//! A Redis Cluster: which node has a key, and what to do when it has moved.
//!
//! <https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#redirection-and-resharding>

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gorl_core::StoreErrorKind;
use redis::{Cmd, RedisError, ServerErrorKind, Value};
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::address::{self, Address, Node};
use crate::connector::Connector;
use crate::failure::Failure;
use crate::link::{CallError, Link};
use crate::slot::slot_of;
use map::SlotMap;

mod map;

/// Connections to the masters of a cluster, one each, and the map of its slots.
pub(crate) struct Cluster {
    inner: Arc<Inner>,
}

/// Puts an address that can be reached in the place of one that a node told.
pub(crate) type Mapping = Arc<dyn Fn(&str, u16) -> (String, u16) + Send + Sync>;

struct Inner {
    seeds: Vec<Address>,
    nodes: Node,
    mapping: Option<Mapping>,
    connect_timeout: Duration,
    runtime: Handle,
    known: Mutex<Known>,
    /// How often the map was looked for, whatever came of it.
    looked: watch::Sender<u64>,
}

struct Known {
    map: SlotMap,
    links: HashMap<Address, Arc<Link>>,
    is_looking: bool,
}

/// What is to be done after a command did not come to its end.
enum Next {
    /// It ran, or it may have.
    Give(CallError),
    /// It did not run. It has to be sent elsewhere.
    Go(Address, Asking),
    /// It did not run. It may be sent again when things have settled.
    Wait(CallError),
    /// It did not run, and the node is not there. The map may tell who has taken its place.
    Look(CallError),
}

/// Whether the node is told that it has been named by the owner of the slot.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asking {
    No,
    Yes,
}

/// How often a command is sent on. Nodes that name each other for longer do not agree.
const REDIRECTIONS: u32 = 16;

/// How long a cluster that is being changed is given before a command is tried again. It doubles.
const SETTLES: Duration = Duration::from_millis(4);

/// The longest such time.
const SETTLES_AT_MOST: Duration = Duration::from_millis(64);

/// A look for the map follows another after this time at the earliest.
const LOOKS_APART: Duration = Duration::from_millis(20);

impl Cluster {
    pub(crate) fn new(
        seeds: Vec<Address>,
        nodes: Node,
        mapping: Option<Mapping>,
        connect_timeout: Duration,
        runtime: Handle,
    ) -> Self {
        let known = Known { map: SlotMap::empty(), links: HashMap::new(), is_looking: false };
        let (looked, _) = watch::channel(0);
        let known = Mutex::new(known);
        let inner = Inner { seeds, nodes, mapping, connect_timeout, runtime, known, looked };
        Self { inner: Arc::new(inner) }
    }

    pub(crate) fn runtime(&self) -> &Handle {
        &self.inner.runtime
    }

    /// Sees to it that there is a map, and a connection to the node that told it.
    pub(crate) async fn connect(&self) -> Result<(), Failure> {
        let deadline = self.inner.connect_timeout;
        // Each node that is asked has its part of the deadline, and there may be many.
        let looked = tokio::time::timeout(deadline, self.inner.look_for_map()).await;
        looked.unwrap_or_else(|_| Err(Failure::timeout("connecting to the cluster", deadline)))
    }

    /// Notes that a caller waited in vain for the owner of a key.
    pub(crate) fn in_vain(&self, key: &str) {
        if let Some(owner) = self.inner.owner(slot_of(key.as_bytes())) {
            if let Ok(link) = self.inner.link(&owner) {
                link.in_vain();
            }
            self.inner.start_looking();
        }
    }

    /// Has a command run where the key is. It is sent again only if it is known not to have run.
    pub(crate) async fn call(&self, key: &str, command: &Cmd) -> Result<Value, CallError> {
        let inner = &self.inner;
        let slot = slot_of(key.as_bytes());
        let mut target = None;
        let mut settles = SETTLES;
        let mut redirections = 0;
        loop {
            let (address, asking) = match target.take() {
                Some(target) => target,
                None => (inner.owner_or_look(slot).await?, Asking::No),
            };
            let link = inner.link(&address).map_err(CallError::Failure)?;
            let answer = match asking {
                Asking::No => link.call(command).await,
                Asking::Yes => link.call_asking(command).await,
            };
            let error = match answer {
                Ok(value) => return Ok(value),
                Err(error) => error,
            };
            match inner.after(error, slot, &address) {
                Next::Give(error) => return Err(error),
                Next::Go(address, asking) if redirections < REDIRECTIONS => {
                    redirections += 1;
                    target = Some((address, asking));
                }
                Next::Go(..) => {
                    let why = "the nodes of the cluster do not agree on who has the slot";
                    return Err(CallError::Failure(Failure::new(StoreErrorKind::Unavailable, why)));
                }
                Next::Wait(error) => {
                    if redirections >= REDIRECTIONS {
                        return Err(error);
                    }
                    redirections += 1;
                    inner.sleep(settles).await;
                    settles = (settles * 2).min(SETTLES_AT_MOST);
                }
                Next::Look(error) => {
                    // Failing at once is better than waiting for a node that is gone, unless
                    // another has its place.
                    let _ = inner.look_for_map().await;
                    if inner.owner(slot).is_none_or(|owner| owner == address)
                        || redirections >= REDIRECTIONS
                    {
                        return Err(error);
                    }
                    redirections += 1;
                }
            }
        }
    }
}

impl Inner {
    /// Sleeps by the timer of the connections' runtime, wherever this is polled.
    async fn sleep(&self, duration: Duration) {
        let sleeping = {
            let _inside = self.runtime.enter();
            tokio::time::sleep(duration)
        };
        sleeping.await;
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // Nothing that is done under it can panic half way.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn owner(&self, slot: u16) -> Option<Address> {
        self.known().map.owner(slot).cloned()
    }

    async fn owner_or_look(self: &Arc<Self>, slot: u16) -> Result<Address, CallError> {
        if let Some(owner) = self.owner(slot) {
            return Ok(owner);
        }
        self.look_for_map().await.map_err(CallError::Failure)?;
        self.owner(slot).ok_or_else(|| {
            let why = "no node of the cluster serves the key's slot";
            CallError::Failure(Failure::new(StoreErrorKind::Unavailable, why))
        })
    }

    /// The connection to a node, which is made when it is first needed.
    fn link(&self, address: &Address) -> Result<Arc<Link>, Failure> {
        if let Some(link) = self.known().links.get(address) {
            return Ok(Arc::clone(link));
        }
        let connector = Connector::Server(Box::new(self.nodes.client(address)?));
        let link = Link::new(connector, self.connect_timeout, self.runtime.clone());
        let link = Arc::new(link);
        Ok(Arc::clone(self.known().links.entry(address.clone()).or_insert(link)))
    }

    /// What an error asks for.
    fn after(self: &Arc<Self>, error: CallError, slot: u16, asked: &Address) -> Next {
        let redis = match error {
            // There was no connection, so nothing was sent.
            CallError::Failure(_) => return Next::Look(error),
            CallError::Lost(_) => {
                self.start_looking();
                return Next::Give(error);
            }
            CallError::Redis(redis) => redis,
        };
        let redis::ErrorKind::Server(kind) = redis.kind() else {
            // The connection broke, and what was sent on it may have run.
            self.start_looking();
            return Next::Give(CallError::Redis(redis));
        };
        match kind {
            ServerErrorKind::Moved | ServerErrorKind::Ask => {
                let Some(target) = self.redirected(&redis, asked) else {
                    return Next::Give(CallError::Redis(redis));
                };
                if kind == ServerErrorKind::Ask {
                    return Next::Go(target, Asking::Yes);
                }
                self.known().map.moved(slot, &target);
                self.start_looking();
                Next::Go(target, Asking::No)
            }
            ServerErrorKind::TryAgain => Next::Wait(CallError::Redis(redis)),
            ServerErrorKind::ClusterDown
            | ServerErrorKind::BusyLoading
            | ServerErrorKind::MasterDown
            | ServerErrorKind::ReadOnly => {
                self.start_looking();
                Next::Wait(CallError::Redis(redis))
            }
            _ => Next::Give(CallError::Redis(redis)),
        }
    }

    /// Where a redirection leads. A node that does not know its host means the one that was asked.
    fn redirected(&self, error: &RedisError, asked: &Address) -> Option<Address> {
        let (text, _) = error.redirect_node()?;
        let (host, port) = address::told(text)?;
        Some(if host.is_empty() { (asked.0.clone(), port) } else { self.reachable(&host, port) })
    }

    fn reachable(&self, host: &str, port: u16) -> Address {
        match &self.mapping {
            Some(mapping) => mapping(host, port),
            None => (host.to_owned(), port),
        }
    }

    /// Looks for the map, or waits for the outcome of looking that is under way.
    async fn look_for_map(self: &Arc<Self>) -> Result<(), Failure> {
        let mut looked = self.looked.subscribe();
        self.start_looking();
        // The sender lives as long as this.
        let _ = looked.changed().await;
        if self.known().map.is_empty() {
            let why = "no node of the cluster tells who has which slots";
            return Err(Failure::new(StoreErrorKind::Unavailable, why));
        }
        Ok(())
    }

    /// Has a task look for the map, unless one does.
    fn start_looking(self: &Arc<Self>) {
        let mut known = self.known();
        if known.is_looking {
            return;
        }
        known.is_looking = true;
        drop(known);
        let looking = Looking { inner: Arc::clone(self) };
        drop(self.runtime.spawn(async move {
            looking.inner.look().await;
            // Not one look after the other: who asks in between gets what this one found.
            tokio::time::sleep(LOOKS_APART).await;
            drop(looking);
        }));
    }

    /// Asks one node after the other.
    async fn look(self: &Arc<Self>) {
        let mut nodes = self.known().map.nodes();
        let seeds = self.seeds.iter().filter(|seed| !nodes.contains(seed));
        let seeds: Vec<Address> = seeds.cloned().collect();
        nodes.extend(seeds);
        // Another one first each time, so that one with an old map is not always believed.
        let turn = usize::try_from(*self.looked.borrow()).unwrap_or(0);
        let first = turn.checked_rem(nodes.len()).unwrap_or(0);
        nodes.rotate_left(first);
        // A node that is gone without a word leaves time for the others.
        let each = (self.connect_timeout / 4).max(Duration::from_millis(50));
        for node in nodes {
            let Ok(link) = self.link(&node) else {
                continue;
            };
            let mut question = redis::cmd("CLUSTER");
            question.arg("SLOTS");
            let told = tokio::time::timeout(each, link.call(&question)).await;
            let Ok(told) = told else {
                link.in_vain();
                continue;
            };
            let Ok(told) = told else {
                continue;
            };
            let map = SlotMap::read(&told, &node.0, |host, port| self.reachable(host, port));
            if let Some(map) = map {
                let mut known = self.known();
                let nodes = map.nodes();
                let seeds = &self.seeds;
                known.links.retain(|address, _| nodes.contains(address) || seeds.contains(address));
                known.map = map;
                return;
            }
        }
    }
}

/// A look for the map that is under way, which ends whatever becomes of its task.
struct Looking {
    inner: Arc<Inner>,
}

impl Drop for Looking {
    fn drop(&mut self) {
        self.inner.known().is_looking = false;
        self.inner.looked.send_modify(|count| *count += 1);
    }
}
