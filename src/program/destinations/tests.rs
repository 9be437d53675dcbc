use super::*;
use crate::program::{Format, Program};

const TEXT: &str = "module @m attributes {mhlo.num_partitions = 1 : i32, test.x = {mhlo.y = [1, 2]}} {
  func.func private @f(%destination0: tensor<2xf32>) -> tensor<2xf32> {
    return %destination0 : tensor<2xf32>
  }
  func.func public @main(%a: tensor<2xf32> {tf.aliasing_output = 2 : i32} loc(\"a(\"), %b: tensor<2xf32>) // )
      -> (tensor<2xf32> {jax.result_info = \"x\"}, tensor<2xf32, #x.y<4>>, tensor<2xf32>, tensor<1xcomplex<f32>>) {
    return %a, %b, %a, %b : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
  }
}";

fn program(bytes: &[u8]) -> Result<Program> {
    Program::from_bytes(bytes, Format::Detect, None)
}

/// The types of what a program takes, and of what it gives.
fn types(program: &Program) -> Option<(Vec<String>, Vec<String>)> {
    let tell = |tensors: &Vec<crate::program::Tensor>| tensors.iter().map(ToString::to_string).collect();
    program.contents().function.as_ref().map(|(inputs, outputs)| (tell(inputs), tell(outputs)))
}

/// Whether destinations stand behind the inputs that there were, and nothing else changed.
fn check(before: &Program, rewritten: &Rewritten) {
    let after = program(rewritten.code()).expect("what was written");
    let (Some((mut inputs, outputs)), Some(types)) = (types(before), types(&after)) else {
        panic!("no types")
    };
    inputs.extend(rewritten.destinations.iter().map(|&result| outputs[result].clone()));
    assert_eq!(types, (inputs, outputs));
    let (inputs, _) = after.contents().function.as_ref().expect("inputs");
    let (_, added) = inputs.split_at(inputs.len() - rewritten.destinations.len());
    assert!(added.iter().all(|input| input.is_donated));
}

#[test]
fn text_is_added_and_nothing_else() {
    let program = program(TEXT.as_bytes()).unwrap();
    let rewritten = program.with_destinations(&[3, 2, 1, 0]).unwrap();
    assert_eq!(rewritten.destinations, [3, 0]);
    check(&program, &rewritten);
    let added = ", %destination1: tensor<1xcomplex<f32>> {tf.aliasing_output = 3 : i32}, %destination2: tensor<2xf32> {tf.aliasing_output = 0 : i32}";
    let wanted = TEXT.replace("%b: tensor<2xf32>)", &format!("%b: tensor<2xf32>{added})"));
    assert_eq!(std::str::from_utf8(rewritten.code()).unwrap(), wanted);
    // Plugins read text up to a NUL.
    assert_eq!(rewritten.bytes.last(), Some(&0));
}

#[test]
fn positions_are_those_of_results() {
    let program = program(TEXT.as_bytes()).unwrap();
    let error = program.with_destinations(&[4]).unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(error.message().contains("no result 4: the program gives 4"), "{error}");
    assert!(program.with_destinations(&[]).unwrap().destinations.is_empty());
}

#[test]
fn exports_for_several_devices() {
    let bytes = include_bytes!("../../../tests/fixtures/exports/sharding2.jaxexport");
    let error = program(bytes).unwrap().with_destinations(&[0]).unwrap_err();
    assert_eq!(error.code(), Code::Unimplemented);
    assert!(error.message().contains("several devices"), "{error}");
}

/// Marsaglia's xorshift: the same numbers in every run.
fn random(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state as usize
}

/// Rewrites changed programs, and says of how many that could be done.
fn rewrite_changed(files: &[&[u8]], rounds: usize, change: impl Fn(&mut u64, &mut Vec<u8>)) -> usize {
    let mut state = 0x2545_f491_4f6c_dd1d;
    let mut count = 0;
    for round in 0..rounds {
        let mut bytes = files[round % files.len()].to_vec();
        for _ in 0..1 + random(&mut state) % 3 {
            change(&mut state, &mut bytes);
        }
        let Ok(program) = program(&bytes) else { continue };
        let results = types(&program).map_or(0, |(_, outputs)| outputs.len());
        if let Ok(rewritten) = program.with_destinations(&(0..results).collect::<Vec<_>>()) {
            check(&program, &rewritten);
            count += 1;
        }
    }
    count
}

#[test]
fn changed_texts() {
    let marks = b"(){}<>,:%@\"=-/!#x1\n ";
    let count = rewrite_changed(&[TEXT.as_bytes()], 10_000, |state, bytes| {
        let position = random(state) % bytes.len();
        let mark = marks[random(state) % marks.len()];
        match random(state) % 3 {
            0 => bytes[position] = mark,
            1 => bytes.insert(position, mark),
            _ => drop(bytes.remove(position)),
        }
    });
    assert!((200..9_800).contains(&count), "{count}");
}

#[test]
fn changed_protos() {
    let files: [&[u8]; 4] = [
        include_bytes!("../../../tests/fixtures/hlo/steps.pb"),
        include_bytes!("../../../tests/fixtures/hlo/mixed.pb"),
        include_bytes!("../../../tests/fixtures/hlo/nested_parameter.pb"),
        include_bytes!("../../../tests/fixtures/hlo/empty_result.pb"),
    ];
    let count = rewrite_changed(&files, 10_000, |state, bytes| {
        let position = random(state) % bytes.len();
        bytes[position] = match random(state) % 2 {
            0 => bytes[position].wrapping_add(1),
            _ => random(state) as u8,
        };
    });
    assert!((200..9_800).contains(&count), "{count}");
}
