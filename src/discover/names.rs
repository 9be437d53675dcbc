//! What the names of files tell: which libraries are plugins, for which platform
//! and of which generation.

/// Platforms by the words that stand for them in file names.
const WORDS: [(&str, &str); 6] = [
    ("cpu", "cpu"),
    ("cuda", "cuda"),
    ("gpu", "cuda"),
    ("rocm", "rocm"),
    ("tpu", "tpu"),
    ("oneapi", "oneapi"),
];

/// What a name says of a plugin.
#[derive(Debug, PartialEq, Eq)]
pub struct Named {
    pub platform: String,
    /// Ten times the version of the vendor's software; 0 when the name has none.
    pub generation: u32,
}

/// A library's file name, as plugins have them: it ends in `.so`, speaks of PJRT
/// or of an XLA plugin, and holds the word of a platform.
pub fn of_library(name: &str) -> Option<Named> {
    let stem = name.strip_suffix(".so")?;
    if stem == "libtpu" {
        return Some(Named { platform: "tpu".into(), generation: 0 });
    }
    if !is_about_plugins(name) {
        return None;
    }
    let words = stem.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter_map(|word| word_of_platform(word.strip_prefix("lib").unwrap_or(word))).next()
}

/// Whether a library's name claims that it is a plugin, for a platform or not.
pub fn is_about_plugins(name: &str) -> bool {
    name.ends_with(".so") && (name.contains("pjrt") || (name.contains("xla") && name.contains("plugin")))
}

fn word_of_platform(word: &str) -> Option<Named> {
    let (letters, digits) = split_digits(word);
    let (_, platform) = WORDS.iter().find(|(word, _)| *word == letters)?;
    Some(Named { platform: (*platform).to_owned(), generation: generation(platform, digits) })
}

/// The folder of a JAX plugin, such as `xla_cuda12`: its platform and generation.
pub fn of_jax_folder(name: &str) -> Option<Named> {
    let (platform, digits) = split_digits(name.strip_prefix("xla_")?);
    let good = !platform.is_empty() && platform.bytes().all(|byte| byte.is_ascii_lowercase());
    good.then(|| Named { platform: platform.to_owned(), generation: generation(platform, digits) })
}

fn split_digits(word: &str) -> (&str, &str) {
    word.split_at(word.trim_end_matches(|c: char| c.is_ascii_digit()).len())
}

/// `rocm60` is ROCm 6.0 and `cuda110` CUDA 11.0; without a minor number the digits
/// are the major one.
fn generation(platform: &str, digits: &str) -> u32 {
    let Ok(number) = digits.parse::<u32>() else { return 0 };
    let first_with_minor = if platform == "rocm" { 40 } else { 100 };
    if number >= first_with_minor { number } else { number * 10 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_of_known_wheels_and_of_their_like() {
        for (name, platform, generation) in [
            ("pjrt_c_api_cpu_plugin.so", "cpu", 0),
            ("libpjrt_cpu.so", "cpu", 0),
            ("xla_cpu_pjrt.so", "cpu", 0),
            ("xla_cuda_plugin.so", "cuda", 0),
            ("pjrt_c_api_gpu_plugin.so", "cuda", 0),
            ("pjrt-plugin-cuda12.so", "cuda", 120),
            ("xla_rocm_plugin.so", "rocm", 0),
            ("libtpu.so", "tpu", 0),
        ] {
            let wanted = Named { platform: platform.into(), generation };
            assert_eq!(of_library(name), Some(wanted), "{name}");
        }
        for other in
            ["libcudart.so.12", "cpu.so", "libmy_plugin.so", "xla_cpu_pjrt.txt", "pjrt_thing.so", ".so"]
        {
            assert_eq!(of_library(other), None, "{other}");
        }
        assert!(is_about_plugins("pjrt_thing.so") && !is_about_plugins("libcudart.so"));
    }

    #[test]
    fn generations_are_ordered_as_their_vendors_mean_them() {
        let of = |name: &str| of_jax_folder(name).unwrap().generation;
        assert!(of("xla_rocm60") < of("xla_rocm7") && of("xla_rocm7") < of("xla_rocm10"));
        assert!(of("xla_cuda110") < of("xla_cuda12") && of("xla_cuda12") < of("xla_cuda13"));
        assert_eq!(of("xla_oneapi"), 0);
        assert_eq!(of("xla_cuda99999999999999999999"), 0);
        for other in ["xla_", "xla_12", "libtt", "xla_cuda_12", "intel_extension_for_openxla"] {
            assert_eq!(of_jax_folder(other), None, "{other}");
        }
    }
}
