//! What an instruction needs to be whole, by what it does.
//!
//! Plugins check this for some instructions; others they take apart before they look
//! whether the parts are there.

use super::module::Instruction;
use super::shape::Shape;
use crate::dtype::DType;
use crate::error::{Code, Error, Origin};

const HOST_TRANSFERS: [&str; 6] = ["infeed", "outfeed", "send", "send-done", "recv", "recv-done"];

/// An error if the instruction waits for the host while the program runs.
pub fn host_transfer(opcode: &str) -> Option<Error> {
    HOST_TRANSFERS.contains(&opcode).then(|| {
        let message = format!(
            "the program exchanges data with the host while it runs ({opcode}), which libcyxla does not support"
        );
        Error::new(Code::Unimplemented, Origin::Library, message)
            .hint("make what it exchanges arguments and results; in JAX, remove host callbacks and infeeds")
    })
}

const NULLARY: &str = "\
    constant iota parameter partition-id replica-id";
const UNARY: &str = "\
    abs acos acosh asin asinh atanh bitcast-convert broadcast cbrt ceil cholesky convert copy cosh cosine \
    count-leading-zeros erf exponential exponential-minus-one fft floor get-dimension-size \
    get-tuple-element imag is-finite log log-plus-one logistic negate not popcnt real reduce-precision \
    reshape reverse rng-bit-generator round-nearest-afz round-nearest-even rsqrt sign sine sinh slice sqrt \
    tan tanh topk transpose while";
const BINARY: &str = "\
    add add-dependency and atan2 compare complex divide gather maximum minimum multiply or pad power \
    remainder set-dimension-size shift-left shift-right-arithmetic shift-right-logical stochastic-convert \
    subtract triangular-solve";
const TERNARY: &str = "\
    batch-norm-training clamp select select-and-scatter";

/// At least so many.
const VARIADIC: [(&str, usize); 12] = [
    ("all-gather", 1),
    ("all-reduce", 1),
    ("collective-permute", 1),
    ("concatenate", 1),
    ("convolution", 2),
    ("dot", 2),
    ("dynamic-reshape", 1),
    ("reduce", 2),
    ("reduce-scatter", 1),
    ("reduce-window", 2),
    ("scatter", 3),
    ("sort", 1),
];

/// Whether the instruction has all that it needs, as far as that is known.
pub fn is_whole(instruction: &Instruction<'_>) -> bool {
    let Instruction { opcode, shape, .. } = instruction;
    let (operands, called) = (instruction.operands.len(), instruction.called.len());
    let rank = shape.dims.len();
    let is_in = |list: &str| list.split(' ').any(|one| one == *opcode);
    let has_operands = match *opcode {
        _ if is_in(NULLARY) => operands == 0,
        _ if is_in(UNARY) => operands == 1,
        _ if is_in(BINARY) => operands == 2,
        _ if is_in(TERNARY) => operands == 3,
        "conditional" => called > 0 && operands == called + 1,
        // Where to begin comes as one list of numbers, or each number on its own.
        "dynamic-slice" => [2, 1 + rank].contains(&operands),
        "dynamic-update-slice" => [3, 2 + rank].contains(&operands),
        opcode => VARIADIC.iter().all(|(variadic, least)| opcode != *variadic || operands >= *least),
    };
    let has_rest = match *opcode {
        "call" => called == 1,
        "while" => called == 2,
        "constant" => instruction.literal.as_ref().is_some_and(|literal| literal.is_like(shape)),
        "custom-call" => !instruction.target.is_empty(),
        "partition-id" | "replica-id" => shape.dims.is_empty() && shape.dtype() == Some(DType::U32),
        "rng-bit-generator" => shape.parts.len() == 2 && !shape.parts.iter().any(Shape::is_tuple),
        "topk" => instruction.k >= 0,
        _ => true,
    };
    has_operands && has_rest
}
