//! What the processor can do, by which compiled programs differ.

use std::fmt;

use crate::order;

/// The features of a processor that matter to generated code, by name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CpuFeatures {
    architecture: String,
    /// Sorted, each once.
    names: Vec<String>,
}

impl CpuFeatures {
    /// Those of the processor that this process runs on.
    pub fn here() -> CpuFeatures {
        #[cfg(target_arch = "x86_64")]
        let names = super::x86::features();
        #[cfg(target_arch = "aarch64")]
        let names = super::arm::features();
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        let names = Vec::new();
        CpuFeatures::new(std::env::consts::ARCH, names)
    }

    /// Features that somebody recorded, in any order.
    pub fn new(architecture: &str, mut names: Vec<String>) -> CpuFeatures {
        order::sort(&mut names);
        names.dedup();
        CpuFeatures { architecture: architecture.to_owned(), names }
    }

    /// `x86_64`, `aarch64` or another name that Rust has for an architecture.
    pub fn architecture(&self) -> &str {
        &self.architecture
    }

    /// The names, sorted.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// What `saved` has and this processor lacks; the whole architecture when that is
    /// another one.
    pub fn missing_here(&self, saved: &CpuFeatures) -> Vec<String> {
        if self.architecture != saved.architecture {
            return vec![saved.architecture.clone()];
        }
        let lacks = |name: &&String| self.names.binary_search(name).is_err();
        saved.names.iter().filter(lacks).cloned().collect()
    }
}

impl fmt::Display for CpuFeatures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.architecture)?;
        self.names.iter().try_for_each(|name| write!(f, " {name}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn features(names: &[&str]) -> CpuFeatures {
        CpuFeatures::new("x86_64", names.iter().map(|&name| name.to_owned()).collect())
    }

    #[test]
    fn more_features_than_needed_are_fine() {
        let small = features(&["avx2", "avx"]);
        let large = features(&["avx512f", "avx", "amx-tile", "avx2", "avx"]);
        assert_eq!(large.missing_here(&small), [""; 0]);
        assert_eq!(small.missing_here(&large), ["amx-tile", "avx512f"]);
        assert_eq!(large.to_string(), "x86_64 amx-tile avx avx2 avx512f");
    }

    #[test]
    fn another_architecture_lacks_everything() {
        let arm = CpuFeatures::new("aarch64", vec!["neon".into()]);
        assert_eq!(features(&["avx"]).missing_here(&arm), ["aarch64"]);
    }

    #[test]
    fn this_processor_has_some_and_they_stay() {
        let here = CpuFeatures::here();
        assert_eq!(here, CpuFeatures::here());
        assert_eq!(here.architecture(), std::env::consts::ARCH);
        assert!(here.missing_here(&here).is_empty());
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        assert!(!here.names().is_empty());
    }
}
