//! How the parameters of a compiled program come from what the user passes.

use super::jax_export::Export;
use crate::error::{Code, Error, Origin, Result};
use crate::platform;

/// Where a parameter of a compiled program comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parameter {
    /// The input at this position.
    Input(usize),
    /// The number of the platform that it runs on, which chooses a branch.
    PlatformIndex(i64),
    /// Memory for the output at this position; behind all others.
    Destination(usize),
}

/// The parameters of a module that `jax.export` wrote, in order, when it runs on
/// `loaded`; `platforms` are those of the program that the caller left in.
pub fn parameters(export: &Export, platforms: &[String], loaded: &str) -> Result<Vec<Parameter>> {
    let mut parameters = Vec::with_capacity(export.kept_inputs.len() + 1);
    if export.platforms.len() > 1 {
        let fits = |wanted: &String| platforms.contains(wanted) && platform::answers(loaded, wanted);
        let index = export.platforms.iter().position(fits).ok_or_else(|| {
            let message =
                format!("the program has branches for {}, but none for {loaded}", platforms.join(", "));
            Error::new(Code::FailedPrecondition, Origin::Caller, message)
                .hint(format!("export it with platforms=[\"{loaded}\"] among them"))
        })?;
        parameters.push(Parameter::PlatformIndex(i64::try_from(index).unwrap_or(i64::MAX)));
    }
    parameters.extend(export.kept_inputs.iter().map(|&input| Parameter::Input(input)));
    Ok(parameters)
}

#[cfg(test)]
mod tests {
    use crate::error::Code;
    use crate::program::{Format, Program};

    #[test]
    fn a_platform_stands_once() {
        let mut bytes = include_bytes!("../../tests/fixtures/exports/platforms_x32.jaxexport").to_vec();
        let program = Program::from_bytes(&bytes, Format::Detect, None).unwrap();
        assert!(program.platforms().len() > 1 && program.platforms().contains(&"cpu".to_owned()));
        let other = program.platforms().iter().find(|name| name.len() == 3 && *name != "cpu").unwrap();
        let place = memchr::memmem::rfind(&bytes, other.as_bytes()).unwrap();
        let places: Vec<usize> = memchr::memmem::find_iter(&bytes, other.as_bytes()).collect();
        assert!(places.contains(&place));
        for place in places {
            bytes[place..place + 3].copy_from_slice(b"cpu");
        }
        let error = Program::from_bytes(&bytes, Format::Detect, None).unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument);
        assert!(error.message().contains("there twice"), "{error}");
    }
}
