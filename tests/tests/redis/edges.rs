//! Numbers chosen so that a double is off by the least that decides.

use std::time::Duration;

use gorl_core::{Policy, State, Strategy};
use gorl_tests::{Driver, RedisDriver};

use super::{S, tokens};

/// The last instant that a script counts, in microseconds.
const LAST: u64 = (1 << 53) - 1;

/// Ten years, the longest window, in microseconds.
const LONGEST_WINDOW: u64 = 10 * 365 * 86_400 * 1_000_000;

fn policy(strategy: Strategy, limit: u64, window_us: u64) -> Policy {
    Policy::new(strategy, limit, Duration::from_micros(window_us)).expect("a valid policy")
}

/// A bucket since the epoch, asked in the year 2200: what has drained is a whole number of units, or
/// one part in 2^80 more or less.
#[test]
fn a_bucket_counts_whole_units_to_the_last_bit() {
    let mut engine = RedisDriver::new(tokens(1, 1, S));
    let mut cases = 0;
    for step in 1_u64..400 {
        let limit = 1_009 * step + step * step % 97;
        let window = LONGEST_WINDOW - 1_000_003 * step;
        let last = u128::from(LAST) - u128::from(step) * 7_919;
        let units = last * u128::from(limit) / u128::from(window);
        // The first instant at which so many have drained, and how much more has.
        let passed = (units * u128::from(window)).div_ceil(u128::from(limit));
        let over = passed * u128::from(limit) - units * u128::from(window);
        let now = u64::try_from(passed).expect("before the last");
        let units = u32::try_from(units).expect("below 2^32");
        let over = u32::try_from(over).expect("below the limit");
        for strategy in [Strategy::TokenBucket, Strategy::LeakyBucket] {
            engine.set_policy(
                policy(strategy, limit, window).with_burst(u32::MAX.into()).expect("a burst"),
            );
            for b in [over.saturating_sub(1), over, over + 1] {
                let spent = units + 2;
                let a = if strategy == Strategy::TokenBucket { u32::MAX - spent } else { spent };
                engine.at(now * 1_000);
                engine.plant("k", State { at: 0, a, b });
                // Core's answer and its state are what the driver expects.
                let figures = engine.take("k", 1).expect("it fits");
                assert!(figures.allowed);
                cases += 1;
            }
        }
    }
    assert_eq!(cases, 399 * 6);
}

/// The two sides of the sliding window's comparison differ by one in 2^80.
#[test]
fn a_sliding_window_compares_to_the_last_bit() {
    let mut engine = RedisDriver::new(tokens(1, 1, S));
    let start = 1_735_689_600_000_000;
    let (mut admitted, mut denied) = (0, 0);
    for step in 1..400 {
        let window = LONGEST_WINDOW - 1_000_003 * step;
        let count = u64::from(u32::MAX) - 65_537 * step;
        // count * left is one more than a multiple of the window, or one less.
        let Some(inverse) = inverse(count, window) else {
            continue;
        };
        for left in [inverse, window - inverse] {
            let carried = u128::from(count) * u128::from(left);
            let room = carried.div_ceil(u128::from(window));
            for room in [room - 1, room] {
                let limit = u64::try_from(room).expect("below the count") + 1;
                engine.set_policy(policy(Strategy::SlidingWindow, limit, window));
                let b = u32::try_from(count).expect("32 bits");
                engine.at((start + window - left) * 1_000);
                engine.plant("k", State { at: start, a: 0, b });
                let allowed = engine.take("k", 1).expect("it fits").allowed;
                assert_eq!(allowed, carried <= room * u128::from(window));
                admitted += u32::from(allowed);
                denied += u32::from(!allowed);
            }
        }
    }
    assert!(admitted > 200 && denied > 200, "{admitted} admitted, {denied} denied");
}

/// What times `number` is one more than a multiple of `modulus`, if anything is.
fn inverse(number: u64, modulus: u64) -> Option<u64> {
    let (mut rest, mut next) = (i128::from(modulus), i128::from(number));
    let (mut factor, mut next_factor) = (0_i128, 1_i128);
    while next != 0 {
        let quotient = rest / next;
        (rest, next) = (next, rest - quotient * next);
        (factor, next_factor) = (next_factor, factor - quotient * next_factor);
    }
    (rest == 1).then(|| u64::try_from(factor.rem_euclid(i128::from(modulus))).ok())?
}
