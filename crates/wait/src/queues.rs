//! Who waits for which key, in the order in which they came.

use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use gorl::KeyRef;

/// All queues.
#[derive(Debug)]
pub(crate) struct Queues {
    inner: Mutex<Inner>,
    hashers: [RandomState; 2],
    pub(crate) per_key: usize,
    pub(crate) in_all: usize,
}

#[derive(Debug, Default)]
struct Inner {
    /// By 128 bits under secrets of this process. Two keys that agreed in all of them would share a
    /// queue, which changes the order and nothing else.
    queues: HashMap<u128, VecDeque<Entry>>,
    waiting: usize,
    next: u64,
}

/// Somebody who waits. Numbers rise along a queue.
#[derive(Debug)]
struct Entry {
    number: u64,
    waker: Option<Waker>,
}

/// A place in a queue, which is left when this is dropped.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    queues: &'a Queues,
    print: u128,
    number: u64,
}

impl Queues {
    pub(crate) fn new(per_key: usize, in_all: usize) -> Self {
        let hashers = [RandomState::new(), RandomState::new()];
        Self { inner: Mutex::default(), hashers, per_key, in_all }
    }

    /// The last place of a key's queue; nothing if there are too many already.
    pub(crate) fn join(&self, key: KeyRef<'_>) -> Option<Place<'_>> {
        let [high, low] = self.hashers.each_ref().map(|hasher| hasher.hash_one(key));
        let print = (u128::from(high) << 64) | u128::from(low);
        let mut inner = self.lock();
        if inner.waiting >= self.in_all {
            return None;
        }
        let number = inner.next;
        let queue = inner.queues.entry(print).or_default();
        if queue.len() >= self.per_key {
            return None;
        }
        queue.push_back(Entry { number, waker: None });
        inner.waiting += 1;
        inner.next += 1;
        Some(Place { queues: self, print, number })
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.lock().waiting
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing in between can panic, so what it holds is whole.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place<'_> {
    /// Waits until this is the first place of its queue.
    pub(crate) async fn turn(&self) {
        poll_fn(|context| {
            let mut inner = self.queues.lock();
            let Some(queue) = inner.queues.get_mut(&self.print) else {
                return Poll::Ready(());
            };
            let index = queue.partition_point(|entry| entry.number < self.number);
            if index == 0 {
                return Poll::Ready(());
            }
            if let Some(entry) = queue.get_mut(index) {
                match &mut entry.waker {
                    Some(waker) => waker.clone_from(context.waker()),
                    none => *none = Some(context.waker().clone()),
                }
            }
            Poll::Pending
        })
        .await;
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut inner = self.queues.lock();
        let Some(queue) = inner.queues.get_mut(&self.print) else {
            return;
        };
        let index = queue.partition_point(|entry| entry.number < self.number);
        let removed = queue.remove(index);
        // Whoever is first now has to be told, if this was.
        let next =
            if index == 0 { queue.front_mut().and_then(|first| first.waker.take()) } else { None };
        if queue.is_empty() {
            inner.queues.remove(&self.print);
        }
        inner.waiting -= usize::from(removed.is_some());
        drop(inner);
        // Not under the lock: a waker may run what it wakes.
        drop(removed);
        if let Some(waker) = next {
            waker.wake();
        }
    }
}
