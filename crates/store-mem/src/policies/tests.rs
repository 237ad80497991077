//! Many policies in one list: few are looked at, and numbers are used again.

use std::cell::Cell;
use std::collections::VecDeque;
use std::time::Duration;

use gorl_core::Policy;

use super::{FEW, NO_POLICY, Policies};
use crate::table::PolicyId;

thread_local! {
    static LOOKED_AT: Cell<usize> = const { Cell::new(0) };
}

/// A policy of the list was looked at.
pub(super) fn count() {
    LOOKED_AT.set(LOOKED_AT.get() + 1);
}

fn policy(n: u64) -> Policy {
    Policy::fixed_window(n + 1, Duration::from_secs(1)).expect("in range")
}

/// Each policy has one number, its own, whether it comes for the first time or again.
#[test]
fn a_policy_keeps_its_number_on_both_sides_of_few() {
    let mut policies = Policies::default();
    for round in 0..3 {
        for n in 0..3 * FEW as u64 {
            let id = policies.enlist(&policy(n));
            assert_eq!(u64::from(id), n, "round {round}");
            assert!(policies.is(id, &policy(n)));
        }
    }
    assert_eq!(policies.list.len(), 3 * FEW);
}

/// A key of one of many policies costs a look at one or two of them, not at all.
#[test]
fn few_of_many_policies_are_looked_at() {
    const MANY: u64 = 20_000;
    let mut policies = Policies::default();
    LOOKED_AT.set(0);
    let ids: Vec<PolicyId> = (0..MANY).map(|n| policies.enlist(&policy(n))).collect();
    // New keys of policies that are known, and old ones that go: half of the policies lose all.
    for (n, &id) in ids.iter().enumerate() {
        assert_eq!(policies.enlist(&policy(n as u64)), id);
        policies.release(id);
        if n % 2 == 0 {
            policies.release(id);
        }
    }
    // Other policies take the numbers that are vacant.
    for n in MANY..MANY + MANY / 2 {
        let id = policies.enlist(&policy(n));
        assert!(policies.is(id, &policy(n)) && u64::from(id) < MANY);
    }
    let asked = MANY * 5 / 2;
    let looked_at = LOOKED_AT.get() as u64;
    assert!(looked_at < 2 * asked, "{looked_at} policies for {asked} questions");
    assert_eq!(policies.list.len() as u64, MANY);
}

/// Policies that come and go for ever keep their numbers while they are there, and leave nothing
/// behind.
#[test]
fn policies_that_come_and_go_take_no_memory() {
    for live in [2, 20, 100] {
        let mut policies = Policies::default();
        let mut ids: VecDeque<PolicyId> = (0..live).map(|n| policies.enlist(&policy(n))).collect();
        let mut bytes = 0;
        for gone in 0..2_000 {
            policies.release(ids.pop_front().expect("some are live"));
            ids.push_back(policies.enlist(&policy(gone + live)));
            for (n, &id) in (gone + 1..).zip(&ids) {
                assert_eq!(policies.enlist(&policy(n)), id, "policy {n} of {live} after {gone}");
                policies.release(id);
            }
            if gone == 0 {
                bytes = policies.bytes();
            }
        }
        assert_eq!((policies.list.len() as u64, policies.bytes()), (live, bytes));
    }
}

/// More policies than there are numbers share one, and none gets the number of none.
#[test]
fn policies_beyond_the_numbers_share_one() {
    let mut policies = Policies::default();
    for n in 0..u64::from(NO_POLICY) {
        assert_eq!(u64::from(policies.enlist(&policy(n))), n);
    }
    let shared = policies.enlist(&policy(u64::from(NO_POLICY)));
    assert_ne!(shared, NO_POLICY);
    assert!(!policies.is(shared, &policy(u64::from(NO_POLICY))));
}
