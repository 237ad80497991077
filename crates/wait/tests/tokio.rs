//! Waiting on tokio's paused clock: in order, on time, within bounds, and whoever leaves is not missed.
#![cfg(feature = "tokio")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use gorl::{AsyncLimiter, Limiter, MemoryStore, Policy};
use gorl_wait::{TokioClock, TokioTimer, WaitError, Waiting};
use tokio::task::{JoinSet, yield_now};
use tokio::time::{Instant, advance, sleep, timeout};

type Here = Waiting<Limiter, TokioTimer>;

fn bucket(burst: u64, limit: u64, window: Duration) -> Policy {
    Policy::token_bucket(limit, window).unwrap().with_burst(burst).unwrap()
}

fn waiting(policy: Policy) -> Arc<Here> {
    let limiter = Limiter::builder(policy).clock(TokioClock::new()).build();
    Arc::new(Waiting::new(limiter, TokioTimer))
}

const MS: Duration = Duration::from_millis(1);

#[tokio::test(start_paused = true)]
async fn r19_two_waits_take_virtual_time_alone() {
    let really = std::time::Instant::now();
    let (waiting, begun) = (waiting(bucket(1, 1, 60_000 * MS)), Instant::now());
    for _ in 0..2 {
        assert!(waiting.until_ready("a").await.unwrap().decision().is_allowed());
    }
    assert_eq!(begun.elapsed(), 60_000 * MS);
    assert!(really.elapsed() < Duration::from_secs(30));
}

#[tokio::test(start_paused = true)]
async fn r41_a_cost_that_never_fits_is_an_error_at_once_and_delays_nobody() {
    let (waiting, begun) = (waiting(bucket(10, 10, 1_000 * MS)), Instant::now());
    let first = Arc::clone(&waiting);
    waiting.until_ready_n("a", 10).await.unwrap();
    let first = tokio::spawn(async move { first.until_ready("a").await.map(|_| Instant::now()) });
    yield_now().await;
    assert!(matches!(waiting.until_ready_n("a", 11).await, Err(WaitError::Cost(_))));
    assert_eq!(begun.elapsed(), Duration::ZERO);
    waiting.until_ready("a").await.unwrap();
    assert_eq!(begun.elapsed(), 200 * MS);
    assert_eq!(first.await.unwrap().unwrap() - begun, 100 * MS);
}

#[tokio::test(start_paused = true)]
async fn r52_fifty_waiters_are_served_one_each_tenth_of_a_second() {
    let (waiting, begun) = (waiting(bucket(1, 1, 100 * MS)), Instant::now());
    let mut tasks = JoinSet::new();
    for _ in 0..50 {
        let waiting = Arc::clone(&waiting);
        tasks.spawn(async move {
            waiting.until_ready("a").await.unwrap();
            begun.elapsed()
        });
    }
    let mut served: Vec<Duration> = tasks.join_all().await;
    served.sort_unstable();
    let due: Vec<Duration> = (0..50).map(|number| number * 100 * MS).collect();
    assert_eq!(served, due);
}

