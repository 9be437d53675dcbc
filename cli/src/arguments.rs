//! Which file goes to which input of a program, and whether it fits there.
//!
//! The library checks the number of arguments and their sizes in bytes; what a
//! file says of its elements and dimensions only this command knows.

use std::path::{Path, PathBuf};

use cyxla::dtype::{ArrayType, DType};
use cyxla::error::{Code, Error, Origin, Result};
use cyxla::options::nearest;
use cyxla::program::TensorSpec;

use crate::npy::{self, Array};
use crate::{element, words};

/// Inputs listed in a hint; a program may have a thousand.
const MOST_LISTED: usize = 8;

/// An array that the user gave, for the input of a name or the next one.
#[derive(Debug)]
pub struct Given {
    pub name: Option<String>,
    pub array: Array,
}

/// Reads the files of all `--input` arguments.
pub fn read(texts: &[String]) -> Result<Vec<Given>> {
    let parse = |text: &String| {
        let (name, path) = split(text);
        Ok(Given { name, array: npy::read(&path)? })
    };
    texts.iter().map(parse).collect()
}

/// `NAME=X.npy` or `X.npy`. A file whose own name holds a `=` is found as well.
fn split(text: &str) -> (Option<String>, PathBuf) {
    match end_of_name(text).map(|end| text.split_at(end)) {
        Some((name, path)) if !name.is_empty() && !Path::new(text).exists() => {
            (Some(name.to_owned()), path[1..].into())
        }
        _ => (None, text.into()),
    }
}

/// Where the first `=` is that is not inside a quoted key: `args[0]['a=b']=x.npy`.
fn end_of_name(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut position = 0;
    while position < bytes.len() {
        position += match &bytes[position..] {
            [b'=', ..] => return Some(position),
            // An apostrophe that is not closed is a part of a name.
            [b'[', quote @ (b'\'' | b'"'), rest @ ..] => {
                key_length(rest, *quote).map_or(1, |length| length + 2)
            }
            _ => 1,
        };
    }
    None
}

/// How long a quoted key and its quote are, behind the first quote.
fn key_length(text: &[u8], quote: u8) -> Option<usize> {
    let mut position = 0;
    loop {
        match text.get(position)? {
            b'\\' => position += 2,
            byte if *byte == quote && text.get(position + 1) == Some(&b']') => return Some(position + 1),
            _ => position += 1,
        }
    }
}

/// Brings the arrays into the order of the program's inputs and checks each.
pub fn assign(given: Vec<Given>, inputs: &[TensorSpec]) -> Result<Vec<Array>> {
    let mut slots: Vec<Option<Array>> = inputs.iter().map(|_| None).collect();
    let mut in_order = Vec::new();
    let total = given.len();
    for Given { name, array } in given {
        let Some(name) = name else {
            in_order.push(array);
            continue;
        };
        let slot = position(&name, inputs)?;
        if slots[slot].is_some() {
            let message = format!("the input '{name}' is given twice");
            return Err(Error::invalid_argument(message));
        }
        slots[slot] = Some(array);
    }
    let mut in_order = in_order.into_iter();
    for slot in slots.iter_mut().filter(|slot| slot.is_none()) {
        *slot = in_order.next();
    }
    let is_missing = |(slot, spec)| Option::is_none(slot).then_some(spec);
    let missing: Vec<&TensorSpec> = slots.iter().zip(inputs).filter_map(is_missing).collect();
    if !missing.is_empty() || in_order.next().is_some() {
        return Err(wrong_count(total, inputs, &missing));
    }
    let arrays: Vec<Array> = slots.into_iter().flatten().collect();
    for (index, (array, spec)) in arrays.iter().zip(inputs).enumerate() {
        check(index, array, spec)?;
    }
    Ok(arrays.into_iter().zip(inputs).map(|(array, spec)| cleaned(array, spec.dtype)).collect())
}

fn position(name: &str, inputs: &[TensorSpec]) -> Result<usize> {
    let found = inputs.iter().position(|spec| spec.name.as_deref() == Some(name));
    found.ok_or_else(|| {
        let message = format!("the program has no input named '{name}'");
        let error = Error::new(Code::NotFound, Origin::Caller, message);
        if inputs.iter().all(|spec| spec.name.is_none()) {
            return error.hint("its inputs have no names; give the files in order, without NAME=");
        }
        let names = inputs.iter().filter_map(|spec| spec.name.as_deref());
        match nearest(name, names) {
            Some(near) => error.hint(format!("did you mean '{near}'?")),
            None => error.hint(listed(inputs)),
        }
    })
}

fn wrong_count(given: usize, inputs: &[TensorSpec], missing: &[&TensorSpec]) -> Error {
    let expected = words::count(inputs.len(), "argument");
    let error = Error::invalid_argument(format!("the program expects {expected}, got {given}"));
    match missing.len() {
        // Those that are there do not help to see which are not.
        1.. if inputs.len() > MOST_LISTED => error.hint(format!("missing: {}", in_words(missing))),
        _ => error.hint(listed(inputs)),
    }
}

