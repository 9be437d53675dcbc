//! What compiled programs tell of themselves.

use std::ffi::c_char;

use super::executable::LoadedExecutable;
use super::{call, list, owned_text, presence, sys};
use crate::dtype::DType;
use crate::error::{Code, Error, Origin, Result};
use crate::memory;

/// The type and shape of a result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    /// The element type.
    pub dtype: DType,
    /// Elements in each dimension.
    pub dims: Vec<i64>,
}

/// What a compiled program tells of itself. Must not outlive what it came from.
pub struct Executable<'a> {
    pub(super) loaded: &'a LoadedExecutable,
    pub(super) raw: *mut sys::PJRT_Executable,
}

/// Bytes that a compiled program takes on its device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemoryUse {
    /// Its code; 0 where the plugin does not tell.
    pub generated_code: i64,
    /// Its arguments.
    pub arguments: i64,
    /// Its results.
    pub outputs: i64,
    /// What results share with donated arguments.
    pub aliased: i64,
    /// What it needs in between.
    pub temporary: i64,
    /// The most that it has at once; 0 where the plugin does not tell.
    pub peak: i64,
}

impl Executable<'_> {
    /// The program's name.
    pub fn name(&self) -> Result<String> {
        let mut args = sys::PJRT_Executable_Name_Args::new();
        args.executable = self.raw;
        // SAFETY: the executable is alive; the text is copied at once.
        unsafe {
            call!(self.loaded.api(), PJRT_Executable_Name, &mut args)?;
            Ok(owned_text(args.executable_name, args.executable_name_size))
        }
    }

    pub(super) fn output_count(&self) -> Result<usize> {
        let mut args = sys::PJRT_Executable_NumOutputs_Args::new();
        args.executable = self.raw;
        // SAFETY: the executable is alive.
        unsafe { call!(self.loaded.api(), PJRT_Executable_NumOutputs, &mut args) }?;
        Ok(args.num_outputs)
    }

    /// Types and shapes of the results.
    pub fn output_shapes(&self) -> Result<Vec<Shape>> {
        let api = self.loaded.api();
        let mut types = sys::PJRT_Executable_OutputElementTypes_Args::new();
        types.executable = self.raw;
        let mut dims = sys::PJRT_Executable_OutputDimensions_Args::new();
        dims.executable = self.raw;
        // SAFETY: the executable is alive and owns the lists, which are as long
        // as they say; dims holds the sum of all ranks.
        let (types, ranks, mut dims) = unsafe {
            call!(api, PJRT_Executable_OutputElementTypes, &mut types)?;
            call!(api, PJRT_Executable_OutputDimensions, &mut dims)?;
            let types = list(types.output_types, types.num_output_types);
            let ranks = list(dims.dim_sizes, dims.num_outputs);
            (types, ranks, list(dims.dims, ranks.iter().sum()))
        };
        if types.len() != ranks.len() {
            let message = format!("the plugin tells {} result types and {} shapes", types.len(), ranks.len());
            return Err(Error::new(Code::Internal, Origin::Plugin, message));
        }
        let shapes = types.iter().zip(ranks).map(|(&dtype, &rank)| {
            let (own, rest) = dims.split_at(rank);
            dims = rest;
            Shape { dtype: DType(dtype), dims: own.to_vec() }
        });
        Ok(shapes.collect())
    }

    /// The program after optimization, in the format that the plugin names:
    /// `(format, bytes)`.
    pub fn optimized_program(&self) -> Result<(String, Vec<u8>)> {
        let mut program = sys::PJRT_Program::new();
        let mut args = sys::PJRT_Executable_OptimizedProgram_Args::new();
        args.executable = self.raw;
        args.program = &mut program;
        let mut code;
        // SAFETY: the executable is alive. The first call tells the size, the
        // second fills memory of that size; the format's text is copied at once.
        unsafe {
            call!(self.loaded.api(), PJRT_Executable_OptimizedProgram, &mut args)?;
            code = memory::zeroed(program.code_size)?;
            program.code = code.as_mut_ptr().cast::<c_char>();
            if !code.is_empty() {
                call!(self.loaded.api(), PJRT_Executable_OptimizedProgram, &mut args)?;
            }
            Ok((owned_text(program.format, program.format_size), code))
        }
    }
}

