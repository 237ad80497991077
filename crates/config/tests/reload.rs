//! Policies that follow their file: what changes, what stays, and what is told.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use gorl::ResourceLimiter;
use gorl_config::{Config, ConfigError, Reloaded, Reloader, Watch};

/// A configuration file of a test's own.
struct File(PathBuf);

impl File {
    fn new(text: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = format!("gorl-config-{}-{next}", std::process::id());
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        let file = Self(folder.join("limits.yaml"));
        file.write(text);
        file
    }

    fn write(&self, text: &str) {
        std::fs::write(&self.0, text).unwrap();
    }

    /// As editors and deployments do it: a new file takes the place of the old one.
    fn replace(&self, text: &str) {
        let new = self.0.with_extension("new");
        std::fs::write(&new, text).unwrap();
        std::fs::rename(&new, &self.0).unwrap();
    }

    fn limiter(&self) -> (Reloader, Arc<ResourceLimiter>) {
        let config = Config::from_file(&self.0).unwrap();
        let limiter = Arc::new(config.memory_limiter().unwrap());
        (Reloader::new(&self.0, config, Arc::clone(&limiter)), limiter)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.0.parent().unwrap());
    }
}

fn limits(login: u32, others: u32) -> String {
    format!(
        "strategy: fixed_window\ndefault: {others} per 1000d\nresources:\n  login: {login} per 1000d\n"
    )
}

fn admitted(limiter: &ResourceLimiter, resource: &str, checks: usize) -> usize {
    (0..checks).filter(|_| limiter.check(resource, "user-1").is_allowed()).count()
}

#[test]
fn r106_reloading_the_same_file_or_another_policy_refills_nothing() {
    let file = File::new(&limits(3, 5));
    let (reloader, limiter) = file.limiter();
    assert_eq!(admitted(&limiter, "login", 5), 3);
    for _ in 0..100 {
        assert!(!reloader.reload().unwrap().changed);
    }
    assert!(!limiter.check("login", "user-1").is_allowed());
    file.write(&limits(3, 9));
    assert!(reloader.reload().unwrap().changed);
    assert!(!limiter.check("login", "user-1").is_allowed());
    assert_eq!(limiter.peek("search", "user-1").remaining(), 9);
}

#[test]
fn r109_a_changed_limit_holds_at_the_next_check() {
    let file = File::new(&limits(10, 5));
    let (reloader, limiter) = file.limiter();
    assert_eq!(admitted(&limiter, "login", 3), 3);
    file.replace(&limits(4, 5));
    assert!(reloader.reload().unwrap().changed);
    assert_eq!(admitted(&limiter, "login", 3), 1);
}

#[test]
fn a_bad_file_changes_nothing_and_says_so() {
    let file = File::new(&limits(2, 5));
    let (reloader, limiter) = file.limiter();
    for bad in ["default: many", "resources: {login: 9 per 1000d}", "\t", ""] {
        file.write(bad);
        let error = reloader.reload().unwrap_err();
        assert_eq!(error.file(), Some(&*file.0));
        assert_eq!(reloader.last_error(), Some(error));
        assert_eq!(reloader.config().policies().of("login").capacity(), 2);
    }
    assert_eq!(admitted(&limiter, "login", 5), 2);
    std::fs::remove_file(&file.0).unwrap();
    assert!(reloader.reload().unwrap_err().message().contains("cannot be read"));
    file.write(&limits(3, 5));
    assert!(reloader.reload().unwrap().changed);
    assert_eq!(reloader.last_error(), None);
    assert_eq!(admitted(&limiter, "login", 5), 1);
}

#[test]
fn what_takes_effect_at_the_next_start_is_told_each_time() {
    let file = File::new(&limits(2, 5));
    let (reloader, _limiter) = file.limiter();
    let more = format!("{}fail_open: true\nmemory: {{capacity: 9}}\n", limits(2, 5));
    file.write(&more);
    for _ in 0..2 {
        let outcome = reloader.reload().unwrap();
        assert!(!outcome.changed);
        assert_eq!(outcome.needs_restart, ["failure", "memory"]);
    }
}

#[test]
fn routes_follow_the_file() {
    let file = File::new(&limits(2, 5));
    let (reloader, _limiter) = file.limiter();
    assert_eq!(reloader.config().routes().find("GET", "/in"), None);
    file.write(&format!("{}routes: {{/in: login}}\n", limits(2, 5)));
    assert!(reloader.reload().unwrap().changed);
    assert_eq!(reloader.config().routes().find("GET", "/in"), Some("login"));
}

/// Watches at short intervals; what is told comes out of the channel.
fn watched(reloader: &Reloader) -> (Watch, Receiver<Result<Reloaded, ConfigError>>) {
    let (tell, told) = channel();
    let watch = reloader.watch(Duration::from_millis(2), move |reloaded| {
        // The test may have seen enough.
        let _ = tell.send(reloaded.clone());
    });
    (watch.unwrap(), told)
}

