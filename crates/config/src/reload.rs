//! Policies that follow their file while a limiter serves.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use arc_swap::ArcSwap;
use gorl::{AsyncResourceLimiter, ResourceLimiter, ResourcePolicies};

use crate::config::Config;
use crate::error::ConfigError;

/// What has policies that can be replaced while it serves.
pub trait Reloadable: Send + Sync + 'static {
    /// Replaces the policies; counts stay.
    fn set_policies(&self, policies: ResourcePolicies);
}

impl Reloadable for AsyncResourceLimiter {
    fn set_policies(&self, policies: ResourcePolicies) {
        Self::set_policies(self, policies);
    }
}

impl Reloadable for ResourceLimiter {
    fn set_policies(&self, policies: ResourcePolicies) {
        Self::set_policies(self, policies);
    }
}

impl<L: Reloadable> Reloadable for Arc<L> {
    fn set_policies(&self, policies: ResourcePolicies) {
        L::set_policies(self, policies);
    }
}

/// What a reload came to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reloaded {
    /// Whether policies, routes or headers are others than before.
    pub changed: bool,
    /// Fields that differ and that take effect only when the service starts anew.
    pub needs_restart: Vec<&'static str>,
}

/// Keeps a limiter's policies as a file says.
///
/// A file that has an error changes nothing: the policies before it stay in force, and the error is
/// returned, kept and told to whoever watches. To load a file that says the same changes nothing
/// either. A clone is the same reloader.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use gorl_config::{Config, Reloader};
///
/// # let dir = std::env::temp_dir().join(format!("gorl-reload-{}", std::process::id()));
/// # std::fs::create_dir_all(&dir)?;
/// # let path = dir.join("limits.toml");
/// # std::fs::write(&path, "strategy = 'fixed_window'\ndefault = '2 per hour'\n")?;
/// let config = Config::from_file(&path)?;
/// let limiter = Arc::new(config.memory_limiter()?);
/// let reloader = Reloader::new(&path, config, Arc::clone(&limiter));
/// assert_eq!(limiter.check("x", "user-1").remaining(), 1);
///
/// std::fs::write(&path, "strategy = 'fixed_window'\ndefault = '5 per hour'\n")?;
/// assert!(reloader.reload()?.changed);
/// assert_eq!(limiter.check("x", "user-1").remaining(), 3);
///
/// std::fs::write(&path, "default = 'many'")?;
/// assert!(reloader.reload().is_err());
/// assert_eq!(limiter.check("x", "user-1").remaining(), 2);
/// # std::fs::remove_dir_all(&dir)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Reloader {
    shared: Arc<Shared>,
}

struct Shared {
    path: PathBuf,
    config: ArcSwap<Config>,
    limiter: Box<dyn Reloadable>,
    last_error: Mutex<Option<ConfigError>>,
    /// One reload at a time, so that the last one that began is the last one that counts.
    reloading: Mutex<()>,
}

