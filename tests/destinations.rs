//! Programs with destinations for their results: each form that a program can have, and
//! what shares memory already.

mod support;

use std::path::Path;

use cyxla::error::Code;
use cyxla::program::{Format, Program};
use cyxla::runtime::{self, Executable};

fn load_plugin() {
    let plugin = support::real_plugin();
    runtime::initialize(Some(&plugin), Some("cpu"), None).expect("the plugin under test");
}

fn numbers(count: usize) -> Vec<u8> {
    (0..count).flat_map(|number| (number as f32 * 0.5 - 1.0).to_ne_bytes()).collect()
}

/// Which results of a program of `f32` inputs get destinations; that they are the same
/// with those is checked.
fn destinations(program: &Program) -> Vec<usize> {
    load_plugin();
    let executable = Executable::compile(program, None).expect("a program");
    let inputs: Vec<Vec<u8>> = executable.inputs().iter().map(|spec| numbers(spec.host_size() / 4)).collect();
    let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    let mut results: Vec<Vec<u8>> =
        executable.outputs().iter().map(|output| vec![0; output.host_size()]).collect();
    let mut outputs: Vec<&mut [u8]> = results.iter_mut().map(Vec::as_mut_slice).collect();
    executable.run(&inputs, &mut outputs).expect("results");
    support::check_destinations(program, &inputs, &results).expect("the same results")
}

fn of_text(text: &str) -> Vec<usize> {
    destinations(&Program::from_bytes(text.as_bytes(), Format::Detect, None).expect("a program"))
}

const BODY: &str =
    "{ %0 = stablehlo.add %a, %b : tensor<4xf32> %1 = stablehlo.multiply %a, %b : tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32> }";

#[test]
fn text() {
    for head in [
        "func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)",
        "// (%a, %b)\nfunc.func public @main(%a: tensor<4xf32> loc(\"a\"), %b: tensor<4xf32> {mhlo.sharding = \"{replicated}\"} // )
            ) -> (tensor<4xf32> {jax.result_info = \"sum, product)\"}, tensor<4 x f32>) attributes {test = \"x\"}",
    ] {
        let bare = format!("{head} {BODY}");
        assert_eq!(of_text(&bare), [0, 1], "{head}");
        let module = format!(
            "module @m attributes {{mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32}} {{ {bare} }}"
        );
        assert_eq!(of_text(&module), [0, 1], "{head}");
    }
}

#[test]
fn text_without_arguments_or_brackets() {
    let constant = "func.func @main() -> tensor<2x3xcomplex<f32>> {
        %destination0 = stablehlo.constant dense<(1.0, 2.0)> : tensor<2x3xcomplex<f32>>
        return %destination0 : tensor<2x3xcomplex<f32>> }";
    assert_eq!(of_text(constant), [0]);
    assert_eq!(of_text("func.func @main() { return }"), [0; 0]);
    let through = "func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
        %0 = stablehlo.negate %a : tensor<4xf32>
        return %a, %0, %0 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32> }";
    assert_eq!(of_text(through), [0, 1, 2]);
}

/// The first summand's memory is for the sum already.
#[test]
fn what_shares_memory_is_left_out() {
    let donated = |facts: &str| {
        format!(
            "func.func @main(%a: tensor<4xf32> {{{facts}}}, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {BODY}"
        )
    };
    assert_eq!(of_text(&donated("tf.aliasing_output = 1 : i32")), [0]);
    assert_eq!(of_text(&donated("\"tf.aliasing_output\" = 0 : i32")), [1]);
    // What XLA is free to use, it does not use for a result with a destination.
    assert_eq!(of_text(&donated("jax.buffer_donor = true")), [0, 1]);
}

#[test]
fn what_is_no_array_of_bytes_is_left_out() {
    let small = "func.func @main(%a: tensor<4xf32>) -> (tensor<4xi4>, tensor<0xf32>, tensor<4xi1>, tensor<4xf32> {mhlo.layout_mode = \"default\"}) {
        %0 = stablehlo.constant dense<3> : tensor<4xi4>
        %1 = stablehlo.constant dense<1.0> : tensor<0xf32>
        %2 = stablehlo.compare GT, %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
        return %0, %1, %2, %a : tensor<4xi4>, tensor<0xf32>, tensor<4xi1>, tensor<4xf32> }";
    assert_eq!(of_text(small), [2, 3]);
    let column_major =
        "func.func @main(%a: tensor<2x3xf32>) -> (tensor<2x3xf32> {mhlo.layout_mode = \"{0,1}\"}) {
        return %a : tensor<2x3xf32> }";
    assert_eq!(of_text(column_major), [0; 0]);
}

#[test]
fn hlo() {
    let file = |name: &str| {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hlo").join(format!("{name}.pb"));
        Program::from_file(&path, Format::Detect, None).expect("a program")
    };
    assert_eq!(destinations(&file("steps")), [1]);
    assert_eq!(destinations(&file("mixed")), [0; 0]);
    assert_eq!(destinations(&file("nested_parameter")), [0]);
    assert_eq!(destinations(&file("column_major_result")), [0; 0]);
    assert_eq!(destinations(&file("empty_result")), [0; 0]);
    let error = file("tuple").with_destinations(&[0]).unwrap_err();
    assert!(error.code() == Code::Unimplemented && error.message().contains("one tuple"), "{error}");
}

/// Three programs in each version of the encoding, plain and as portable artifacts.
#[test]
fn every_version_of_bytecode() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/bytecode");
    let files = std::fs::read_dir(folder).expect("the programs").map(|entry| entry.expect("a file").path());
    let mut counts = [0; 4];
    for path in files.filter(|path| path.extension().is_some_and(|extension| extension == "mlirbc")) {
        let program = Program::from_file(&path, Format::Detect, None).expect("a program");
        counts[destinations(&program).len()] += 1;
    }
    assert_eq!(counts, [0, 10, 10, 10]);
}

#[test]
fn refusals() {
    let one = "(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> }";
    for (text, words) in [
        (
            "\"builtin.module\"() ({ \"func.func\"() <{function_type = () -> (), sym_name = \"main\"}> ({ \"func.return\"() : () -> () }) : () -> () }) : () -> ()",
            "not written out",
        ),
        ("!t = tensor<4xf32>\nfunc.func @main(%a: !t) -> !t { return %a : !t }", "not written out"),
        (
            &format!(
                "func.func @main{one} func.func @other() {{ %0 = stablehlo.constant dense<1.0> : tensor<4xf32> %1 = func.call @main(%0) : (tensor<4xf32>) -> tensor<4xf32> return }}"
            ),
            "names its function main more than once",
        ),
        (
            &format!("module @main attributes {{mhlo.num_partitions = 2 : i32}} {{ func.func @main{one} }}"),
            "several devices",
        ),
        (
            &format!("module attributes {{\"mhlo.input_output_alias\" = []}} {{ func.func @main{one} }}"),
            "attribute mhlo.input_output_alias",
        ),
    ] {
        let program = Program::from_bytes(text.as_bytes(), Format::Detect, None).expect("a program");
        let error = program.with_destinations(&[0]).unwrap_err();
        assert!(error.code() == Code::Unimplemented && error.message().contains(words), "{error}");
    }
    let program =
        Program::from_bytes(format!("func.func @main{one}").as_bytes(), Format::Detect, None).unwrap();
    let error = program.with_destinations(&[0, 1]).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(error.message().contains("no result 1: the program gives 1"), "{error}");
    // Twice the same is once.
    assert_eq!(program.with_destinations(&[0, 0]).unwrap().destinations, [0]);
}
