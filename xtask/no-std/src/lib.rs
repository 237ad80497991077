//! The core of gorl behind a C function, linked without std and without an allocator.
#![no_std]

use core::panic::PanicInfo;
use core::time::Duration;

use gorl_core::Policy;

/// The capacity of a token bucket, or 0 when there is no such policy.
#[unsafe(no_mangle)]
pub extern "C" fn gorl_capacity(limit: u64, window_seconds: u64, burst: u64) -> u32 {
    Policy::token_bucket(limit, Duration::from_secs(window_seconds))
        .and_then(|policy| policy.with_burst(burst))
        .map_or(0, |policy| policy.capacity())
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {}
}
