//! What a request makes of what is kept: the answer, and what to write in its place.

use std::time::Duration;

use gorl_core::{Action, CostExceedsLimit, Decision, Request, State, decide, peek};

use crate::Value;
use crate::options::expires_in;
use crate::value::{NOTHING, decode, encode};

/// What to write, and in how long the backend may forget it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Write {
    pub(crate) value: Value,
    pub(crate) expires_in: Duration,
}

/// The decision on a request, and what to write if it changes something.
pub(crate) fn decided(
    request: &Request<'_>,
    kept: Option<Value>,
    now: u64,
) -> Result<(Decision, Option<Write>), CostExceedsLimit> {
    let Request { policy, cost, action, .. } = *request;
    let state = kept.and_then(decode);
    let decision = match action {
        Action::Take => decide(policy, state, now, cost)?,
        Action::Peek => peek(policy, state, now, cost)?,
    };
    let write = decision.changes_state().then(|| write(request, decision.state(), now));
    Ok((decision, write))
}

/// What to write when a cost is given back; nothing if that changes nothing.
pub(crate) fn given_back(request: &Request<'_>, kept: Option<Value>, now: u64) -> Option<Write> {
    let state = kept.and_then(decode)?;
    match gorl_core::give_back(request.policy, state, now, request.cost) {
        Some(after) => (after != state).then(|| write(request, after, now)),
        None => Some(NOTHING_KEPT),
    }
}

/// What to write to forget a key; nothing if nothing is kept.
pub(crate) fn forgotten(kept: Option<Value>) -> Option<Write> {
    kept.and_then(decode).map(|_| NOTHING_KEPT)
}

/// A backend need not keep for long what stands for nothing.
const NOTHING_KEPT: Write = Write { value: NOTHING, expires_in: Duration::from_secs(1) };

fn write(request: &Request<'_>, state: State, now: u64) -> Write {
    Write { value: encode(state), expires_in: expires_in(request.policy, state, now) }
}
