//! Products and quotients wider than 64 bits, in the few forms that the strategies need.

use core::num::{NonZeroU32, NonZeroU64};

/// The exact product of two 64-bit numbers.
#[inline]
pub(super) const fn mul(a: u64, b: u64) -> u128 {
    // Cannot wrap: each factor is below 2^64.
    (a as u128).wrapping_mul(b as u128)
}

/// `⌊n / d⌋`, dividing in 64 bits where `n` fits, which is many times faster.
#[inline]
pub(super) fn div(n: u128, d: NonZeroU64) -> u128 {
    match u64::try_from(n) {
        Ok(n) => u128::from(n / d),
        Err(_) => n.checked_div(u128::from(d.get())).unwrap_or(0),
    }
}

/// `⌈n / d⌉`.
#[inline]
pub(super) fn div_ceil(n: u128, d: NonZeroU64) -> u128 {
    let quotient = div(n, d);
    let exact = quotient.wrapping_mul(u128::from(d.get())) == n;
    quotient.wrapping_add(u128::from(!exact))
}

/// `(⌊n / d⌋, n mod d)`, the quotient saturating at 64 bits.
#[inline]
pub(super) fn div_rem(n: u128, d: NonZeroU32) -> (u64, u32) {
    let wide = NonZeroU64::from(d);
    let (quotient, rest) = match u64::try_from(n) {
        Ok(n) => (n / wide, n % wide),
        Err(_) => {
            let quotient = div(n, wide);
            let rest = n.wrapping_sub(quotient.wrapping_mul(u128::from(wide.get())));
            (saturate(quotient), saturate(rest))
        }
    };
    // The remainder is below the 32-bit divisor.
    #[allow(clippy::cast_possible_truncation)]
    (quotient, rest as u32)
}

/// The low 64 bits, saturating: for counts that are compared with 32-bit ones.
#[inline]
pub(super) fn saturate(n: u128) -> u64 {
    u64::try_from(n).unwrap_or(u64::MAX)
}
