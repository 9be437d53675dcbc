//! Checks that a program with destinations gives what it gave before.

use cyxla::dtype::DType;
use cyxla::program::{Format, Program, TensorSpec};
use cyxla::runtime::Executable;
use prost::Message;

/// What is wrong, in words.
type Outcome<T> = Result<T, String>;

/// Of a compiled program, which parameters share memory with which results.
#[derive(Clone, PartialEq, Message)]
struct Compiled {
    #[prost(message, optional, tag = "1")]
    module: Option<Module>,
}

#[derive(Clone, PartialEq, Message)]
struct Module {
    #[prost(message, optional, tag = "8")]
    aliases: Option<Aliases>,
}

#[derive(Clone, PartialEq, Message)]
struct Aliases {
    #[prost(message, repeated, tag = "1")]
    entries: Vec<Alias>,
}

#[derive(Clone, PartialEq, Message)]
struct Alias {
    #[prost(int64, repeated, tag = "1")]
    result: Vec<i64>,
    #[prost(int64, tag = "2")]
    parameter: i64,
}

/// The same program with destinations for all results, and which have one.
fn rewritten(program: &Program, results: usize) -> Outcome<(Program, Vec<usize>)> {
    let all: Vec<usize> = (0..results).collect();
    let rewritten = program.with_destinations(&all).map_err(|error| format!("rewriting: {error}"))?;
    let again = Program::from_bytes(rewritten.code(), Format::Detect, None)
        .map_err(|error| format!("reading it again: {error}"))?;
    Ok((again, rewritten.destinations))
}

/// Of each parameter that shares memory with a result, its position and that of the result.
fn shared(executable: &Executable) -> Outcome<Vec<(usize, usize)>> {
    let program = executable.optimized_program().map_err(|error| error.to_string())?;
    let compiled = Compiled::decode(&program[..]).map_err(|error| error.to_string())?;
    let aliases = compiled.module.and_then(|module| module.aliases).unwrap_or_default().entries;
    let pair = |alias: &Alias| {
        // The only result is not always in a tuple.
        (alias.parameter as usize, alias.result.first().copied().unwrap_or(0) as usize)
    };
    Ok(aliases.iter().map(pair).collect())
}

fn run(executable: &Executable, inputs: &[&[u8]]) -> Outcome<Vec<Vec<u8>>> {
    let mut results: Vec<Vec<u8>> =
        executable.outputs().iter().map(|output| vec![0xaa; output.host_size()]).collect();
    let mut outputs: Vec<&mut [u8]> = results.iter_mut().map(Vec::as_mut_slice).collect();
    executable.run(inputs, &mut outputs).map_err(|error| format!("running: {error}"))?;
    Ok(results)
}

/// Checks that the results of a program with destinations are those wanted, and that it
/// shares the memory of each destination with the right result. Gives which have one;
/// `inputs` are those of the module itself.
pub fn check_destinations(program: &Program, inputs: &[&[u8]], wanted: &[Vec<u8>]) -> Outcome<Vec<usize>> {
    let (again, destinations) = rewritten(program, wanted.len())?;
    let executable = Executable::compile(&again, None).map_err(|error| format!("compiling: {error}"))?;
    let (specs, outputs) = (executable.inputs(), executable.outputs());
    let first = inputs.len();
    if specs.len() != first + destinations.len() {
        return Err(format!("{} inputs and {destinations:?} make {}", first, specs.len()));
    }
    // Not what a result is by chance; a truth value has to be one.
    let filled = |spec: &TensorSpec| vec![if spec.dtype == DType::PRED { 1 } else { 0x55 }; spec.host_size()];
    let filled: Vec<Vec<u8>> = specs[first..].iter().map(filled).collect();
    let inputs: Vec<&[u8]> = inputs.iter().copied().chain(filled.iter().map(Vec::as_slice)).collect();
    let shared = shared(&executable)?;
    for (position, &result) in destinations.iter().enumerate() {
        let (spec, output): (&TensorSpec, &TensorSpec) = (&specs[first + position], &outputs[result]);
        if !spec.is_donated || !spec.same_type(output) {
            return Err(format!("result {result}: {output:?}, but {spec:?}"));
        }
        if !shared.contains(&(first + position, result)) {
            return Err(format!("result {result} has another destination: {shared:?}"));
        }
    }
    for (position, (got, want)) in run(&executable, &inputs)?.iter().zip(wanted).enumerate() {
        if got != want {
            return Err(format!("result {position} is another one"));
        }
    }
    Ok(destinations)
}
