//! Limiters have no thread: counted by the system, in a program of its own.

use std::time::Duration;

use gorl::{Limiter, Policy};
use gorl_core::Strategy;

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task")
        .expect("this test counts threads in /proc, so it needs Linux")
        .count()
}

#[test]
fn ten_thousand_limiters_built_and_dropped_leave_no_thread() {
    let before = threads();
    let mut most = before;
    for index in 0..10_000_usize {
        let strategy = Strategy::ALL[index % 4];
        let policy = Policy::new(strategy, 1, Duration::from_secs(1)).expect("a policy");
        let limiter = Limiter::new(policy);
        assert!(limiter.check("k").is_allowed());
        if index % 1_000 == 0 {
            most = most.max(threads());
        }
    }
    assert_eq!(threads(), before);
    assert_eq!(most, before, "a limiter that lives has a thread");
}
