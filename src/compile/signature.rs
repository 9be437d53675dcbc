//! The signature of a compiled program, read from the program itself.
//!
//! PJRT has no call that tells a program's arguments; the optimized program,
//! which every plugin can give, has them.

use prost::Message;

use super::runnable;
use crate::dtype::DType;
use crate::error::{Code, Error, Origin, Result};
use crate::pjrt::{Executable, Layout, Shape};
use crate::program::hlo::proto;
use crate::program::{Signature, TensorSpec};

/// A longer name of a tuple is left out of the names of its parts.
const LONGEST_NAME: usize = 256;

/// Reads the signature of a program that was compiled for so many devices. With
/// `tuple_parameters` the plugin was told to take the parts of its one parameter.
pub fn read(executable: &Executable<'_>, device_count: usize, tuple_parameters: bool) -> Result<Signature> {
    let (format, bytes) = executable.optimized_program()?;
    let module = match format.as_str() {
        "hlo_with_config" => proto::HloModuleWithConfig::decode(&*bytes).map(|program| program.module),
        "hlo" => proto::HloModule::decode(&*bytes).map(Some),
        _ => return Err(unreadable(format!("it is in the unknown format '{format}'"))),
    };
    let module = module.map_err(|error| unreadable(error.to_string()))?;
    let module = module.ok_or_else(|| unreadable("it holds no module".into()))?;
    runnable::check(&module, device_count)?;
    from_module(&module, &executable.output_shapes()?, tuple_parameters)
}

fn from_module(
    module: &proto::HloModule,
    output_shapes: &[Shape],
    tuple_parameters: bool,
) -> Result<Signature> {
    let shape = module.host_program_shape.as_ref();
    let shape = shape.ok_or_else(|| unreadable("it has no program shape".into()))?;
    let parameters = match &shape.parameters[..] {
        [only] if tuple_parameters => &only.tuple_shapes,
        all => all,
    };
    let mut inputs = Vec::with_capacity(parameters.len());
    for (index, parameter) in parameters.iter().enumerate() {
        let what = format!("argument {index}");
        inputs.push(spec(parameter, &what)?);
        // Plugins do not compare an argument's order with the program's, and
        // compute wrong numbers where they differ.
        let layout = parameter.layout.as_ref().map(|layout| Layout {
            minor_to_major: layout.minor_to_major.clone(),
            is_tiled: !layout.tiles.is_empty(),
        });
        if let Some(layout) = layout.filter(|layout| !layout.is_row_major(&parameter.dimensions)) {
            let message = format!(
                "{what} of the program has the memory order {:?} (minor to major); this version passes arguments in row-major order only",
                layout.minor_to_major
            );
            return Err(refused(message).hint("remove the layout_mode attribute of the argument"));
        }
    }
    let donors = module.buffer_donor.iter().flat_map(|donor| &donor.entries);
    let aliases = module.input_output_alias.iter().flat_map(|alias| &alias.entries);
    let donated = donors.map(|entry| (entry.parameter_number, &entry.parameter_shape_index));
    for (parameter, part) in
        donated.chain(aliases.map(|entry| (entry.parameter_number, &entry.parameter_shape_index)))
    {
        let position = if tuple_parameters { part.first().copied().unwrap_or(-1) } else { parameter };
        if let Some(input) = at(&mut inputs, position) {
            input.is_donated = true;
        }
    }
    name_inputs(module, &mut inputs, tuple_parameters);
    let outputs = outputs(shape, output_shapes)?;
    Ok(Signature { inputs, outputs })
}

/// Names live in the program's locations, which parameters keep as metadata.
fn name_inputs(module: &proto::HloModule, inputs: &mut [TensorSpec], tuple_parameters: bool) {
    let entry = module.computations.iter().find(|one| one.id == module.entry_computation_id);
    for instruction in entry.iter().flat_map(|entry| &entry.instructions) {
        let name = instruction.metadata.as_ref().map_or(&[][..], |metadata| &metadata.op_name);
        if instruction.opcode != "parameter" || name.is_empty() {
            continue;
        }
        if tuple_parameters {
            // One name stands in the names of all parts.
            if name.len() > LONGEST_NAME {
                continue;
            }
            for (part, input) in inputs.iter_mut().enumerate() {
                input.name = Some(format!("{}[{part}]", String::from_utf8_lossy(name)));
            }
        } else if let Some(input) = at(inputs, instruction.parameter_number) {
            input.name = Some(String::from_utf8_lossy(name).into_owned());
        }
    }
}

fn at(inputs: &mut [TensorSpec], number: i64) -> Option<&mut TensorSpec> {
    usize::try_from(number).ok().and_then(|index| inputs.get_mut(index))
}

