//! Compiling: from a program's text to what executions and callers need of it.

use crate::client::{Client, Handle};
use crate::compile_options::CompileOptions;
use crate::errors::Failure;
use crate::executables::{Compiled, LoadedExecutable};
use crate::ledger;
use crate::module_text::{self, Module, Tensor};
use crate::proto::Writer;
use crate::sys::*;
use std::sync::Arc;

/// XLA's number for a tuple of shapes.
const TUPLE: u64 = 13;

/// The bytes at `data`.
///
/// # Safety
///
/// The address is valid for the length, or NULL.
pub unsafe fn bytes<'a>(data: *const std::ffi::c_char, length: usize) -> &'a [u8] {
    if data.is_null() {
        return &[];
    }
    // SAFETY: by contract.
    unsafe { std::slice::from_raw_parts(data.cast(), length) }
}

fn program_text(program: &PJRT_Program) -> Result<&str, Failure> {
    if program.code.is_null() {
        return Err(ledger::misuse("NULL as program".to_owned()));
    }
    // SAFETY: the caller describes its program.
    let (code, format) =
        unsafe { (bytes(program.code, program.code_size), bytes(program.format, program.format_size)) };
    if format != b"mlir" {
        let format = String::from_utf8_lossy(format);
        return Err(Failure::invalid(format!("Unknown program format '{format}'.")));
    }
    if code.starts_with(b"ML\xefR") {
        return Err(Failure::new(PJRT_Error_Code_UNIMPLEMENTED, "the fake plugin reads StableHLO text only"));
    }
    std::str::from_utf8(code)
        .map_err(|_| Failure::new(PJRT_Error_Code_UNKNOWN, "-:1:1: error: unexpected character\n"))
}

fn write_shape(shape: &mut Writer, tensor: &Tensor) {
    let rank = tensor.dims.len() as u64;
    shape.number(2, tensor.element.primitive).numbers(3, tensor.dims.iter().map(|&dim| dim as u64)).message(
        5,
        |layout| {
            layout.numbers(1, (0..rank).rev());
        },
    );
}

/// The program as XLA would show it: a `HloModuleProtoWithConfig` with the signature
/// and the donations, and without instructions.
fn optimized(module: &Module) -> Vec<u8> {
    let mut whole = Writer::default();
    whole.message(1, |hlo| {
        hlo.bytes(1, module.name.as_bytes()).bytes(2, b"main");
        hlo.message(4, |shape| {
            for (at, input) in module.inputs.iter().enumerate() {
                shape.message(1, |shape| write_shape(shape, input));
                shape.bytes(3, format!("p{at}").as_bytes());
            }
            shape.message(2, |result| match &module.outputs[..] {
                [only] => write_shape(result, only),
                all => {
                    result.number(2, TUPLE);
                    for output in all {
                        result.message(4, |shape| write_shape(shape, output));
                    }
                }
            });
        });
        hlo.message(8, |aliases| write_aliases(aliases, module));
    });
    whole.finish()
}

fn write_aliases(aliases: &mut Writer, module: &Module) {
    const MAY_ALIAS: u64 = 1;
    for (input, output) in module.donated_to.iter().enumerate() {
        let Some(output) = *output else { continue };
        aliases.message(1, |entry| {
            // The index leads into the result's tuple; a lone result is no tuple.
            if module.outputs.len() != 1 {
                entry.numbers(1, std::iter::once(output as u64));
            }
            // A zero is left out on the wire, as XLA leaves it out.
            if input != 0 {
                entry.number(2, input as u64);
            }
            entry.number(4, MAY_ALIAS);
        });
    }
}

fn check_donations(module: &Module) -> Result<(), Failure> {
    for (input, output) in module.inputs.iter().zip(&module.donated_to) {
        if output.is_some_and(|at| module.outputs.get(at).is_none_or(|output| output != input)) {
            return Err(Failure::invalid("an argument is donated to a result of another type"));
        }
    }
    Ok(())
}

entry! { PJRT_Client_Compile(args: PJRT_Client_Compile_Args) {
    let client = ledger::find::<Client, _>(args.client)?;
    // SAFETY: the caller passes a program, or NULL.
    let program = unsafe { args.program.as_ref() }
        .ok_or_else(|| ledger::misuse("NULL as program".to_owned()))?;
    let text = program_text(program)?;
    // SAFETY: the caller describes its options.
    let options = unsafe { bytes(args.compile_options, args.compile_options_size) };
    let options = CompileOptions::parse(options)?;
    let device = match options.portable {
        true => None,
        false => Some(options.devices.first().copied().unwrap_or(0)),
    };
    args.executable = ledger::hand_out(Arc::new(load(client, text, device)?));
    Ok(())
}}

/// Compiles a text for one of the client's devices, or for none in particular.
pub fn load(client: Arc<Client>, text: &str, device: Option<u64>) -> Result<LoadedExecutable, Failure> {
    let module = module_text::parse(text)?;
    check_donations(&module)?;
    let devices = device.map(|id| client.device(id).map(Handle)).transpose()?;
    let compiled = Compiled::new(optimized(&module), module, text.to_owned(), device);
    Ok(LoadedExecutable { compiled: Arc::new(compiled), client, devices: devices.into_iter().collect() })
}
