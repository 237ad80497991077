//! Random steps at the edges of what can be asked: core and the scripts agree on each.

use std::time::Duration;

use gorl_core::{Policy, State, Strategy};
use gorl_testkit::Figures;
use gorl_tests::{Driver, RedisDriver};

/// Ten years, the longest window, in microseconds.
const LONGEST_WINDOW: u64 = 10 * 365 * 86_400 * 1_000_000;

/// The last instant that a script counts, in microseconds.
pub(super) const LAST: u64 = (1 << 53) - 1;

/// 2025-01-01T00:00:00Z, in microseconds.
pub(super) const START: u64 = 1_735_689_600_000_000;

/// `SplitMix64`, whose seed alone repeats a failure.
pub(super) struct Rng(pub(super) u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn up_to(&mut self, most: u64) -> u64 {
        most.checked_add(1).map_or(self.0, |count| self.next() % count)
    }

    /// As often small as large, and often at the very end.
    pub(super) fn spread(&mut self, most: u64) -> u64 {
        match self.up_to(9) {
            0 => most - self.up_to(most.min(3)),
            _ => self.next() >> self.up_to(63) & (most.next_power_of_two() - 1).min(most),
        }
    }

    pub(super) fn count(&mut self, least: u64) -> u32 {
        let most = u64::from(u32::MAX);
        u32::try_from(self.spread(most).max(least)).unwrap_or(u32::MAX)
    }
}

/// One story: a policy that changes, three keys, and what the last answer was.
struct Story {
    rng: Rng,
    engine: RedisDriver,
    policy: Policy,
    now: u64,
    last: Option<Figures>,
    admitted: usize,
    denied: usize,
}

impl Story {
    fn step(&mut self) {
        if self.rng.up_to(19) == 0 {
            self.policy = draw_policy(&mut self.rng, self.policy.strategy());
            self.engine.set_policy(self.policy);
        }
        self.now = self.next_time();
        self.engine.at(self.now * 1_000);
        let key = ["a", "b", "c"][usize::try_from(self.rng.up_to(2)).expect("small")];
        if self.rng.up_to(9) == 0 {
            let state = self.any_state();
            self.engine.plant(key, state);
        }
        let cost = self.cost();
        let answer = match self.rng.up_to(19) {
            0 => return self.engine.reset(key),
            1..4 => return self.engine.give_back(key, cost),
            4..7 => self.engine.peek(key, cost),
            _ => self.engine.take(key, cost),
        };
        self.last = answer.ok();
        if let Some(figures) = self.last {
            self.admitted += usize::from(figures.allowed);
            self.denied += usize::from(!figures.allowed);
        }
    }

    /// Often the instant at which an answer turns, or one beside it.
    fn next_time(&mut self) -> u64 {
        let wait = |ticks: u128| u64::try_from(ticks).unwrap_or(u64::MAX);
        let retry = wait(self.last.and_then(|figures| figures.retry_after).unwrap_or(0));
        let reset = wait(self.last.map_or(0, |figures| figures.reset_after));
        let window = self.policy.window_ticks();
        let rng = &mut self.rng;
        let ahead = match rng.up_to(9) {
            0 | 1 => 0,
            2 => rng.up_to(2),
            3 => retry,
            4 => retry.saturating_sub(1),
            5 => reset.saturating_sub(rng.up_to(1)),
            6 => rng.up_to(window),
            7 => window.saturating_add(rng.up_to(window)),
            8 => rng.up_to(window / u64::from(self.policy.limit())),
            _ => return self.sideways(),
        };
        let next = self.now.saturating_add(ahead);
        // Near the end of time there is nothing more to see.
        if next > LAST - LONGEST_WINDOW && self.rng.up_to(3) > 0 { START } else { next.min(LAST) }
    }

    fn sideways(&mut self) -> u64 {
        let window = self.policy.window_ticks();
        match self.rng.up_to(3) {
            0 => self.now.saturating_sub(self.rng.up_to(window)),
            1 => self.now.saturating_sub(window + self.rng.up_to(1)),
            2 => self.rng.spread(LAST),
            _ => START + self.rng.up_to(window),
        }
    }

    /// Anything, or something that is nearly what this policy would have left.
    fn any_state(&mut self) -> State {
        let capacity = u64::from(self.policy.capacity());
        let rng = &mut self.rng;
        let at = match rng.up_to(2) {
            0 => rng.spread(LAST),
            1 => self.now.saturating_sub(rng.spread(LONGEST_WINDOW)),
            _ => self.now.saturating_add(rng.up_to(self.policy.window_ticks() + 1)).min(LAST),
        };
        let a = match rng.up_to(2) {
            0 => rng.count(0),
            _ => u32::try_from(capacity - rng.spread(capacity)).expect("a capacity"),
        };
        State { at, a, b: rng.count(0) }
    }

    fn cost(&mut self) -> u32 {
        let capacity = self.policy.capacity();
        let left = self.last.map_or(capacity, |figures| figures.remaining);
        match self.rng.up_to(9) {
            0 => 0,
            1 => capacity,
            2 => capacity.saturating_add(1),
            3 | 4 => left,
            5 => left.saturating_add(1),
            6 | 7 => 1,
            _ => self.rng.count(0).min(capacity),
        }
    }
}

pub(super) fn draw_policy(rng: &mut Rng, strategy: Strategy) -> Policy {
    let limits = [1, 2, 3, 7, 10, 97, 100, 1_000, 999_983, u64::from(u32::MAX)];
    let limit = match rng.up_to(1) {
        0 => limits[usize::try_from(rng.up_to(9)).expect("small")],
        _ => u64::from(rng.count(1)),
    };
    let window = match rng.up_to(2) {
        0 => [1, 10, 60, 3_600][usize::try_from(rng.up_to(3)).expect("small")] * 1_000_000,
        1 => rng.spread(LONGEST_WINDOW).max(1),
        _ => [1, 2, 7, LONGEST_WINDOW][usize::try_from(rng.up_to(3)).expect("small")],
    };
    let policy = Policy::new(strategy, limit, Duration::from_micros(window));
    let policy = policy.expect("within the bounds").in_micros().expect("whole microseconds");
    if strategy.has_burst() && rng.up_to(1) == 0 {
        return policy.with_burst(rng.count(1).into()).expect("within the bounds");
    }
    policy
}

fn run(strategy: Strategy, seed: u64) {
    let long = std::env::var("GORL_LONG").is_ok_and(|value| value == "1");
    let steps = if long { 250_000 } else { 5_000 };
    let mut rng = Rng(seed);
    let policy = draw_policy(&mut rng, strategy);
    let engine = RedisDriver::new(policy);
    let (now, last) = (START, None);
    let mut story = Story { rng, engine, policy, now, last, admitted: 0, denied: 0 };
    for step in 0..steps {
        // Shown only when the step panics.
        eprintln!("seed {seed}, step {step}");
        story.step();
    }
    // A story in which one of both hardly happens shows nothing.
    assert!(story.admitted > steps / 4 && story.denied > steps / 20, "{:?}", story.last);
    println!("{} admitted, {} denied", story.admitted, story.denied);
}

#[test]
fn fixed_windows_agree_with_core() {
    run(Strategy::FixedWindow, 1);
}

#[test]
fn sliding_windows_agree_with_core() {
    run(Strategy::SlidingWindow, 2);
}

#[test]
fn token_buckets_agree_with_core() {
    run(Strategy::TokenBucket, 3);
}

#[test]
fn leaky_buckets_agree_with_core() {
    run(Strategy::LeakyBucket, 4);
}
