//! Time: clocks that go back, ticks of two lengths, and a rate that does not drift.

use std::time::Duration;

use gorl_core::{Policy, Strategy as Counting, decide, peek, rested_at};
use proptest::prelude::*;
use proptest::sample::select;

use super::story::{Point, Story, Verdict, policies, stories, stories_with_changes};
use super::theorems;

theorems! {
    seeds in "theorems-time.txt";
    /// Up to a window back nothing is earned: what is admitted then is admitted later too.
    a_clock_that_goes_back_mints_no_budget in stories_with_changes() => no_budget;
    /// Waits are measured from the caller's clock: wherever it stands, they end at one instant.
    waits_end_at_one_instant_wherever_the_clock_stands in stories_with_changes() => one_instant;
    /// A state more than a window ahead is ignored, so nobody is locked out for longer.
    a_state_more_than_a_window_ahead_is_ignored in stories_with_changes() => ignored;
    /// Without traffic, what remains never falls.
    what_remains_never_falls_by_itself in stories_with_changes() => monotone;
}

/// The instant from which the state is believed.
fn edge(point: &Point) -> Option<u64> {
    let state = point.state?.adopted_by(&point.policy);
    let fraction = point.policy.strategy().has_burst() && state.b > 0;
    let edge = state.at.saturating_sub(point.policy.window_ticks());
    // Near the epoch nothing can be a window ahead, fraction or not.
    let whole = state.at < point.policy.window_ticks();
    Some(if fraction && !whole { edge + 1 } else { edge })
}

fn no_budget(point: &Point) -> Verdict {
    let Some(edge) = edge(point).filter(|&edge| edge < point.now) else {
        return Ok(());
    };
    let back = point.at(edge + point.spare % (point.now - edge));
    for cost in point.costs() {
        if back.peek(cost).is_allowed() {
            prop_assert!(point.peek(cost).is_allowed(), "{} at {} only", cost, back.now);
        }
    }
    prop_assert!(back.remaining() <= point.remaining());
    Ok(())
}

fn one_instant(point: &Point) -> Verdict {
    let (Some(edge), Some(state)) = (edge(point), point.state) else {
        return Ok(());
    };
    let rest = rested_at(&point.policy, state);
    if rest == u64::MAX || rest <= edge {
        return Ok(());
    }
    for now in [edge, edge + point.spare % (rest - edge), rest - 1, state.at.clamp(edge, rest)] {
        let wait = point.at(now).peek(0).reset_after_ticks();
        prop_assert_eq!(u128::from(now) + wait, u128::from(rest), "seen from {}", now);
    }
    Ok(())
}

fn ignored(point: &Point) -> Verdict {
    let Some(edge) = edge(point).filter(|&edge| edge > 0) else {
        return Ok(());
    };
    for back in [1, 1 + point.spare % edge, edge] {
        let point = point.at(edge - back);
        for cost in point.costs() {
            prop_assert_eq!(point.decide(cost), point.fresh().decide(cost));
        }
    }
    Ok(())
}

fn monotone(point: &Point) -> Verdict {
    let Some(edge) = edge(point) else {
        return Ok(());
    };
    let mut now = point.now.max(edge);
    let mut before = point.at(now).remaining();
    let stride = 1 + point.spare % point.policy.window_ticks();
    for _ in 0..6 {
        now = now.saturating_add(stride);
        let after = point.at(now).remaining();
        prop_assert!(after >= before, "{} then {} at {}", before, after, now);
        before = after;
    }
    Ok(())
}

/// The seeds of the theorems below, which are no statement about a single point.
const SEEDS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/proptest-regressions/theorems-time.txt");

