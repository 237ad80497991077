//! Many clients of one server: they share counts, and keys stay apart.

use std::net::Ipv4Addr;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use gorl::{AsyncLimiter, RedisStore};
use gorl_core::{Key, ManualClock, Policy, Strategy};
use gorl_tests::{RedisServer, runtime};
use tokio::runtime::Runtime;

use super::{DAY, policy, tokens};

/// A limiter on a connection of its own that decides by the server's clock.
fn limiter(runtime: &Runtime, server: &RedisServer, policy: Policy) -> AsyncLimiter {
    let builder =
        RedisStore::builder(server.url()).command_timeout(Duration::from_secs(60)).connect();
    AsyncLimiter::new(policy, runtime.block_on(builder).expect("the server serves"))
}

#[test]
fn r17_clients_need_not_agree_on_the_time() {
    let (server, runtime) = (RedisServer::start(), runtime());
    // No client's clock is read; a token comes only after six minutes.
    let policy = tokens(10, 10, 3_600 * super::S);
    let clients = [limiter(&runtime, &server, policy), limiter(&runtime, &server, policy)];
    let mut instants = Vec::new();
    let mut admitted = 0;
    for turn in 0..20 {
        let decision = runtime.block_on(clients[turn % 2].check("k")).expect("it answers");
        admitted += u32::from(decision.is_allowed());
        instants.push(decision.decided_at());
    }
    assert_eq!(admitted, 10);
    assert!(instants.is_sorted(), "one clock decides: {instants:?}");
}

#[test]
fn r50_many_tasks_on_several_connections_admit_exactly_the_limit() {
    let (server, runtime) = (RedisServer::start(), runtime());
    let clock = Arc::new(ManualClock::new(1_735_689_600_000_000_000));
    for strategy in Strategy::ALL {
        let policy = policy(strategy, 100, 3_600 * super::S);
        let limiters: Vec<AsyncLimiter> = (0..4)
            .map(|_| {
                let builder = RedisStore::builder(server.url())
                    .clock(Arc::clone(&clock))
                    .keep_rested(Duration::from_secs(3_600))
                    .command_timeout(Duration::from_secs(60));
                AsyncLimiter::new(policy, runtime.block_on(builder.connect()).expect("it serves"))
            })
            .collect();
        let tasks: Vec<_> = (0..64)
            .map(|task| {
                let limiter = limiters[task % 4].clone();
                runtime.spawn(async move {
                    let mut left = Vec::new();
                    for _ in 0..1_000 {
                        let decision = limiter.check("k").await.expect("the server answers");
                        if decision.is_allowed() {
                            left.push(decision.remaining());
                        }
                    }
                    left
                })
            })
            .collect();
        let mut left: Vec<u32> = Vec::new();
        for task in tasks {
            left.extend(runtime.block_on(task).expect("no panic"));
        }
        left.sort_unstable();
        assert_eq!(left, (0..100).collect::<Vec<u32>>(), "{strategy}");
    }
}

/// How many all processes admitted, each of which prints its own count and ends well.
fn admitted_by(children: Vec<Child>) -> u32 {
    let admitted = children.into_iter().map(|child| {
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{output:?}");
        let text = String::from_utf8(output.stdout).expect("a number");
        text.trim().parse::<u32>().expect("a number")
    });
    admitted.sum()
}

/// The report's own measure: as many as a fleet.
#[test]
fn fifty_processes_admit_exactly_the_limit() {
    let server = RedisServer::start();
    for strategy in Strategy::ALL {
        let children: Vec<_> = (0..50)
            .map(|_| {
                Command::new(env!("CARGO_BIN_EXE_checks"))
                    .args([&server.url(), strategy.as_str(), "7919", "1000"])
                    .stdout(Stdio::piped())
                    .spawn()
                    .expect("a process starts")
            })
            .collect();
        assert_eq!(admitted_by(children), 7_919, "{strategy}");
        let () = redis::cmd("FLUSHALL").query(&mut server.look()).expect("it answers");
    }
}

