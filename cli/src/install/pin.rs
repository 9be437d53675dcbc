//! The plugins that the command can install: packages whose content is known.

use serde_json::{Value, json};

/// A package, the plugin inside it, and the hashes of both.
#[derive(Clone, Debug)]
pub struct Pin {
    /// The platform that the plugin implements.
    pub platform: &'static str,
    /// The version of the PJRT interface that it speaks.
    pub version: &'static str,
    /// The package's name.
    pub package: &'static str,
    /// The package's version.
    pub package_version: &'static str,
    /// SHA-256 of the wheel, in lower-case hexadecimal.
    pub wheel_sha256: &'static str,
    /// Size of the wheel in bytes.
    pub wheel_size: u64,
    /// The plugin library's path inside the wheel.
    pub library: &'static str,
    /// SHA-256 of the library, in lower-case hexadecimal.
    pub library_sha256: &'static str,
    /// Size of the library in bytes.
    pub library_size: u64,
    /// Files of the wheel that are kept beside the library.
    pub extras: &'static [&'static str],
}

/// Every plugin that can be installed, the default first.
pub const PINS: &[Pin] = &[
    Pin {
        platform: "cpu",
        version: "0.115",
        package: "lammps-jax-pjrt-cpu",
        package_version: "0.11.2",
        wheel_sha256: "1319390d948b39f69f7dade496b7c385149d9ca6097a6b62114da113216d9ad1",
        wheel_size: 62_711_338,
        library: "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so",
        library_sha256: "ad1309ac822b1b24d51b7f9947c7c9fa9ef5d67f390584cbc3d1fa2428fed9c2",
        library_size: 201_600_336,
        extras: &[
            "lammps_jax_pjrt_cpu-0.11.2.dist-info/licenses/LICENSE",
            "lammps_jax_pjrt_cpu-0.11.2.dist-info/licenses/THIRD_PARTY_NOTICES",
        ],
    },
    Pin {
        platform: "cpu",
        version: "0.106",
        package: "fastatomstruct-xla-cpu",
        package_version: "2026.6.23",
        wheel_sha256: "88b1c430b341b4bea40a37420311c9c75db6e22b46d2ff95b6986577bee6afe9",
        wheel_size: 63_200_622,
        library: "fastatomstruct_xla_cpu/libpjrt_cpu.so",
        library_sha256: "0a0fe56ca17be9efc7b942e89e534e5e0ad4a0f1e369b66d27b62184509015b9",
        library_size: 273_768_800,
        extras: &[],
    },
    Pin {
        platform: "cpu",
        version: "0.81",
        package: "xla-cpu-pjrt",
        package_version: "0.0.1",
        wheel_sha256: "55837b6b7b47daa717f2d9a5a03563ea0ceaa338d06a81a1e2d3f060d960decc",
        wheel_size: 63_461_052,
        library: "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so",
        library_sha256: "88c3f28c5900f48ad4a82cab9e79bba9537809743395e341485f8794268820dc",
        library_size: 259_284_552,
        // The only wheel that carries the interface's header; the project's
        // own tests compare their declarations with it.
        extras: &["xla_plugins/xla_cpu_pjrt/include/pjrt_c_api.h"],
    },
];

/// The pin of a PJRT version or of a package version.
pub fn by_version(version: &str) -> Option<&'static Pin> {
    PINS.iter().find(|pin| pin.version == version || pin.package_version == version)
}

/// The pin whose wheel has this SHA-256.
pub fn by_wheel(sha256: &str) -> Option<&'static Pin> {
    PINS.iter().find(|pin| pin.wheel_sha256 == sha256)
}

impl Pin {
    /// The name of the folder that holds the installed plugin.
    pub fn folder_name(&self) -> String {
        format!("{}-{}", self.platform, self.version)
    }

    /// The name of the library file in that folder.
    pub fn library_name(&self) -> &'static str {
        file_name(self.library)
    }

    /// What pip calls exactly this version of the package.
    pub fn requirement(&self) -> String {
        format!("{}=={}", self.package, self.package_version)
    }

    /// The content of `plugin.json`, which discovery reads.
    pub fn manifest(&self) -> Value {
        json!({
            "format": 1,
            "platform": self.platform,
            "library": self.library_name(),
            "version": self.version,
            "package": self.package,
            "package_version": self.package_version,
            "sha256": self.library_sha256,
        })
    }
}

/// The last part of a path inside a wheel.
pub fn file_name(member: &'static str) -> &'static str {
    member.rsplit('/').next().unwrap_or(member)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pin_is_found_by_either_version_and_by_its_wheel() {
        for pin in PINS {
            assert_eq!(by_version(pin.version).unwrap().package, pin.package);
            assert_eq!(by_version(pin.package_version).unwrap().package, pin.package);
            assert_eq!(by_wheel(pin.wheel_sha256).unwrap().package, pin.package);
        }
        assert!(by_version("0.1").is_none());
        assert!(by_wheel("").is_none());
    }

    #[test]
    fn hashes_are_whole_and_names_do_not_collide() {
        for pin in PINS {
            for hash in [pin.wheel_sha256, pin.library_sha256] {
                assert_eq!(hash.len(), 64);
                assert!(hash.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)));
            }
            let mut names: Vec<_> = pin.extras.iter().map(|extra| file_name(extra)).collect();
            names.extend([pin.library_name(), "plugin.json"]);
            names.sort_unstable();
            let all = names.len();
            names.dedup();
            assert_eq!(names.len(), all);
        }
    }
}
