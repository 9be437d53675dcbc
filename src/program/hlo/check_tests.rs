//! Modules made by hand, each wrong in one way.

use super::check::check;
use super::module::Module;
use super::wire::{int, message};

/// An array of numbers of single precision.
fn array(dims: &[i64]) -> Vec<u8> {
    let order: Vec<u8> = (0..dims.len() as u8).rev().collect();
    let sizes: Vec<u8> = dims.iter().flat_map(|&dim| int(3, dim)).collect();
    [int(2, 11), sizes, message(5, &message(1, &order))].concat()
}

fn tuple(parts: &[Vec<u8>]) -> Vec<u8> {
    let parts: Vec<u8> = parts.iter().flat_map(|part| message(4, part)).collect();
    [int(2, 13), parts].concat()
}

#[derive(Clone)]
struct Instruction {
    id: i64,
    opcode: &'static str,
    shape: Vec<u8>,
    operands: Vec<i64>,
    called: Vec<i64>,
    more: Vec<u8>,
}

fn instruction(id: i64, opcode: &'static str, operands: &[i64], called: &[i64]) -> Instruction {
    let (operands, called) = (operands.to_vec(), called.to_vec());
    Instruction { id, opcode, shape: array(&[2]), operands, called, more: Vec::new() }
}

impl Instruction {
    fn of(self, shape: Vec<u8>) -> Instruction {
        Instruction { shape, ..self }
    }

    fn with(self, more: Vec<u8>) -> Instruction {
        Instruction { more, ..self }
    }

    fn bytes(&self) -> Vec<u8> {
        let head = [message(1, b"x"), message(2, self.opcode.as_bytes()), message(3, &self.shape)].concat();
        let operands = self.operands.iter().flat_map(|&id| int(36, id));
        let called = self.called.iter().flat_map(|&id| int(38, id));
        head.into_iter()
            .chain(int(35, self.id))
            .chain(operands)
            .chain(called)
            .chain(self.more.clone())
            .collect()
    }
}

/// A function whose last instruction is its result.
fn computation(id: i64, instructions: &[Instruction]) -> Vec<u8> {
    let parameters = instructions.iter().filter(|one| one.opcode == "parameter");
    let shapes: Vec<u8> = parameters.flat_map(|parameter| message(1, &parameter.shape)).collect();
    let last = &instructions[instructions.len() - 1];
    let shape = [shapes, message(2, &last.shape)].concat();
    let body: Vec<u8> = instructions.iter().flat_map(|one| message(2, &one.bytes())).collect();
    [message(1, b"f"), body, message(4, &shape), int(5, id), int(6, last.id)].concat()
}

/// A program of these functions, the last of which, of one parameter, runs.
fn module(computations: &[Vec<u8>], entry: i64, more: &[u8]) -> Vec<u8> {
    let functions: Vec<u8> = computations.iter().flat_map(|one| message(3, one)).collect();
    let shape = [message(1, &array(&[2])), message(2, &array(&[2]))].concat();
    [&message(1, b"m")[..], &functions, &message(4, &shape), &int(6, entry), more].concat()
}

fn outcome(bytes: &[u8]) -> Result<(), String> {
    check(&Module::read(bytes).map_err(|_| "malformed".to_owned())?).map(|_| ())
}

/// The outcome for a program of one function, which negates its parameter at the end.
fn of_body(body: &[Instruction]) -> Result<(), String> {
    let last = body.last().map_or(1, |one| one.id);
    let all = [&[parameter()], body, &[instruction(90, "negate", &[last], &[])]].concat();
    outcome(&module(&[computation(7, &all)], 7, b""))
}

fn parameter() -> Instruction {
    instruction(1, "parameter", &[], &[])
}

fn fails(outcome: Result<(), String>, part: &str) {
    let reason = outcome.expect_err(part);
    assert!(reason.contains(part), "{reason}");
}