proptest! {
    #![proptest_config(super::config(SEEDS))]

    /// A bucket that is polled from empty admits its k-th unit exactly at `⌈k·W/L⌉`, for ever.
    #[test]
    fn a_bucket_refills_at_exactly_its_rate(policy in slow_buckets(), start in 0..1_u64 << 50) {
        let first = decide(&policy, None, start, policy.capacity()).expect("the capacity");
        let (mut state, mut now) = (first.state(), start);
        for k in 1..=20_u128 {
            let wait = peek(&policy, Some(state), now, 1).expect("one").retry_after_ticks();
            now = u64::try_from(u128::from(now) + wait.unwrap_or(0)).expect("decades at most");
            let due = (k * u128::from(policy.window_ticks())).div_ceil(policy.limit().into());
            prop_assert_eq!(u128::from(now - start), due, "unit {}", k);
            let taken = decide(&policy, Some(state), now, 1).expect("one");
            prop_assert!(taken.is_allowed());
            state = taken.state();
        }
    }

    /// At whole microseconds both engines say the same, and the longer tick rounds waits up.
    #[test]
    fn micros_answer_as_nanos_do(story in stories()) {
        let old = story.policy;
        // As many microseconds as there were ticks, within ten years.
        let window = Duration::from_micros(old.window_ticks().min(315_360_000_000_000));
        let mut nanos = Policy::new(old.strategy(), old.limit().into(), window);
        if old.strategy().has_burst() {
            nanos = nanos.and_then(|policy| policy.with_burst(old.capacity().into()));
        }
        let nanos = nanos.expect("a policy");
        let policy = nanos.in_micros().expect("whole microseconds");
        compare_ticks(&Story { policy, ..story }, nanos)?;
    }
}

/// Buckets that earn no more than one unit a tick and hold two, so that none is full when it is
/// polled: while a bucket is full no credit is kept, not even that of a part of a tick.
fn slow_buckets() -> impl Strategy<Value = Policy> {
    let counting = select(vec![Counting::TokenBucket, Counting::LeakyBucket]);
    (counting, policies(), policies()).prop_map(|(counting, by, burst)| {
        let limit = u64::from(by.limit()).min(by.window_ticks());
        Policy::new(counting, limit, Duration::from_nanos(by.window_ticks()))
            .and_then(|policy| policy.with_burst(burst.capacity().max(2).into()))
            .expect("a policy")
    })
}

fn compare_ticks(story: &Story, nanos: Policy) -> Verdict {
    // Later microseconds have no nanosecond of 64 bits.
    let latest = u64::MAX / 1_000;
    let mut coarse = story.beginning();
    coarse.now = coarse.now.min(latest);
    let mut fine = Point { policy: nanos, now: coarse.now * 1_000, ..coarse };
    for &(step, act) in &story.steps {
        coarse.go(step);
        coarse.now = coarse.now.min(latest);
        fine.now = coarse.now * 1_000;
        coarse.act(act);
        fine.act(act);
        for cost in coarse.costs() {
            let (micros, nanos) = (coarse.peek(cost), fine.peek(cost));
            prop_assert_eq!(micros.is_allowed(), nanos.is_allowed());
            prop_assert_eq!(micros.remaining(), nanos.remaining());
            let rounded = |ticks: u128| ticks.div_ceil(1_000);
            prop_assert_eq!(micros.reset_after_ticks(), rounded(nanos.reset_after_ticks()));
            prop_assert_eq!(micros.retry_after_ticks(), nanos.retry_after_ticks().map(rounded));
        }
    }
    Ok(())
}

/// Aligned windows admit no more than one limit each, however they are polled.
#[test]
fn no_fixed_window_admits_more_than_its_limit() {
    let policy = Policy::fixed_window(7, Duration::from_nanos(10)).expect("a policy");
    let mut state = None;
    let mut admitted = [0_u32; 100];
    for now in 0..1_000_u64 {
        let decision = decide(&policy, state, now, 1).expect("one");
        if decision.is_allowed() {
            state = Some(decision.state());
            admitted[usize::try_from(now / 10).expect("small")] += 1;
        }
    }
    assert_eq!(admitted, [7; 100]);
}
