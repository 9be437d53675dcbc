//! What is known of a program without a plugin: all that its bytes tell.

use std::fmt;
use std::ops::Range;

use super::detect::Encoding;
use super::device_counts::DeviceCounts;
use super::hlo::{self, HloFacts};
use super::jax_export::{self, AvalType, Export};
use super::signature::{Signature, TensorSpec};
use super::{detect, mlir, shardings, text_facts};
use crate::dtype::DType;
use crate::error::Result;

pub use super::jax_export::Dim;

/// What a program's bytes tell.
#[derive(Debug)]
pub struct Contents {
    /// The form that it is in.
    pub encoding: Encoding,
    /// What a plugin compiles of the bytes.
    pub code: Range<usize>,
    /// What it compiles instead, where it does not take the program's own parameters.
    pub rewritten: Option<Vec<u8>>,
    /// Its name.
    pub name: Option<String>,
    /// The platforms that it was lowered for; empty when it records none.
    pub platforms: Vec<String>,
    /// What the user's function takes, and then what it gives; `None` where that is
    /// only known once it is compiled.
    pub function: Option<(Vec<Tensor>, Vec<Tensor>)>,
    /// The targets of its custom calls, sorted.
    pub custom_calls: Vec<String>,
    /// Who wrote it, as it records it: `StableHLO_v1.17.0`.
    pub written_by: Option<String>,
    /// How many devices it was written for, where it says so.
    pub device_count: Option<u32>,
    /// How these are divided into replicas and partitions, where it says so.
    pub counts: DeviceCounts,
    /// All that a file of `jax.export` says.
    pub export: Option<Box<Export>>,
    /// Types of the parameters that the module itself takes, where they are known.
    pub parameters: Option<Vec<Tensor>>,
    /// Whether the one parameter of an HLO program is a tuple, which is passed as its
    /// elements.
    pub tuple_parameters: bool,
    /// Whether it has shardings of the Shardy dialect.
    pub has_shardy: bool,
    /// The element types in it, as far as they are known: some are not for every plugin.
    pub dtypes: Vec<DType>,
}

/// An input or output.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// Its name in the user's program.
    pub name: Option<String>,
    /// What it holds.
    pub element: Element,
    /// Elements in each dimension.
    pub dims: Vec<Dim>,
    /// Whether the program may overwrite it.
    pub is_donated: bool,
    /// Whether the compiled program takes it at all; the user passes it anyway.
    pub is_kept: bool,
    /// How it is divided among devices, in words.
    pub sharding: Option<String>,
}

/// What an input or output holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Element {
    /// Numbers.
    Array(DType),
    /// Nothing: it only orders effects.
    Token,
    /// Something that this version does not know, by its name or number.
    Unknown(String),
}

impl Default for Tensor {
    fn default() -> Tensor {
        Tensor {
            name: None,
            element: Element::Token,
            dims: Vec::new(),
            is_donated: false,
            is_kept: true,
            sharding: None,
        }
    }
}

impl Tensor {
    /// The input or output in full, if its size is fixed.
    pub fn spec(&self) -> Option<Result<TensorSpec>> {
        let Element::Array(dtype) = self.element else { return None };
        let dims = self.dims.iter().map(|dim| match dim {
            Dim::Fixed(size) => Some(*size),
            Dim::Symbolic(_) => None,
        });
        let dims = dims.collect::<Option<Vec<i64>>>()?;
        Some(TensorSpec::new(self.name.clone(), dtype, dims, self.is_donated))
    }

    /// Bytes that it takes in host memory, if that is known.
    pub fn host_size(&self) -> Option<usize> {
        self.spec()?.ok().map(|spec| spec.host_size())
    }
}

impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.element {
            Element::Array(dtype) => f.write_str(dtype.name())?,
            Element::Token => f.write_str("token")?,
            Element::Unknown(name) => f.write_str(name)?,
        }
        f.write_str("[")?;
        for (index, dim) in self.dims.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            match dim {
                Dim::Fixed(size) => write!(f, "{comma}{size}")?,
                Dim::Symbolic(text) => write!(f, "{comma}{text}")?,
            }
        }
        f.write_str("]")
    }
}