impl Executable<'_> {
    /// How many replicas and partitions the program was compiled for.
    pub fn device_counts(&self) -> Result<(usize, usize)> {
        let mut replicas = sys::PJRT_Executable_NumReplicas_Args::new();
        replicas.executable = self.raw;
        let mut partitions = sys::PJRT_Executable_NumPartitions_Args::new();
        partitions.executable = self.raw;
        // SAFETY: the executable is alive.
        unsafe {
            call!(self.loaded.api(), PJRT_Executable_NumReplicas, &mut replicas)?;
            call!(self.loaded.api(), PJRT_Executable_NumPartitions, &mut partitions)?;
        }
        Ok((replicas.num_replicas, partitions.num_partitions))
    }

    /// A text that names the program that was compiled; not the code made of it, nor
    /// the compiler.
    pub fn fingerprint(&self) -> Result<String> {
        let mut args = sys::PJRT_Executable_Fingerprint_Args::new();
        args.executable = self.raw;
        // SAFETY: the executable is alive; the text is copied at once.
        unsafe {
            call!(self.loaded.api(), PJRT_Executable_Fingerprint, &mut args)?;
            Ok(owned_text(args.executable_fingerprint, args.executable_fingerprint_size))
        }
    }

    /// Bytes of the code that was made; 0 where the plugin does not tell.
    pub fn generated_code_size(&self) -> Result<i64> {
        let mut args = sys::PJRT_Executable_SizeOfGeneratedCodeInBytes_Args::new();
        args.executable = self.raw;
        // SAFETY: the executable is alive.
        unsafe { call!(self.loaded.api(), PJRT_Executable_SizeOfGeneratedCodeInBytes, &mut args) }?;
        Ok(args.size_in_bytes)
    }

    /// Bytes that it takes on its device.
    pub fn memory_use(&self) -> Result<MemoryUse> {
        let mut args = sys::PJRT_Executable_GetCompiledMemoryStats_Args::new();
        args.executable = self.raw;
        // SAFETY: the executable is alive.
        unsafe { call!(self.loaded.api(), PJRT_Executable_GetCompiledMemoryStats, &mut args) }?;
        Ok(MemoryUse {
            generated_code: args.generated_code_size_in_bytes,
            arguments: args.argument_size_in_bytes,
            outputs: args.output_size_in_bytes,
            aliased: args.alias_size_in_bytes,
            temporary: args.temp_size_in_bytes,
            peak: args.peak_memory_in_bytes,
        })
    }

    /// How each parameter is divided among devices, as serialized `OpSharding`s; `None`
    /// where the plugin does not tell.
    pub fn parameter_shardings(&self) -> Result<Option<Vec<Vec<u8>>>> {
        let api = self.loaded.api();
        let function = api.shardings().and_then(|one| one.PJRT_Shardings_PJRT_Executable_ParameterShardings);
        let Some(function) = function else { return Ok(None) };
        let mut args = sys::PJRT_Shardings_PJRT_Executable_ParameterShardings_Args::new();
        args.executable = self.raw;
        // SAFETY: the executable is alive, and owns the lists.
        unsafe {
            api.check(function(&mut args))?;
            Ok(texts(args.shardings, args.sharding_sizes, args.num_parameters))
        }
    }

    /// The same of the results.
    pub fn output_shardings(&self) -> Result<Option<Vec<Vec<u8>>>> {
        let api = self.loaded.api();
        let function = api.shardings().and_then(|one| one.PJRT_Shardings_PJRT_Executable_OutputShardings);
        let Some(function) = function else { return Ok(None) };
        let mut args = sys::PJRT_Shardings_PJRT_Executable_OutputShardings_Args::new();
        args.executable = self.raw;
        // SAFETY: as above.
        unsafe {
            api.check(function(&mut args))?;
            Ok(texts(args.shardings, args.sharding_sizes, args.num_outputs))
        }
    }

    /// The compiled code, in a form of the plugin's own that
    /// [`Client::load`](super::Client::load) takes.
    pub fn serialize(&self) -> Result<Vec<u8>> {
        let mut args = sys::PJRT_Executable_Serialize_Args::new();
        args.executable = self.raw;
        // SAFETY: the executable is alive. The bytes live until the deleter is called,
        // which happens once, after they were copied.
        unsafe {
            call!(self.loaded.api(), PJRT_Executable_Serialize, &mut args)?;
            let bytes = list(args.serialized_bytes.cast::<u8>(), args.serialized_bytes_size);
            let copied = memory::room(bytes.len()).map(|mut copy| {
                copy.extend_from_slice(bytes);
                copy
            });
            if let Some(delete) = args.serialized_executable_deleter {
                delete(args.serialized_executable);
            }
            copied
        }
    }
}

/// Copies a list of texts that a plugin owns; `None` for NULL.
///
/// # Safety
/// Both lists are NULL or have `count` items; each text is NULL or as long as its size says.
unsafe fn texts(texts: *const *const c_char, sizes: *const usize, count: usize) -> Option<Vec<Vec<u8>>> {
    if texts.is_null() || sizes.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    unsafe {
        let each = list(texts, count).iter().zip(list(sizes, count));
        Some(each.map(|(&text, &size)| list(text.cast::<u8>(), size).to_vec()).collect())
    }
}

impl Drop for Executable<'_> {
    fn drop(&mut self) {
        if presence::is_gone() {
            return;
        }
        let mut args = sys::PJRT_Executable_Destroy_Args::new();
        args.executable = self.raw;
        // SAFETY: the executable is alive and ours, and goes before the loaded
        // one. An error changes nothing.
        let _ = unsafe { call!(self.loaded.api(), PJRT_Executable_Destroy, &mut args) };
    }
}
