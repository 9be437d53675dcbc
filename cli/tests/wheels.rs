//! `cyxla doctor` on the real wheels for CUDA and TPUs, on a machine that has neither.
//! Only `cargo xtask test --wheels` runs this; see `tests/wheels` for what it needs.

mod support;

use std::time::{Duration, Instant};

use serde_json::Value;
use support::{cyxla, required, stderr, stdout};

fn doctor(platform: &str) -> Value {
    let mut command = cyxla();
    command.env("PYTHONPATH", required("CYXLA_TEST_WHEELS")).args(["doctor", "--json", platform]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}{}", stdout(&output), stderr(&output));
    assert_eq!(stderr(&output), "");
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let site = required("CYXLA_TEST_WHEELS");
    let plugins = value["plugins"].as_array().unwrap();
    let ours = plugins.iter().find(|one| one["path"].as_str().unwrap().starts_with(site.to_str().unwrap()));
    ours.unwrap_or_else(|| panic!("{value:#}")).clone()
}

fn check<'a>(report: &'a Value, name: &str) -> &'a Value {
    let checks = report["checks"].as_array().unwrap();
    checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("no {name} in {report:#}"))
}

fn names(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect()
}

#[test]
fn cuda_is_well_but_for_the_gpu() {
    let report = doctor("cuda");
    assert_eq!(check(&report, "file")["state"], "ok");
    assert_eq!(check(&report, "libraries")["state"], "ok");
    assert_eq!(check(&report, "version")["text"], "PJRT 0.112, StableHLO 0.9.0 to 1.17.0");
    let options = check(&report, "options");
    assert_eq!(names(&options["accepted"]).len(), 14, "{options:#}");
    assert!(names(&options["refused"]).is_empty(), "{options:#}");
    let client = check(&report, "client");
    assert_eq!(client["text"], "No visible GPU devices.");
    assert!(client["notes"].to_string().contains("preload: "), "{client:#}");
    assert!(client["notes"].to_string().contains("cuInit"), "{client:#}");
    assert_eq!(check(&report, "execution")["state"], "skipped");
}

#[test]
fn tpu_is_tried_without_the_wait() {
    let begin = Instant::now();
    let report = doctor("tpu");
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    assert_eq!(check(&report, "device")["state"], "note");
    assert_eq!(check(&report, "version")["text"], "PJRT 0.117, StableHLO 0.9.0 to 1.24.0");
    let options = check(&report, "options");
    assert_eq!(names(&options["accepted"]).len(), 12, "{options:#}");
    let client = check(&report, "client");
    assert!(client["text"].as_str().unwrap().contains("TPU initialization failed"), "{client:#}");
}