#[tokio::test(start_paused = true)]
async fn r54_whoever_leaves_has_spent_nothing_and_delays_nobody() {
    let (waiting, begun) = (waiting(bucket(1, 1, 1_000 * MS)), Instant::now());
    waiting.until_ready("a").await.unwrap();
    let left = timeout(500 * MS, waiting.until_ready("a")).await;
    assert!(left.is_err());
    assert!(waiting.is_empty());
    sleep(100 * MS).await;
    waiting.until_ready("a").await.unwrap();
    assert_eq!(begun.elapsed(), 1_000 * MS);
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_are_served_in_order_and_half_of_them_leaving_changes_nothing() {
    const WAITERS: u32 = 10_000;
    let (waiting, begun) = (waiting(bucket(1, 1, MS)), Instant::now());
    let served = Arc::new(AtomicU64::new(0));
    let mut tasks = Vec::new();
    for number in 0..WAITERS {
        let (waiting, served) = (Arc::clone(&waiting), Arc::clone(&served));
        tasks.push(tokio::spawn(async move {
            waiting.until_ready("a").await.unwrap();
            (number, served.fetch_add(1, Ordering::Relaxed), begun.elapsed())
        }));
        // The queue is in the order in which they begin.
        yield_now().await;
    }
    assert_eq!(waiting.len(), tasks.iter().filter(|task| !task.is_finished()).count());
    // A half leaves, here and there, the first in the queue among them.
    let leaves = |number: u32| number > 0 && number.wrapping_mul(2_654_435_761) % 2 == 1;
    for (number, task) in (0..WAITERS).zip(&tasks) {
        if leaves(number) && !task.is_finished() {
            task.abort();
        }
    }
    let mut last = None;
    let mut count = 0;
    for task in tasks {
        let Ok((number, place, at)) = task.await else { continue };
        assert_eq!(place, count, "number {number} is served in its turn");
        // The bucket gives one each millisecond, and one at the beginning.
        assert_eq!(at, u32::try_from(count).unwrap() * MS, "number {number}");
        assert!(last < Some(number));
        last = Some(number);
        count += 1;
    }
    assert!((4_900..=5_100).contains(&count), "{count}");
    assert!(waiting.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_large_cost_is_not_passed_by_by_small_ones() {
    let (waiting, begun) = (waiting(bucket(10, 10, 1_000 * MS)), Instant::now());
    waiting.until_ready_n("a", 10).await.unwrap();
    let large = Arc::clone(&waiting);
    let large =
        tokio::spawn(async move { large.until_ready_n("a", 10).await.map(|_| Instant::now()) });
    yield_now().await;
    waiting.until_ready("a").await.unwrap();
    assert_eq!(begun.elapsed(), 1_100 * MS);
    assert_eq!(large.await.unwrap().unwrap() - begun, 1_000 * MS);
}

#[tokio::test(start_paused = true)]
async fn keys_do_not_wait_for_each_other_and_bounds_hold_for_a_key_and_in_all() {
    let limiter = Limiter::builder(bucket(1, 1, 1_000 * MS)).clock(TokioClock::new()).build();
    let waiting = Arc::new(Waiting::new(limiter, TokioTimer).most(2, 3));
    let mut tasks = JoinSet::new();
    for key in ["a", "a", "a", "b"] {
        let waiting = Arc::clone(&waiting);
        tasks.spawn(async move { waiting.until_ready(key).await.map(|_| ()) });
        yield_now().await;
    }
    // One of `a` and the one of `b` were served at once.
    assert_eq!(waiting.len(), 2);
    assert!(matches!(waiting.until_ready("a").await, Err(WaitError::TooMany { per_key: 2, .. })));
    let other = Arc::clone(&waiting);
    tasks.spawn(async move { other.until_ready("b").await.map(|_| ()) });
    yield_now().await;
    assert!(matches!(waiting.until_ready("c").await, Err(WaitError::TooMany { in_all: 3, .. })));
    assert!(tasks.join_all().await.into_iter().all(|served| served.is_ok()));
    assert!(waiting.until_ready("c").await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_deadline_ends_the_wait_or_keeps_it_from_beginning() {
    let (waiting, begun) = (waiting(bucket(1, 1, 1_000 * MS)), Instant::now());
    waiting.until_ready("a").await.unwrap();
    // The first knows that it would be too long.
    let too_long = waiting.until_ready_within("a", 1, 999 * MS).await;
    assert!(matches!(too_long, Err(WaitError::TooLong { .. })));
    assert_eq!(begun.elapsed(), Duration::ZERO);
    let first = Arc::clone(&waiting);
    let first = tokio::spawn(async move { first.until_ready_within("a", 1, 1_000 * MS).await });
    yield_now().await;
    // The second does not know, and waits as long as it may.
    let second = waiting.until_ready_within("a", 1, 300 * MS).await;
    assert!(matches!(second, Err(WaitError::TooLong { .. })));
    assert_eq!(begun.elapsed(), 300 * MS);
    assert!(first.await.unwrap().is_ok());
    assert_eq!(begun.elapsed(), 1_000 * MS);
}

#[tokio::test(start_paused = true)]
async fn jitter_makes_waits_longer_and_never_shorter() {
    let limiter = Limiter::builder(bucket(1, 1, 1_000 * MS)).clock(TokioClock::new()).build();
    let waiting = Waiting::new(limiter, TokioTimer).jitter(500 * MS);
    waiting.until_ready("a").await.unwrap();
    let mut waits = Vec::new();
    for _ in 0..20 {
        advance(10_000 * MS).await;
        waiting.until_ready("a").await.unwrap();
        let begun = Instant::now();
        waiting.until_ready("a").await.unwrap();
        waits.push(begun.elapsed());
    }
    assert!(waits.iter().all(|wait| (1_000 * MS..=1_502 * MS).contains(wait)), "{waits:?}");
    waits.dedup();
    assert!(waits.len() > 1, "{waits:?}");
}

#[tokio::test(start_paused = true)]
async fn a_raised_limit_serves_sooner_and_one_that_no_longer_fits_is_told() {
    let waiting = waiting(bucket(5, 1, 1_000 * MS));
    waiting.until_ready_n("a", 5).await.unwrap();
    let other = Arc::clone(&waiting);
    let other = tokio::spawn(async move { other.until_ready_n("a", 5).await });
    yield_now().await;
    waiting.limiter().set_policy(bucket(3, 1, 1_000 * MS));
    let answer = other.await.unwrap();
    assert!(matches!(answer, Err(WaitError::Cost(error)) if error.limit == 3), "{answer:?}");
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_a_borrowed_key_can_be_spawned() {
    let waiting = waiting(bucket(1, 1, 1_000 * MS));
    let served = tokio::spawn(async move {
        let user = ("user", String::from("7"));
        let borrowed = user.1.as_str();
        waiting.until_ready(&user).await.is_ok()
            && waiting.until_ready_n((user.0, borrowed), 1).await.is_ok()
            && waiting.until_ready_within(borrowed, 1, MS).await.is_ok()
    });
    assert!(served.await.unwrap());
}

#[tokio::test(start_paused = true)]
async fn a_limiter_over_any_store_can_be_waited_for() {
    let store = MemoryStore::builder().clock(TokioClock::new()).build();
    let limiter = AsyncLimiter::new(bucket(1, 1, 100 * MS), store);
    let (waiting, begun) = (Waiting::new(limiter, TokioTimer), Instant::now());
    let served = tokio::spawn(async move {
        for _ in 0..3 {
            waiting.until_ready(("tenant", 7_u32)).await.unwrap();
        }
    });
    served.await.unwrap();
    assert_eq!(begun.elapsed(), 200 * MS);
}
