//! Several limits of one resource: all admit or nothing is spent.

use std::time::Duration;

use gorl::{MultiPolicy, Policy, ResourceLimiter, ResourcePolicies, Strategy};

use crate::{admitted, fixed, on_each};

fn of_strategy(strategy: Strategy) -> MultiPolicy {
    let policy =
        |limit, seconds| Policy::new(strategy, limit, Duration::from_secs(seconds)).unwrap();
    MultiPolicy::named("minute", policy(3, 60)).unwrap().and("day", policy(5, 86_400)).unwrap()
}

#[test]
fn r45_what_one_limit_refuses_is_not_spent_of_another() {
    for strategy in Strategy::ALL {
        on_each(&ResourcePolicies::new(of_strategy(strategy)), |subject, clock| {
            assert_eq!(admitted(subject, "api", "a", 20), 3, "{strategy}");
            let denied = subject.check("api", "a");
            assert_eq!(denied.binding().0, "minute");
            let left: Vec<_> = denied.iter().map(|(name, one)| (name, one.remaining())).collect();
            assert_eq!(left, [("minute", 0), ("day", 2)], "{strategy}");
            assert!(denied.retry_after() <= Duration::from_secs(120));
            // Two minutes are enough for the first limit to be full, whatever the strategy.
            clock.advance(Duration::from_secs(120));
            assert_eq!(admitted(subject, "api", "a", 20), 2, "{strategy}");
            let denied = subject.check("api", "a");
            assert_eq!(denied.binding().0, "day", "{strategy}");
            assert_eq!(denied.remaining(), 0);
            assert!(denied.retry_after() > Duration::from_secs(120));
        });
    }
}

#[test]
fn the_figures_are_those_of_the_tightest() {
    let two = MultiPolicy::named("a", fixed(10, 60)).unwrap().and("b", fixed(4, 3600)).unwrap();
    on_each(&ResourcePolicies::new(two), |subject, _| {
        let first = subject.check_n("api", "k", 3);
        assert!(first.is_allowed());
        assert_eq!((first.remaining(), first.limit(), first.binding().0), (1, 4, "b"));
        assert_eq!(first.retry_after(), Duration::ZERO);
        let denied = subject.check_n("api", "k", 2);
        assert!(!denied.is_allowed());
        assert_eq!((denied.remaining(), denied.binding().0), (1, "b"));
        let each: Vec<_> = denied.iter().map(|(_, one)| one.is_allowed()).collect();
        assert_eq!(each, [true, false]);
        assert_eq!(subject.peek("api", "k").remaining(), 1);
        subject.give_back("api", "k", 3);
        let full: Vec<_> =
            subject.peek("api", "k").iter().map(|(_, one)| one.remaining()).collect();
        assert_eq!(full, [10, 4]);
    });
}

#[test]
fn a_small_capacity_has_room_for_every_limit_of_a_key() {
    let day = |limit| fixed(limit, 86_400);
    let three = MultiPolicy::named("a", day(5)).and_then(|one| one.and("b", day(10)));
    let three = three.and_then(|two| two.and("c", day(100))).unwrap();
    for capacity in 1..4 {
        let policies = ResourcePolicies::new(three.clone());
        let limiter = ResourceLimiter::builder(policies).capacity(capacity).build();
        let admitted = (0..1_000).filter(|_| limiter.check("x", "a").is_allowed()).count();
        assert_eq!(admitted, 5, "room for {capacity}");
    }
}
