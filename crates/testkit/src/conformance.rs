//! The conformance suite: the same checks on every store.

mod face;
mod failure;
mod harness;
mod keys;
mod rules;
mod threads;
mod trace;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use gorl_core::{LocalStore, ManualClock, Policy, PolicyError, Store};

pub use failure::Failure;

use face::{Async, Face, Local};
use harness::Harness;

/// The checks that every store must pass, and how hard to look.
///
/// The suite tells the store the time by moving the clock that the store was built around. It
/// checks every figure of every decision against the exact [`Model`](crate::Model) on seeded
/// random traces, and by name: serialisation of one key, that a denial writes nothing, odd keys,
/// separation of keys, costs of zero and above the capacity, giving back, reset, rest, and policy
/// changes over live state.
///
/// A failure says which check, seed and step, what was expected and what the store said.
///
/// # What it needs
///
/// The store must be empty, or at least know no key whose first part is the suite's name; it must
/// have room for some ten thousand keys; and nobody else may move its clock.
pub struct Suite {
    tell: Box<dyn Fn(u64) + Send + Sync>,
    options: Options,
}

/// What the checks may choose and ask for.
#[derive(Clone, Debug)]
struct Options {
    seed: u64,
    traces: u64,
    threads: usize,
    micros: bool,
    latest_ns: u64,
    give_back: bool,
    reset: bool,
}

/// What passed, and what was not asked of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    checks: Vec<&'static str>,
    left_out: Vec<&'static str>,
}

impl Suite {
    /// A suite for stores that read `clock`.
    #[must_use]
    pub fn new(clock: Arc<ManualClock>) -> Self {
        Self::telling(move |now_ns| clock.set(now_ns))
    }

    /// A suite for stores that are told the time in another way: `tell` is called with the
    /// nanoseconds since the Unix epoch before requests, and holds until it is called again.
    #[must_use]
    pub fn telling(tell: impl Fn(u64) + Send + Sync + 'static) -> Self {
        Self {
            tell: Box::new(tell),
            options: Options {
                seed: 1,
                traces: 200,
                threads: 8,
                micros: false,
                latest_ns: u64::MAX,
                give_back: true,
                reset: true,
            },
        }
    }

    /// Draws the random traces from `seed`; one run's failure is repeated by its seed.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.options.seed = seed;
        self
    }

    /// How many random traces to run, each of 80 steps.
    #[must_use]
    pub fn traces(mut self, count: u64) -> Self {
        self.options.traces = count;
        self
    }

    /// How many threads to let loose on one key.
    #[must_use]
    pub fn threads(mut self, count: usize) -> Self {
        self.options.threads = count.max(2);
        self
    }

    /// Uses policies that are counted in microseconds, and never a time later than a double can
    /// hold exactly: for engines such as Redis.
    #[must_use]
    pub fn in_micros(mut self) -> Self {
        self.options.micros = true;
        self.options.latest_ns = self.options.latest_ns.min(LATEST_IN_A_DOUBLE_NS);
        self
    }

    /// Never tells a time later than `latest_ns`.
    #[must_use]
    pub fn until(mut self, latest_ns: u64) -> Self {
        self.options.latest_ns = latest_ns;
        self
    }

    /// For a store that cannot give back. The checks of it are left out, and listed as such.
    #[must_use]
    pub fn without_give_back(mut self) -> Self {
        self.options.give_back = false;
        self
    }

    /// For a store that cannot reset. The checks of it are left out, and listed as such.
    #[must_use]
    pub fn without_reset(mut self) -> Self {
        self.options.reset = false;
        self
    }

    /// Runs every check on a store that answers at once, through both of its faces.
    ///
    /// # Errors
    ///
    /// The first [`Failure`].
    pub fn run_local<S: LocalStore>(&self, store: &S) -> Result<Passed, Box<Failure>> {
        self.run_on(&Local(store), "local")?;
        self.run_on(&Async { store, block_on: face::block_on }, "local, through futures")
    }

    /// Runs every check on any store. `block_on` runs a future to its end on the calling thread,
    /// and is called from several; with tokio, pass `|future| handle.block_on(future)`.
    ///
    /// # Errors
    ///
    /// The first [`Failure`].
    pub fn run<S, B>(&self, store: &S, block_on: B) -> Result<Passed, Box<Failure>>
    where
        S: Store,
        B: Fn(Pin<Box<dyn Future<Output = ()> + '_>>) + Sync,
    {
        self.run_on(&Async { store, block_on }, "async")
    }

    fn run_on(&self, face: &dyn Face, name: &'static str) -> Result<Passed, Box<Failure>> {
        let harness = Harness::new(face, &*self.tell, &self.options, name);
        let mut passed = Passed { checks: Vec::new(), left_out: Vec::new() };
        for check in CHECKS {
            let asked = match check.needs {
                Needs::Nothing => true,
                Needs::GiveBack => self.options.give_back,
                Needs::Reset => self.options.reset,
            };
            if asked {
                (check.run)(&harness.named(check.name))?;
                passed.checks.push(check.name);
            } else {
                passed.left_out.push(check.name);
            }
        }
        Ok(passed)
    }
}

