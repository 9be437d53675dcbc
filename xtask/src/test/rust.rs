//! The checks that cargo and its kin do.

use std::process::Command;

use crate::Result;
use crate::dlpack;
use crate::plugins::{self, Plugin};
use crate::process;
use crate::project::Project;
use crate::tools;

pub fn format(project: &Project) -> Result<()> {
    process::run(project.cargo().args(["fmt", "--all", "--check"]))
        .map_err(|error| format!("{error}; `cargo fmt --all` puts it right"))
}

pub fn clippy(project: &Project) -> Result<()> {
    let arguments = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
    process::run(project.cargo().args(arguments))
}

pub fn documentation(project: &Project) -> Result<()> {
    let mut cargo = project.cargo();
    cargo.env("RUSTDOCFLAGS", "-D warnings");
    let ours = ["--package", "libcyxla", "--package", "cyxla-cli", "--lib"];
    process::run(cargo.arg("doc").args(ours).args(["--no-deps", "--document-private-items", "--locked"]))
}

/// Licences, sources and duplicate crates. Advisories need a database from the
/// network, so they are not part of this.
pub fn licences(project: &Project) -> Result<()> {
    // Every platform's crates are looked at, those of this machine and others.
    process::run(project.cargo().args(["fetch", "--locked"]))?;
    let mut deny = Command::new(tools::cargo_deny()?);
    deny.current_dir(&project.root);
    let how = ["--workspace", "--offline", "--locked", "check", "--hide-inclusion-graph"];
    process::run(deny.args(how).args(["licenses", "bans", "sources"]))
}

/// No dependency may ask for a newer Rust than this workspace does. What our
/// own code uses is checked by clippy (`incompatible_msrv`).
pub fn rust_version(project: &Project) -> Result<()> {
    let text = process::output(project.cargo().args(["metadata", "--format-version", "1", "--locked"]))?;
    let metadata: serde_json::Value =
        serde_json::from_str(&text).map_err(|error| format!("cargo metadata: {error}"))?;
    let packages = metadata["packages"].as_array().ok_or("cargo metadata lists no packages")?;
    let newer = newer_than_ours(packages)?;
    println!("{} packages, {} too new", packages.len(), newer.len());
    if newer.is_empty() {
        return Ok(());
    }
    Err(format!(
        "these need a newer Rust; pin older versions with `cargo update --precise`: {}",
        newer.join(", ")
    ))
}

fn newer_than_ours(packages: &[serde_json::Value]) -> Result<Vec<String>> {
    let ours = packages.iter().find(|package| package["name"] == "libcyxla");
    let limit = ours.and_then(rust_version_of).ok_or("Cargo.toml states no rust-version")?;
    let newer =
        packages.iter().filter(|package| rust_version_of(package).is_some_and(|version| version > limit));
    Ok(newer
        .map(|package| format!("{} {} ({})", package["name"], package["version"], package["rust_version"]))
        .collect())
}

fn rust_version_of(package: &serde_json::Value) -> Option<(u32, u32)> {
    let mut numbers = package["rust_version"].as_str()?.split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

pub fn test_build(project: &Project) -> Result<()> {
    process::run(project.cargo().args([
        "build",
        "--package",
        "cyxla-fake-plugin",
        "--package",
        "cyxla-cli",
        "--locked",
    ]))?;
    process::run(project.cargo().args(["test", "--workspace", "--no-run", "--locked"]))
}

pub fn unit_tests(project: &Project) -> Result<()> {
    let newest = plugins::newest()?;
    let mut cargo = with_plugin(project.cargo(), project, &newest)?;
    process::run(cargo.args(["test", "--workspace", "--lib", "--bins", "--locked"]))?;
    let mut cargo = with_plugin(project.cargo(), project, &newest)?;
    process::run(cargo.args(["test", "--package", "libcyxla", "--doc", "--locked"]))
}

pub fn tests_0_81(project: &Project) -> Result<()> {
    integration_tests(project, "0.81")
}

pub fn tests_0_106(project: &Project) -> Result<()> {
    integration_tests(project, "0.106")
}

pub fn tests_0_115(project: &Project) -> Result<()> {
    integration_tests(project, "0.115")
}

fn integration_tests(project: &Project, version: &'static str) -> Result<()> {
    let mut cargo = with_plugin(project.cargo(), project, &plugins::cached(version)?)?;
    // Not `--test *`, which asks for those too that need a feature.
    process::run(cargo.args(["test", "--workspace", "--tests", "--no-fail-fast", "--locked"]))
}

/// Variables that decide which plugin is found and how it is loaded.
const STEERING: [&str; 13] = [
    "CYXLA_PLUGIN",
    "CYXLA_PLATFORM",
    "CYXLA_OPTIONS",
    "CYXLA_PLUGIN_DIRS",
    "CYXLA_PYTHON",
    "CYXLA_LOG",
    "CYXLA_CACHE_DIR",
    "PJRT_NAMES_AND_LIBRARY_PATHS",
    "TPU_LIBRARY_PATH",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PYTHONPATH",
    "XLA_FLAGS",
];

/// What a test may rely on; tests run by hand want the same variables.
pub fn with_plugin(mut command: Command, project: &Project, plugin: &Plugin) -> Result<Command> {
    command
        .env("CYXLA_TEST_PLUGIN", &plugin.path)
        .env("CYXLA_TEST_PLUGIN_API", plugin.version)
        .env("CYXLA_TEST_FAKE", project.fake_plugin())
        .env("CYXLA_TEST_HEADER", plugins::published_header()?)
        .env("CYXLA_TEST_DLPACK", dlpack::published_header()?);
    // What the person at the keyboard has set must not steer the tests.
    for name in STEERING {
        command.env_remove(name);
    }
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_package_that_needs_a_newer_rust_is_found() {
        let packages = |version| {
            let ours = json!({"name": "libcyxla", "version": "0.1.0", "rust_version": "1.88"});
            [ours, json!({"name": "other", "version": "2.0.0", "rust_version": version})]
        };
        for fine in [json!("1.88.0"), json!("1.9"), json!(null)] {
            assert_eq!(newer_than_ours(&packages(fine)), Ok(vec![]));
        }
        assert_eq!(newer_than_ours(&packages(json!("1.89"))).map(|list| list.len()), Ok(1));
        assert!(newer_than_ours(&[]).is_err());
    }
}
