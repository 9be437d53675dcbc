//! `cyxla run` on several devices: whole arrays in and out.

mod support;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use support::{cyxla, error_json, f32s, file, npy, plugin, plugin_minor, success_json};

/// What a program gives for inputs; `None` where the plugin does not tell how the arrays of
/// partitions are divided.
fn values(folder: &Path, partitions: usize, code: &str, inputs: &[PathBuf]) -> Option<Vec<Value>> {
    let head = format!(
        "module @m attributes {{mhlo.num_partitions = {partitions} : i32}} {{ func.func public @main"
    );
    let program = file(folder, "program.mlir", format!("{head}{code} }} }}"));
    let mut command = cyxla();
    command
        .arg("run")
        .arg(&program)
        .args(["--json", "--option=cpu_device_count=4", "--plugin"])
        .arg(plugin());
    if partitions == 1 {
        command.arg("--compile-option=replicas=2");
    }
    let output =
        command.args(inputs.iter().flat_map(|input| [Path::new("--input"), input])).output().unwrap();
    if partitions > 1 && plugin_minor() < 106 {
        let error = error_json(&output);
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("does not tell how the program's arrays are divided"), "{message}");
        return None;
    }
    let outputs = success_json(&output)["outputs"].as_array().unwrap().clone();
    Some(outputs.into_iter().map(|output| output["values"].clone()).collect())
}

fn numbers(folder: &Path, name: &str, shape: &str, count: usize) -> PathBuf {
    let values: Vec<f32> = (0..count).map(|index| index as f32).collect();
    npy(folder, name, "<f4", shape, false, &f32s(&values))
}

/// The last device has a row of padding; with four, one row and one that is all padding.
#[test]
fn rows_that_do_not_divide_evenly() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let a = numbers(folder, "a.npy", "(5, 3)", 15);
    for partitions in [2, 4] {
        let sharding = format!("{{mhlo.sharding = \"{{devices=[{partitions},1]<=[{partitions}]}}\"}}");
        let code = format!(
            "(%a: tensor<5x3xf32> {sharding}) -> (tensor<5x3xf32> {sharding}, tensor<f32>) {{
            %0 = stablehlo.add %a, %a : tensor<5x3xf32>
            %zero = stablehlo.constant dense<0.0> : tensor<f32>
            %1 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0, 1]
                : (tensor<5x3xf32>, tensor<f32>) -> tensor<f32>
            return %0, %1 : tensor<5x3xf32>, tensor<f32>"
        );
        let Some(given) = values(folder, partitions, &code, std::slice::from_ref(&a)) else { continue };
        let doubled: Vec<Vec<f32>> =
            (0..5).map(|row| (0..3).map(|at| (6 * row + 2 * at) as f32).collect()).collect();
        assert_eq!(given, [json!(doubled), json!(105.0)], "on {partitions} devices");
    }
}

#[test]
fn columns_that_do_not_divide_evenly() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let a = numbers(folder, "a.npy", "(2, 5)", 10);
    let sharding = "{mhlo.sharding = \"{devices=[1,2]<=[2]}\"}";
    let code = format!(
        "(%a: tensor<2x5xf32> {sharding}) -> (tensor<2x5xf32> {sharding}) {{
        %0 = stablehlo.add %a, %a : tensor<2x5xf32>
        return %0 : tensor<2x5xf32>"
    );
    if let Some(given) = values(folder, 2, &code, &[a]) {
        assert_eq!(given, [json!([[0.0, 2.0, 4.0, 6.0, 8.0], [10.0, 12.0, 14.0, 16.0, 18.0]])]);
    }
}

#[test]
fn arrays_without_elements_and_of_half_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let empty = numbers(folder, "empty.npy", "(0, 4)", 0);
    let halves = npy(folder, "halves.npy", "|u1", "(6,)", false, &[1, 2, 3, 4, 5, 6]);
    let bits = npy(folder, "bits.npy", "|b1", "(6,)", false, &[1, 0, 0, 1, 1, 0]);
    let (columns, rows) =
        ("{mhlo.sharding = \"{devices=[1,2]<=[2]}\"}", "{mhlo.sharding = \"{devices=[2]<=[2]}\"}");
    let code = format!(
        "(%a: tensor<0x4xf32> {columns}, %b: tensor<6xui4> {rows}, %c: tensor<6xi1> {rows})
            -> (tensor<0x4xf32> {columns}, tensor<6xui4> {rows}, tensor<6xi1> {rows}) {{
        %0 = stablehlo.add %a, %a : tensor<0x4xf32>
        %1 = stablehlo.add %b, %b : tensor<6xui4>
        %2 = stablehlo.not %c : tensor<6xi1>
        return %0, %1, %2 : tensor<0x4xf32>, tensor<6xui4>, tensor<6xi1>"
    );
    if let Some(given) = values(folder, 2, &code, &[empty, halves, bits]) {
        let flipped = json!([false, true, true, false, false, true]);
        assert_eq!(given, [json!([]), json!([2, 4, 6, 8, 10, 12]), flipped]);
    }
}

/// Others give zeros for a random number that they do not draw.
#[test]
fn what_one_device_has_alone() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let a = numbers(folder, "a.npy", "(4,)", 4);
    let alone = "{mhlo.sharding = \"{maximal device=1}\"}";
    let code = format!(
        "(%a: tensor<4xf32> {alone}) -> (tensor<4xf32> {alone}, tensor<4xf32> {alone}) {{
        %low = stablehlo.constant {alone} dense<1.0> : tensor<f32>
        %high = stablehlo.constant {alone} dense<2.0> : tensor<f32>
        %shape = stablehlo.constant {alone} dense<4> : tensor<1xi64>
        %0 = stablehlo.rng %low, %high, %shape, distribution = UNIFORM {alone}
            : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
        %1 = stablehlo.add %a, %a {alone} : tensor<4xf32>
        return %0, %1 : tensor<4xf32>, tensor<4xf32>"
    );
    let Some(given) = values(folder, 2, &code, &[a]) else { return };
    let drawn = given[0].as_array().unwrap();
    assert!(drawn.iter().all(|one| (1.0..2.0).contains(&one.as_f64().unwrap())), "{drawn:?}");
    assert_eq!(given[1], json!([0.0, 2.0, 4.0, 6.0]));
}

/// Each takes the whole; the first one's results count.
#[test]
fn replicas() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let a = numbers(folder, "a.npy", "(4,)", 4);
    let code = "(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<ui32>) {
        %0 = stablehlo.add %a, %a : tensor<4xf32>
        %1 = stablehlo.replica_id : tensor<ui32>
        return %0, %1 : tensor<4xf32>, tensor<ui32>";
    assert_eq!(values(folder, 1, code, &[a]), Some(vec![json!([0.0, 2.0, 4.0, 6.0]), json!(0)]));
}
