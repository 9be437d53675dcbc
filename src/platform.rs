//! Platforms: what a PJRT plugin drives, by name.

use crate::error::{Error, Result};

/// The platforms that are known, in the order in which they are preferred when nobody
/// chooses.
pub const KNOWN: [&str; 4] = ["cpu", "cuda", "rocm", "tpu"];

/// A platform's name in the form that plugins use.
pub fn check_name(name: &str) -> Result<String> {
    let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    if name.is_empty() || !name.chars().all(good) {
        let message = format!(
            "'{}' is no platform name; expected a name such as cpu, cuda, rocm or tpu",
            name.escape_debug()
        );
        return Err(Error::invalid_argument(message).parameter("platform"));
    }
    Ok(name.to_owned())
}

/// Whether a plugin for `platform` answers a request for `wanted`.
pub fn answers(platform: &str, wanted: &str) -> bool {
    platform == wanted || (wanted == "gpu" && (platform == "cuda" || platform == "rocm"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for good in ["cpu", "cuda", "my_npu-2"] {
            assert_eq!(check_name(good).unwrap(), good);
        }
        for bad in ["", "CPU", "a b", "cpu,cuda", "cpu\n"] {
            assert!(check_name(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn gpu_means_cuda_or_rocm() {
        assert!(answers("cuda", "gpu") && answers("rocm", "gpu") && answers("cpu", "cpu"));
        assert!(!answers("cpu", "gpu") && !answers("gpu", "cuda"));
    }
}
