//! From what the user passes to what the plugin takes: inputs that the compiler
//! dropped stay behind, and the platform index of a program with branches is added.

use super::Runtime;
use crate::dtype::DType;
use crate::error::{Code, Error, Origin, Result};
use crate::pjrt::{ArraySpec, Buffer, Device, HostInput};
use crate::program::{Parameter, Signature, TensorSpec};

/// Which inputs the plugin takes, in order, behind the platform index if there is one.
pub struct Arguments {
    platform_index: Option<PlatformIndex>,
    /// `None` for all of them.
    kept: Option<Vec<usize>>,
}

struct PlatformIndex {
    value: i64,
    dtype: DType,
    /// The devices that the program may run on, each with the index in its memory.
    buffers: Vec<(usize, Buffer)>,
}

impl Arguments {
    /// All inputs, and nothing else.
    pub fn all() -> Arguments {
        Arguments { platform_index: None, kept: None }
    }

    /// The arguments that a list of parameters means; `devices` are those that the program
    /// may run on, and `index_type` is the element type of the platform index.
    pub fn new(
        runtime: &Runtime,
        devices: &[usize],
        parameters: &[Parameter],
        index_type: DType,
        input_count: usize,
    ) -> Result<Arguments> {
        let mut arguments = Arguments::all();
        let mut kept = Vec::with_capacity(parameters.len());
        for (position, &parameter) in parameters.iter().enumerate() {
            match parameter {
                Parameter::Input(input) if input < input_count => kept.push(input),
                Parameter::PlatformIndex(value) if position == 0 => {
                    let buffer = |&device: &usize| {
                        let made = index_buffer(runtime, runtime.device(device)?, value, index_type)?;
                        Ok((device, made))
                    };
                    let buffers = devices.iter().map(buffer).collect::<Result<_>>()?;
                    arguments.platform_index = Some(PlatformIndex { value, dtype: index_type, buffers });
                }
                other => {
                    let message = format!("the program's parameter {position} is {other:?}, which cannot be");
                    return Err(Error::internal(message));
                }
            }
        }
        if !kept.iter().copied().eq(0..input_count) {
            arguments.kept = Some(kept);
        }
        Ok(arguments)
    }

    /// Whether the platform index comes first.
    pub fn has_platform_index(&self) -> bool {
        self.platform_index.is_some()
    }

    /// The platform index in the memory of a device, which comes first.
    pub fn platform_index(&self, device: usize) -> Option<&Buffer> {
        let mut buffers = self.platform_index.iter().flat_map(|index| &index.buffers);
        buffers.find(|(place, _)| *place == device).map(|(_, buffer)| buffer)
    }

    /// How many arguments the plugin takes for each device, of so many inputs.
    pub fn count(&self, input_count: usize) -> usize {
        usize::from(self.has_platform_index()) + self.kept.as_ref().map_or(input_count, Vec::len)
    }

    /// The element type of the platform index.
    pub fn index_type(&self) -> Option<DType> {
        self.platform_index.as_ref().map(|index| index.dtype)
    }

    /// Of a list with one item for each input, those of the inputs that are taken.
    pub fn select<'a, T>(&'a self, inputs: &'a [T]) -> impl Iterator<Item = (usize, &'a T)> {
        let count = self.kept.as_ref().map_or(inputs.len(), Vec::len);
        (0..count).map(move |position| {
            let input = self.kept.as_ref().map_or(position, |kept| kept[position]);
            (input, &inputs[input])
        })
    }

    /// The list of parameters that this stands for.
    pub fn parameters(&self, input_count: usize) -> Vec<Parameter> {
        let index = self.platform_index.iter().map(|index| Parameter::PlatformIndex(index.value));
        let inputs = match &self.kept {
            Some(kept) => kept.clone(),
            None => (0..input_count).collect(),
        };
        index.chain(inputs.into_iter().map(Parameter::Input)).collect()
    }
}

fn index_buffer(runtime: &Runtime, device: &Device, value: i64, dtype: DType) -> Result<Buffer> {
    let wide = value.to_le_bytes();
    let narrow = i32::try_from(value).unwrap_or(i32::MAX).to_le_bytes();
    let bytes: &[u8] = match dtype {
        DType::S64 => &wide,
        DType::S32 => &narrow,
        _ => {
            let message = format!("the program's platform index is {}, not an integer", dtype.name());
            return Err(Error::new(Code::Unimplemented, Origin::Library, message));
        }
    };
    runtime.client.copy_from_host(HostInput::new(bytes), ArraySpec { dtype, dims: &[] }, device)
}

/// What the user passes and gets when `compiled` is what the compiled module takes and
/// gives, and `told` is what the program said of itself. On several devices that is what
/// each of them takes and gives.
pub fn user_signature(
    told: &Signature,
    parameters: &[Parameter],
    compiled: Signature,
    device_count: usize,
) -> Result<Signature> {
    if parameters.len() != compiled.inputs.len() {
        return Err(disagrees(format!(
            "its module takes {} parameters, where the file tells of {}",
            compiled.inputs.len(),
            parameters.len()
        )));
    }
    let mut inputs = told.inputs.clone();
    for input in &mut inputs {
        input.is_donated = false;
    }
    for (position, (parameter, taken)) in parameters.iter().zip(&compiled.inputs).enumerate() {
        match *parameter {
            Parameter::Input(index) => {
                let input = inputs.get_mut(index).ok_or_else(|| Error::internal("an input is missing"))?;
                check_same("parameter", position, input, taken, device_count)?;
                let name = input.name.take();
                input.clone_from(taken);
                input.name = name;
            }
            Parameter::PlatformIndex(_) if taken.dims.is_empty() => {}
            Parameter::PlatformIndex(_) => {
                return Err(disagrees(format!("its platform index is {}", taken.array_type())));
            }
        }
    }
    if told.outputs.len() != compiled.outputs.len() {
        return Err(disagrees(format!(
            "its module gives {} results, where the file tells of {}",
            compiled.outputs.len(),
            told.outputs.len()
        )));
    }
    let mut outputs = compiled.outputs;
    for (index, (given, output)) in outputs.iter_mut().zip(&told.outputs).enumerate() {
        check_same("result", index, output, given, device_count)?;
        given.name.clone_from(&output.name);
    }
    Ok(Signature { inputs, outputs })
}

fn check_same(
    what: &str,
    index: usize,
    told: &TensorSpec,
    compiled: &TensorSpec,
    device_count: usize,
) -> Result<()> {
    if told.same_type(compiled) || (device_count > 1 && compiled.is_part_of(told)) {
        return Ok(());
    }
    Err(disagrees(format!(
        "{what} {index} of its module is {}, where the file tells of {}",
        compiled.array_type(),
        told.array_type()
    )))
}

fn disagrees(how: String) -> Error {
    Error::new(Code::DataLoss, Origin::Caller, format!("the program contradicts itself: {how}"))
        .hint("the file is damaged; write it again")
}
