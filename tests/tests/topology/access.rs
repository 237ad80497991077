//! What the book has an operator grant is enough, on every topology.

use gorl_tests::{RedisCluster, RedisSentinel, RedisServer, SENTINELS_TAKE, runtime};

use super::{for_ever, limiter, store, until_settled};

/// Has a server take the book's lines for a user.
fn grant(server: &RedisServer, user: &str) {
    let book = include_str!("../../../docs/src/redis-production.md");
    let begins = format!("ACL SETUSER {user} ");
    let lines: Vec<_> = book.lines().filter(|line| line.starts_with(&begins)).collect();
    assert!(!lines.is_empty(), "the book grants {user} nothing");
    for line in lines {
        let mut words = line.split(' ');
        let mut command = redis::cmd(words.next().expect("a command"));
        words.for_each(|word| {
            command.arg(word);
        });
        let () = command.query(&mut server.look()).expect("the server takes it");
    }
}

/// The same address, by a user of the book's.
fn by_limiter(url: &str) -> String {
    url.replacen("://", "://limiter:PASSWORD@", 1)
}

#[test]
fn the_book_grants_enough_in_a_cluster_whose_slots_move() {
    let (mut cluster, runtime) = (RedisCluster::start(3), runtime());
    for place in 0..2 * cluster.masters() {
        grant(cluster.node(place), "limiter");
    }
    let url = by_limiter(&cluster.url());
    let limiter = limiter(&runtime, for_ever(1_000_000), store(url));
    let check_all = || {
        for number in 0..100 {
            let key = format!("user-{number}");
            let answer = runtime.block_on(limiter.check(&*key));
            assert!(answer.expect("the cluster answers").is_allowed());
        }
    };
    check_all();
    // Half moved, the slot has its new keys asked for elsewhere, with ASKING.
    let slot = 5_000;
    let from = cluster.owner(slot, 0);
    let to = (from + 1) % cluster.masters();
    cluster.begin_to_migrate(slot, from, to);
    check_all();
    let key = (0..1_000_000).map(|n| format!("new-{n}")).find(|key| {
        let asked = redis::cmd("CLUSTER")
            .arg("KEYSLOT")
            .arg(format!("gorl:tb1:{key}"))
            .query::<u16>(&mut cluster.node(0).look());
        asked.expect("it answers") == slot
    });
    let answer = runtime.block_on(limiter.check(&*key.expect("some key of the slot")));
    assert!(answer.expect("the other node is asked").is_allowed());
}

#[test]
fn the_book_grants_enough_behind_sentinels() {
    let (mut watched, runtime) = (RedisSentinel::start(), runtime());
    for place in 0..2 {
        grant(watched.node(place), "limiter");
    }
    for place in 0..3 {
        grant(watched.sentinel(place), "watcher");
    }
    let builder = store(by_limiter(&watched.url())).sentinel_credentials("watcher", "PASSWORD");
    let limiter = limiter(&runtime, for_ever(1_000_000), builder);
    assert!(runtime.block_on(limiter.check("k")).expect("answered").is_allowed());
    watched.fail_over();
    until_settled(&runtime, &limiter, |_| "k".to_owned(), SENTINELS_TAKE);
}

#[test]
fn a_master_that_stops_writing_without_its_replica_is_unavailable() {
    let (server, runtime) = (RedisServer::start_with(&["--min-replicas-to-write", "1"]), runtime());
    let limiter = limiter(&runtime, for_ever(5), store(server.url()));
    let error = runtime.block_on(limiter.check("k")).expect_err("it may not write");
    assert_eq!(error.kind(), gorl_core::StoreErrorKind::Unavailable, "{error:?}");
}