fn outputs(shape: &proto::ProgramShape, known: &[Shape]) -> Result<Vec<TensorSpec>> {
    const TUPLE: i32 = 13;
    let none = proto::Shape { element_type: TUPLE, ..Default::default() };
    let result = shape.result.as_ref().unwrap_or(&none);
    let results = match result.element_type {
        TUPLE => result.tuple_shapes.as_slice(),
        _ => std::slice::from_ref(result),
    };
    let specs: Vec<TensorSpec> = (results.iter().enumerate())
        .map(|(index, result)| spec(result, &format!("result {index}")))
        .collect::<Result<_>>()?;
    let told: Vec<Shape> =
        specs.iter().map(|spec| Shape { dtype: spec.dtype, dims: spec.dims.clone() }).collect();
    if told != known {
        let message =
            format!("the plugin describes the program's results in two ways: {told:?} and {known:?}");
        return Err(Error::new(Code::Internal, Origin::Plugin, message));
    }
    Ok(specs)
}

fn spec(shape: &proto::Shape, what: &str) -> Result<TensorSpec> {
    const TUPLE: i32 = 13;
    // Real plugins compile programs with these and then abort when they run.
    let Some(dtype) = DType::from_xla(shape.element_type).filter(|&dtype| dtype != DType::TOKEN) else {
        let kind = match shape.element_type {
            TUPLE => "a tuple".to_owned(),
            17 => "a token".to_owned(),
            other => format!("of the unknown XLA type {other}"),
        };
        return Err(refused(format!("{what} of the program is {kind}; programs take and give arrays")));
    };
    if shape.is_dynamic_dimension.contains(&true) {
        return Err(refused(format!("{what} of the program has a dynamic shape"))
            .hint("export the program with fixed shapes"));
    }
    let dims = shape.dimensions.clone();
    TensorSpec::new(None, dtype, dims, false)
        .map_err(|error| error.map_message(|message| format!("{what} of the program: {message}")))
}

fn refused(message: String) -> Error {
    Error::new(Code::Unimplemented, Origin::Library, message)
}

fn unreadable(reason: String) -> Error {
    let message = format!("the plugin's description of the compiled program cannot be read: {reason}");
    Error::new(Code::Unimplemented, Origin::Plugin, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(element_type: i32, dims: &[i64]) -> proto::Shape {
        proto::Shape { element_type, dimensions: dims.to_vec(), ..Default::default() }
    }

    fn module(parameters: Vec<proto::Shape>, result: proto::Shape) -> proto::HloModule {
        let host_program_shape = Some(proto::ProgramShape { parameters, result: Some(result) });
        proto::HloModule { host_program_shape, ..Default::default() }
    }

    #[test]
    fn inputs_outputs_names_and_donation() {
        let mut module = module(vec![array(11, &[4, 8]), array(16, &[])], array(11, &[2]));
        let parameter = |number, name: &str| proto::Instruction {
            opcode: "parameter".into(),
            parameter_number: number,
            metadata: Some(proto::OpMetadata { op_name: name.as_bytes().to_vec() }),
            ..Default::default()
        };
        module.entry_computation_id = 5;
        module.computations = vec![
            proto::Computation { id: 4, instructions: vec![parameter(0, "inner")] },
            proto::Computation { id: 5, instructions: vec![parameter(1, "x['w']"), parameter(9, "none")] },
        ];
        module.buffer_donor = Some(proto::BufferDonor {
            entries: vec![proto::DonorEntry { parameter_number: 1, ..Default::default() }],
        });
        let known = [Shape { dtype: DType::F32, dims: vec![2] }];
        let signature = from_module(&module, &known, false).unwrap();
        let inputs = &signature.inputs;
        assert_eq!(inputs[0].array_type().to_string(), "f32[4,8]");
        assert_eq!(
            (inputs[0].host_size(), inputs[0].name.as_deref(), inputs[0].is_donated),
            (128, None, false)
        );
        assert_eq!(inputs[1].array_type().to_string(), "bf16[]");
        assert_eq!(
            (inputs[1].host_size(), inputs[1].name.as_deref(), inputs[1].is_donated),
            (2, Some("x['w']"), true)
        );
        assert_eq!(signature.outputs.len(), 1);
        assert!(from_module(&module, &[], false).is_err());
    }

    #[test]
    fn what_plugins_abort_on_is_refused() {
        let tuple = array(13, &[]);
        let dynamic = proto::Shape { is_dynamic_dimension: vec![true], ..array(11, &[4]) };
        let layout =
            |order: &[i64]| Some(proto::Layout { minor_to_major: order.to_vec(), tiles: Vec::new() });
        let column_major = proto::Shape { layout: layout(&[0, 1]), ..array(11, &[2, 3]) };
        let huge = array(12, &[i64::MAX, 2]);
        for shape in [tuple.clone(), array(17, &[]), array(99, &[]), dynamic, column_major, huge] {
            let error = from_module(&module(vec![shape], tuple.clone()), &[], false).unwrap_err();
            assert_eq!(error.code(), Code::Unimplemented, "{error}");
        }
        let vector = proto::Shape { layout: layout(&[0]), ..array(11, &[3]) };
        from_module(&module(vec![vector], tuple), &[], false).unwrap();
    }
}