#[test]
fn numbers_lead_somewhere() {
    let add = |operands: &[i64]| instruction(2, "add", operands, &[]);
    assert_eq!(of_body(&[add(&[1, 1])]), Ok(()));
    fails(of_body(&[add(&[1, 3])]), "uses the instruction 3, which does not stand before it");
    fails(of_body(&[add(&[1, 2])]), "uses the instruction 2");
    fails(of_body(&[instruction(1, "abs", &[1], &[])]), "has the number of another one");
    fails(of_body(&[instruction(1 << 31, "abs", &[1], &[])]), "a number that is too large");
    fails(of_body(&[instruction(-1, "abs", &[1], &[])]), "a number that is too large");
    assert_eq!(of_body(&[instruction(5 << 32 | 9, "abs", &[1], &[])]), Ok(()));
    fails(of_body(&[instruction(2, "", &[1], &[])]), "does nothing");
    fails(of_body(&[add(&[1, 1]).with(int(37, 3))]), "uses the instruction 3");
    fails(of_body(&[instruction(2, "call", &[1], &[8])]), "calls the computation 8");
    fails(of_body(&[instruction(2, "call", &[1], &[7])]), "calls the computation 7");
    let body = computation(7, &[parameter(), instruction(2, "abs", &[1], &[])]);
    fails(outcome(&module(std::slice::from_ref(&body), 8, b"")), "entry computation, number 8, is not there");
    fails(outcome(&module(&[body.clone(), body.clone()], 7, b"")), "two computations have the number 7");
    let no_root = [&body[..], &int(6, 3)].concat();
    fails(outcome(&module(&[no_root], 7, b"")), "its result, instruction 3, is not there");
}

#[test]
fn types_make_sense() {
    let abs = |shape: Vec<u8>| of_body(&[instruction(2, "abs", &[1], &[]).of(shape)]);
    let layout = |order: &[u8]| message(5, &message(1, order));
    let wrong = [
        array(&[-1]),
        array(&[1 << 20, 1 << 20]),
        array(&[1; 65]),
        [int(2, 11), int(3, 2)].concat(),
        [int(2, 11), int(3, 2), layout(&[1])].concat(),
        [int(2, 11), int(3, 2), int(3, 2), layout(&[0, 0])].concat(),
        [int(2, 99), layout(&[])].concat(),
        [int(2, 0), layout(&[])].concat(),
        [array(&[2]), message(4, &array(&[2]))].concat(),
        [tuple(&[]), int(3, 1)].concat(),
        tuple(&[array(&[-1])]),
    ];
    for shape in wrong {
        fails(abs(shape), "a type that contradicts itself");
    }
    let right =
        [array(&[]), array(&[0, 1 << 35]), tuple(&[]), tuple(&[tuple(&[array(&[3, 4, 5])])]), int(2, 17)];
    for shape in right {
        assert_eq!(abs(shape), Ok(()));
    }
    let deep = (0..40).fold(array(&[]), |inside, _| tuple(&[inside]));
    fails(abs(deep), "of the wrong kinds");
}

#[test]
fn functions_take_and_give_what_they_say() {
    let body = [parameter(), instruction(2, "abs", &[1], &[])];
    let good = computation(7, &body);
    let check = |more: Vec<u8>| outcome(&module(&[[&good[..], &more].concat()], 7, b""));
    assert_eq!(check(Vec::new()), Ok(()));
    fails(check(message(4, &message(1, &array(&[2])))), "it says that it has 2 parameters, and has 1");
    fails(check(message(4, &message(2, &int(3, 2)))), "its result has another type");
    let other = computation(7, &[parameter().of(array(&[3])), instruction(2, "abs", &[1], &[])]);
    fails(outcome(&module(&[other], 7, b"")), "as the program's entry, its parameter 0 has another type");
    let twice = [parameter(), instruction(2, "parameter", &[], &[])];
    fails(outcome(&module(&[computation(7, &twice)], 7, b"")), "numbers that are not 0 to 1");
    let second = [parameter().with(int(9, 1)), instruction(2, "abs", &[1], &[])];
    fails(outcome(&module(&[computation(7, &second)], 7, b"")), "numbers that are not 0 to 0");
}

#[test]
fn calls_are_whole_and_not_too_many() {
    let callee = computation(3, &[parameter(), instruction(2, "abs", &[1], &[])]);
    let calling = |one: Instruction| {
        let entry = computation(7, &[parameter(), one, instruction(9, "abs", &[2], &[])]);
        outcome(&module(&[callee.clone(), entry], 7, b""))
    };
    for (opcode, operands, called) in [("call", 1, 1), ("while", 1, 2), ("conditional", 3, 2), ("sort", 1, 1)]
    {
        let one =
            |operands: usize, called: usize| instruction(2, opcode, &vec![1; operands], &vec![3; called]);
        assert_eq!(calling(one(operands, called)), Ok(()), "{opcode}");
        if opcode != "sort" {
            fails(calling(one(operands, called - 1)), "lacks a part");
            let reason = calling(one(operands + 1, called)).unwrap_err();
            assert!(reason.contains("lacks a part") || reason.contains("gives 2 values"), "{reason}");
        }
    }
    // Each calls the one before it, once or twice.
    let chain = |length: i64, calls: usize| {
        let mut functions = vec![callee.clone()];
        for id in 4..4 + length {
            let mut body = vec![parameter()];
            body.extend((0..calls as i64).map(|call| instruction(2 + call, "call", &[1], &[id - 1])));
            functions.push(computation(id, &body));
        }
        outcome(&module(&functions, 3 + length, b""))
    };
    assert_eq!(chain(100, 1), Ok(()));
    fails(chain(129, 1), "too many calls inside each other");
    assert_eq!(chain(12, 2), Ok(()));
    fails(chain(60, 2), "too many instructions");
}

