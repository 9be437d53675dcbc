//! Executables: what a compiled program tells about itself.

use crate::client::{Client, Handle};
use crate::errors::Failure;
use crate::ledger::{self, Object};
use crate::module_text::{Module, Tensor};
use crate::sys::*;
use std::sync::{Arc, Weak};

/// A compiled program, in the form in which callers ask for it.
pub struct Compiled {
    pub module: Module,
    /// What it was compiled from, and for: all that the fake's compiled code is.
    pub text: String,
    pub device: Option<u64>,
    optimized: Vec<u8>,
    output_types: Vec<PJRT_Buffer_Type>,
    /// The dimensions of all outputs, one after the other.
    output_dims: Vec<i64>,
    output_ranks: Vec<usize>,
}

impl Compiled {
    pub fn new(optimized: Vec<u8>, module: Module, text: String, device: Option<u64>) -> Self {
        let outputs = &module.outputs;
        Self {
            text,
            device,
            optimized,
            output_types: outputs.iter().map(|output| output.element.pjrt).collect(),
            output_dims: outputs.iter().flat_map(|output| output.dims.clone()).collect(),
            output_ranks: outputs.iter().map(|output| output.dims.len()).collect(),
            module,
        }
    }
}

/// A program on its devices; one without devices is given one at each execution.
pub struct LoadedExecutable {
    pub compiled: Arc<Compiled>,
    pub client: Arc<Client>,
    pub devices: Vec<Handle<PJRT_Device>>,
}

impl Object for LoadedExecutable {
    const KIND: &'static str = "loaded executable";
}

/// What a loaded executable gives out to describe itself. In real plugins it points
/// into the loaded one, so it must not be used after that one's end.
struct Executable {
    loaded: Weak<LoadedExecutable>,
    compiled: Arc<Compiled>,
}

impl Object for Executable {
    const KIND: &'static str = "executable";
}

pub fn find(handle: *const PJRT_Executable) -> Result<Arc<Compiled>, Failure> {
    let executable = ledger::find::<Executable, _>(handle)?;
    if executable.loaded.strong_count() == 0 {
        return Err(ledger::misuse("an executable whose loaded executable was destroyed".to_owned()));
    }
    Ok(executable.compiled.clone())
}

entry! { PJRT_LoadedExecutable_Destroy(args: PJRT_LoadedExecutable_Destroy_Args) {
    ledger::destroy::<LoadedExecutable, _>(args.executable).map(drop)
}}

entry! { PJRT_LoadedExecutable_GetExecutable(args: PJRT_LoadedExecutable_GetExecutable_Args) {
    let loaded = ledger::find::<LoadedExecutable, _>(args.loaded_executable)?;
    args.executable = ledger::hand_out(Arc::new(Executable {
        loaded: Arc::downgrade(&loaded),
        compiled: loaded.compiled.clone(),
    }));
    Ok(())
}}

entry! { PJRT_LoadedExecutable_AddressableDevices(
    args: PJRT_LoadedExecutable_AddressableDevices_Args
) {
    let loaded = ledger::find::<LoadedExecutable, _>(args.executable)?;
    args.addressable_devices = loaded.devices.as_ptr().cast();
    args.num_addressable_devices = loaded.devices.len();
    Ok(())
}}

entry! { PJRT_Executable_Destroy(args: PJRT_Executable_Destroy_Args) {
    ledger::destroy::<Executable, _>(args.executable).map(drop)
}}

entry! { PJRT_Executable_Name(args: PJRT_Executable_Name_Args) {
    let compiled = find(args.executable)?;
    args.executable_name = compiled.module.name.as_ptr().cast();
    args.executable_name_size = compiled.module.name.len();
    Ok(())
}}

entry! { PJRT_Executable_NumReplicas(args: PJRT_Executable_NumReplicas_Args) {
    find(args.executable)?;
    args.num_replicas = 1;
    Ok(())
}}

entry! { PJRT_Executable_NumPartitions(args: PJRT_Executable_NumPartitions_Args) {
    find(args.executable)?;
    args.num_partitions = 1;
    Ok(())
}}

entry! { PJRT_Executable_NumOutputs(args: PJRT_Executable_NumOutputs_Args) {
    args.num_outputs = find(args.executable)?.module.outputs.len();
    Ok(())
}}

entry! { PJRT_Executable_SizeOfGeneratedCodeInBytes(
    args: PJRT_Executable_SizeOfGeneratedCodeInBytes_Args
) {
    find(args.executable)?;
    args.size_in_bytes = 0;
    Ok(())
}}

entry! { PJRT_Executable_GetCompiledMemoryStats(args: PJRT_Executable_GetCompiledMemoryStats_Args) {
    let compiled = find(args.executable)?;
    let size = |tensors: &[Tensor]| {
        let bytes = |tensor: &Tensor| tensor.dims.iter().product::<i64>() * tensor.element.size as i64;
        tensors.iter().map(bytes).sum()
    };
    args.argument_size_in_bytes = size(&compiled.module.inputs);
    args.output_size_in_bytes = size(&compiled.module.outputs);
    Ok(())
}}

entry! { PJRT_Executable_Fingerprint(args: PJRT_Executable_Fingerprint_Args) {
    const FINGERPRINT: &str = "1";
    find(args.executable)?;
    args.executable_fingerprint = FINGERPRINT.as_ptr().cast();
    args.executable_fingerprint_size = FINGERPRINT.len();
    Ok(())
}}

entry! { PJRT_Executable_OutputElementTypes(args: PJRT_Executable_OutputElementTypes_Args) {
    let compiled = find(args.executable)?;
    args.output_types = compiled.output_types.as_ptr().cast_mut();
    args.num_output_types = compiled.output_types.len();
    Ok(())
}}

entry! { PJRT_Executable_OutputDimensions(args: PJRT_Executable_OutputDimensions_Args) {
    let compiled = find(args.executable)?;
    args.num_outputs = compiled.output_ranks.len();
    args.dims = compiled.output_dims.as_ptr();
    args.dim_sizes = compiled.output_ranks.as_ptr();
    Ok(())
}}

entry! { PJRT_Executable_OptimizedProgram(args: PJRT_Executable_OptimizedProgram_Args) {
    const FORMAT: &str = "hlo_with_config";
    let compiled = find(args.executable)?;
    // SAFETY: the caller passes a program to fill, or NULL.
    let program = unsafe { args.program.as_mut() }
        .ok_or_else(|| ledger::misuse("NULL as program".to_owned()))?;
    let size = compiled.optimized.len();
    program.format = FORMAT.as_ptr().cast();
    program.format_size = FORMAT.len();
    if program.code.is_null() {
        program.code_size = size;
        return Ok(());
    }
    if program.code_size < size {
        let given = program.code_size;
        return Err(Failure::invalid(format!("`code_size` must be >= {size}, got {given}.")));
    }
    // SAFETY: the caller's memory was just seen to be large enough.
    unsafe {
        std::ptr::copy_nonoverlapping(compiled.optimized.as_ptr(), program.code.cast(), size);
    }
    Ok(())
}}
