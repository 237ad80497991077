//! The cache's places and tickets; what it answers is tested beside a store.

use gorl_core::{Action, Key, Part, decide};

use super::*;

const S: u64 = 1_000_000_000;

fn policy() -> Policy {
    Policy::fixed_window(1, Duration::from_secs(10)).expect("a valid policy")
}

fn request<'a>(policy: &'a Policy, parts: &'a [Part<'a>]) -> Request<'a> {
    Request { policy, key: KeyRef::new(parts), cost: 1, action: Action::Take }
}

/// What a store answers at `now_ns` to a key that has spent all.
fn denied(policy: &Policy, now_ns: u64) -> Decision {
    let spent = decide(policy, None, now_ns, 1).expect("it fits").state();
    decide(policy, Some(spent), now_ns, 1).expect("it fits")
}

fn ticket(cache: &Cache, request: &Request<'_>, now_ns: u64) -> Ticket {
    cache.look(request, now_ns).expect_err("nothing is known")
}

#[test]
fn a_denial_holds_from_its_answer_until_it_could_be_over() {
    let cache = DenialCache::new().max_age(Duration::MAX).build();
    let (policy, parts) = (policy(), "a".parts());
    let request = request(&policy, &parts);
    // Asked at 2 s, decided somewhere until the answer came at 3 s. It says: 8 s to wait.
    let ticket = ticket(&cache, &request, 2 * S);
    cache.keep(&request, &ticket, &denied(&policy, 2 * S), 3 * S);
    let known = cache.look(&request, 3 * S).expect("denied");
    assert_eq!(known.origin(), Origin::DenialCache);
    assert_eq!(known.retry_after(), Duration::from_secs(8));
    // Whoever waits as long as this is told comes in time by the latest clock, never early.
    let known = cache.look(&request, 10 * S - 1).expect("denied");
    assert_eq!(known.retry_after(), Duration::from_nanos(S + 1));
    assert!(cache.look(&request, 10 * S).is_err());
}

#[test]
fn a_denial_is_believed_for_no_longer_than_the_age() {
    let cache = DenialCache::new().build();
    let (policy, parts) = (policy(), "a".parts());
    let request = request(&policy, &parts);
    let ticket = ticket(&cache, &request, 0);
    cache.keep(&request, &ticket, &denied(&policy, 0), 0);
    assert!(cache.look(&request, S - 1).is_ok());
    assert!(cache.look(&request, S).is_err());
}

#[test]
fn a_denial_that_was_asked_for_before_the_key_was_freed_is_not_kept() {
    let cache = DenialCache::new().build();
    let (policy, parts) = (policy(), "a".parts());
    let request = request(&policy, &parts);
    let answer = denied(&policy, 0);
    let early = ticket(&cache, &request, 0);
    cache.free(request.key);
    cache.keep(&request, &early, &answer, 0);
    assert!(cache.look(&request, 0).is_err());
    let early = ticket(&cache, &request, 0);
    cache.policy_replaced();
    cache.keep(&request, &early, &answer, 0);
    assert!(cache.look(&request, 0).is_err());
    cache.keep(&request, &ticket(&cache, &request, 0), &answer, 0);
    assert!(cache.look(&request, 0).is_ok());
    cache.free(request.key);
    assert!(cache.look(&request, 0).is_err());
}

#[test]
fn another_policy_and_another_key_are_not_known() {
    let cache = DenialCache::new().build();
    let (policy, a, b) = (policy(), "a".parts(), "b".parts());
    let known = request(&policy, &a);
    cache.keep(&known, &ticket(&cache, &known, 0), &denied(&policy, 0), 0);
    assert!(cache.look(&request(&policy, &b), 0).is_err());
    let wider = Policy::fixed_window(2, Duration::from_secs(10)).expect("a valid policy");
    assert!(cache.look(&request(&wider, &a), 0).is_err());
    assert!(cache.look(&known, 0).is_ok());
}

#[test]
fn the_denial_that_ends_first_gives_way() {
    let cache = DenialCache::new().capacity(1).max_age(Duration::MAX).build();
    let long = Policy::fixed_window(1, Duration::from_secs(1_000)).expect("a valid policy");
    let short = policy();
    let offender = "offender".parts();
    let known = request(&long, &offender);
    cache.keep(&known, &ticket(&cache, &known, 0), &denied(&long, 0), 0);
    for number in 0..1_000_u64 {
        let parts = number.parts();
        let other = request(&short, &parts);
        cache.keep(&other, &ticket(&cache, &other, 0), &denied(&short, 0), 0);
    }
    assert!(cache.look(&known, 0).is_ok());
    let kept = (0..1_000_u64).filter(|n| cache.look(&request(&short, &n.parts()), 0).is_ok());
    assert_eq!(kept.count(), WAYS - 1);
}

#[test]
fn what_is_allowed_or_not_the_stores_own_is_not_kept() {
    let cache = DenialCache::new().build();
    let (policy, parts) = (policy(), "a".parts());
    let request = request(&policy, &parts);
    let kind = gorl_core::StoreErrorKind::Timeout;
    let allowed = decide(&policy, None, 0, 1).expect("it fits");
    for answer in [allowed, denied(&policy, 0).with_origin(Origin::Local(kind))] {
        cache.keep(&request, &ticket(&cache, &request, 0), &answer, 0);
        assert!(cache.look(&request, 0).is_err());
    }
}

#[test]
fn an_entry_takes_what_the_documentation_says() {
    assert!((120..=135).contains(&size_of::<Option<super::Entry>>()));
}
