//! The tests on the real wheels for CUDA and TPUs, kept in a cache like the plugins.

use std::fs;
use std::path::PathBuf;

use super::rust::with_plugin;
use crate::Result;
use crate::pinned;
use crate::plugins;
use crate::process;
use crate::project::{self, Project};

/// What pip is to fetch, with the hashes of the files.
const WHEELS: &str = "\
jax-cuda12-pjrt==0.10.2 --hash=sha256:806d1fd29038b6acf5a2b289dd62192abea977ee26aef60ea295b1d28a23acf8
libtpu==0.0.52 --hash=sha256:f5e2e596eaea9357fbb5a6755a7a9007c6ab75bfde4a55191b03eff402971140
";

/// Of libtpu there is one wheel for each Python; the library in it is for all.
const TARGET: [&str; 6] = [
    "--platform=manylinux_2_27_x86_64",
    "--platform=manylinux_2_31_x86_64",
    "--python-version=3.11",
    "--implementation=cp",
    "--abi=cp311",
    "--abi=none",
];

pub fn tests(project: &Project) -> Result<()> {
    let site = site()?;
    let mut cargo = with_plugin(project.cargo(), project, &plugins::newest()?)?;
    cargo.env("CYXLA_TEST_WHEELS", &site);
    let features = "libcyxla/wheel-tests,cyxla-cli/wheel-tests";
    let packages = ["--package", "libcyxla", "--package", "cyxla-cli"];
    let which = ["--features", features, "--test", "wheels", "--no-fail-fast", "--locked"];
    process::run(cargo.arg("test").args(packages).args(which))
}

/// A folder of packages with the wheels in it, made when it is not there.
fn site() -> Result<PathBuf> {
    let cache = project::cache()?.join("wheels");
    let site = cache.join("site");
    if site.is_dir() {
        return Ok(site);
    }
    let unpacked = pinned::unpack(&cache, WHEELS, &TARGET)?;
    fs::rename(&unpacked, &site).map_err(|error| format!("cannot make {}: {error}", site.display()))?;
    Ok(site)
}
