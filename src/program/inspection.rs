//! Tells what can be read of a program, whether or not it can run.

use std::str;

use super::contents::Contents;
use super::detect::{self, Encoding};
use super::{Format, description, jax_export, mlir, runnable, text_facts};
use crate::error::{Code, Error, Origin, Result};

/// What is known of a program, and what keeps it from running.
#[derive(Debug)]
pub struct Inspection<'a> {
    bytes: &'a [u8],
    /// What its bytes tell.
    pub contents: Contents,
    /// Why [`Program`](super::Program) refuses it, if it does.
    pub problem: Option<Error>,
}

impl<'a> Inspection<'a> {
    /// Reads a program; an error if the bytes are none, or too damaged to tell anything.
    pub fn of(bytes: &'a [u8]) -> Result<Inspection<'a>> {
        let encoding = detect::detect(bytes, Format::Detect)?;
        let partly = |error: &Error| partly(bytes, encoding, error);
        Inspection::new(bytes, Contents::read(bytes, encoding), partly)
    }

    /// The program of this one's gradients, which a file of `jax.export` may hold.
    pub fn vjp(&self) -> Result<Inspection<'a>> {
        let position = vjp_position(&self.contents)?;
        let partly = |_: &Error| {
            let export = jax_export::read_at(self.bytes, position).ok()?;
            Some(Contents::unknown(Encoding::JaxExport, export.module.clone()).with_export(export))
        };
        Inspection::new(self.bytes, Contents::read_vjp(self.bytes, position), partly)
            .map_err(|error| error.map_message(|message| format!("the VJP: {message}")))
    }

    fn new(
        bytes: &'a [u8],
        contents: Result<Contents>,
        partly: impl FnOnce(&Error) -> Option<Contents>,
    ) -> Result<Inspection<'a>> {
        match contents {
            Ok(contents) => {
                let problem = runnable::check(&contents).err();
                Ok(Inspection { bytes, contents, problem })
            }
            Err(error) => match partly(&error) {
                Some(contents) => Ok(Inspection { bytes, contents, problem: Some(error) }),
                None => Err(error),
            },
        }
    }

    /// All of it as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        description::describe(&self.contents, self.bytes.len(), self.problem.as_ref())
    }
}

/// Where the program of gradients is in a file of `jax.export`.
pub fn vjp_position(contents: &Contents) -> Result<usize> {
    contents.export.as_ref().and_then(|export| export.vjp).ok_or_else(|| {
        let what = match contents.encoding {
            Encoding::JaxExport => "the jax.export file holds no VJP",
            _ => "only jax.export files can hold a VJP",
        };
        Error::new(Code::NotFound, Origin::Caller, what)
            .hint("write the file with exported.serialize(vjp_order=1)")
    })
}

/// What is known of a program that is refused as a whole.
fn partly(bytes: &[u8], encoding: Encoding, error: &Error) -> Option<Contents> {
    let nothing = Contents::unknown(encoding, 0..bytes.len());
    match encoding {
        Encoding::Text => {
            let text = str::from_utf8(bytes).ok()?;
            Some(Contents {
                name: text_facts::module_name(text),
                function: text_facts::main_function(text),
                custom_calls: text_facts::custom_calls(text),
                ..nothing
            })
        }
        // One that is only newer still says who wrote it.
        Encoding::Bytecode if error.code() == Code::Unimplemented => {
            let written_by = Some(mlir::written_by(bytes)?.to_owned());
            Some(Contents { written_by, ..nothing })
        }
        Encoding::JaxExport => {
            let export = jax_export::read(bytes).ok()?;
            let code = export.module.clone();
            let written_by = mlir::written_by(&bytes[code.clone()]).map(str::to_owned);
            Some(Contents { code, written_by, ..nothing }.with_export(export))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_run_is_described_with_the_reason() {
        let callback = b"module @m { func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
            %0 = stablehlo.custom_call @xla_python_cpu_callback(%a) : (tensor<2xf32>) -> tensor<2xf32>
            return %0 : tensor<2xf32> } }";
        let deep = [&b"module @deep { func.func @main(%a: tensor<f32>) "[..], &[b'{'; 1000]].concat();
        for (text, name, words) in [(&callback[..], "m", "Python"), (&deep, "deep", "nest")] {
            let inspection = Inspection::of(text).unwrap();
            let problem = inspection.problem.as_ref().unwrap();
            assert!(problem.message().contains(words), "{problem}");
            let json = inspection.to_json();
            assert_eq!(json["name"], name);
            assert_eq!(json["inputs"][0]["dtype"], "f32");
            assert_eq!(json["problem"]["message"], problem.message());
        }
    }

    #[test]
    fn what_is_no_program_is_an_error() {
        for bytes in [&b""[..], b"  \n", b"\x7fELF", b"hello", b"HloModule m"] {
            assert!(Inspection::of(bytes).is_err(), "{bytes:?}");
        }
        let text = Inspection::of(b"module @m {}").unwrap();
        assert_eq!(text.problem.as_ref().map(Error::message), None);
        assert_eq!(text.vjp().unwrap_err().code(), Code::NotFound);
    }

    #[test]
    fn an_export_with_a_damaged_module_still_tells_what_it_takes() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/exports/trees.jaxexport");
        let mut bytes = std::fs::read(path).unwrap();
        let whole = Inspection::of(&bytes).unwrap();
        assert!(whole.problem.is_none(), "{:?}", whole.problem);
        let (inputs, module) = (whole.to_json()["inputs"].clone(), whole.contents.code.clone());
        bytes[module.start + 40..module.end].fill(0xff);
        let damaged = Inspection::of(&bytes).unwrap();
        assert!(damaged.problem.as_ref().unwrap().message().contains("module"), "{:?}", damaged.problem);
        let names = |inputs: &serde_json::Value| -> Vec<String> {
            inputs.as_array().unwrap().iter().map(|input| input["name"].to_string()).collect()
        };
        assert_eq!(names(&damaged.to_json()["inputs"]), names(&inputs));
    }
}
