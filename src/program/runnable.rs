//! Refuses programs that no plugin could run through this library, before one is
//! loaded, with the reason and what to do about it.

use super::contents::{Contents, Dim, Element, Tensor};
use crate::error::{Code, Error, Origin, Result};

/// The calling conventions of `jax.export` that this version knows.
const CONVENTIONS: std::ops::RangeInclusive<u16> = 9..=10;

/// Whether a plugin can be asked to run the program.
pub fn check(contents: &Contents) -> Result<()> {
    check_convention(contents)?;
    contents.counts.check()?;
    check_tokens(contents)?;
    check_custom_calls(&contents.custom_calls)?;
    if let Some((inputs, outputs)) = &contents.function {
        check_tensors(contents, inputs, "input")?;
        check_tensors(contents, outputs, "output")?;
    }
    Ok(())
}

fn refused(message: impl Into<String>) -> Error {
    Error::new(Code::Unimplemented, Origin::Library, message)
}

fn check_convention(contents: &Contents) -> Result<()> {
    let Some(export) = &contents.export else { return Ok(()) };
    let version = export.calling_convention_version;
    if CONVENTIONS.contains(&version) {
        return Ok(());
    }
    let (oldest, newest) = (CONVENTIONS.start(), CONVENTIONS.end());
    let advice = match version > *newest {
        true => "export it with an older JAX, or use a newer libcyxla",
        false => "export it again with JAX 0.4.30 or newer",
    };
    Err(refused(format!(
        "the program has version {version} of jax.export's calling convention; this version of libcyxla runs {oldest} to {newest}"
    ))
    .hint(advice))
}

/// The tokens of an export's ordered effects are made and dropped inside the program;
/// in other programs nobody knows what they are for.
fn check_tokens(contents: &Contents) -> Result<()> {
    if contents.export.is_some() || !contents.takes_tokens() {
        return Ok(());
    }
    Err(refused("the program takes a token; programs take and give arrays")
        .hint("make the token inside the program"))
}

/// Host callbacks call back into the Python process that made the program.
fn check_custom_calls(targets: &[String]) -> Result<()> {
    let callbacks: Vec<&str> = targets
        .iter()
        .map(String::as_str)
        .filter(|target| target.contains("python") && target.contains("callback"))
        .collect();
    if callbacks.is_empty() {
        return Ok(());
    }
    Err(refused(format!(
        "the program calls back into Python while it runs ({}), which is not there",
        callbacks.join(", ")
    ))
    .hint("remove jax.debug.print, jax.pure_callback, io_callback and the like from the function"))
}

fn check_tensors(contents: &Contents, tensors: &[Tensor], what: &str) -> Result<()> {
    for (index, tensor) in tensors.iter().enumerate() {
        let name = tensor.name.as_ref().map_or(String::new(), |name| format!(" ({name})"));
        if let Element::Unknown(kind) = &tensor.element {
            // A module may hide what its export tells, or what only a plugin can read.
            if contents.export.is_none() {
                continue;
            }
            return Err(refused(format!(
                "{what} {index}{name} of the program has an element type that this version does not know: {kind}"
            ))
            .hint("use a newer libcyxla, or convert it to another type inside the function"));
        }
        if tensor.element == Element::Token && contents.export.is_some() {
            return Err(refused(format!("{what} {index}{name} of the program is a token")));
        }
        if tensor.dims.iter().any(|dim| matches!(dim, Dim::Symbolic(_))) {
            return Err(refused(format!("{what} {index}{name} of the program has no fixed shape: {tensor}"))
                .hint("export the function once for each shape that you need, with numbers in its shapes: jax.export.export(f)(jax.ShapeDtypeStruct((8, 4), \"float32\"))"));
        }
        if let Some(Err(error)) = tensor.spec() {
            return Err(
                error.map_message(|message| format!("{what} {index}{name} of the program: {message}"))
            );
        }
    }
    Ok(())
}
