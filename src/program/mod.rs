//! Programs: what a file or a piece of memory holds, as far as it can be told
//! without a plugin.

mod calls;
mod contents;
mod convention;
mod description;
mod destinations;
mod detect;
mod device_counts;
pub mod foreign;
pub(crate) mod hlo;
pub mod hlo_sharding;
mod inspection;
pub mod jax_export;
mod lexer;
pub mod mlir;
mod runnable;
pub mod saved_magic;
mod shardings;
mod signature;
mod source;
mod tensors;
mod text;
mod text_facts;
mod vjp;

use std::path::Path;
use std::sync::Arc;

pub use contents::{Contents, Dim, Element, Tensor};
pub use convention::Parameter;
pub use destinations::Rewritten;
pub use detect::Encoding;
pub use device_counts::DeviceCounts;
pub use inspection::Inspection;
pub use saved_magic::SAVED_MAGIC;
pub use signature::{Signature, TensorSpec};
pub use source::read as read_file;

use crate::error::{Error, Result};
use crate::memory;

/// What the caller says that a program is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Find out from the content.
    Detect,
    /// StableHLO as text, MLIR bytecode or portable artifact.
    StableHlo,
    /// A file of `jax.export`.
    JaxExport,
    /// A serialized `HloModuleProto`.
    Hlo,
}

/// A program that has not been compiled. Immutable.
#[derive(Debug)]
pub struct Program {
    /// With a NUL at the end that is not part of the program.
    bytes: Arc<Vec<u8>>,
    contents: Contents,
    /// What is compiled instead of the program's own module, which takes tokens.
    without_tokens: Option<Vec<u8>>,
    /// Those that the caller left of the ones that the program records.
    platforms: Vec<String>,
    signature: Option<Signature>,
}

impl Program {
    /// Reads a program from a file.
    pub fn from_file(path: &Path, format: Format, platform: Option<&str>) -> Result<Program> {
        Program::new(source::read(path)?, format, platform)
            .map_err(|error| error.map_message(|message| format!("{}: {message}", path.display())))
    }

    /// Copies a program from memory.
    pub fn from_bytes(bytes: &[u8], format: Format, platform: Option<&str>) -> Result<Program> {
        let mut copy = memory::room(bytes.len() + 1)?;
        copy.extend_from_slice(bytes);
        Program::new(copy, format, platform)
    }

    fn new(mut bytes: Vec<u8>, format: Format, platform: Option<&str>) -> Result<Program> {
        let platform = platform.map(crate::platform::check_name).transpose()?;
        let encoding = detect::detect(&bytes, format)?;
        let contents = Contents::read(&bytes, encoding)?;
        // Plugins read text up to a NUL, whatever size they are told. Reserved
        // exactly: a program can be large, and pushing might double its memory.
        memory::push(&mut bytes, 0)?;
        runnable::check(&contents)?;
        let platforms = chosen(&contents.platforms, platform)?;
        Program::of(Arc::new(bytes), contents, platforms)
    }

    fn of(bytes: Arc<Vec<u8>>, contents: Contents, platforms: Vec<String>) -> Result<Program> {
        let signature = contents.signature().transpose()?;
        let without_tokens = match contents.takes_tokens() {
            true => Some(mlir::without_tokens(&bytes[contents.code.clone()])?),
            false => None,
        };
        Ok(Program { bytes, contents, without_tokens, platforms, signature })
    }

    /// The bytes that a plugin compiles. Never empty.
    pub fn code(&self) -> &[u8] {
        match self.without_tokens.as_ref().or(self.contents.rewritten.as_ref()) {
            Some(code) => code,
            None => &self.bytes[self.contents.code.clone()],
        }
    }

    /// All bytes of the program's file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.bytes.len() - 1]
    }

    /// What PJRT calls the form of [`Program::code`].
    pub fn code_format(&self) -> &'static str {
        if self.format() == Format::Hlo { "hlo" } else { "mlir" }
    }

    /// The platforms that the program was lowered for; empty when it records none.
    pub fn platforms(&self) -> &[String] {
        &self.platforms
    }

    /// The program's format, never [`Format::Detect`].
    pub fn format(&self) -> Format {
        match self.contents.encoding {
            Encoding::JaxExport => Format::JaxExport,
            Encoding::HloProto => Format::Hlo,
            _ => Format::StableHlo,
        }
    }

    /// What the user passes and gets, where that is known before it is compiled.
    pub fn signature(&self) -> Option<&Signature> {
        self.signature.as_ref()
    }

    /// All else that is known of it.
    pub fn contents(&self) -> &Contents {
        &self.contents
    }

    /// All that is known of it, as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        description::describe(&self.contents, self.bytes().len(), None)
    }

    /// The program that computes this one's gradients: JAX's VJP, which takes the
    /// inputs of this program and a cotangent for each output, and gives a cotangent
    /// for each input.
    pub fn vjp(&self) -> Result<Program> {
        let position = inspection::vjp_position(&self.contents)?;
        let contents = Contents::read_vjp(&self.bytes, position)
            .map_err(|error| error.map_message(|message| format!("the VJP: {message}")))?;
        vjp::check(&self.contents, &contents)?;
        runnable::check(&contents)?;
        Program::of(Arc::clone(&self.bytes), contents, self.platforms.clone())
    }

    /// The parameters of the module when it runs on the platform `loaded`; `None` when
    /// they are the inputs.
    pub fn parameters(&self, loaded: &str) -> Result<Option<Vec<Parameter>>> {
        let export = self.contents.export.as_deref();
        export.map(|export| convention::parameters(export, &self.platforms, loaded)).transpose()
    }

    /// Whether the program may run on any platform, whatever it was lowered for.
    pub fn runs_anywhere(&self) -> bool {
        let checks = self.contents.export.as_ref().map_or(&[][..], |export| &export.disabled_checks);
        self.platforms.is_empty() || checks.contains(&jax_export::DisabledCheck::Platform)
    }
}

/// The platforms that the caller leaves of those that a program records.
fn chosen(recorded: &[String], platform: Option<String>) -> Result<Vec<String>> {
    let Some(platform) = platform else { return Ok(recorded.to_vec()) };
    if recorded.is_empty() {
        return Ok(vec![platform]);
    }
    let fits = |name: &&String| crate::platform::answers(name, &platform);
    let left: Vec<String> = recorded.iter().filter(fits).cloned().collect();
    if !left.is_empty() {
        return Ok(left);
    }
    let message = format!("the program was exported for {}, not for {platform}", recorded.join(", "));
    Err(Error::invalid_argument(message).parameter("platform").hint(
        "pass NULL for the platforms that it records; the compile option check_platform=false compiles it for another one all the same",
    ))
}
