//! The core of gorl behind a C function, linked without std and without an allocator.
#![no_std]

use core::panic::PanicInfo;
use core::time::Duration;

use gorl_core::{Policy, State, decide};

/// One decision of a sliding window: what is still allowed, or -1 for a denial or a bad policy.
///
/// # Safety
///
/// `state` must point to a state that nobody else uses meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gorl_check(limit: u64, seconds: u64, state: *mut State, now: u64) -> i64 {
    let Ok(policy) = Policy::sliding_window(limit, Duration::from_secs(seconds)) else {
        return -1;
    };
    // SAFETY: the caller promises that the pointer is valid and not shared.
    let state = unsafe { &mut *state };
    match decide(&policy, Some(*state), now, 1) {
        Ok(decision) if decision.is_allowed() => {
            *state = decision.state();
            i64::from(decision.remaining())
        }
        _ => -1,
    }
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {}
}
