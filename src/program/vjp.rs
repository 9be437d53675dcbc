//! Whether a program computes the gradients of another.

use super::contents::{Contents, Element, Tensor};
use crate::dtype::DType;
use crate::error::{Code, Error, Origin, Result};

/// An error unless `vjp` takes the inputs of `primal` and a cotangent for each of its
/// outputs, and gives a cotangent for each input: a damaged file may lead elsewhere, to
/// a program that computes something else.
pub fn check(primal: &Contents, vjp: &Contents) -> Result<()> {
    let (Some((inputs, outputs)), Some((taken, given))) = (&primal.function, &vjp.function) else {
        return Err(disagrees("what one of them takes is not known"));
    };
    if taken.len() != inputs.len() + outputs.len() || given.len() != inputs.len() {
        return Err(disagrees(&format!(
            "it takes {} arrays and gives {}, for a program that takes {} and gives {}",
            taken.len(),
            given.len(),
            inputs.len(),
            outputs.len()
        )));
    }
    let (same, cotangents) = taken.split_at(inputs.len());
    for (index, (input, taken)) in inputs.iter().zip(same).enumerate() {
        if input.element != taken.element || input.dims != taken.dims {
            return Err(disagrees(&format!("it takes {taken} as input {index}, which is {input}")));
        }
    }
    for (index, (output, cotangent)) in outputs.iter().zip(cotangents).enumerate() {
        check_cotangent(output, cotangent, &format!("output {index}"))?;
    }
    for (index, (input, cotangent)) in inputs.iter().zip(given).enumerate() {
        check_cotangent(input, cotangent, &format!("input {index}"))?;
    }
    if primal.platforms != vjp.platforms {
        return Err(disagrees(&format!(
            "it is for {}, and the program for {}",
            vjp.platforms.join(", "),
            primal.platforms.join(", ")
        )));
    }
    Ok(())
}

/// The cotangent of numbers with a fraction is of their own type; others have none, for
/// which JAX writes booleans.
fn check_cotangent(of: &Tensor, cotangent: &Tensor, what: &str) -> Result<()> {
    let fits = match of.element {
        Element::Array(dtype) if dtype.is_inexact() => {
            cotangent.element == of.element && cotangent.dims == of.dims
        }
        _ => cotangent.element == Element::Array(DType::PRED),
    };
    if fits { Ok(()) } else { Err(disagrees(&format!("the cotangent of {what}, {of}, is {cotangent}"))) }
}

fn disagrees(how: &str) -> Error {
    let message = format!("the VJP in the jax.export file is not that of its program: {how}");
    Error::new(Code::DataLoss, Origin::Caller, message).hint("the file is damaged; write it again")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::Encoding;

    const FITTING: &[u8] = include_bytes!("../../tests/fixtures/exports/vjp1.jaxexport");
    const TWICE: &[u8] = include_bytes!("../../tests/fixtures/exports/vjp2.jaxexport");
    const OTHER: &[u8] = include_bytes!("../../tests/fixtures/exports/trees.jaxexport");

    fn contents(bytes: &[u8]) -> Contents {
        Contents::read(bytes, Encoding::JaxExport).unwrap()
    }

    fn vjp_of(bytes: &[u8], contents: &Contents) -> Contents {
        Contents::read_vjp(bytes, contents.export.as_ref().unwrap().vjp.unwrap()).unwrap()
    }

    #[test]
    fn gradients_fit_their_program_only() {
        let (one, two, other) = (contents(FITTING), contents(TWICE), contents(OTHER));
        let vjp = vjp_of(FITTING, &one);
        check(&one, &vjp).unwrap();
        let first = vjp_of(TWICE, &two);
        check(&two, &first).unwrap();
        check(&first, &vjp_of(TWICE, &first)).unwrap();
        for wrong in [(&one, &one), (&one, &other), (&other, &vjp), (&vjp, &vjp)] {
            let error = check(wrong.0, wrong.1).unwrap_err();
            assert_eq!(error.code(), Code::DataLoss, "{error}");
        }
    }
}