#[test]
fn constants_are_of_their_own_type() {
    let constant = |literal: Vec<u8>| of_body(&[instruction(2, "constant", &[], &[]).with(literal)]);
    assert_eq!(constant(message(8, &message(1, &array(&[2])))), Ok(()));
    fails(constant(message(8, &message(1, &array(&[1 << 31])))), "lacks a part");
    fails(constant(Vec::new()), "lacks a part");
}

#[test]
fn instructions_have_what_they_need() {
    let of = |opcode, operands: usize| instruction(2, opcode, &vec![1; operands], &[]);
    for (opcode, wrong) in [
        ("iota", 1),
        ("partition-id", 1),
        ("abs", 0),
        ("add", 1),
        ("select", 2),
        ("convolution", 0),
        ("dot", 1),
        ("scatter", 2),
        ("concatenate", 0),
        ("dynamic-slice", 1),
        ("dynamic-update-slice", 2),
    ] {
        fails(of_body(&[of(opcode, wrong)]), "lacks a part");
    }
    for (opcode, right) in [("iota", 0), ("add", 2), ("dot", 4), ("dynamic-slice", 2), ("a-newer-one", 0)] {
        assert_eq!(of_body(&[of(opcode, right)]), Ok(()), "{opcode}");
    }
    fails(of_body(&[of("rng-bit-generator", 1)]), "lacks a part");
    let pair = tuple(&[array(&[2]), array(&[2])]);
    assert_eq!(of_body(&[of("rng-bit-generator", 1).of(pair.clone())]), Ok(()));
    fails(of_body(&[of("custom-call", 1)]), "lacks a part");
    assert_eq!(of_body(&[of("custom-call", 1).with(message(28, b"target"))]), Ok(()));
    assert_eq!(of_body(&[of("topk", 1).of(pair.clone()).with(int(81, 2))]), Ok(()));
    fails(of_body(&[of("topk", 1).of(pair).with(int(81, -2))]), "lacks a part");
    let partition = |shape: Vec<u8>| {
        let body = [
            parameter(),
            instruction(2, "partition-id", &[], &[]).of(shape),
            instruction(3, "abs", &[1], &[]),
        ];
        outcome(&module(&[computation(7, &body)], 7, b""))
    };
    fails(partition(array(&[])), "lacks a part");
    assert_eq!(partition([int(2, 8), message(5, b"")].concat()), Ok(()));
}

#[test]
fn what_waits_for_the_host_is_noticed() {
    let body = [parameter(), instruction(2, "infeed", &[1], &[]), instruction(3, "abs", &[1], &[])];
    let bytes = module(&[computation(7, &body)], 7, b"");
    let checked = check(&Module::read(&bytes).unwrap()).unwrap();
    assert!(checked.host_transfer.unwrap().message().contains("(infeed)"));
}

#[test]
fn what_is_overwritten_is_there() {
    let good = computation(7, &[parameter(), instruction(2, "abs", &[1], &[])]);
    let check = |more: Vec<u8>| outcome(&module(std::slice::from_ref(&good), 7, &more));
    let alias = |fields: Vec<u8>| message(8, &message(1, &fields));
    assert_eq!(check(alias(int(4, 1))), Ok(()));
    assert_eq!(check(message(18, &message(1, b""))), Ok(()));
    fails(check(alias(int(2, 1))), "the parameter 1 is to be overwritten");
    fails(check(alias(int(2, -1))), "the parameter -1");
    fails(check(alias(int(3, 0))), "the parameter 0 is to be overwritten");
    fails(check(alias(int(1, 0))), "shares memory with a result that is not there");
    fails(check(message(18, &message(1, &int(1, 5)))), "the parameter 5");
}
