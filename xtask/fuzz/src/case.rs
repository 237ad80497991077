//! A policy, a state that anybody may have written, and what happens to it, drawn from bytes.

use std::time::Duration;

use arbitrary::{Result, Unstructured};
use gorl_core::{Policy, State, Strategy, rested_at};

use crate::point::Point;

/// Ten years, the longest window.
const MAX_WINDOW_NS: u64 = 10 * 365 * 86_400 * 1_000_000_000;

/// How the clock moves.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Move {
    Stay,
    To(u64),
    Forward(u64),
    Back(u64),
    /// To the state's own instant, and some ticks.
    BesideState(i8),
    /// To so many windows from the state's instant, and some ticks.
    Windows(i8, i8),
    /// To the end of the wait for so much, and some ticks.
    Retry(u32, i8),
    /// To the state's rest, and some ticks.
    Rest(i8),
}

/// What is done at an instant.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Act {
    Nothing,
    Take(u32),
    GiveBack(u32),
    Change(Policy),
}

/// Where a case begins.
pub(crate) fn beginning(bytes: &mut Unstructured<'_>) -> Result<Point> {
    let policy = policy(bytes)?;
    let state: Option<[u8; 16]> = bytes.arbitrary()?;
    let state = state.map(|[a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]| State {
        at: u64::from_be_bytes([a, b, c, d, e, f, g, h]),
        a: u32::from_be_bytes([i, j, k, l]),
        b: u32::from_be_bytes([m, n, o, p]),
    });
    let point = Point { policy, state, now: bytes.arbitrary()?, spare: bytes.arbitrary()? };
    Ok(point.at(step(bytes)?.of(&point)))
}

/// A policy of any strategy, in either tick, with any numbers.
pub(crate) fn policy(bytes: &mut Unstructured<'_>) -> Result<Policy> {
    let strategy = *bytes.choose(&Strategy::ALL)?;
    numbers(bytes, strategy, bytes.len() % 2 == 1)
}

fn numbers(bytes: &mut Unstructured<'_>, strategy: Strategy, micros: bool) -> Result<Policy> {
    let per_tick = if micros { 1_000 } else { 1 };
    let limit = number(bytes, u32::MAX.into())?;
    let window = Duration::from_nanos(number(bytes, MAX_WINDOW_NS / per_tick)? * per_tick);
    let mut policy = Policy::new(strategy, limit, window).expect("in range");
    if strategy.has_burst() {
        policy = policy.with_burst(number(bytes, u32::MAX.into())?).expect("in range");
    }
    Ok(if micros { policy.in_micros().expect("whole microseconds") } else { policy })
}

/// How the clock moves next.
pub(crate) fn step(bytes: &mut Unstructured<'_>) -> Result<Move> {
    Ok(match bytes.arbitrary::<u8>()? % 8 {
        0 => Move::Stay,
        1 => Move::To(bytes.arbitrary()?),
        2 => Move::Forward(number(bytes, u64::MAX)?),
        3 => Move::Back(number(bytes, u64::MAX)?),
        4 => Move::BesideState(bytes.arbitrary()?),
        5 => Move::Windows(bytes.arbitrary()?, bytes.arbitrary()?),
        6 => Move::Retry(bytes.arbitrary()?, bytes.arbitrary()?),
        _ => Move::Rest(bytes.arbitrary()?),
    })
}

/// What is done next to a key of this policy.
pub(crate) fn act(bytes: &mut Unstructured<'_>, policy: &Policy) -> Result<Act> {
    Ok(match bytes.arbitrary::<u8>()? % 8 {
        0 => Act::Nothing,
        1 | 2 => Act::GiveBack(bytes.arbitrary()?),
        // A state of another strategy, or in another tick, is never shown to a policy.
        3 => Act::Change(numbers(bytes, policy.strategy(), policy.tick().nanos() > 1)?),
        _ => Act::Take(bytes.arbitrary()?),
    })
}

impl Move {
    /// The instant to which it leads.
    pub(crate) fn of(self, point: &Point) -> u64 {
        let at = point.state.map_or(point.now, |state| state.at);
        let nudged = |instant: u64, by: i8| instant.saturating_add_signed(by.into());
        match self {
            Self::Stay => point.now,
            Self::To(now) => now,
            Self::Forward(by) => point.now.saturating_add(by),
            Self::Back(by) => point.now.saturating_sub(by),
            Self::BesideState(by) => nudged(at, by),
            Self::Windows(count, by) => {
                let span = point.policy.window_ticks().saturating_mul(count.unsigned_abs().into());
                let edge =
                    if count < 0 { at.saturating_sub(span) } else { at.saturating_add(span) };
                nudged(edge, by)
            }
            Self::Retry(cost, by) => {
                let wait = point.peek(point.within(cost)).retry_after_ticks().unwrap_or(0);
                let due = u64::try_from(u128::from(point.now).saturating_add(wait));
                nudged(due.unwrap_or(u64::MAX), by)
            }
            Self::Rest(by) => {
                let rest = point.state.map(|state| rested_at(&point.policy, state));
                nudged(rest.unwrap_or(point.now), by)
            }
        }
    }
}

/// A number of any size from 1 to `most`, small ones as likely as large ones.
fn number(bytes: &mut Unstructured<'_>, most: u64) -> Result<u64> {
    let bits = bytes.arbitrary::<u8>()? % 64;
    Ok((bytes.arbitrary::<u64>()? >> bits).clamp(1, most))
}
