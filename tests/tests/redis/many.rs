//! Requests that share a script call: core and the script agree on each, and on what is stored.

use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use gorl::RedisStore;
use gorl_core::{
    Action, DecideError, Decision, Key, KeyRef, ManualClock, Policy, Request, State, Store,
    StoreErrorKind, Strategy, decide, peek,
};
use gorl_tests::RedisServer;
use redis::Commands;
use tokio::runtime::{Builder, Runtime};

use super::differential::{LAST, Rng, START, draw_policy};

/// A question: policy, key, cost, and whether it only looks.
type Ask = (Policy, &'static str, u32, Action);

/// A store whose every request goes the way of many. Its runtime has one thread, on which nothing
/// is sent while requests are being queued.
struct Desk {
    store: Arc<RedisStore>,
    look: redis::Connection,
    clock: Arc<ManualClock>,
    runtime: Runtime,
    _server: RedisServer,
    states: HashMap<(Strategy, &'static str), State>,
}

impl Desk {
    fn new() -> Self {
        let server = RedisServer::start();
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let clock = Arc::new(ManualClock::new(0));
        let builder = RedisStore::builder(server.url())
            .clock(Arc::clone(&clock))
            .command_timeout(Duration::from_secs(60))
            .keep_rested(Duration::from_secs(86_400))
            .coalesce_above(0);
        let store = Arc::new(runtime.block_on(builder.connect()).expect("the server serves"));
        let look = server.look();
        Self { store, look, clock, runtime, _server: server, states: HashMap::new() }
    }

    /// Asks all at once, each for itself. They are queued in this order before anything is sent, so
    /// they go out together.
    fn each(&self, asked: &[Ask]) -> Vec<Result<Decision, DecideError>> {
        let ask = |(policy, key, cost, action): Ask| {
            let store = Arc::clone(&self.store);
            Box::pin(async move {
                let parts = key.parts();
                let key = KeyRef::new(&parts);
                store.decide(Request { policy: &policy, key, cost, action }).await
            })
        };
        let mut waiting: Vec<_> = asked.iter().copied().map(ask).collect();
        let mut answers: Vec<_> = asked.iter().map(|_| None).collect();
        self.runtime.block_on(poll_fn(|cx| {
            for (waiting, answer) in waiting.iter_mut().zip(&mut answers) {
                if answer.is_none()
                    && let Poll::Ready(ready) = waiting.as_mut().poll(cx)
                {
                    *answer = Some(ready);
                }
            }
            if answers.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
        }));
        answers.into_iter().map(|answer| answer.expect("all have answered")).collect()
    }

    /// Asks for all or nothing.
    fn all(&self, asked: &[Ask]) -> Result<Vec<Decision>, DecideError> {
        let parts: Vec<_> = asked.iter().map(|(_, key, ..)| key.parts()).collect();
        let request = |(ask, parts)| {
            let (policy, _, cost, action): &Ask = ask;
            Request { policy, key: KeyRef::new(parts), cost: *cost, action: *action }
        };
        let requests: Vec<_> =
            asked.iter().zip(parts.iter().map(<_>::as_ref)).map(request).collect();
        let mut decisions = vec![None; asked.len()];
        self.runtime.block_on(self.store.decide_all(&requests, &mut decisions))?;
        Ok(decisions.into_iter().map(|decision| decision.expect("all are decided")).collect())
    }

    /// Core's answers, one after the other at one instant, each upon what those before it left.
    fn expected(
        &self,
        asked: &[Ask],
        now: u64,
    ) -> (Vec<Decision>, HashMap<(Strategy, &'static str), State>) {
        let mut states = self.states.clone();
        let mut decide = |(policy, key, cost, action): &Ask| {
            let place = (policy.strategy(), *key);
            let state = states.get(&place).copied();
            let decision = match action {
                Action::Take => decide(policy, state, now, *cost),
                Action::Peek => peek(policy, state, now, *cost),
            };
            let decision = decision.expect("the cost fits");
            if decision.changes_state() {
                states.insert(place, decision.state());
            }
            decision
        };
        (asked.iter().map(&mut decide).collect(), states)
    }

    /// Fails unless exactly the states that should be are stored.
    fn compare_stored(&mut self, asked: &[Ask]) {
        for (policy, key, ..) in asked {
            let name = self.store.redis_key(policy, KeyRef::new(&key.parts()));
            let state = self.states.get(&(policy.strategy(), *key));
            let expected = state.map(|s| format!("1 {} {} {}", s.at, s.a, s.b));
            let stored: Option<String> = self.look.get(&name).expect("the server answers");
            assert_eq!(stored, expected, "{name}");
            let left: i64 = self.look.pttl(&name).expect("the server answers");
            assert_eq!(left > 0, expected.is_some(), "{name} has {left} ms left");
        }
    }
}

/// Questions about few keys, so that they meet.
fn draw(rng: &mut Rng, policies: &[Policy]) -> Vec<Ask> {
    let count = if rng.up_to(3) == 0 { 1 } else { 1 + rng.up_to(15) };
    let draw = |rng: &mut Rng| {
        let pick = |rng: &mut Rng, count: usize| {
            usize::try_from(rng.up_to(count as u64 - 1)).expect("small")
        };
        let policy = policies[pick(rng, policies.len())];
        let key = ["a", "b", "c", "d", "e"][pick(rng, 5)];
        let capacity = policy.capacity();
        let cost = match rng.up_to(4) {
            0 => 0,
            1 => capacity,
            2 => rng.count(0).min(capacity),
            _ => rng.up_to(u64::from(capacity.min(4))).try_into().expect("small"),
        };
        let action = if rng.up_to(4) == 0 { Action::Peek } else { Action::Take };
        (policy, key, cost, action)
    };
    (0..count).map(|_| draw(rng)).collect()
}

fn run(seed: u64) {
    let long = std::env::var("GORL_LONG").is_ok_and(|value| value == "1");
    let rounds = if long { 40_000 } else { 1_500 };
    let (mut rng, mut desk) = (Rng(seed), Desk::new());
    let (mut now, mut spent, mut denied) = (START, 0, 0);
    let mut policies = Vec::new();
    for round in 0..rounds {
        // Shown only when the round panics.
        eprintln!("seed {seed}, round {round}");
        if round % 8 == 0 {
            policies = Strategy::ALL.map(|strategy| draw_policy(&mut rng, strategy)).to_vec();
            policies.extend(Strategy::ALL.map(|strategy| draw_policy(&mut rng, strategy)));
        }
        now = match rng.up_to(5) {
            0 => now.saturating_sub(rng.spread(now)),
            1 => START,
            2 | 3 => now,
            _ => now + rng.spread(LAST - now),
        };
        desk.clock.set(now * 1_000);
        let mut asked = draw(&mut rng, &policies);
        let is_each = rng.up_to(1) == 0;
        if is_each {
            // Requests under one policy share a call, in the order in which policies first come.
            let place = |ask: &Ask| policies.iter().position(|policy| *policy == ask.0);
            let mut first: Vec<_> = asked.iter().map(place).collect();
            first.dedup();
            asked.sort_by_key(|ask| first.iter().position(|known| *known == place(ask)));
        }
        let (expected, after) = desk.expected(&asked, now);
        if is_each {
            let answers: Result<Vec<_>, _> = desk.each(&asked).into_iter().collect();
            assert_eq!(answers.expect("the server answers"), expected, "{asked:?}");
            desk.states = after;
        } else {
            let answers = desk.all(&asked).expect("the server answers");
            if expected.iter().all(Decision::is_allowed) {
                assert_eq!(answers, expected, "{asked:?}");
                desk.states = after;
                spent += 1;
            } else {
                let unspent: Vec<_> = expected.into_iter().map(Decision::unspent).collect();
                assert_eq!(answers, unspent, "{asked:?}");
                denied += 1;
            }
        }
        desk.compare_stored(&asked);
    }
    // A story in which one of both hardly happens shows nothing.
    assert!(spent > rounds / 10 && denied > rounds / 20, "{spent} and {denied} of {rounds}");
}

#[test]
fn requests_that_share_a_call_agree_with_core() {
    run(11);
}

#[test]
fn requests_that_share_a_call_agree_with_core_again() {
    run(12);
}

fn tokens(limit: u64) -> Policy {
    let policy = Policy::token_bucket(limit, Duration::from_secs(60)).expect("a valid policy");
    policy.in_micros().expect("whole microseconds")
}

#[test]
fn r45_the_limit_that_allows_is_not_charged_for_the_one_that_denies() {
    let desk = Desk::new();
    let (user, global) = (tokens(1), tokens(10));
    let admitted = |user_key| {
        let asked = [(user, user_key, 1, Action::Take), (global, "global", 1, Action::Take)];
        desk.all(&asked).expect("the server answers").iter().all(Decision::is_allowed)
    };
    assert_eq!((0..20).filter(|_| admitted("a")).count(), 1);
    let others = ["b", "c", "d", "e", "f", "g", "h", "i", "j"];
    assert_eq!(others.into_iter().filter(|user| admitted(user)).count(), 9);
    assert!(!admitted("k"));
}

/// What is not ours, in each type that a key can have.
fn plant_foreign_values(desk: &mut Desk, policy: &Policy) -> [&'static str; 5] {
    let name = |key: &str| desk.store.redis_key(policy, KeyRef::new(&key.parts()));
    let look = &mut desk.look;
    let () = look.set(name("text"), "not ours").expect("planted");
    let () = look.set(name("later"), "2 1 2 3").expect("planted");
    let () = look.hset(name("hash"), "field", 1).expect("planted");
    let () = look.rpush(name("list"), 1).expect("planted");
    let () = look.sadd(name("set"), 1).expect("planted");
    ["text", "later", "hash", "list", "set"]
}

fn is_foreign(error: &DecideError, key: &str) -> bool {
    let DecideError::Store(error) = error else { return false };
    let source = std::error::Error::source(error).expect("a cause").to_string();
    error.kind() == StoreErrorKind::ForeignValue && source.contains(key)
}

#[test]
fn a_value_that_is_not_ours_spoils_its_own_request_and_no_other() {
    let (mut desk, policy) = (Desk::new(), tokens(3));
    let foreign = plant_foreign_values(&mut desk, &policy);
    for (cost, action) in [(1, Action::Take), (0, Action::Take), (1, Action::Peek)] {
        let mut asked: Vec<Ask> = foreign.map(|key| (policy, key, cost, action)).to_vec();
        asked.insert(2, (policy, "a", cost, action));
        asked.push((policy, "b", cost, action));
        for (answer, (_, key, ..)) in desk.each(&asked).into_iter().zip(&asked) {
            match answer {
                Ok(decision) => assert!(["a", "b"].contains(key) && decision.is_allowed()),
                Err(error) => assert!(is_foreign(&error, key), "{key}: {error:?}"),
            }
        }
    }
    for (key, kind) in foreign.into_iter().zip(["string", "string", "hash", "list", "set"]) {
        let name = desk.store.redis_key(&policy, KeyRef::new(&key.parts()));
        let stored: String = redis::cmd("TYPE").arg(name).query(&mut desk.look).expect("a type");
        assert_eq!(stored, kind);
    }
}

#[test]
fn a_value_that_is_not_ours_spoils_all_of_a_decision() {
    let (mut desk, policy) = (Desk::new(), tokens(3));
    for key in plant_foreign_values(&mut desk, &policy) {
        let asked = [
            (policy, "a", 1, Action::Take),
            (policy, key, 1, Action::Take),
            (policy, "b", 1, Action::Take),
        ];
        let error = desk.all(&asked).expect_err("not ours");
        assert!(is_foreign(&error, key), "{error:?}");
    }
    for key in ["a", "b"] {
        let name = desk.store.redis_key(&policy, KeyRef::new(&key.parts()));
        assert!(!desk.look.exists::<_, bool>(name).expect("the server answers"));
    }
}

#[test]
fn a_cost_that_can_never_fit_spends_nothing_of_the_others() {
    let (mut desk, policy) = (Desk::new(), tokens(3));
    let asked = [(policy, "a", 1, Action::Take), (policy, "b", 4, Action::Take)];
    assert!(matches!(desk.all(&asked), Err(DecideError::Cost(_))));
    let keys: Vec<String> = desk.look.keys("*").expect("the server answers");
    assert!(keys.is_empty(), "{keys:?}");
    assert!(desk.all(&[]).expect("nothing is asked").is_empty());
    let many = vec![(policy, "a", 1, Action::Peek); 65];
    let Err(DecideError::Store(error)) = desk.all(&many) else { panic!("65 are too many") };
    assert_eq!(error.kind(), StoreErrorKind::Unsupported);
}

#[test]
fn a_denied_key_that_lost_its_expiry_gets_it_again() {
    let (mut desk, policy) = (Desk::new(), tokens(1));
    let take = (policy, "a", 1, Action::Take);
    let name = desk.store.redis_key(&policy, KeyRef::new(&"a".parts()));
    assert!(desk.each(&[take]).remove(0).expect("answered").is_allowed());
    for together in [false, true] {
        let () = desk.look.persist(&name).expect("the server answers");
        let asked = [take, (policy, "b", 0, Action::Take)];
        if together {
            assert!(!desk.all(&asked).expect("answered")[0].is_allowed());
        } else {
            assert!(!desk.each(&asked).remove(0).expect("answered").is_allowed());
        }
        assert!(desk.look.pttl::<_, i64>(&name).expect("the server answers") > 0);
    }
}
