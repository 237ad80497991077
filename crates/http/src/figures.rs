//! The figures of a response's header fields: whole seconds, and those of the tightest limit.

use std::borrow::Cow;
use std::time::Duration;

use gorl::Decision;
use smallvec::SmallVec;

use crate::asked::Answered;
use crate::limit::About;

/// The figures that a response tells, and whose they are.
///
/// A response carries them in its extensions, so that of several limits, one within the other, the
/// tightest is told, whichever that is.
#[derive(Clone, Debug)]
pub struct Told {
    pub(crate) tightest: Line,
    pub(crate) others: Vec<Line>,
}

/// The figures of one limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) name: Cow<'static, str>,
    pub(crate) is_denied: bool,
    pub(crate) limit: u32,
    pub(crate) remaining: u32,
    /// Seconds until all is there again, rounded up.
    pub(crate) reset: u64,
    /// Seconds in which the limit refills, if they are whole.
    pub(crate) window: Option<u64>,
    /// Seconds until it pays to ask again, rounded up, one at least; for a denial.
    pub(crate) retry: Option<u64>,
}

impl Told {
    /// The figures of the limits that have some, the tightest first. Limits in the shadow tell
    /// nothing, and nobody makes up figures for a store that did not answer.
    pub(crate) fn of(answers: &[Answered]) -> Option<Self> {
        let shown = answers.iter().filter(|answered| !answered.about.is_shadow);
        let mut lines = shown.flat_map(Line::all);
        let mut tightest = lines.next()?;
        let mut others: Vec<Line> = lines.collect();
        for line in &mut others {
            if line.slack() < tightest.slack() {
                std::mem::swap(line, &mut tightest);
            }
        }
        others.sort_by_key(Line::slack);
        Some(Self { tightest, others })
    }

    /// The figures of the one limit that was asked.
    pub(crate) fn of_one(about: &About, decision: &Decision) -> Option<Self> {
        let tightest = if about.is_shadow { None } else { Line::of(&about.name, decision) };
        Some(Self { tightest: tightest?, others: Vec::new() })
    }

    /// The tighter of two.
    pub(crate) fn tighter(self, other: Option<&Self>) -> Self {
        match other {
            Some(other) if other.tightest.slack() <= self.tightest.slack() => other.clone(),
            _ => self,
        }
    }

    /// All lines, the tightest first.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &Line> {
        std::iter::once(&self.tightest).chain(&self.others)
    }
}

impl Line {
    /// A line for each policy of a limit: by its own name if it has one, otherwise by the limit's.
    fn all(answered: &Answered) -> SmallVec<[Self; 1]> {
        let name = &answered.about.name;
        let Some(all) = &answered.all else {
            return Self::of(name, &answered.decision).into_iter().collect();
        };
        let each = all.iter().filter_map(|(own, decision)| {
            let own = if own.is_empty() { name.clone() } else { Cow::Owned(own.to_owned()) };
            Self::of(&own, decision)
        });
        each.collect()
    }

    #[expect(clippy::ptr_arg, reason = "a static name stays one")]
    fn of(name: &Cow<'static, str>, decision: &Decision) -> Option<Self> {
        let figures = decision.figures()?;
        let retry = (!decision.is_allowed()).then(|| whole_seconds(figures.retry_after).max(1));
        Some(Self {
            name: name.clone(),
            is_denied: !decision.is_allowed(),
            limit: figures.limit,
            remaining: figures.remaining,
            reset: whole_seconds(figures.reset_after),
            window: refill(decision),
            retry,
        })
    }

    /// The order of tightness: denials first, of them the longest wait; then the least that remains,
    /// and of equals the one that takes longest to be whole again.
    fn slack(&self) -> (bool, std::cmp::Reverse<u64>, u32, std::cmp::Reverse<u64>) {
        use std::cmp::Reverse;
        (!self.is_denied, Reverse(self.retry.unwrap_or(0)), self.remaining, Reverse(self.reset))
    }
}

/// Seconds, rounded up.
pub(crate) const fn whole_seconds(span: Duration) -> u64 {
    span.as_secs().saturating_add((span.subsec_nanos() > 0) as u64)
}

/// The seconds in which the capacity refills, if they are whole: the window of a policy without a
/// burst of its own.
fn refill(decision: &Decision) -> Option<u64> {
    let policy = decision.policy();
    let nanos = policy.window().as_nanos() * u128::from(policy.capacity());
    let unit = u128::from(policy.limit()) * 1_000_000_000;
    nanos.is_multiple_of(unit).then(|| u64::try_from(nanos / unit).ok()).flatten()
}
