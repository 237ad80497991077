//! Random traces: several keys, policies that change, and times that sit on the edges.

use std::time::Duration;

use gorl_core::{Policy, Strategy};

use super::Options;
use super::failure::Failure;
use super::harness::{Harness, OwnedKey, OwnedPart, START_NS, Trial};
use crate::Figures;
use crate::rng::Rng;

/// Long enough to fill, rest and refill a key, short enough to read in a failure.
const STEPS: usize = 80;

/// Ten years, the longest window.
const MAX_WINDOW_NS: u64 = 10 * 365 * 86_400 * 1_000_000_000;

/// The store and the model answer alike at every step of every trace.
pub(super) fn random_traces(harness: &Harness<'_>) -> Result<(), Box<Failure>> {
    for index in 0..harness.options.traces {
        // Any two suites' seeds that differ give traces that differ.
        let seed = Rng::new(harness.options.seed).next().wrapping_add(index);
        Trace::new(harness, seed).run(harness)?;
    }
    Ok(())
}

struct Trace {
    rng: Rng,
    seed: u64,
    options: Options,
    keys: Vec<OwnedKey>,
    policy: Policy,
    /// The strategies to come, each once: what a store still knows of one that was left and came
    /// back is its own affair.
    strategies: Vec<Strategy>,
    now: u64,
    latest: u64,
    last: Option<Figures>,
}

impl Trace {
    fn new(harness: &Harness<'_>, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let base = harness.key(format!("trace {seed}"));
        let keys = (0..=rng.up_to(3)).map(|n| base.with([OwnedPart::Unsigned(n.into())])).collect();
        let mut strategies = Strategy::ALL.to_vec();
        let turn = usize::try_from(rng.up_to(3)).unwrap_or(0);
        strategies.rotate_left(turn);
        let strategy = strategies.pop().unwrap_or(Strategy::FixedWindow);
        let options = harness.options.clone();
        let policy = draw_policy(&mut rng, &options, strategy);
        let latest = options.latest_ns / policy.tick().nanos();
        let now = match rng.up_to(9) {
            0 => rng.magnitude_up_to(latest),
            1 => latest - rng.magnitude_up_to(latest / 2),
            _ => START_NS / policy.tick().nanos() + rng.magnitude_up_to(policy.window_ticks()),
        };
        Self { rng, seed, options, keys, policy, strategies, now, latest, last: None }
    }

    fn run(mut self, harness: &Harness<'_>) -> Result<(), Box<Failure>> {
        let mut trial = harness.trial(self.seed, self.now);
        for _ in 0..STEPS {
            self.now = self.next_time();
            trial.at(self.now);
            self.change_policy();
            trial.doubt(&self.policy, &self.keys);
            self.act(&mut trial)?;
        }
        Ok(())
    }

    fn act(&mut self, trial: &mut Trial<'_>) -> Result<(), Box<Failure>> {
        let key = self.key(trial);
        let cost = self.cost();
        let answer = match self.rng.up_to(99) {
            0..70 => trial.take(&self.policy, &key, cost)?,
            70..72 if self.options.reset => return trial.reset(&key),
            72..80 if self.options.give_back => return trial.give_back(&self.policy, &key, cost),
            _ => trial.peek(&self.policy, &key, cost)?,
        };
        self.last = answer;
        Ok(())
    }

    /// A key of which it is certain what a store must know; one that is not is never used again.
    fn key(&mut self, trial: &Trial<'_>) -> OwnedKey {
        let most = u64::try_from(self.keys.len() - 1).unwrap_or(0);
        let index = usize::try_from(self.rng.up_to(most)).unwrap_or(0);
        if !trial.is_certain(&self.policy, &self.keys[index]) {
            self.keys[index] = self.keys[index].with([OwnedPart::bytes("again")]);
        }
        self.keys[index].clone()
    }

    fn cost(&mut self) -> u32 {
        let capacity = self.policy.capacity();
        let left = self.last.map_or(capacity, |figures| figures.remaining);
        match self.rng.up_to(19) {
            0 => 0,
            1 => capacity,
            2 => capacity.saturating_add(1),
            3..6 => left,
            6 => left.saturating_add(1),
            7..10 => small(self.rng.magnitude_up_to(capacity.into())),
            _ => 1,
        }
    }