/// What one limit refuses is not spent of the other, whoever asks at the same time.
#[test]
fn r45_twenty_processes_charge_two_limits_exactly_as_often() {
    const USERS: usize = 4;
    let (server, runtime) = (RedisServer::start(), runtime());
    for strategy in Strategy::ALL {
        let children: Vec<_> = (0..20)
            .map(|process| {
                let user = (process % USERS).to_string();
                Command::new(env!("CARGO_BIN_EXE_both"))
                    .args([&server.url(), strategy.as_str(), &user, "200"])
                    .stdout(Stdio::piped())
                    .spawn()
                    .expect("a process starts")
            })
            .collect();
        // Four users may 150 each, which is more than all together may.
        assert_eq!(admitted_by(children), 500, "{strategy}");
        let user = limiter(&runtime, &server, policy(strategy, 150, 3_650 * DAY));
        let spent = (0..USERS).map(|name| {
            let left = runtime.block_on(user.peek(("user", name.to_string())));
            150 - left.expect("the server answers").remaining()
        });
        assert_eq!(spent.sum::<u32>(), 500, "{strategy}: each user is charged as often as all are");
        let () = redis::cmd("FLUSHALL").query(&mut server.look()).expect("it answers");
    }
}

/// By the clocks of clients, if they are asked for, that differ by a minute: the one that is behind is
/// decided at what the other has stored.
#[test]
fn two_clients_with_clocks_a_minute_apart_share_one_limit() {
    let (server, runtime) = (RedisServer::start(), runtime());
    let start = 1_735_689_600_000_000_000;
    for strategy in Strategy::ALL {
        let policy = policy(strategy, 10, 3_600 * super::S);
        let limiters = [start, start + 60 * super::S].map(|now| {
            let clock = Arc::new(ManualClock::new(now));
            let builder = RedisStore::builder(server.url()).clock(clock);
            let builder = builder.keep_rested(Duration::from_secs(3_600));
            AsyncLimiter::new(policy, runtime.block_on(builder.connect()).expect("it serves"))
        });
        let admitted = (0..40).filter(|turn| {
            let answer = runtime.block_on(limiters[turn % 2].check("k"));
            answer.expect("the server answers").is_allowed()
        });
        assert_eq!(admitted.count(), 10, "{strategy}");
    }
}

#[test]
fn r89_keys_of_several_parts_are_not_mixed_up() {
    let (server, runtime) = (RedisServer::start(), runtime());
    let limiter = limiter(&runtime, &server, policy(Strategy::FixedWindow, 1, 3_650 * DAY));
    for allowed in [true, false] {
        let asked = [
            runtime.block_on(limiter.check(("a:b", "c"))),
            runtime.block_on(limiter.check(("a", "b:c"))),
            runtime.block_on(limiter.check(("ab", "c"))),
            runtime.block_on(limiter.check(("a", "bc"))),
            runtime.block_on(limiter.check(Ipv4Addr::new(1, 2, 3, 4))),
            runtime.block_on(limiter.check("1.2.3.4")),
        ];
        let seen = asked.map(|answer| answer.expect("the server answers").is_allowed());
        assert_eq!(seen, [allowed; 6]);
    }
}

#[test]
fn r91_odd_keys_have_a_budget_each_and_no_key_is_long() {
    let (server, runtime) = (RedisServer::start(), runtime());
    let limiter = limiter(&runtime, &server, policy(Strategy::FixedWindow, 1, 3_650 * DAY));
    let mut odd: Vec<Vec<u8>> = ["", "\0", "\n", " ", "🚦", "\u{e9}", "e\u{301}"]
        .map(|text| text.as_bytes().to_vec())
        .into();
    odd.extend([vec![0xff; 8], vec![b'x'; 1 << 20]]);
    for key in &odd {
        for allowed in [true, false] {
            let decision = runtime.block_on(limiter.check(key)).expect("the server answers");
            assert_eq!(decision.is_allowed(), allowed, "{} bytes", key.len());
        }
    }
    let keys: Vec<Vec<u8>> =
        redis::cmd("KEYS").arg("*").query(&mut server.look()).expect("the server answers");
    assert_eq!(keys.len(), odd.len());
    assert!(keys.iter().all(|key| key.len() <= 512));
}

#[test]
fn prefixes_and_hashing_keep_counts_apart() {
    let (server, runtime) = (RedisServer::start(), runtime());
    let policy = policy(Strategy::FixedWindow, 1, 3_650 * DAY);
    for (prefix, hash) in [("a:", false), ("b:", false), ("a:", true)] {
        let builder = RedisStore::builder(server.url()).prefix(prefix).hash_keys(hash);
        let store = runtime.block_on(builder.connect()).expect("the server serves");
        let name = store.redis_key(&policy, gorl_core::KeyRef::new(&"secret".parts()));
        assert!(name.starts_with(prefix));
        assert_eq!(name.contains("secret"), !hash);
        let limiter = AsyncLimiter::new(policy, store);
        let decision = runtime.block_on(limiter.check("secret")).expect("the server answers");
        assert!(decision.is_allowed(), "{prefix} {hash}");
    }
}