impl Contents {
    /// Reads the program in `bytes`, of which `encoding` was found out.
    pub fn read(bytes: &[u8], encoding: Encoding) -> Result<Contents> {
        shardings::check(bytes)?;
        match encoding {
            Encoding::Text => Contents::of_text(bytes),
            Encoding::Bytecode => Contents::of_bytecode(bytes),
            Encoding::JaxExport => Contents::of_export(bytes, jax_export::read(bytes)?),
            Encoding::HloProto => Ok(Contents::of_hlo(hlo::read(bytes)?)),
            _ => Err(detect::not_a_program(encoding)),
        }
    }

    /// The program of gradients inside a file of `jax.export`, whose table is at `position`.
    pub fn read_vjp(bytes: &[u8], position: usize) -> Result<Contents> {
        Contents::of_export(bytes, jax_export::read_at(bytes, position)?)
    }

    /// A program of which nothing but its place is known.
    pub(super) fn unknown(encoding: Encoding, code: Range<usize>) -> Contents {
        Contents {
            encoding,
            code,
            rewritten: None,
            name: None,
            platforms: Vec::new(),
            function: None,
            custom_calls: Vec::new(),
            written_by: None,
            device_count: None,
            counts: DeviceCounts::default(),
            export: None,
            parameters: None,
            tuple_parameters: false,
            has_shardy: false,
            dtypes: Vec::new(),
        }
    }

    fn of_text(bytes: &[u8]) -> Result<Contents> {
        let text = detect::check_text(bytes)?;
        let function = text_facts::main_function(text);
        let counts = DeviceCounts::of_text(text);
        Ok(Contents {
            name: text_facts::module_name(text),
            parameters: function.as_ref().map(|(inputs, _)| inputs.clone()),
            function,
            custom_calls: text_facts::custom_calls(text),
            has_shardy: text.contains("sdy."),
            dtypes: text_facts::rare_dtypes(text),
            device_count: counts.devices(),
            counts,
            ..Contents::unknown(Encoding::Text, 0..bytes.len())
        })
    }

    fn of_hlo(facts: HloFacts) -> Contents {
        let Signature { inputs, outputs } = &facts.signature;
        let tensors = |specs: &[TensorSpec]| specs.iter().map(Tensor::from).collect::<Vec<_>>();
        // A message leaves out what is 0, which stands for nothing said.
        let said = |count: i64| Some(count).filter(|&count| count != 0);
        let counts = facts.devices.map_or(DeviceCounts::default(), |(replicas, partitions)| DeviceCounts {
            replicas: said(replicas),
            partitions: said(partitions),
        });
        Contents {
            name: Some(facts.name),
            function: Some((tensors(inputs), tensors(outputs))),
            custom_calls: facts.custom_calls,
            device_count: counts.devices(),
            counts,
            rewritten: facts.rewritten,
            tuple_parameters: facts.tuple_parameters,
            has_shardy: facts.has_shardy,
            ..Contents::unknown(Encoding::HloProto, facts.module)
        }
    }

    fn of_bytecode(bytes: &[u8]) -> Result<Contents> {
        let module = mlir::read(bytes)?;
        let all = 0..bytes.len();
        Ok(Contents::of_module(module, Contents::unknown(Encoding::Bytecode, all)))
    }

    fn of_module(module: mlir::Module, rest: Contents) -> Contents {
        let tensors = |values: Vec<mlir::Value>| values.into_iter().map(Tensor::from).collect::<Vec<_>>();
        let function = module.main.map(|main| (tensors(main.inputs), tensors(main.outputs)));
        let counts = DeviceCounts { replicas: module.replicas, partitions: module.partitions };
        Contents {
            name: module.name,
            parameters: function.as_ref().map(|(inputs, _)| inputs.clone()),
            function,
            custom_calls: module.custom_calls.into_iter().map(|call| call.target).collect(),
            written_by: Some(module.producer).filter(|producer| !producer.is_empty()),
            device_count: counts.devices().or(Some(1)),
            counts,
            has_shardy: module.has_shardy,
            dtypes: module.dtypes,
            ..rest
        }
    }

