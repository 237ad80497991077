//! A limiter with thousands of keys beside the model: tables grow, sweeps run, policies change.

use std::sync::Arc;
use std::time::Duration;

use gorl::{Clock, Limiter, Policy, Strategy};
use gorl_testkit::{Figures, Model, SimClock};

/// Enough keys for a shard to grow several times and to sweep all the time.
const KEYS: u64 = 3_000;

/// Keys and costs by a generator of their own, so that the clock's readings stay its own.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// A clock that leaps but never steps back: what a store forgets at rest it may forget for good.
fn clock(seed: u64) -> Arc<SimClock> {
    let clock = SimClock::new(seed, 1_735_689_600_000_000_000)
        .leaping_up_to(Duration::from_secs(3))
        .stepping_back_up_to(Duration::ZERO);
    Arc::new(clock)
}

fn policy(strategy: Strategy, limit: u64, burst: u64, millis: u64) -> Policy {
    let policy = Policy::new(strategy, limit, Duration::from_millis(millis)).expect("a policy");
    if strategy.has_burst() { policy.with_burst(burst).expect("a burst") } else { policy }
}

/// One limiter and one model, asked the same.
struct Pair {
    limiter: Limiter,
    model: Model<u64>,
    policy: Policy,
    clock: Arc<SimClock>,
    draws: Draws,
    resets: bool,
}

impl Pair {
    fn new(policy: Policy, seed: u64) -> Self {
        Self::on(clock(seed), policy, seed)
    }

    fn on(clock: Arc<SimClock>, policy: Policy, seed: u64) -> Self {
        let limiter = Limiter::builder(policy).shards(2).clock(Arc::clone(&clock)).build();
        Self { limiter, model: Model::new(), policy, clock, draws: Draws(seed), resets: true }
    }

    fn step(&mut self, step: usize) {
        // A few keys are hot, the others come and go.
        let key =
            if self.draws.below(2) == 0 { self.draws.below(8) } else { self.draws.below(KEYS) };
        let capacity = self.policy.capacity();
        let most = u64::from(capacity) + 1;
        let cost = u32::try_from(self.draws.below(4).min(most)).expect("small");
        let (seen, peeked) = match self.draws.below(10) {
            0 => (self.limiter.peek_n(key, cost), true),
            1 if self.resets => return self.limiter.reset_both(&mut self.model, key),
            _ => (self.limiter.check_n(key, cost), false),
        };
        let now = seen.map_or_else(|_| self.clock.now_ns(), |decision| decision.decided_at());
        let expected = if peeked {
            self.model.peek(&self.policy, &key, now, cost)
        } else {
            self.model.take(&self.policy, &key, now, cost)
        };
        let seen = seen.map(|decision| Figures::of(&decision));
        assert_eq!(seen, expected, "step {step}, {cost} of key {key} under {}", self.policy);
    }

    fn change_to(&mut self, policy: Policy) {
        // What is at rest under the old policy may have been forgotten, and the new one might
        // count it still: nobody can say, so it is forgotten on both sides.
        let now = self.clock.now_ns();
        for key in 0..KEYS {
            if self.model.is_as_new(&self.policy, &key, now) {
                self.limiter.reset_both(&mut self.model, key);
            }
        }
        self.limiter.set_policy(policy);
        self.policy = policy;
    }
}

/// Forgetting a key on both sides.
trait ResetBoth {
    fn reset_both(&self, model: &mut Model<u64>, key: u64);
}

impl ResetBoth for Limiter {
    fn reset_both(&self, model: &mut Model<u64>, key: u64) {
        self.reset(key);
        model.reset(&key);
    }
}

fn steps() -> usize {
    let long = std::env::var("GORL_LONG").is_ok_and(|value| value == "1");
    if long { 500_000 } else { 50_000 }
}

#[test]
fn a_limiter_with_many_keys_answers_as_the_model_does() {
    for (seed, strategy) in (20..).zip(Strategy::ALL) {
        let mut pair = Pair::new(policy(strategy, 7, 5, 1_300), seed);
        let mut most = 0;
        for step in 0..steps() {
            pair.step(step);
            most = most.max(pair.limiter.len());
        }
        assert!(most > 100, "the tables have hardly been used");
    }
}

#[test]
fn a_limiter_follows_a_clock_that_stalls_leaps_and_steps_back() {
    let decade = Duration::from_secs(10 * 365 * 86_400);
    for (seed, strategy) in (40..).zip(Strategy::ALL) {
        // So slow a rate brings no key to rest, as long as none is reset, and so it is certain what
        // the limiter still knows when the clock is back.
        let policy = Policy::new(strategy, 100_000, decade).expect("a policy");
        let clock = Arc::new(SimClock::new(seed, 1_735_689_600_000_000_000));
        let mut pair = Pair { resets: false, ..Pair::on(clock, policy, seed) };
        for key in 0..KEYS {
            let spent = pair.limiter.check_n(key, 5_000).expect("within the capacity");
            let known = pair.model.take(&policy, &key, spent.decided_at(), 5_000);
            assert_eq!(Ok(Figures::of(&spent)), known);
        }
        for step in 0..steps() {
            pair.step(step);
        }
    }
}

#[test]
fn a_limiter_answers_as_the_model_does_while_its_policy_changes() {
    for (seed, strategy) in (30..).zip(Strategy::ALL) {
        let mut pair = Pair::new(policy(strategy, 7, 5, 1_300), seed);
        for step in 0..steps() {
            if step % 500 == 499 {
                let draws = &mut pair.draws;
                let (limit, burst) = (1 + draws.below(20), 1 + draws.below(20));
                let millis = [400, 1_300, 5_000][usize::try_from(draws.below(3)).expect("small")];
                pair.change_to(policy(strategy, limit, burst, millis));
            }
            pair.step(step);
        }
    }
}
