//! Keys by the server's own clock: each expires when it is at rest, and a denial writes nothing.

use gorl::{AsyncLimiter, RedisStore};
use gorl_core::{Decision, Policy, Strategy, rested_at};
use gorl_tests::{RedisServer, runtime};
use redis::Commands;
use tokio::runtime::Runtime;

use super::{DAY, MS, S, leaky, policy, tokens};

const K: &str = "k";

/// The last expiry that a script writes, in milliseconds.
const LATEST_MS: u64 = (1 << 53) - 1;

/// A limiter that decides by the server's clock, and a look at what it stores.
struct Bench {
    limiter: AsyncLimiter,
    look: redis::Connection,
    runtime: Runtime,
    _server: RedisServer,
}

impl Bench {
    fn new(policy: Policy) -> Self {
        let server = RedisServer::start();
        let runtime = runtime();
        let store = runtime.block_on(RedisStore::connect(server.url())).expect("it serves");
        let limiter = AsyncLimiter::new(policy, store);
        Self { limiter, look: server.look(), runtime, _server: server }
    }

    fn check(&self, cost: u32) -> Decision {
        self.runtime.block_on(self.limiter.check_n(K, cost)).expect("the server answers")
    }

    /// The key in Redis under the limiter's policy.
    fn name(&self) -> String {
        let tag = match self.limiter.policy().strategy() {
            Strategy::FixedWindow => "fw",
            Strategy::SlidingWindow => "sw",
            Strategy::TokenBucket => "tb",
            _ => "lb",
        };
        format!("gorl:{tag}1:{K}")
    }

    /// What is stored, and when it expires, in milliseconds since the epoch.
    fn stored(&mut self) -> (String, i64) {
        let name = self.name();
        let value = self.look.get(&name).expect("the server answers");
        (value, self.look.pexpire_time(&name).expect("the server answers"))
    }

    /// How often the server ran a command.
    fn calls(&mut self, command: &str) -> u64 {
        let stats: String =
            redis::cmd("INFO").arg("commandstats").query(&mut self.look).expect("it answers");
        let line = stats.lines().find_map(|l| l.strip_prefix(&format!("cmdstat_{command}:calls=")));
        line.and_then(|line| line.split(',').next()?.parse().ok()).unwrap_or(0)
    }
}

fn policies() -> Vec<Policy> {
    let most = u64::from(u32::MAX);
    let mut all = vec![
        tokens(5, 1, 10 * S),
        tokens(7, 999_983, 86_400 * S),
        tokens(most, 3, 3_650 * DAY),
        leaky(most, most, 3_650 * DAY),
        leaky(3, 7, 13 * S),
        tokens(u64::from(u32::MAX), 1, 3_650 * DAY),
    ];
    for strategy in Strategy::ALL {
        all.push(policy(strategy, 10, 3_600 * S));
        all.push(policy(strategy, 999_983, 30 * DAY));
        all.push(policy(strategy, most, 3_650 * DAY));
    }
    all
}

#[test]
fn a_key_expires_in_the_millisecond_in_which_it_is_at_rest() {
    let mut bench = Bench::new(tokens(1, 1, S));
    for policy in policies() {
        bench.limiter.set_policy(policy);
        bench.runtime.block_on(bench.limiter.reset(K)).expect("the server answers");
        for cost in [1, policy.capacity() / 2, 1] {
            let decision = bench.check(cost);
            assert!(decision.is_allowed());
            let (value, expires) = bench.stored();
            let state = decision.state();
            assert_eq!(value, format!("1 {} {} {}", state.at, state.a, state.b));
            let rested = rested_at(&decision.policy(), state).div_ceil(1_000).min(LATEST_MS);
            assert_eq!(u64::try_from(expires), Ok(rested), "{policy} after {cost}");
        }
    }
}

