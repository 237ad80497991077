//! Policies that change while counts are live.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use gorl::{MultiPolicy, Policy, ResourceLimiter, ResourcePolicies, Strategy};

use crate::{admitted, fixed, on_each};

fn policies(login: u64, default: u64) -> ResourcePolicies {
    ResourcePolicies::new(fixed(default, 3600)).resource("login", fixed(login, 3600))
}

#[test]
fn r106_a_change_that_changes_nothing_or_something_else_refills_nothing() {
    on_each(&policies(3, 9), |subject, _| {
        assert_eq!(admitted(subject, "login", "a", 5), 3);
        for _ in 0..100 {
            subject.set_policies(policies(3, 9));
        }
        assert!(!subject.check("login", "a").is_allowed());
        subject.set_policies(policies(3, 7).resource("other", fixed(1, 60)));
        assert!(!subject.check("login", "a").is_allowed());
    });
}

#[test]
fn r109_a_lowered_limit_holds_at_once_and_a_removed_one_falls_back_to_the_default() {
    on_each(&policies(10, 5), |subject, _| {
        assert_eq!(admitted(subject, "login", "a", 3), 3);
        subject.set_policies(policies(4, 5));
        assert!(subject.check("login", "a").is_allowed());
        assert!(!subject.check("login", "a").is_allowed());
        // Four are spent of the five that all others have.
        subject.set_policies(ResourcePolicies::new(fixed(5, 3600)));
        assert!(subject.check("login", "a").is_allowed());
        assert!(!subject.check("login", "a").is_allowed());
        subject.set_policies(policies(10, 5));
        assert_eq!(admitted(subject, "login", "a", 9), 5);
    });
}

#[test]
fn r110_a_raised_limit_denies_nobody() {
    for strategy in Strategy::ALL {
        let policy = |limit| Policy::new(strategy, limit, Duration::from_secs(20)).unwrap();
        let policies = |limit| ResourcePolicies::new(policy(16)).resource("x", policy(limit));
        on_each(&policies(16), |subject, _| {
            assert_eq!(admitted(subject, "x", "a", 3), 3);
            subject.set_policies(policies(1_000));
            assert!(subject.check("x", "a").is_allowed(), "{strategy}");
        });
    }
}

#[test]
fn a_limit_that_is_added_starts_afresh_and_the_others_keep_their_counts() {
    let one = || MultiPolicy::named("hour", fixed(4, 3600)).unwrap();
    on_each(&ResourcePolicies::new(one()), |subject, _| {
        assert_eq!(admitted(subject, "x", "a", 3), 3);
        subject.set_policies(ResourcePolicies::new(one().and("day", fixed(9, 86_400)).unwrap()));
        let decision = subject.check("x", "a");
        let left: Vec<_> = decision.iter().map(|(name, one)| (name, one.remaining())).collect();
        assert_eq!(left, [("hour", 0), ("day", 8)]);
    });
}

#[test]
fn a_thousand_changes_under_load_lose_no_count() {
    // The two limits differ in a way that both always admit more than is spent in between.
    let lowest = 50_000;
    let with =
        |limit| ResourcePolicies::new(fixed(limit, 86_400)).resource("x", fixed(limit, 86_400));
    let limiter = ResourceLimiter::new(with(lowest));
    let changing = AtomicBool::new(true);
    let admitted: u64 = thread::scope(|scope| {
        let load = || {
            let mut admitted = 0;
            while changing.load(Ordering::Relaxed) || admitted < 1_000 {
                admitted += u64::from(limiter.check("x", "a").is_allowed());
                if admitted >= lowest {
                    break;
                }
            }
            admitted
        };
        let threads = [scope.spawn(load), scope.spawn(load)];
        for change in 0..1_000 {
            limiter.set_policies(with(if change % 2 == 0 { 2 * lowest } else { lowest }));
        }
        limiter.set_policies(with(lowest));
        changing.store(false, Ordering::Relaxed);
        threads.map(|thread| thread.join().expect("no panic")).into_iter().sum()
    });
    let highest = 2 * lowest;
    assert!((2_000..=highest).contains(&admitted), "{admitted}");
    limiter.set_policies(with(highest));
    assert_eq!(u64::from(limiter.peek("x", "a").remaining()), highest - admitted, "none was lost");
}
