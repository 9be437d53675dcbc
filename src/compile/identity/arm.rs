//! The instruction sets of an AArch64 processor that compilers generate code for.

use std::arch::is_aarch64_feature_detected;

/// The names, as Rust has them, of what this processor has.
pub fn features() -> Vec<String> {
    macro_rules! detect {
        ($($name:tt),*) => { [$(($name, is_aarch64_feature_detected!($name))),*] };
    }
    let all = detect![
        "neon",
        "aes",
        "bf16",
        "crc",
        "dotprod",
        "dpb",
        "dpb2",
        "f32mm",
        "f64mm",
        "fcma",
        "fhm",
        "flagm",
        "fp16",
        "frintts",
        "i8mm",
        "jsconv",
        "lse",
        "lse2",
        "pmull",
        "rcpc",
        "rcpc2",
        "rdm",
        "sb",
        "sha2",
        "sha3",
        "sm4",
        "sve",
        "sve2",
        "sve2-aes",
        "sve2-bitperm",
        "sve2-sha3",
        "sve2-sm4"
    ];
    all.iter().filter(|(_, has)| *has).map(|(name, _)| (*name).to_owned()).collect()
}