#[test]
fn r29_a_window_of_a_year_keeps_its_key() {
    let mut bench = Bench::new(policy(Strategy::SlidingWindow, 5, 365 * DAY));
    assert!(bench.check(5).is_allowed());
    let name = bench.name();
    let left: u64 = bench.look.pttl(name).expect("the server answers");
    assert!(left > 300 * 86_400_000, "{left} ms");
}

#[test]
fn r43_no_denial_adds_to_the_expiry() {
    let mut bench = Bench::new(tokens(5, 1, 3_600 * S));
    assert!(bench.check(3).is_allowed());
    let before = bench.stored();
    assert!(!bench.check(4).is_allowed());
    assert_eq!(bench.stored(), before);
    assert!(bench.check(2).is_allowed());
    let name = bench.name();
    let left: u64 = bench.look.pttl(name).expect("the server answers");
    // The expiry is rounded up to a whole millisecond, and the clock that it is told by down.
    assert!(left <= 5 * 3_600_000 + 1, "{left} ms");
}

#[test]
fn a_denial_and_a_peek_write_nothing_at_all() {
    for policy in policies().into_iter().filter(|policy| policy.window().as_secs() >= 3_600) {
        let mut bench = Bench::new(policy);
        let allowed = bench.check(policy.capacity()).is_allowed();
        assert!(allowed);
        let (before, written) = (bench.stored(), bench.calls("set"));
        let mut denied = 0;
        for _ in 0..50 {
            denied += u32::from(!bench.check(policy.capacity()).is_allowed());
            let _ = bench.runtime.block_on(bench.limiter.peek(K)).expect("the server answers");
        }
        assert_eq!(denied, 50, "{policy}");
        assert_eq!(bench.stored(), before, "{policy}");
        let expiries = bench.calls("pexpireat") + bench.calls("pexpire");
        assert_eq!((bench.calls("set"), expiries), (written, 0), "{policy}");
    }
}

#[test]
fn r57_a_key_that_lost_its_expiry_gets_it_back_from_one_call() {
    for strategy in Strategy::ALL {
        let mut bench = Bench::new(policy(strategy, 3, 3_650 * DAY));
        assert!(bench.check(3).is_allowed());
        let before = bench.stored();
        let name = bench.name();
        let () = bench.look.persist(&name).expect("the server answers");
        assert_eq!(bench.stored().1, -1);
        let calls = bench.calls("evalsha");
        assert!(!bench.check(1).is_allowed());
        assert_eq!(bench.stored(), before, "{strategy}");
        assert_eq!(bench.calls("evalsha"), calls + 1, "one script call a check");
    }
}

#[test]
fn a_policy_with_a_longer_memory_keeps_the_key_longer() {
    for strategy in Strategy::ALL {
        let mut bench = Bench::new(policy(strategy, 3, 3_650 * DAY / 2));
        assert!(bench.check(3).is_allowed());
        let (value, before) = bench.stored();
        bench.limiter.set_policy(policy(strategy, 3, 3_650 * DAY));
        let denied = bench.check(1);
        assert!(!denied.is_allowed());
        let (same, after) = bench.stored();
        assert_eq!(same, value, "{strategy}");
        assert!(after >= before, "{strategy}");
        let rested = denied.decided_at() + u64::try_from(denied.reset_after_ticks()).expect("fits");
        assert_eq!(u64::try_from(after), Ok(rested.div_ceil(1_000)), "{strategy}");
    }
}

#[test]
fn r57_a_key_that_lost_its_expiry_blocks_no_longer_than_its_window() {
    for strategy in Strategy::ALL {
        let mut bench = Bench::new(policy(strategy, 1, 50 * MS));
        let admitted = bench.check(1);
        assert!(admitted.is_allowed());
        let name = bench.name();
        let () = bench.look.persist(&name).expect("the server answers");
        // Bounded by the server's clock: what it says is past is admitted.
        loop {
            let decision = bench.check(1);
            let passed = decision.decided_at() - admitted.decided_at();
            if decision.is_allowed() {
                break;
            }
            assert!(passed < 100_000, "{strategy} denied after {passed} microseconds");
        }
    }
}
