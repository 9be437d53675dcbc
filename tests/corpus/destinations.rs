//! What a program gives, it gives into destinations too.

use cyxla::program::{Parameter, Program};

use crate::Outcome;
use crate::index::{Corpus, Entry};
use crate::support;

/// Checks a program whose results are known.
pub fn check(corpus: &Corpus, entry: &Entry, program: &Program, results: &[Vec<u8>]) -> Outcome {
    let inputs = super::inputs(corpus, entry);
    let mut index = [0; 8];
    let inputs = module_inputs(program, &inputs, &mut index)?;
    support::check_destinations(program, &inputs, results).map(drop)
}

/// What the module of an export takes, from what its user passes.
fn module_inputs<'a>(
    program: &Program,
    inputs: &[&'a [u8]],
    index: &'a mut [u8; 8],
) -> Result<Vec<&'a [u8]>, String> {
    let parameters = program.parameters("cpu").map_err(|error| error.to_string())?.ok_or("no export")?;
    let contents = program.contents();
    let size =
        contents.parameters.as_ref().and_then(|parameters| parameters.first()?.host_size()).unwrap_or(0);
    if let Some(Parameter::PlatformIndex(value)) = parameters.first() {
        *index = value.to_le_bytes();
    }
    let index = &*index;
    let module_input = |parameter: &Parameter| match *parameter {
        Parameter::Input(input) => inputs[input],
        Parameter::PlatformIndex(_) => &index[..size],
        Parameter::Destination(output) => panic!("a place for output {output} that nobody asked for"),
    };
    Ok(parameters.iter().map(module_input).collect())
}
