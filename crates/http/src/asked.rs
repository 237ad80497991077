//! What is asked about one request, and how several limits come to one verdict.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use gorl::{
    Ask, AsyncLimiter, CostExceedsLimit, DecideError, Decision, MultiDecision, StoreError,
    StoreErrorKind,
};
use smallvec::SmallVec;

use crate::decider::{Decider, Ruling};
use crate::key::RequestKey;
use crate::key_source::{Found, MissingKey};
use crate::limit::{About, OnMissing};
use crate::tally::Outcome;

/// What a limit is to be asked about a request.
pub(crate) struct Asked {
    pub(crate) decider: Decider,
    pub(crate) key: Found,
    /// What to do if no key is found out.
    pub(crate) on_missing: OnMissing,
    pub(crate) cost: u32,
    pub(crate) about: Arc<About>,
}

/// All that is to be asked about one request. It holds on to nothing of the request.
#[must_use = "nobody has been asked yet"]
pub struct Plan {
    asked: SmallVec<[Asked; 1]>,
}

/// What the limits said of a request.
#[must_use = "the request is not limited before it is looked at"]
pub struct Decided {
    pub(crate) answers: SmallVec<[Answered; 1]>,
    pub(crate) trouble: Option<Trouble>,
}

/// What a limit said.
pub(crate) struct Answered {
    pub(crate) decision: Decision,
    /// What each policy of its limiter said, if there are several; the decision is the binding one.
    pub(crate) all: Option<Box<MultiDecision>>,
    pub(crate) about: Arc<About>,
    pub(crate) cost: u32,
    key: RequestKey,
    decider: Decider,
    /// Whether something was spent that may have to be given back.
    is_spent: bool,
}

/// Why there is no verdict.
pub(crate) struct Trouble {
    pub(crate) about: Arc<About>,
    pub(crate) cause: Cause,
}

pub(crate) enum Cause {
    Key(MissingKey),
    Cost(CostExceedsLimit),
    Store(StoreError),
}

impl Cause {
    pub(crate) const fn outcome(&self) -> Outcome {
        match self {
            Self::Key(_) => Outcome::WithoutKey,
            Self::Cost(_) => Outcome::TooCostly,
            Self::Store(_) => Outcome::Failed,
        }
    }
}

impl From<DecideError> for Cause {
    fn from(error: DecideError) -> Self {
        match error {
            DecideError::Cost(error) => Self::Cost(error),
            DecideError::Store(error) => Self::Store(error),
            other => Self::Store(StoreError::with_source(StoreErrorKind::Other, other)),
        }
    }
}

/// What a limit is to be asked, for a key that is known.
struct Known {
    decider: Decider,
    key: RequestKey,
    cost: u32,
    about: Arc<About>,
}

impl Known {
    /// The question to the limiter, if it is a shared one.
    fn ask(&self) -> Option<Ask<'_, RequestKey>> {
        let limiter = self.decider.shared()?;
        Some(Ask { limiter, key: &self.key, cost: self.cost })
    }

    fn never_fits(&self) -> bool {
        self.decider.shared().is_some_and(|limiter| limiter.policy().capacity() < self.cost)
    }
}

impl Plan {
    pub(crate) const fn new(asked: SmallVec<[Asked; 1]>) -> Self {
        Self { asked }
    }

    pub(crate) fn of_one(asked: Asked) -> Self {
        Self { asked: SmallVec::from_iter([asked]) }
    }

    /// What the limits say, if none of them makes anybody wait.
    ///
    /// # Errors
    ///
    /// The plan, to be awaited by [`decide`](Self::decide), if one does.
    pub fn decide_now(self: Box<Self>) -> Result<Decided, Box<Self>> {
        let is_now =
            |asked: &Asked| asked.decider.answers_now() && matches!(asked.key, Found::Now(_));
        if !self.asked.iter().all(is_now) {
            return Err(self);
        }
        // Nothing in it waits, so the first poll is the last. To go on without an answer would be to
        // let the request pass.
        Ok(at_once(self.decide()).expect("limiters of this process answer at once"))
    }

    /// What the limits say.
    ///
    /// Nothing is spent unless all admit. Limits over one shared store are asked in one call, which sees
    /// to that. Others are asked one after the other: what was spent before one denies is given back,
    /// those after it are only looked at, and who asks in between may find it spent.
    pub async fn decide(self: Box<Self>) -> Decided {
        let mut known: SmallVec<[Known; 1]> = SmallVec::new();
        for asked in self.asked {
            let Asked { decider, key, on_missing, cost, about } = asked;
            let key = match (key.settle().await, on_missing) {
                (Ok(key), _) | (Err(_), OnMissing::Fallback(key)) => key,
                (Err(_), OnMissing::Skip) => continue,
                (Err(missing), OnMissing::Reject) => {
                    let trouble = Some(Trouble { about, cause: Cause::Key(missing) });
                    return Decided { answers: SmallVec::new(), trouble };
                }
            };
            known.push(Known { decider, key, cost, about });
        }
        match at_one_store(&known).await {
            Some(answer) => Decided::of_one_store(known, answer),
            None => one_by_one(known).await,
        }
    }
}

