//! What is made once for each name, and then found without a lock.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;

/// Handles by name. There are as many names as policies, so one is added by copying the others.
pub(crate) struct ByName<T> {
    known: ArcSwap<HashMap<Box<str>, Arc<T>>>,
    adding: Mutex<()>,
}

impl<T> ByName<T> {
    /// What there is for a name, made when the name is first heard of.
    pub(crate) fn get(&self, name: &str, make: impl FnOnce() -> T) -> Arc<T> {
        match self.known.load().get(name) {
            Some(handles) => Arc::clone(handles),
            None => self.add(name, make),
        }
    }

    #[cold]
    fn add(&self, name: &str, make: impl FnOnce() -> T) -> Arc<T> {
        let _one_at_a_time = self.adding.lock().unwrap_or_else(PoisonError::into_inner);
        let known = self.known.load();
        if let Some(handles) = known.get(name) {
            return Arc::clone(handles);
        }
        let handles = Arc::new(make());
        let mut more = HashMap::clone(&known);
        more.insert(Box::from(name), Arc::clone(&handles));
        self.known.store(Arc::new(more));
        handles
    }
}

impl<T> Default for ByName<T> {
    fn default() -> Self {
        Self { known: ArcSwap::default(), adding: Mutex::default() }
    }
}
