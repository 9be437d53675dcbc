//! What this machine's x86-64 processor says of itself. The CPU plugin compiles for it.

use std::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};

/// The registers EAX, EBX, ECX and EDX that CPUID gives for a leaf; zeros for one that
/// the processor does not have.
#[allow(unused_unsafe, reason = "newer versions of Rust call these safe")]
pub fn leaf(leaf: u32, subleaf: u32) -> [u32; 4] {
    // SAFETY: every x86-64 processor has the instruction, with the two first leaves.
    let (highest, highest_subleaf) = unsafe {
        let highest = __cpuid(leaf & 0x8000_0000).eax;
        (highest, if leaf == 7 && leaf <= highest { __cpuid(7).eax } else { u32::MAX })
    };
    if leaf > highest || subleaf > highest_subleaf {
        return [0; 4];
    }
    // SAFETY: as above; the leaf is one that the processor has.
    let found = unsafe { __cpuid_count(leaf, subleaf) };
    [found.eax, found.ebx, found.ecx, found.edx]
}

/// Which parts of the processor's state the system saves when it switches between
/// threads, as the bits of XCR0. Without its part a feature cannot be used.
pub fn saved_states() -> u64 {
    const OSXSAVE: u32 = 1 << 27;
    if leaf(1, 0)[2] & OSXSAVE == 0 {
        return 0;
    }
    // SAFETY: the system has turned the instruction on.
    unsafe { _xgetbv(0) }
}
