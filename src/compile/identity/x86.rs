//! The instruction sets of an x86-64 processor that compilers generate code for.

use crate::plugin::cpuid;

/// Parts of the processor's state, as bits of XCR0, that features need.
const NONE: u64 = 0;
const YMM: u64 = 0b110;
const ZMM: u64 = 0b1110_0110;
const TILES: u64 = 0b11 << 17;
const APX: u64 = 1 << 19;

const EAX: usize = 0;
const EBX: usize = 1;
const ECX: usize = 2;
const EDX: usize = 3;

/// A leaf of CPUID and its subleaf.
type Leaf = (u32, u32);
const BASIC: Leaf = (1, 0);
const EXTENDED: Leaf = (7, 0);
const MORE: Leaf = (7, 1);
const AMD: Leaf = (0x8000_0001, 0);

/// A name as LLVM has it, and where its bit stands.
type Feature = (&'static str, Leaf, usize, u32, u64);

#[rustfmt::skip]
const FEATURES: &[Feature] = &[
    ("sse3", BASIC, ECX, 0, NONE),
    ("pclmul", BASIC, ECX, 1, NONE),
    ("ssse3", BASIC, ECX, 9, NONE),
    ("fma", BASIC, ECX, 12, YMM),
    ("cx16", BASIC, ECX, 13, NONE),
    ("sse4.1", BASIC, ECX, 19, NONE),
    ("sse4.2", BASIC, ECX, 20, NONE),
    ("movbe", BASIC, ECX, 22, NONE),
    ("popcnt", BASIC, ECX, 23, NONE),
    ("aes", BASIC, ECX, 25, NONE),
    ("avx", BASIC, ECX, 28, YMM),
    ("f16c", BASIC, ECX, 29, YMM),
    ("bmi", EXTENDED, EBX, 3, NONE),
    ("avx2", EXTENDED, EBX, 5, YMM),
    ("bmi2", EXTENDED, EBX, 8, NONE),
    ("avx512f", EXTENDED, EBX, 16, ZMM),
    ("avx512dq", EXTENDED, EBX, 17, ZMM),
    ("adx", EXTENDED, EBX, 19, NONE),
    ("avx512ifma", EXTENDED, EBX, 21, ZMM),
    ("avx512cd", EXTENDED, EBX, 28, ZMM),
    ("sha", EXTENDED, EBX, 29, NONE),
    ("avx512bw", EXTENDED, EBX, 30, ZMM),
    ("avx512vl", EXTENDED, EBX, 31, ZMM),
    ("avx512vbmi", EXTENDED, ECX, 1, ZMM),
    ("avx512vbmi2", EXTENDED, ECX, 6, ZMM),
    ("gfni", EXTENDED, ECX, 8, NONE),
    ("vaes", EXTENDED, ECX, 9, YMM),
    ("vpclmulqdq", EXTENDED, ECX, 10, YMM),
    ("avx512vnni", EXTENDED, ECX, 11, ZMM),
    ("avx512bitalg", EXTENDED, ECX, 12, ZMM),
    ("avx512vpopcntdq", EXTENDED, ECX, 14, ZMM),
    ("avx512vp2intersect", EXTENDED, EDX, 8, ZMM),
    ("amx-bf16", EXTENDED, EDX, 22, TILES),
    ("avx512fp16", EXTENDED, EDX, 23, ZMM),
    ("amx-tile", EXTENDED, EDX, 24, TILES),
    ("amx-int8", EXTENDED, EDX, 25, TILES),
    ("sha512", MORE, EAX, 0, YMM),
    ("avxvnni", MORE, EAX, 4, YMM),
    ("avx512bf16", MORE, EAX, 5, ZMM),
    ("amx-fp16", MORE, EAX, 21, TILES),
    ("avxifma", MORE, EAX, 23, YMM),
    ("avxvnniint8", MORE, EDX, 4, YMM),
    ("avxneconvert", MORE, EDX, 5, YMM),
    ("amx-complex", MORE, EDX, 8, TILES),
    ("avxvnniint16", MORE, EDX, 10, YMM),
    ("avx10", MORE, EDX, 19, ZMM),
    ("apx", MORE, EDX, 21, APX),
    ("lzcnt", AMD, ECX, 5, NONE),
    ("sse4a", AMD, ECX, 6, NONE),
    ("prfchw", AMD, ECX, 8, NONE),
    ("xop", AMD, ECX, 11, YMM),
    ("fma4", AMD, ECX, 16, YMM),
    ("tbm", AMD, ECX, 21, NONE),
];

/// The names of what this processor has and the system lets programs use.
pub fn features() -> Vec<String> {
    let states = cpuid::saved_states();
    let leaves = [BASIC, EXTENDED, MORE, AMD].map(|leaf| (leaf, cpuid::leaf(leaf.0, leaf.1)));
    let has = |&&(_, leaf, register, bit, needed): &&Feature| {
        let registers = leaves.iter().find(|(one, _)| *one == leaf).map_or([0; 4], |(_, found)| *found);
        registers[register] & (1 << bit) != 0 && states & needed == needed
    };
    let mut names: Vec<String> = FEATURES.iter().filter(has).map(|feature| feature.0.to_owned()).collect();
    if names.iter().any(|name| name == "avx10") {
        // The version is a number of its own; each has what the one before has.
        let version = cpuid::leaf(0x24, 0)[EBX] & 0xff;
        names.extend((1..=version.min(16)).map(|number| format!("avx10.{number}")));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Rust finds out too, under its own names.
    #[test]
    fn they_are_those_that_rust_detects() {
        let names = features();
        let has = |name: &str| names.iter().any(|one| one == name);
        macro_rules! same {
            ($($ours:literal $theirs:tt),*) => { $(assert_eq!(has($ours), std::is_x86_feature_detected!($theirs), $ours);)* };
        }
        same!("sse3" "sse3", "pclmul" "pclmulqdq", "ssse3" "ssse3", "fma" "fma", "cx16" "cmpxchg16b");
        same!("sse4.1" "sse4.1", "sse4.2" "sse4.2", "movbe" "movbe", "popcnt" "popcnt", "aes" "aes");
        same!("avx" "avx", "f16c" "f16c", "bmi" "bmi1", "avx2" "avx2", "bmi2" "bmi2", "adx" "adx");
        same!("avx512f" "avx512f", "avx512dq" "avx512dq", "avx512ifma" "avx512ifma", "sha" "sha");
        same!("avx512cd" "avx512cd", "avx512bw" "avx512bw", "avx512vl" "avx512vl", "gfni" "gfni");
        same!("avx512vbmi" "avx512vbmi", "avx512vbmi2" "avx512vbmi2", "vpclmulqdq" "vpclmulqdq");
        same!("vaes" "vaes", "avx512vnni" "avx512vnni", "avx512bitalg" "avx512bitalg");
        same!("avx512vpopcntdq" "avx512vpopcntdq", "avx512vp2intersect" "avx512vp2intersect");
        same!("avx512fp16" "avx512fp16", "avx512bf16" "avx512bf16", "lzcnt" "lzcnt", "sse4a" "sse4a");
        same!("tbm" "tbm");
    }

    #[test]
    fn leaves_that_no_processor_has_are_empty() {
        assert_eq!(cpuid::leaf(0x7000_0000, 0), [0; 4]);
        assert_eq!(cpuid::leaf(7, 4000), [0; 4]);
    }
}