/// A thread that looks after a file, until this is dropped.
#[must_use = "the file is watched until this is dropped"]
pub struct Watch {
    stopped: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Reloader {
    /// Keeps `limiter` as the file at `path` says, from which `config` was read.
    #[must_use]
    pub fn new(path: impl AsRef<Path>, config: Config, limiter: impl Reloadable) -> Self {
        let shared = Shared {
            path: path.as_ref().to_owned(),
            config: ArcSwap::from_pointee(config),
            limiter: Box::new(limiter),
            last_error: Mutex::new(None),
            reloading: Mutex::new(()),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Reads the file and puts what it says in force.
    ///
    /// # Errors
    ///
    /// A [`ConfigError`] if the file has one. Nothing has changed then.
    pub fn reload(&self) -> Result<Reloaded, ConfigError> {
        let shared = &*self.shared;
        let _one_at_a_time = shared.reloading.lock().unwrap_or_else(PoisonError::into_inner);
        let on_redis = shared.config.load().uses_redis();
        let read = Config::from_file(&shared.path).and_then(|new| {
            if on_redis {
                new.for_redis().map_err(|error| error.in_file(&shared.path))
            } else {
                Ok(new)
            }
        });
        let mut last_error = shared.last_error.lock().unwrap_or_else(PoisonError::into_inner);
        *last_error = read.as_ref().err().cloned();
        drop(last_error);
        let new = read?;
        let old = shared.config.load_full();
        let needs_restart = old.settled_changes(&new);
        // What cannot change stays as it is, so that it is told at the next reload as well.
        let new = Config { settled: old.settled.clone(), ..new };
        let changed = *old != new;
        if changed {
            shared.limiter.set_policies(new.policies.clone());
            shared.config.store(Arc::new(new));
        }
        Ok(Reloaded { changed, needs_restart })
    }

    /// What is in force.
    #[must_use]
    pub fn config(&self) -> Arc<Config> {
        self.shared.config.load_full()
    }

    /// What was wrong with the file when it was read last, if something was.
    #[must_use]
    pub fn last_error(&self) -> Option<ConfigError> {
        self.shared.last_error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Has a thread read the file at each interval, and reload when it says something else; `told` hears
    /// of each reload, good or bad.
    ///
    /// It begins with a look, so that a change since the configuration was read is not missed. A file that is
    /// written in place may be seen half written; have it replaced by a rename.
    ///
    /// The content is compared, so whatever replaces the file (an editor, a rename, a link that is
    /// switched, as Kubernetes does) is noticed, and a touch is not.
    ///
    /// # Errors
    ///
    /// If the thread cannot be started.
    pub fn watch(
        &self,
        interval: Duration,
        told: impl Fn(&Result<Reloaded, ConfigError>) + Send + 'static,
    ) -> std::io::Result<Watch> {
        let stopped = Arc::new((Mutex::new(false), Condvar::new()));
        let (reloader, stop) = (self.clone(), Arc::clone(&stopped));
        let thread =
            std::thread::Builder::new().name("gorl-config".to_owned()).spawn(move || {
                let mut seen = None;
                loop {
                    let now = content(&reloader.shared.path);
                    if seen.as_ref() != Some(&now) {
                        let outcome = reloader.reload();
                        // The file may have changed since its configuration was read. If not, there is
                        // nothing to tell at first.
                        let is_news =
                            seen.is_some() || outcome.as_ref().map_or(true, |new| new.changed);
                        seen = Some(now);
                        if is_news {
                            // A panic of the caller's must not end the watch; it has been told as one.
                            let _ = catch_unwind(AssertUnwindSafe(|| told(&outcome)));
                        }
                    }
                    if wait(&stop, interval) {
                        return;
                    }
                }
            })?;
        Ok(Watch { stopped, thread: Some(thread) })
    }
}

/// What is in the file; nothing if it is none.
fn content(path: &Path) -> Option<Vec<u8>> {
    let is_file = std::fs::metadata(path).is_ok_and(|file| file.is_file());
    if is_file { std::fs::read(path).ok() } else { None }
}

/// Waits for an interval; whether it is time to stop.
fn wait(stop: &(Mutex<bool>, Condvar), interval: Duration) -> bool {
    let (stopped, changed) = stop;
    let stopped = stopped.lock().unwrap_or_else(PoisonError::into_inner);
    let waited = changed.wait_timeout_while(stopped, interval, |stopped| !*stopped);
    *waited.unwrap_or_else(PoisonError::into_inner).0
}

impl Drop for Watch {
    fn drop(&mut self) {
        let (stopped, changed) = &*self.stopped;
        *stopped.lock().unwrap_or_else(PoisonError::into_inner) = true;
        changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // It ends by itself; that it panicked was told by the panic.
            let _ = thread.join();
        }
    }
}

impl std::fmt::Debug for Reloader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reloader").field("path", &self.shared.path).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watch")
    }
}