/// What was told of the change that a test has made. To write a file takes two steps, of which the
/// thread may see the first by itself: an empty file.
fn next(told: &Receiver<Result<Reloaded, ConfigError>>) -> Result<Reloaded, ConfigError> {
    loop {
        let next = told.recv_timeout(Duration::from_secs(60)).expect("the change is noticed");
        match next {
            Err(error) if error.message().contains("empty") => {}
            next => return next,
        }
    }
}

#[test]
fn a_watched_file_is_followed_however_it_is_replaced() {
    let file = File::new(&limits(1, 5));
    let (reloader, limiter) = file.limiter();
    let (watch, told) = watched(&reloader);
    file.write(&limits(2, 5));
    assert!(next(&told).unwrap().changed);
    assert_eq!(limiter.peek("login", "user-1").limit(), 2);
    file.replace(&limits(3, 5));
    assert!(next(&told).unwrap().changed);
    assert_eq!(limiter.peek("login", "user-1").limit(), 3);
    file.replace("nonsense: [");
    assert!(next(&told).is_err());
    assert_eq!(limiter.peek("login", "user-1").limit(), 3);
    file.replace(&limits(4, 5));
    assert!(next(&told).unwrap().changed);
    drop(watch);
    file.replace(&limits(9, 5));
    assert!(told.recv().is_err(), "nobody watches any more");
    assert_eq!(limiter.peek("login", "user-1").limit(), 4);
}

#[cfg(unix)]
#[test]
fn a_link_that_is_switched_is_followed() {
    let (first, second) = (File::new(&limits(1, 5)), File::new(&limits(7, 5)));
    let link = first.0.with_file_name("link.yaml");
    std::os::unix::fs::symlink(&first.0, &link).unwrap();
    let config = Config::from_file(&link).unwrap();
    let limiter = Arc::new(config.memory_limiter().unwrap());
    let reloader = Reloader::new(&link, config, Arc::clone(&limiter));
    let (_watch, told) = watched(&reloader);
    let new = link.with_extension("new");
    std::os::unix::fs::symlink(&second.0, &new).unwrap();
    std::fs::rename(&new, &link).unwrap();
    assert!(next(&told).unwrap().changed);
    assert_eq!(limiter.peek("login", "user-1").limit(), 7);
}

#[test]
fn a_watch_ends_while_its_thread_waits() {
    let file = File::new(&limits(1, 5));
    let (reloader, _limiter) = file.limiter();
    // This returns when the thread has ended, or the test runs for an hour.
    drop(reloader.watch(Duration::from_secs(3_600), |_| {}).unwrap());
}

#[test]
fn a_thousand_reloads_under_load_admit_exactly_the_limit() {
    const CHECKS: usize = 40_000;
    let file = File::new(&limits(10_000, 1));
    let (reloader, limiter) = file.limiter();
    let texts = [limits(10_000, 2), limits(10_000, 1)];
    let admitted: usize = std::thread::scope(|scope| {
        let load = [(); 2].map(|()| scope.spawn(|| admitted(&limiter, "login", CHECKS)));
        for reload in 0..1_000 {
            file.write(&texts[reload % 2]);
            assert!(reloader.reload().unwrap().changed);
        }
        load.map(|thread| thread.join().unwrap()).into_iter().sum()
    });
    assert_eq!(admitted, 10_000, "every reload changed another policy");
}

#[test]
fn a_change_before_the_watch_begins_is_not_missed() {
    let file = File::new(&limits(5, 5));
    let (reloader, limiter) = file.limiter();
    file.replace(&limits(7, 5));
    let (_watch, told) = watched(&reloader);
    assert!(next(&told).unwrap().changed);
    assert_eq!(limiter.peek("login", "user-1").limit(), 7);
}

#[test]
fn what_the_store_in_use_cannot_count_is_refused_whatever_the_file_says_of_the_store() {
    let redis = format!("{}redis_url: redis://127.0.0.1/\n", limits(5, 5));
    let file = File::new(&redis);
    let config = Config::from_file(&file.0).unwrap();
    let limiter = Arc::new(ResourceLimiter::new(config.policies().clone()));
    let reloader = Reloader::new(&file.0, config, limiter);
    file.write("strategy: fixed_window\ndefault: 5 per 1500ns\n");
    let error = reloader.reload().unwrap_err().to_string();
    assert!(error.contains("default: window must be a whole number of microseconds"), "{error}");
    assert_eq!(reloader.config().policies().default().capacity(), 5);
}

#[test]
fn a_panic_of_whoever_is_told_does_not_end_the_watch() {
    let file = File::new(&limits(1, 5));
    let (reloader, limiter) = file.limiter();
    let (tell, told) = channel();
    let _watch = reloader.watch(Duration::from_millis(2), move |_| {
        let _ = tell.send(());
        panic!("whoever is told panics");
    });
    for limit in [2, 3] {
        file.replace(&limits(limit, 5));
        while limiter.peek("login", "user-1").limit() != limit {
            told.recv_timeout(Duration::from_secs(60)).expect("the change is noticed");
        }
    }
}
