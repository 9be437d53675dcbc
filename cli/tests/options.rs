//! `cyxla plugins --options`: the create options that are known.

mod support;

use support::{run, stdout, success_json};

#[test]
fn every_platform_is_listed_for_programs() {
    let value = success_json(&run(["plugins", "--options", "--json"]));
    let listed = value["options"].as_array().unwrap();
    let find = |platform: &str, name: &str| {
        let found = listed.iter().find(|one| one["platform"] == platform && one["name"] == name);
        found.unwrap_or_else(|| panic!("{platform} has no {name}")).clone()
    };
    let count = find("cpu", "cpu_device_count");
    assert_eq!(
        (&count["kind"], &count["default"], &count["range"]),
        (&"int".into(), &1.into(), &"1 to 1024".into())
    );
    assert_eq!(find("cuda", "preallocate")["default"], false);
    assert_eq!(find("cuda", "platform_name")["default"], serde_json::Value::Null);
    assert_eq!(find("rocm", "platform_name")["default"], "ROCM");
    assert_eq!(find("cuda", "allocator")["choices"][2], "bfc");
    assert_eq!(find("cuda", "memory_fraction")["plugin_default"], "0.75");
    assert_eq!(find("cuda", "visible_devices")["kind"], "ints");
    assert_eq!(find("tpu", "premapped_buffer_size")["kind"], "int");
    assert!(listed.iter().all(|one| one["meaning"].is_string() && one["plugins"].is_string()));
}

#[test]
fn one_platform_is_a_table_for_people() {
    let text = stdout(&run(["plugins", "--options", "cpu"]));
    assert!(text.starts_with("cpu:\n  NAME"), "{text}");
    assert!(text.contains("cpu_device_count") && !text.contains("memory_fraction"), "{text}");
    let text = stdout(&run(["plugins", "--options", "gpu"]));
    assert!(text.contains("cuda:\n") && text.contains("\nrocm:\n") && !text.contains("cpu:"), "{text}");
    let output = run(["plugins", "--options", "abacus"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(support::stderr(&output).contains("cpu, cuda, rocm, tpu"));
}