    /// The next instant, in ticks: often the one at which an answer turns, or a tick beside it.
    fn next_time(&mut self) -> u64 {
        let window = self.policy.window_ticks();
        let interval = window / u64::from(self.policy.limit());
        let retry = self.last.and_then(|figures| figures.retry_after).unwrap_or(0);
        let reset = self.last.map_or(0, |figures| figures.reset_after);
        let ahead = |ticks: u64| self.now.saturating_add(ticks).min(self.latest);
        let rng = &mut self.rng;
        match rng.up_to(29) {
            0..6 => self.now,
            6 => ahead(1),
            7..10 => ahead(wide(retry)),
            10..12 => ahead(wide(retry).saturating_sub(1)),
            12 => ahead(wide(reset)),
            13 => ahead(wide(reset).saturating_sub(1)),
            14..17 => ahead(rng.up_to(interval)),
            17..20 => ahead(rng.up_to(window)),
            20 => ahead(window),
            21 => ahead(window.saturating_sub(1)),
            22 => ahead(rng.up_to(window).saturating_add(window)),
            23 => ahead(rng.magnitude_up_to(self.latest)),
            24 => self.now.saturating_sub(1),
            25..27 => self.now.saturating_sub(rng.up_to(window)),
            27 => self.now.saturating_sub(window.saturating_add(rng.up_to(2)).saturating_sub(1)),
            28 => self.now.saturating_sub(rng.magnitude_up_to(self.now)),
            _ => (self.now - self.now % window).saturating_sub(rng.up_to(1)),
        }
    }

    fn change_policy(&mut self) {
        if self.rng.percent(1)
            && let Some(strategy) = self.strategies.pop()
        {
            self.policy = draw_policy(&mut self.rng, &self.options, strategy);
            self.last = None;
        } else if self.rng.percent(5) {
            self.policy = self.other_numbers();
        }
    }

    /// The same strategy with one number changed, by a little or out of all proportion.
    fn other_numbers(&mut self) -> Policy {
        let (strategy, old) = (self.policy.strategy(), self.policy);
        let rng = &mut self.rng;
        let mut near = |value: u64| match rng.up_to(3) {
            0 => value.saturating_add(1),
            1 => value.saturating_sub(1).max(1),
            2 => value / (1 + rng.up_to(9)) + 1,
            _ => value.saturating_mul(1 + rng.up_to(9)),
        };
        let most = u64::from(u32::MAX);
        let limit = near(old.limit().into()).min(most);
        let burst = near(old.capacity().into()).min(most);
        let unit = old.tick().nanos();
        let window = near(old.window_ticks()).saturating_mul(unit).min(MAX_WINDOW_NS);
        let window = if rng.percent(50) { Duration::from_nanos(window) } else { old.window() };
        let policy = Policy::new(strategy, limit, window);
        let has_burst = strategy.has_burst() && rng.percent(50);
        self.options.policy(
            policy.and_then(|policy| if has_burst { policy.with_burst(burst) } else { Ok(policy) }),
        )
    }
}

/// A policy from the ordinary to the edges of what can be built.
fn draw_policy(rng: &mut Rng, options: &Options, strategy: Strategy) -> Policy {
    let limits = [1, 2, 3, 5, 7, 10, 13, 100, 997, 999_983, u64::from(u32::MAX)];
    let seconds = [1, 10, 13, 60, 3_600, 86_400, 30 * 86_400];
    let unit = if options.micros { 1_000 } else { 1 };
    let window = match rng.up_to(5) {
        0 => unit * (1 + rng.magnitude_up_to(MAX_WINDOW_NS / unit - 1)),
        1 => *rng.pick(&[unit, 2 * unit, 7 * unit, MAX_WINDOW_NS]),
        _ => rng.pick(&seconds) * 1_000_000_000,
    };
    let most = u64::from(u32::MAX);
    let mut number = || {
        if rng.percent(70) { *rng.pick(&limits) } else { 1 + rng.magnitude_up_to(most - 1) }
    };
    let (limit, burst) = (number(), number());
    let policy = Policy::new(strategy, limit, Duration::from_nanos(window));
    options.policy(policy.and_then(|policy| {
        if strategy.has_burst() && rng.percent(50) { policy.with_burst(burst) } else { Ok(policy) }
    }))
}

fn wide(ticks: u128) -> u64 {
    u64::try_from(ticks).unwrap_or(u64::MAX)
}

fn small(cost: u64) -> u32 {
    u32::try_from(cost).unwrap_or(u32::MAX)
}
