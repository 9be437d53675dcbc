//! HLO protos on a real plugin.

mod support;

use std::path::{Path, PathBuf};

use cyxla::error::{Code, Error, Result};
use cyxla::program::{Format, Program};
use cyxla::runtime::{self, Executable};
use support::real_plugin;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hlo").join(format!("{name}.pb"))
}

fn compiled(name: &str) -> Result<Executable> {
    runtime::initialize(Some(&real_plugin()), Some("cpu"), None).expect("the plugin under test");
    let program = Program::from_file(&fixture(name), Format::Detect, None)?;
    assert_eq!(program.format(), Format::Hlo);
    Executable::compile(&program, None)
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_ne_bytes()).collect()
}

/// The first result, an array of so many numbers.
fn run(executable: &Executable, inputs: &[&[f32]], counts: &[usize]) -> Vec<Vec<f32>> {
    let inputs: Vec<Vec<u8>> = inputs.iter().map(|input| bytes(input)).collect();
    let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    let mut outputs: Vec<Vec<u8>> = counts.iter().map(|count| vec![0; count * 4]).collect();
    let mut slices: Vec<&mut [u8]> = outputs.iter_mut().map(Vec::as_mut_slice).collect();
    executable.run(&inputs, &mut slices).expect("a run");
    let number = |bytes: &[u8]| f32::from_ne_bytes(bytes.try_into().expect("four bytes"));
    outputs.iter().map(|output| output.chunks_exact(4).map(number).collect()).collect()
}

fn refused(name: &str) -> Error {
    let Err(error) = compiled(name) else { panic!("{name} was compiled") };
    assert_eq!(error.code(), Code::Unimplemented, "{error}");
    error
}

#[test]
fn a_program_of_jax() {
    let executable = compiled("steps").unwrap();
    assert_eq!(executable.inputs()[0].name.as_deref(), Some("params['scale']"));
    assert_eq!(executable.inputs()[1].name.as_deref(), Some("x"));
    assert!(executable.inputs()[1].is_donated && !executable.inputs()[0].is_donated);
    let outputs = run(&executable, &[&[2.0], &[1.0, 2.0, 3.0, 4.0]], &[4, 1]);
    // Three times y * 2 + i: 8 x + 4.
    let y = [12.0_f32, 20.0, 28.0, 36.0];
    assert_eq!(outputs[1], [y.iter().sum::<f32>()]);
    for (got, y) in outputs[0].iter().zip(y) {
        assert!((got - y.sin()).abs() < 1e-5, "{outputs:?}");
    }
}

#[test]
fn the_parts_of_a_tuple_are_passed_on_their_own() {
    let executable = compiled("tuple").unwrap();
    let names: Vec<_> = executable.inputs().iter().map(|input| input.name.as_deref()).collect();
    assert_eq!(names, [Some("pair[0]"), Some("pair[1]")]);
    let donated: Vec<_> = executable.inputs().iter().map(|input| input.is_donated).collect();
    assert_eq!(donated, [false, true]);
    let a: Vec<f32> = (0..6).map(|number| number as f32 * 10.0).collect();
    let b = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    for _ in 0..3 {
        assert_eq!(run(&executable, &[&a, &b], &[6]), [[-1.0, 8.0, 17.0, 26.0, 35.0, 44.0]]);
    }
    assert_eq!(run(&compiled("empty_tuple_parameter").unwrap(), &[], &[1]), [[3.0]]);
}

#[test]
fn tuples_among_other_parameters_are_passed_as_arrays() {
    let (x, a, b) = ([1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0], [4.0, 3.0, 2.0, 1.0]);
    let executable = compiled("mixed").unwrap();
    let names: Vec<_> = executable.inputs().iter().map(|input| input.name.as_deref()).collect();
    assert_eq!(names, [Some("x"), Some("pair[0]"), Some("pair[1]")]);
    let donated: Vec<_> = executable.inputs().iter().map(|input| input.is_donated).collect();
    assert_eq!(donated, [false, false, true]);
    for _ in 0..3 {
        assert_eq!(run(&executable, &[&x, &a, &b], &[4]), [[6.0, 34.0, 84.0, 156.0]]);
    }
    let executable = compiled("nested_parameter").unwrap();
    assert_eq!(run(&executable, &[&a, &b, &x], &[4]), [[10.0, 40.0, 90.0, 160.0]]);
}

#[test]
fn results_are_arrays_in_row_major_order() {
    let executable = compiled("column_major_result").unwrap();
    let input = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
    assert_eq!(run(&executable, &[&input], &[6]), [input.map(|number: f32| -number)]);
    let executable = compiled("empty_result").unwrap();
    assert_eq!(executable.outputs().len(), 0);
    run(&executable, &[&[1.0, 2.0]], &[]);
    assert!(refused("nested_result").message().contains("result 0 of the program is a tuple"));
}

#[test]
fn what_does_not_run_says_why() {
    assert!(refused("token").message().contains("a token"));
    let Err(error) = compiled("custom_call") else { panic!("compiled") };
    assert!(error.message().contains("first") || error.message().contains("second"), "{error}");
    let text = b"HloModule none\n\nENTRY e {\n  p = f32[2]{0} parameter(0)\n  ROOT r = () tuple()\n}\n";
    let error = Program::from_bytes(text, Format::Hlo, None).unwrap_err();
    assert!(error.message().contains("HLO text"), "{error}");
}
