//! A cluster that is being changed, or loses a node.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use gorl::AsyncLimiter;
use gorl_tests::{RedisCluster, runtime};
use tokio::runtime::Runtime;

use super::{DEADLINE, check_in_time, for_ever, limiter, store, until_settled};

/// Some keys, which every master has a part of.
fn key(number: usize) -> String {
    format!("user-{}", number % KEYS)
}

const KEYS: usize = 97;

fn serves_every_key(runtime: &Runtime, limiter: &AsyncLimiter) {
    runtime.block_on(async {
        for number in 0..KEYS {
            let answer = check_in_time(limiter, &key(number)).await;
            assert!(answer.expect("answered").is_allowed());
        }
    });
}

/// What `CLUSTER KEYSLOT` says of a key as it is in Redis.
fn slot(cluster: &mut RedisCluster, key: &str) -> u16 {
    let mut look = cluster.node(0).look();
    redis::cmd("CLUSTER").arg("KEYSLOT").arg(key).query(&mut look).expect("a slot")
}

#[test]
fn r67_a_slot_that_moves_under_load_costs_no_answer_and_no_count() {
    let (mut cluster, runtime) = (RedisCluster::start(3), runtime());
    let slot = slot(&mut cluster, "gorl:tb1:k");
    let from = cluster.owner(slot, 0);
    let limiter =
        limiter(&runtime, for_ever(1_000), store(cluster.url()).command_timeout(DEADLINE * 20));
    let (admitted, moved) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (admitted, moved) = (std::sync::Arc::new(admitted), std::sync::Arc::new(moved));
    let tasks: Vec<_> = (0..50)
        .map(|_| {
            let (limiter, admitted, moved) = (limiter.clone(), admitted.clone(), moved.clone());
            runtime.spawn(async move {
                let mut asked = 0;
                while asked < 40 || !moved.load(Ordering::Relaxed) {
                    let decision = limiter.check("k").await.expect("nothing surfaces");
                    admitted.fetch_add(usize::from(decision.is_allowed()), Ordering::Relaxed);
                    asked += 1;
                }
            })
        })
        .collect();
    // There and back, with askers between all steps.
    let to = (from + 1) % 3;
    cluster.migrate(slot, from, to);
    cluster.migrate(slot, to, from);
    moved.store(true, Ordering::Relaxed);
    for task in tasks {
        runtime.block_on(task).expect("no panic");
    }
    assert_eq!(admitted.load(Ordering::Relaxed), 1_000);
}

#[test]
fn r69_a_failover_by_an_operator_costs_answers_for_a_moment() {
    let (mut cluster, runtime) = (RedisCluster::start(3), runtime());
    let slot = slot(&mut cluster, "gorl:tb1:k");
    let master = cluster.owner(slot, 0);
    let limiter = limiter(&runtime, for_ever(1_000_000), store(cluster.url()));
    assert!(runtime.block_on(limiter.check("k")).expect("answered").is_allowed());
    let mut failover = redis::cmd("CLUSTER");
    let replica = master + cluster.masters();
    let () = failover.arg("FAILOVER").query(&mut cluster.node(replica).look()).expect("it begins");
    let (last, errors) =
        until_settled(&runtime, &limiter, |_| "k".to_owned(), Duration::from_secs(5));
    println!("{errors} errors, the last after {last:?}");
    assert_eq!(cluster.owner(slot, replica), replica);
}

#[test]
fn r76_a_cluster_of_one_shard_that_loses_its_master_is_served_by_the_replica() {
    let (mut cluster, runtime) = (RedisCluster::start(1), runtime());
    let limiter = limiter(&runtime, for_ever(1_000_000), store(cluster.url_of_all()));
    assert!(runtime.block_on(limiter.check("k")).expect("answered").is_allowed());
    cluster.node(0).stop();
    // One master cannot be voted out by itself, so an operator, or another program, has to act.
    let replica = cluster.node(1);
    let mut takeover = redis::cmd("CLUSTER");
    let () =
        takeover.arg("FAILOVER").arg("TAKEOVER").query(&mut replica.look()).expect("it takes over");
    let (last, errors) =
        until_settled(&runtime, &limiter, |_| "k".to_owned(), Duration::from_secs(15));
    println!("{errors} errors, the last after {last:?}");
}

#[test]
fn a_killed_master_costs_its_own_slots_until_its_replica_has_them() {
    let (mut cluster, runtime) = (RedisCluster::start(3), runtime());
    let limiter = limiter(&runtime, for_ever(1_000_000), store(cluster.url()));
    serves_every_key(&runtime, &limiter);
    cluster.node(1).stop();
    let (last, errors) = until_settled(&runtime, &limiter, key, Duration::from_secs(15));
    assert!(errors > 0, "the master had no key");
    println!("{errors} errors, the last after {last:?}");
    // It comes back as a replica, and nothing is sent to it that it would refuse.
    cluster.node(1).restart();
    let (_, errors) = until_settled(&runtime, &limiter, key, Duration::from_secs(15));
    assert_eq!(errors, 0);
}

#[test]
fn a_frozen_master_costs_its_own_slots_until_its_replica_has_them() {
    let (mut cluster, runtime) = (RedisCluster::start(3), runtime());
    let limiter = limiter(&runtime, for_ever(1_000_000), store(cluster.url()));
    serves_every_key(&runtime, &limiter);
    cluster.node(2).freeze();
    let (last, errors) = until_settled(&runtime, &limiter, key, Duration::from_secs(20));
    assert!(errors > 0, "the master had no key");
    println!("{errors} errors, the last after {last:?}");
    cluster.node(2).thaw();
    let (_, errors) = until_settled(&runtime, &limiter, key, Duration::from_secs(15));
    println!("{errors} errors after it came back");
    serves_every_key(&runtime, &limiter);
}
