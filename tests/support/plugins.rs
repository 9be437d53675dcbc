//! The plugins under test, and a program to run on them.

use super::required;
use cyxla::program::{Format, Program};
use cyxla::runtime::{self, Executable};
use libloading::Library;
use std::path::{Path, PathBuf};

/// The real plugin under test.
pub fn real_plugin() -> PathBuf {
    required("CYXLA_TEST_PLUGIN").into()
}

/// The fake plugin, which `CYXLA_FAKE_PLUGIN` tells how to behave.
pub fn fake_plugin() -> PathBuf {
    required("CYXLA_TEST_FAKE").into()
}

/// Compiles `a + b` on the process's runtime and checks a result.
pub fn run_add() -> cyxla::error::Result<()> {
    let text = "module @sum { func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
        %c = stablehlo.add %a, %b : tensor<4xf32>
        return %c : tensor<4xf32> } }";
    let program = Program::from_bytes(text.as_bytes(), Format::StableHlo, None)?;
    let executable = Executable::compile(&program, None)?;
    let bytes = |values: [f32; 4]| values.map(f32::to_ne_bytes).concat();
    let mut sum = vec![0; 16];
    executable.run(&[&bytes([1.0, -2.0, 0.5, 1e10]), &bytes([10.0, 20.0, 0.25, 1.0])], &mut [&mut sum])?;
    assert_eq!(sum, bytes([11.0, 18.0, 0.75, 1e10]), "the sum is wrong");
    Ok(())
}

/// Makes the real plugin the process's runtime and runs a program on it.
pub fn add_on_real_plugin() {
    let path = real_plugin();
    let info = runtime::initialize(Some(&path), Some("cpu"), None)
        .unwrap_or_else(|error| panic!("cannot load {}: {error}", path.display()));
    assert_eq!(info.platform, "cpu");
    run_add().unwrap_or_else(|error| panic!("cannot add on {}: {error}", path.display()));
}

/// What the loaded fake plugin counted.
#[derive(Debug, PartialEq, Eq)]
pub struct FakeCounts {
    pub live_objects: i64,
    pub errors_given: i64,
    pub error_destroys: i64,
    pub misuses: i64,
}

impl FakeCounts {
    /// Reads the counts of the fake plugin loaded from `path`.
    pub fn of(path: &Path) -> Self {
        // SAFETY: the process has loaded this library already, which gives a second
        // handle to the same one and runs nothing.
        let library = unsafe { Library::new(path) }.expect("the fake plugin can be loaded");
        let count = |name: &str| {
            // SAFETY: the fake plugin's counters all have this type.
            unsafe {
                let counter = library.get::<extern "C" fn() -> i64>(name.as_bytes());
                counter.unwrap_or_else(|error| panic!("{name}: {error}"))()
            }
        };
        Self {
            live_objects: count("cyxla_fake_live_objects"),
            errors_given: count("cyxla_fake_errors_given"),
            error_destroys: count("cyxla_fake_error_destroys"),
            misuses: count("cyxla_fake_misuses"),
        }
    }

    /// Checks that nothing was left behind, nothing destroyed twice and nothing asked
    /// that a real plugin might not survive.
    pub fn assert_clean(&self) {
        assert_eq!(self.live_objects, 0, "objects were leaked: {self:?}");
        assert_eq!(self.errors_given, self.error_destroys, "errors: {self:?}");
        assert_eq!(self.misuses, 0, "the plugin was misused: {self:?}");
    }
}
