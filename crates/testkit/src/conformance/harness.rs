//! What every check works with: the store beside the model, at a time that the check sets.

use std::collections::HashSet;
use std::fmt::Debug;
use std::net::IpAddr;
use std::time::Duration;

use gorl_core::{Action, DecideError, KeyRef, Part, Policy, Request, Strategy};

use super::Options;
use super::face::Face;
use super::failure::{Failure, Place};
use crate::{Answer, Figures, Model};

/// A store under test and the name of the check that is running.
pub(super) struct Harness<'a> {
    face: &'a dyn Face,
    tell: &'a (dyn Fn(u64) + Send + Sync),
    pub(super) options: &'a Options,
    place: Place,
}

/// One trial: the store and a model of its own, step by step.
pub(super) struct Trial<'a> {
    harness: &'a Harness<'a>,
    model: Model<OwnedKey>,
    /// Keys that were at rest at some instant of the trial, so that a store may have forgotten
    /// them, and that have not spent since.
    doubtful: HashSet<OwnedKey>,
    now: u64,
    seed: u64,
    step: usize,
}

/// A key that owns its parts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct OwnedKey(Vec<OwnedPart>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum OwnedPart {
    Bytes(Vec<u8>),
    Unsigned(u128),
    Negative(u128),
    Ip(IpAddr),
}

/// A round instant at which the checks begin: 2025-01-01T00:00:00Z.
pub(super) const START_NS: u64 = 1_735_689_600_000_000_000;

impl<'a> Harness<'a> {
    pub(super) fn new(
        face: &'a dyn Face,
        tell: &'a (dyn Fn(u64) + Send + Sync),
        options: &'a Options,
        name: &'static str,
    ) -> Self {
        let place = Place { check: "", face: name, seed: options.seed, step: 0 };
        Self { face, tell, options, place }
    }