/// What to give for these inputs.
fn listed(inputs: &[TensorSpec]) -> String {
    if inputs.is_empty() {
        return "it takes no inputs".to_owned();
    }
    let inputs: Vec<&TensorSpec> = inputs.iter().collect();
    format!("give one --input for each, in this order: {}", in_words(&inputs))
}

/// Inputs in words: `a f32[4], s32[]`.
fn in_words(inputs: &[&TensorSpec]) -> String {
    let mut words: Vec<String> = inputs
        .iter()
        .take(MOST_LISTED)
        .map(|spec| match &spec.name {
            Some(name) => format!("{name} {}", spec.array_type()),
            None => spec.array_type().to_string(),
        })
        .collect();
    if inputs.len() > MOST_LISTED {
        words.push(format!("and {} more", inputs.len() - MOST_LISTED));
    }
    words.join(", ")
}

fn check(index: usize, array: &Array, spec: &TensorSpec) -> Result<()> {
    let named = spec.name.as_ref().map_or(String::new(), |name| format!(" ('{name}')"));
    let file = array.path.display();
    if array.dims != spec.dims || !array.can_be(spec.dtype) {
        let got = match array.natural_dtype() {
            // Seen as what the program wants, where it can be that: then only
            // the dimensions differ.
            _ if array.can_be(spec.dtype) => ArrayType(spec.dtype, &array.dims).to_string(),
            Some(dtype) => ArrayType(dtype, &array.dims).to_string(),
            None => format!("{}{:?}", array.type_name(), array.dims).replace(' ', ""),
        };
        let message = format!(
            "argument {index}{named}: the program expects {}, got {got} from {file}",
            spec.array_type()
        );
        let error = Error::invalid_argument(message);
        return Err(if array.dims == spec.dims { error.hint(conversion(spec.dtype)) } else { error });
    }
    let Some(bits) = element::bits(spec.dtype) else { return Ok(()) };
    let signed = matches!(spec.dtype, DType::S4 | DType::S2 | DType::S1);
    // -1 may come as 0x0f or, with its sign carried up, as 0xff.
    let fits = |byte: u8| byte >> bits == 0 || (signed && (byte as i8) >> (bits - 1) == -1);
    match array.bytes.iter().position(|byte| !fits(*byte)) {
        None => Ok(()),
        Some(position) => {
            let message = format!(
                "argument {index}{named} is {}, but element {position} of {file} is {}, which does \
                 not fit into {bits} bit{}",
                spec.array_type(),
                array.bytes[position],
                if bits == 1 { "" } else { "s" }
            );
            Err(Error::invalid_argument(message))
        }
    }
}

/// How to make the right file in NumPy.
fn conversion(dtype: DType) -> String {
    let name = match dtype {
        DType::PRED => "bool",
        DType::S8 => "int8",
        DType::S16 => "int16",
        DType::S32 => "int32",
        DType::S64 => "int64",
        DType::U8 => "uint8",
        DType::U16 => "uint16",
        DType::U32 => "uint32",
        DType::U64 => "uint64",
        DType::F16 => "float16",
        DType::F32 => "float32",
        DType::F64 => "float64",
        DType::C64 => "complex64",
        DType::C128 => "complex128",
        _ => {
            let bits = 8 * dtype.host_size();
            return format!("save the bits of the {} elements as uint{bits}", dtype.name());
        }
    };
    format!("convert it in NumPy: numpy.save(file, array.astype('{name}'))")
}

/// The bytes as the library defines them: a true is 1 and what is narrower than
/// a byte has nothing above it.
fn cleaned(mut array: Array, dtype: DType) -> Array {
    if dtype == DType::PRED {
        array.bytes.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
    } else if let Some(bits) = element::bits(dtype) {
        array.bytes.iter_mut().for_each(|byte| *byte &= (1 << bits) - 1);
    }
    array
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_split_off_unless_the_whole_is_a_file() {
        assert_eq!(split("x.npy"), (None, "x.npy".into()));
        assert_eq!(split("a=x.npy"), (Some("a".into()), "x.npy".into()));
        assert_eq!(split("a=b=x.npy"), (Some("a".into()), "b=x.npy".into()));
        assert_eq!(split("=x.npy"), (None, "=x.npy".into()));
        for name in
            ["args[0]['w']", "args[0]['a=b']", r#"kwargs["it's="].x"#, r"args['\'='][1]", "args['=", "['a"]
        {
            let split_at_last = name == "args['=";
            let (given, path) = split(&format!("{name}=w.npy"));
            let expected = if split_at_last { ("args['", "=w.npy") } else { (name, "w.npy") };
            assert_eq!((given.as_deref(), path.to_str()), (Some(expected.0), Some(expected.1)), "{name}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a=1.npy");
        std::fs::write(&path, "").unwrap();
        assert_eq!(split(path.to_str().unwrap()), (None, path));
    }
}
