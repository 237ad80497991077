//! Which policy applies, and who is counted apart from whom.

use gorl::{Policy, ResourcePolicies};

use crate::{admitted, fixed, on_each};

#[test]
fn a_resource_has_its_policy_and_all_others_the_default_with_counts_of_their_own() {
    let policies = ResourcePolicies::new(fixed(4, 3600)).resource("login", fixed(2, 3600));
    on_each(&policies, |subject, _| {
        assert_eq!(admitted(subject, "login", "a", 5), 2);
        assert_eq!(admitted(subject, "search", "a", 5), 4);
        assert_eq!(admitted(subject, "upload", "a", 5), 4);
        assert_eq!(admitted(subject, "login", "b", 5), 2);
        let denied = subject.check("login", "a");
        assert_eq!((denied.binding().0, denied.limit()), ("", 2));
        subject.give_back("login", "a", 1);
        assert_eq!(subject.peek("login", "a").remaining(), 1);
        assert_eq!(subject.peek("search", "a").remaining(), 0);
        subject.reset("search", "a");
        assert_eq!(subject.peek("search", "a").remaining(), 4);
        assert_eq!(subject.peek("upload", "a").remaining(), 0);
    });
}

#[test]
fn r89_keys_of_two_resources_never_share_a_count() {
    let policies = ResourcePolicies::new(fixed(1, 3600))
        .resource("a", fixed(1, 3600))
        .resource("a:b", fixed(1, 3600));
    on_each(&policies, |subject, _| {
        for (resource, key) in [("a:b", "c"), ("a", "b:c"), ("a", ":c"), ("a:b", ""), ("a", "")] {
            assert!(subject.check(resource, key).is_allowed(), "{resource} {key}");
            assert!(!subject.check(resource, key).is_allowed(), "{resource} {key}");
        }
    });
}

#[test]
fn beyond_the_bound_unknown_resources_share_one_count() {
    let policies = ResourcePolicies::new(fixed(2, 3600)).resource("login", fixed(5, 3600));
    on_each(&policies, |subject, _| {
        for resource in ["u1", "u2", "u3"] {
            assert_eq!(admitted(subject, resource, "a", 3), 2, "{resource}");
        }
        // A thousand made-up names get the limit once among them.
        let names = (4..1_004).map(|number| format!("u{number}"));
        let sum = names.filter(|name| subject.check(name, "a").is_allowed()).count();
        assert_eq!(sum, 2);
        // What was there before still counts apart, and so does what has a policy of its own.
        assert!(!subject.check("u1", "a").is_allowed());
        assert_eq!(admitted(subject, "u2", "b", 3), 2);
        assert_eq!(admitted(subject, "login", "a", 9), 5);
    });
}

#[test]
fn a_cost_that_never_fits_is_an_error_and_spends_nothing() {
    use gorl::{MultiPolicy, ResourceLimiter};
    let both = MultiPolicy::named("burst", fixed(3, 60)).unwrap().and("day", fixed(10, 86_400));
    let limiter = ResourceLimiter::new(ResourcePolicies::new(both.unwrap()));
    let error = limiter.check_n("x", "a", 4).unwrap_err();
    assert_eq!((error.cost, error.limit), (4, 3));
    assert_eq!(limiter.peek("x", "a").remaining(), 3);
    assert!(limiter.store().is_empty());
}

#[test]
fn odd_resources_and_keys_are_as_good_as_any() {
    let policy = Policy::token_bucket(1, std::time::Duration::from_secs(3600)).unwrap();
    on_each(&ResourcePolicies::new(policy), |subject, _| {
        let long = "x".repeat(100_000);
        for (resource, key) in [("", ""), ("\0\n", "é"), (&long, "a")] {
            assert!(subject.check(resource, key).is_allowed());
            assert!(!subject.check(resource, key).is_allowed());
        }
    });
}

#[test]
fn made_up_names_cost_little_however_many_and_long_they_are() {
    use gorl::ResourceLimiter;
    let builder = ResourceLimiter::builder(ResourcePolicies::new(fixed(1, 3600)));
    let limiter = builder.unknown_resources(50_000).build();
    for number in 0..60_000_u32 {
        let _ = limiter.check(&number.to_string(), "a");
    }
    assert_eq!(limiter.unknown_resources(), 50_000);
    // Names themselves are not kept.
    let limiter = ResourceLimiter::new(ResourcePolicies::new(fixed(1, 3600)));
    let mut name = "x".repeat(300_000);
    for _ in 0..1_100 {
        name.push('y');
        let _ = limiter.check(&name, "a");
    }
    assert_eq!(limiter.unknown_resources(), 1_000);
}