    pub(super) fn named(&self, check: &'static str) -> Harness<'a> {
        Harness { place: Place { check, ..self.place }, ..*self }
    }

    pub(super) fn place(&self) -> Place {
        self.place
    }

    /// A policy of 10 per 10 s, of which each figure is easy to foresee.
    pub(super) fn ten(&self, strategy: Strategy) -> Policy {
        self.policy(strategy, 10, Duration::from_secs(10))
    }

    pub(super) fn policy(&self, strategy: Strategy, limit: u64, window: Duration) -> Policy {
        self.options.policy(Policy::new(strategy, limit, window))
    }

    /// A key that no other check uses, nor another face of the same store.
    pub(super) fn key(&self, name: impl AsRef<[u8]>) -> OwnedKey {
        OwnedKey(vec![
            OwnedPart::bytes("gorl-testkit"),
            OwnedPart::bytes(self.place.face),
            OwnedPart::bytes(self.place.check),
            OwnedPart::bytes(name),
        ])
    }

    /// A trial that begins at `now` ticks.
    pub(super) fn trial(&'a self, seed: u64, now: u64) -> Trial<'a> {
        Trial { harness: self, model: Model::new(), doubtful: HashSet::new(), now, seed, step: 0 }
    }

    /// A trial that begins on a round instant, so that foreseen figures are round.
    pub(super) fn round_trial(&'a self, policy: &Policy) -> Trial<'a> {
        self.trial(self.options.seed, START_NS / policy.tick().nanos())
    }

    /// Tells the store the time, in ticks of `policy`.
    pub(super) fn tell(&self, policy: &Policy, now: u64) {
        (self.tell)(now.saturating_mul(policy.tick().nanos()));
    }

    /// What the store says, as the model would say it.
    pub(super) fn ask(
        &self,
        policy: &Policy,
        key: &OwnedKey,
        cost: u32,
        action: Action,
    ) -> Result<Answer, DecideError> {
        let parts = key.parts();
        let request = Request { policy, key: KeyRef::new(&parts), cost, action };
        match self.face.decide(request) {
            Ok(decision) => Ok(Ok(Figures::of(&decision))),
            Err(DecideError::Cost(error)) => Ok(Err(error)),
            Err(error) => Err(error),
        }
    }

    /// Forgets a key in the store, if the store can.
    pub(super) fn forget(&self, key: &OwnedKey) -> Result<(), Box<Failure>> {
        if !self.options.reset {
            return Ok(());
        }
        let parts = key.parts();
        self.face
            .reset(KeyRef::new(&parts))
            .map_err(|error| self.place.fail(format!("reset {key:?}"), &"done", &error))
    }
}

impl Trial<'_> {
    pub(super) fn now(&self) -> u64 {
        self.now
    }

    pub(super) fn at(&mut self, now: u64) {
        self.now = now;
    }

    pub(super) fn wait(&mut self, ticks: u128) {
        let ticks = u64::try_from(ticks).expect("no check waits that long");
        self.now = self.now.checked_add(ticks).expect("no check waits that long");
    }

    /// Notes that the store has been told this instant, at which it may forget some of `keys`.
    pub(super) fn doubt(&mut self, policy: &Policy, keys: &[OwnedKey]) {
        for key in keys {
            if self.model.may_be_forgotten(policy, key, self.now) {
                self.doubtful.insert(key.clone());
            }
        }
    }

    /// Whether it is certain what a store still knows of the key, or makes no difference.
    pub(super) fn is_certain(&self, policy: &Policy, key: &OwnedKey) -> bool {
        !self.doubtful.contains(key) || self.model.is_as_new(policy, key, self.now)
    }

    /// Asks store and model to spend, and compares every figure; `None` if the cost can never fit.
    pub(super) fn take(
        &mut self,
        policy: &Policy,
        key: &OwnedKey,
        cost: u32,
    ) -> Result<Option<Figures>, Box<Failure>> {
        let expected = self.model.take(policy, key, self.now, cost);
        if cost > 0 && expected.is_ok_and(|figures| figures.allowed) {
            self.doubtful.remove(key);
        }
        self.compare(policy, key, cost, Action::Take, expected)
    }

    /// Asks store and model what they would answer, and compares every figure.
    pub(super) fn peek(
        &mut self,
        policy: &Policy,
        key: &OwnedKey,
        cost: u32,
    ) -> Result<Option<Figures>, Box<Failure>> {
        let expected = self.model.peek(policy, key, self.now, cost);
        self.compare(policy, key, cost, Action::Peek, expected)
    }

    pub(super) fn give_back(
        &mut self,
        policy: &Policy,
        key: &OwnedKey,
        cost: u32,
    ) -> Result<(), Box<Failure>> {
        self.step += 1;
        self.model.give_back(policy, key, self.now, cost);
        self.harness.tell(policy, self.now);
        let parts = key.parts();
        let request = Request { policy, key: KeyRef::new(&parts), cost, action: Action::Take };
        self.harness.face.give_back(request).map_err(|error| {
            let what = format!("give back {cost} to {}", shown(key));
            self.place().fail(what, &"done", &error)
        })
    }

    pub(super) fn reset(&mut self, key: &OwnedKey) -> Result<(), Box<Failure>> {
        self.step += 1;
        self.model.reset(key);
        self.harness.forget(key)
    }

    /// Fails unless both are the same; for what a check foresees without the model.
    pub(super) fn expect<T: Debug + PartialEq>(
        &self,
        what: &str,
        expected: &T,
        got: &T,
    ) -> Result<(), Box<Failure>> {
        if expected == got { Ok(()) } else { Err(self.place().fail(what, expected, got)) }
    }

    fn place(&self) -> Place {
        Place { seed: self.seed, step: self.step, ..self.harness.place }
    }

    fn compare(
        &mut self,
        policy: &Policy,
        key: &OwnedKey,
        cost: u32,
        action: Action,
        expected: Answer,
    ) -> Result<Option<Figures>, Box<Failure>> {
        self.harness.tell(policy, self.now);
        let got = self.harness.ask(policy, key, cost, action);
        let what =
            || format!("{action:?} {cost} of {} under {policy} at tick {}", shown(key), self.now);
        match got {
            Ok(got) if got == expected => {}
            Ok(got) => return Err(self.place().fail(what(), &expected, &got)),
            Err(error) => return Err(self.place().fail(what(), &expected, &error)),
        }
        self.step += 1;
        Ok(expected.ok())
    }
}

impl OwnedKey {
    pub(super) fn of(parts: impl IntoIterator<Item = OwnedPart>) -> Self {
        Self(parts.into_iter().collect())
    }

    /// The same key with further parts.
    pub(super) fn with(&self, parts: impl IntoIterator<Item = OwnedPart>) -> Self {
        Self(self.0.iter().cloned().chain(parts).collect())
    }

    fn parts(&self) -> Vec<Part<'_>> {
        self.0
            .iter()
            .map(|part| match part {
                OwnedPart::Bytes(bytes) => Part::Bytes(bytes),
                OwnedPart::Unsigned(number) => Part::Unsigned(*number),
                OwnedPart::Negative(number) => Part::Negative(*number),
                OwnedPart::Ip(address) => Part::Ip(*address),
            })
            .collect()
    }
}

impl OwnedPart {
    pub(super) fn bytes(bytes: impl AsRef<[u8]>) -> Self {
        Self::Bytes(bytes.as_ref().to_vec())
    }
}

/// A key's last part in a message, which is what tells it apart; one of a mebibyte is cut.
fn shown(key: &OwnedKey) -> String {
    let text = match key.0.last() {
        Some(OwnedPart::Bytes(bytes)) => format!("{:?}", String::from_utf8_lossy(bytes)),
        part => format!("{part:?}"),
    };
    let cut: String = text.chars().take(60).collect();
    if cut == text { text } else { format!("{cut}… ({} bytes)", text.len()) }
}
