//! The processor's time-stamp counter, where it counts at a constant rate.
#![allow(unsafe_code)]

use std::arch::x86_64::{__cpuid, _rdtsc};

/// Reads the counter.
#[inline]
pub(super) fn read() -> u64 {
    // SAFETY: RDTSC reads a register and touches no memory. Every x86-64 processor has it, and a
    // system that forbids it to programs (Linux: PR_TSC) has been told to.
    unsafe { _rdtsc() }
}

/// Whether the counter runs at one rate in every power state, as CPUID says.
pub(super) fn is_invariant() -> bool {
    const EXTENDED_MAX: u32 = 0x8000_0000;
    const POWER_MANAGEMENT: u32 = 0x8000_0007;
    const INVARIANT_TSC: u32 = 1 << 8;
    // The instruction is part of every x86-64 processor; leaves above the maximum are not asked.
    let max = cpuid(EXTENDED_MAX).0;
    max >= POWER_MANAGEMENT && cpuid(POWER_MANAGEMENT).1 & INVARIANT_TSC != 0
}

/// EAX and EDX of a CPUID leaf.
fn cpuid(leaf: u32) -> (u32, u32) {
    // Older compilers mark the intrinsic unsafe, newer ones do not.
    #[allow(unused_unsafe)]
    // SAFETY: see `is_invariant`.
    let result = unsafe { __cpuid(leaf) };
    (result.eax, result.edx)
}