    fn of_export(bytes: &[u8], export: Export) -> Result<Contents> {
        let code = export.module.clone();
        let module = mlir::read(&bytes[code.clone()]).map_err(|error| {
            error.map_message(|message| format!("the module inside the jax.export file: {message}"))
        })?;
        let contents = Contents::of_module(module, Contents::unknown(Encoding::JaxExport, code));
        Ok(contents.with_export(export))
    }

    /// What a file of `jax.export` says besides its module, of which `self` is known.
    pub(super) fn with_export(self, export: Export) -> Contents {
        let mut contents = self;
        let mut inputs = export.inputs.iter().map(Tensor::from).collect::<Vec<_>>();
        for input in &mut inputs {
            input.is_kept = false;
        }
        // What the module says of its parameters belongs to the inputs that were kept.
        let parameters = contents.parameters.as_deref().unwrap_or_default();
        let leading = parameters.len().saturating_sub(export.kept_inputs.len());
        for (position, &kept) in export.kept_inputs.iter().enumerate() {
            let donated = parameters.get(leading + position).is_some_and(|parameter| parameter.is_donated);
            if let Some(input) = inputs.get_mut(kept) {
                input.is_kept = true;
                input.is_donated = donated;
            }
        }
        contents.name = Some(export.function_name.clone());
        contents.platforms.clone_from(&export.platforms);
        contents.function = Some((inputs, export.outputs.iter().map(Tensor::from).collect()));
        contents.device_count = Some(export.device_count);
        contents.export = Some(Box::new(export));
        contents
    }

    /// Whether the module takes tokens, which order the effects of an exported function.
    pub fn takes_tokens(&self) -> bool {
        let parameters = self.parameters.as_deref().unwrap_or_default();
        parameters.iter().any(|parameter| parameter.element == Element::Token)
    }

    /// What the user passes and gets, if all of it has a fixed size.
    pub fn signature(&self) -> Option<Result<Signature>> {
        let (inputs, outputs) = self.function.as_ref()?;
        let specs = |tensors: &[Tensor]| {
            tensors.iter().map(Tensor::spec).collect::<Option<Result<Vec<TensorSpec>>>>()
        };
        let both = specs(inputs)?.and_then(|inputs| Ok((inputs, specs(outputs).transpose()?)));
        match both {
            Ok((inputs, outputs)) => Some(Ok(Signature { inputs, outputs: outputs? })),
            Err(error) => Some(Err(error)),
        }
    }
}

impl From<mlir::Value> for Tensor {
    fn from(value: mlir::Value) -> Tensor {
        let (element, dims) = match value.ty {
            mlir::ValueType::Array { dtype, dims } => {
                let dim = |dim: Option<i64>| dim.map_or(Dim::Symbolic("?".to_owned()), Dim::Fixed);
                (Element::Array(dtype), dims.into_iter().map(dim).collect())
            }
            mlir::ValueType::Token => (Element::Token, Vec::new()),
            mlir::ValueType::Other => (Element::Unknown("unknown".to_owned()), Vec::new()),
        };
        Tensor { name: value.name, element, dims, is_donated: value.is_donated, ..Tensor::default() }
    }
}

impl From<&TensorSpec> for Tensor {
    fn from(spec: &TensorSpec) -> Tensor {
        Tensor {
            name: spec.name.clone(),
            element: Element::Array(spec.dtype),
            dims: spec.dims.iter().map(|&dim| Dim::Fixed(dim)).collect(),
            is_donated: spec.is_donated,
            ..Tensor::default()
        }
    }
}

impl From<&jax_export::Aval> for Tensor {
    fn from(aval: &jax_export::Aval) -> Tensor {
        let (element, dims) = match (aval.physical(), aval.dtype) {
            (Some((dtype, dims)), _) => (Element::Array(dtype), dims),
            (None, AvalType::Token) => (Element::Token, Vec::new()),
            (None, other) => (Element::Unknown(other.to_string()), aval.dims.clone()),
        };
        let sharding = aval.sharding.as_ref().map(ToString::to_string);
        Tensor { name: Some(aval.path.clone()), element, dims, sharding, ..Tensor::default() }
    }
}
