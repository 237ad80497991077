//! What a request makes of what is kept: the answer, and what to write in its place.

use std::future::Future;
use std::time::Duration;

use gorl_core::{
    Action, CostExceedsLimit, DecideError, Decision, KeyRef, Request, State, StoreError, Strategy,
    check_cost, decide, peek,
};

use crate::options::{check_tick, expires_in};
use crate::value::{NOTHING, decode, encode};
use crate::{Options, Value};

/// What to write, and in how long the backend may forget it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Write {
    pub(crate) value: Value,
    pub(crate) expires_in: Duration,
}

/// A store that has what is kept for a key changed in turn; all else is the same for both kinds.
pub(crate) trait Keeps: Sync {
    fn options(&self) -> &Options;

    /// Has `change` say what becomes of what is kept, and writes it. It may be asked again.
    fn update<T: Send, E: From<StoreError> + Send>(
        &self,
        key: &str,
        change: impl Fn(Option<Value>, u64) -> Result<(T, Option<Write>), E> + Send + Sync,
    ) -> impl Future<Output = Result<T, E>> + Send;
}

/// Decides in a store of either kind.
pub(crate) async fn decide_in(
    store: &impl Keeps,
    request: Request<'_>,
) -> Result<Decision, DecideError> {
    check_tick(request.policy)?;
    check_cost(request.policy, request.cost)?;
    let key = store.options().key(request.policy.strategy(), request.key);
    store.update(&key, |kept, now| Ok::<_, DecideError>(decided(&request, kept, now)?)).await
}

/// Gives back in a store of either kind.
pub(crate) async fn give_back_in(
    store: &impl Keeps,
    request: Request<'_>,
) -> Result<(), StoreError> {
    check_tick(request.policy)?;
    let key = store.options().key(request.policy.strategy(), request.key);
    store.update(&key, |kept, now| Ok(((), given_back(&request, kept, now)))).await
}

/// Forgets a key in a store of either kind, for every strategy.
pub(crate) async fn reset_in(store: &impl Keeps, key: KeyRef<'_>) -> Result<(), StoreError> {
    for strategy in Strategy::ALL {
        let key = store.options().key(strategy, key);
        store.update(&key, |kept, _| Ok(((), forgotten(kept)))).await?;
    }
    Ok(())
}

/// The decision on a request, and what to write if it changes something.
fn decided(
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
fn given_back(request: &Request<'_>, kept: Option<Value>, now: u64) -> Option<Write> {
    let state = kept.and_then(decode)?;
    match gorl_core::give_back(request.policy, state, now, request.cost) {
        Some(after) => (after != state).then(|| write(request, after, now)),
        None => Some(NOTHING_KEPT),
    }
}

/// What to write to forget a key; nothing if nothing is kept.
fn forgotten(kept: Option<Value>) -> Option<Write> {
    kept.and_then(decode).map(|_| NOTHING_KEPT)
}

/// A backend need not keep for long what stands for nothing.
const NOTHING_KEPT: Write = Write { value: NOTHING, expires_in: Duration::from_secs(1) };

fn write(request: &Request<'_>, state: State, now: u64) -> Write {
    Write { value: encode(state), expires_in: expires_in(request.policy, state, now) }
}