impl fmt::Debug for Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Suite").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Passed {
    /// The names of the checks that passed.
    #[must_use]
    pub fn checks(&self) -> &[&'static str] {
        &self.checks
    }

    /// The names of the checks that were not run, because the suite was told that the store
    /// cannot do what they check.
    #[must_use]
    pub fn left_out(&self) -> &[&'static str] {
        &self.left_out
    }
}

impl Options {
    /// The policy in the engine's own ticks.
    fn policy(&self, policy: Result<Policy, PolicyError>) -> Policy {
        policy
            .and_then(|policy| if self.micros { policy.in_micros() } else { Ok(policy) })
            .expect("the suite makes valid policies only")
    }
}

/// 2^53 microseconds would be the last instant that a double holds; this is 31 years before.
const LATEST_IN_A_DOUBLE_NS: u64 = 8_000_000_000_000_000_000;

/// One check: what it is called in a failure, what the store must be able to do for it, and it.
struct Check {
    name: &'static str,
    needs: Needs,
    run: fn(&Harness<'_>) -> Result<(), Box<Failure>>,
}

enum Needs {
    Nothing,
    GiveBack,
    Reset,
}

const CHECKS: &[Check] = &[
    Check { name: "a plain policy", needs: Needs::Nothing, run: rules::a_plain_policy },
    Check { name: "a denial writes nothing", needs: Needs::Nothing, run: rules::denial },
    Check { name: "a peek changes nothing", needs: Needs::Nothing, run: rules::peek },
    Check { name: "cost zero", needs: Needs::Nothing, run: rules::cost_zero },
    Check { name: "cost above the capacity", needs: Needs::Nothing, run: rules::cost_too_high },
    Check { name: "rested is absent", needs: Needs::Nothing, run: rules::rest },
    Check { name: "a clock that goes back", needs: Needs::Nothing, run: rules::clock_back },
    Check { name: "policy change", needs: Needs::Nothing, run: rules::policy_change },
    Check { name: "policy looked at and left", needs: Needs::Nothing, run: rules::policy_visit },
    Check { name: "strategy change", needs: Needs::Nothing, run: rules::strategy_change },
    Check { name: "give back, never past full", needs: Needs::GiveBack, run: rules::give_back },
    Check { name: "reset", needs: Needs::Reset, run: rules::reset },
    Check { name: "odd keys", needs: Needs::Nothing, run: keys::odd_keys },
    Check { name: "keys stay apart", needs: Needs::Nothing, run: keys::separation },
    Check { name: "one key from many threads", needs: Needs::Nothing, run: threads::one_key },
    Check { name: "many keys from many threads", needs: Needs::Nothing, run: threads::many_keys },
    Check { name: "random traces", needs: Needs::Nothing, run: trace::random_traces },
];