/// The decisions of the store that all share, if they share one that can decide on them together. A
/// limit in the shadow must not keep others from being admitted, so it cannot be among them.
async fn at_one_store(known: &[Known]) -> Option<Result<Vec<Decision>, DecideError>> {
    if known.len() < 2 || known.iter().any(|known| known.about.is_shadow) {
        return None;
    }
    let asks: Vec<_> = known.iter().map(Known::ask).collect::<Option<_>>()?;
    match AsyncLimiter::check_all(&asks).await {
        // Several stores, or one that cannot: nobody has been asked.
        Err(DecideError::Store(error)) if error.kind() == StoreErrorKind::Unsupported => None,
        answer => Some(answer),
    }
}

async fn one_by_one(known: SmallVec<[Known; 1]>) -> Decided {
    let mut answers: SmallVec<[Answered; 1]> = SmallVec::new();
    let mut trouble = None;
    let mut is_denied = false;
    for Known { decider, key, cost, about } in known {
        let answer =
            if is_denied { decider.peek(&key, cost).await } else { decider.take(&key, cost).await };
        match answer {
            Ok(Ruling { decision, all }) => {
                let is_spent = !is_denied && decision.is_allowed();
                is_denied |= !decision.is_allowed() && !about.is_shadow;
                answers.push(Answered { decision, all, about, cost, key, decider, is_spent });
            }
            Err(error) => {
                let cause = Cause::from(error);
                // What is in the shadow stops nobody.
                if about.is_shadow {
                    about.counters.note(cause.outcome(), None);
                    continue;
                }
                trouble = Some(Trouble { about, cause });
                break;
            }
        }
    }
    if is_denied || trouble.is_some() {
        for answered in &mut answers {
            answered.give_back().await;
        }
    }
    Decided { answers, trouble }
}

impl Decided {
    /// What a store said of all limits together.
    fn of_one_store(
        known: SmallVec<[Known; 1]>,
        answer: Result<Vec<Decision>, DecideError>,
    ) -> Self {
        let decisions = match answer {
            Ok(decisions) => decisions,
            Err(error) => {
                let cause = Cause::from(error);
                let blamed = match cause {
                    Cause::Cost(_) => known.iter().find(|known| known.never_fits()),
                    _ => None,
                };
                let about = blamed.or(known.first()).map(|known| Arc::clone(&known.about));
                let trouble = about.map(|about| Trouble { about, cause });
                return Self { answers: SmallVec::new(), trouble };
            }
        };
        let is_spent = decisions.iter().all(Decision::is_allowed);
        let answered = |(known, decision): (Known, Decision)| {
            let Known { decider, key, cost, about } = known;
            Answered { decision, all: None, about, cost, key, decider, is_spent }
        };
        Self { answers: known.into_iter().zip(decisions).map(answered).collect(), trouble: None }
    }

    /// Whether a limit that is not in the shadow denied.
    pub(crate) fn is_denied(&self) -> bool {
        self.answers.iter().any(Answered::denies)
    }
}

impl Answered {
    /// Whether this denies the request.
    pub(crate) fn denies(&self) -> bool {
        !self.decision.is_allowed() && !self.about.is_shadow
    }

    /// Whether a response of this status is not to be charged.
    pub(crate) fn is_free(&self, status: u16) -> bool {
        self.is_spent && self.about.charge_if.as_ref().is_some_and(|charged| !charged(status))
    }

    /// Whether that can be told only by the response.
    pub(crate) fn depends_on_status(&self) -> bool {
        self.about.charge_if.is_some()
    }

    pub(crate) fn answers_now(&self) -> bool {
        self.decider.answers_now()
    }

    /// Gives back what was spent. That it cannot is in the limiter's own totals; the request is
    /// answered all the same.
    pub(crate) async fn give_back(&mut self) {
        if !self.is_spent {
            return;
        }
        self.is_spent = false;
        if self.decider.give_back(&self.key, self.cost).await.is_ok() {
            self.about.counters.gave_back();
            self.decision = self.decision.unspent();
            // What the others have left now was not asked.
            self.all = None;
        }
    }

    /// Gives back, and looks at what is left then.
    pub(crate) async fn give_back_and_look(&mut self) {
        self.give_back().await;
        if let Ok(Ruling { decision, all }) = self.decider.peek(&self.key, self.cost).await {
            (self.decision, self.all) = (decision, all);
        }
    }
}

/// What a future comes to that does not wait.
pub(crate) fn at_once<T>(future: impl Future<Output = T>) -> Option<T> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => Some(answer),
        Poll::Pending => None,
    }
}
