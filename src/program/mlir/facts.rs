//! What the operations of a file say about the program.

mod calls;
mod extensions;

use std::collections::{BTreeSet, HashMap, HashSet};

use super::cursor::Cursor;
use super::entries::Entries;
use super::tables::{OpName, Tables};
use super::values::Reader;
use super::walk::Op;
use super::{CustomCall, Function, Value};
use crate::error::{Error, Result};
use crate::order;

/// What an operation is to this module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// A module that nothing is around.
    Module,
    Function,
    Other,
}

/// The operations that say something. Where attributes stand in the properties,
/// depends on which dialect's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Module,
    VhloFunction,
    Function,
    VhloCall,
    Call,
    VhloComposite,
    VhloCustomCall,
    Composite,
    CustomCall,
    Other,
}

impl Kind {
    fn of(op: &OpName) -> Kind {
        match (op.dialect, op.name) {
            (b"builtin", b"module") => Kind::Module,
            (b"vhlo", b"func_v1") => Kind::VhloFunction,
            (b"func", b"func") => Kind::Function,
            (b"vhlo", b"call_v1") => Kind::VhloCall,
            (b"func", b"call") => Kind::Call,
            (b"vhlo", name) if name.starts_with(b"composite_v") => Kind::VhloComposite,
            (b"vhlo", name) if name.starts_with(b"custom_call_v") => Kind::VhloCustomCall,
            (b"stablehlo", b"composite") => Kind::Composite,
            (b"stablehlo" | b"mhlo", b"custom_call") => Kind::CustomCall,
            _ => Kind::Other,
        }
    }
}

/// A function, before it is known whether it is the one to run.
struct Found {
    name: Option<u32>,
    has_body: bool,
    is_main: bool,
    /// Whether it is what JAX makes the function to run of, with the names of arguments.
    is_inner: bool,
    function_type: Option<u32>,
    input_facts: Option<u32>,
    output_facts: Option<u32>,
    /// The names of the functions that it calls.
    calls: Vec<u32>,
}

/// What was found so far.
pub struct Facts<'a> {
    reader: Reader<'a>,
    kinds: Vec<Kind>,
    pub name: Option<String>,
    pub partitions: Option<i64>,
    pub replicas: Option<i64>,
    functions: Vec<Found>,
    /// What is left of the types that the current function takes.
    inputs: Option<Cursor<'a>>,
    /// The locations of the arguments of the function to run, and of its inner one.
    locations: [Vec<Option<u32>>; 2],
    /// By the position of the target's name in the table of strings.
    custom_calls: HashMap<u32, CustomCall>,
    /// The dictionaries whose attributes were found to be of their kinds.
    checked: HashSet<u32>,
    /// The names of functions that custom calls need.
    required: BTreeSet<u32>,
    /// The lists of these that were read, and the functions they were read for.
    computations: HashSet<(u32, Option<usize>)>,
}

impl<'a> Facts<'a> {
    pub fn new(tables: &'a Tables<'a>, entries: &'a Entries<'a>) -> Facts<'a> {
        Facts {
            reader: Reader { tables, entries },
            kinds: tables.ops.iter().map(Kind::of).collect(),
            name: None,
            partitions: None,
            replicas: None,
            functions: Vec::new(),
            inputs: None,
            locations: [Vec::new(), Vec::new()],
            custom_calls: HashMap::new(),
            checked: HashSet::new(),
            required: BTreeSet::new(),
            computations: HashSet::new(),
        }
    }

    /// Takes what an operation says. Gives its role and the function that it is or is in.
    pub fn op(
        &mut self,
        op: &Op<'a>,
        outer: Role,
        function: Option<usize>,
        is_outermost: bool,
    ) -> Option<(Role, Option<usize>)> {
        match self.kinds[op.name as usize] {
            Kind::Module if is_outermost => {
                self.module(op);
                return Some((Role::Module, function));
            }
            kind @ (Kind::VhloFunction | Kind::Function) => {
                self.function(op, kind, outer);
                return Some((Role::Function, Some(self.functions.len() - 1)));
            }
            Kind::VhloCall => self.call(self.property(op, 0, b"callee"), function),
            Kind::Call => self.call(self.plain_callee(op), function),
            kind @ (Kind::VhloComposite | Kind::Composite) => {
                self.call(self.property(op, 1, b"decomposition"), function);
                if kind == Kind::VhloComposite {
                    self.check_composite(op)?;
                }
            }
            Kind::VhloCustomCall => self.custom_call(op, Self::property, function)?,
            Kind::CustomCall => self.custom_call(op, Self::optional_property, function)?,
            Kind::Module | Kind::Other => {}
        }
        Some((Role::Other, function))
    }

    /// The attribute at a position of the properties; of older files, the one by name.
    fn property(&self, op: &Op<'a>, position: usize, name: &[u8]) -> Option<u32> {
        let Some(mut properties) = op.properties else {
            return self.reader.lookup(op.attributes?, name);
        };
        for _ in 0..position {
            properties.number()?;
        }
        properties.index(self.reader.entries.codes.len())
    }

    /// The same for one that may be absent.
    fn optional_property(&self, op: &Op<'a>, position: usize, name: &[u8]) -> Option<u32> {
        let Some(mut properties) = op.properties else { return self.property(op, position, name) };
        for _ in 0..position {
            properties.number()?;
        }
        self.optional(&mut properties)
    }

    fn module(&mut self, op: &Op<'a>) {
        let name = match op.properties {
            // A name and a visibility, either of which may be absent.
            Some(mut properties) => self.optional(&mut properties),
            None => op.attributes.and_then(|attributes| self.reader.lookup(attributes, b"sym_name")),
        };
        self.name = name.and_then(|name| self.reader.text(name)).map(str::to_owned);
        let integer = |key: &[u8]| {
            let attribute = self.reader.lookup(op.attributes?, key)?;
            self.reader.integer(attribute)
        };
        let numbers = (integer(b"mhlo.num_partitions"), integer(b"mhlo.num_replicas"));
        (self.partitions, self.replicas) = numbers;
    }

    /// An attribute that may be absent.
    fn optional(&self, properties: &mut Cursor<'a>) -> Option<u32> {
        let (index, is_there) = properties.flagged()?;
        super::cursor::to_index(index, self.reader.entries.codes.len()).filter(|_| is_there)
    }

    fn function(&mut self, op: &Op<'a>, kind: Kind, outer: Role) {
        let found = if kind == Kind::VhloFunction { self.vhlo_function(op) } else { self.plain_function(op) };
        let [input_facts, function_type, output_facts, name] = found;
        let text = name.and_then(|name| self.reader.text(name)).filter(|_| outer == Role::Module);
        let name = name.and_then(|name| self.reader.string(name));
        self.functions.push(Found {
            name,
            has_body: false,
            is_main: text == Some("main"),
            is_inner: text == Some("_wrapped_jax_export_main"),
            function_type,
            input_facts,
            output_facts,
            calls: Vec::new(),
        });
    }

    fn vhlo_function(&self, op: &Op<'a>) -> [Option<u32>; 4] {
        let names: [&[u8]; 4] = [b"arg_attrs", b"function_type", b"res_attrs", b"sym_name"];
        std::array::from_fn(|position| self.property(op, position, names[position]))
    }

    /// The same of the dialect `func`, of whose attributes all but two may be absent.
    fn plain_function(&self, op: &Op<'a>) -> [Option<u32>; 4] {
        let Some(mut properties) = op.properties else { return self.vhlo_function(op) };
        let mut rest = properties;
        // No more than tells that there are too many: functions can share long properties.
        let count = (0..7).take_while(|_| rest.number().is_some()).count();
        let mut found = [None; 4];
        if !(5..=6).contains(&count) {
            return found;
        }
        let length = self.reader.entries.codes.len();
        found[0] = self.optional(&mut properties);
        found[1] = properties.index(length);
        if count == 6 {
            // Whether it may be inlined.
            properties.number();
        }
        found[2] = self.optional(&mut properties);
        found[3] = properties.index(length);
        found
    }

    fn plain_callee(&self, op: &Op<'a>) -> Option<u32> {
        let length = self.reader.entries.codes.len();
        let Some(mut properties) = op.properties else {
            return self.reader.lookup(op.attributes?, b"callee");
        };
        let mut alone = properties;
        let only = alone.index(length);
        if alone.is_at_end() {
            return only;
        }
        // Behind the facts of its arguments, which may be absent.
        properties.number()?;
        properties.index(length)
    }

    fn call(&mut self, callee: Option<u32>, function: Option<usize>) {
        let name = callee.and_then(|callee| self.reader.string(callee));
        if let (Some(name), Some(function)) = (name, function) {
            self.functions[function].calls.push(name);
        }
    }

    /// What a string attribute says.
    pub fn string(&self, attribute: u32) -> Option<&'a [u8]> {
        Some(self.reader.tables.strings[self.reader.string(attribute)? as usize])
    }

    pub fn function_has_body(&mut self, function: usize) {
        self.functions[function].has_body = true;
    }

    /// Takes an argument of a function's first block. Its type has to be the one that
    /// the function's type says.
    pub fn argument(
        &mut self,
        function: usize,
        position: usize,
        type_index: u32,
        location: Option<u32>,
    ) -> Option<()> {
        let found = &self.functions[function];
        let locations = &mut self.locations[usize::from(found.is_inner)];
        if (found.is_main || found.is_inner) && locations.len() == position {
            locations.push(location);
        }
        if position == 0 {
            self.inputs = self.reader.signature(found.function_type).map(|(inputs, _)| inputs);
            self.inputs.as_mut().and_then(Cursor::count);
        }
        match &mut self.inputs {
            Some(inputs) => (inputs.number()? == u64::from(type_index)).then_some(()),
            None => Some(()),
        }
    }

    pub fn arguments_end(&mut self, function: usize, count: usize) -> Option<()> {
        let found = &self.functions[function];
        let Some((mut inputs, _)) = self.reader.signature(found.function_type) else { return Some(()) };
        (inputs.count()? == count).then_some(())
    }

    /// The function to run. Plugins look for dims that are not there if its arguments or
    /// results ask for the layout of another array.
    pub fn main(&self) -> Result<Option<Function>> {
        let Some(found) = self.functions.iter().find(|found| found.is_main && found.has_body) else {
            return Ok(None);
        };
        let both = self.reader.signature(found.function_type);
        let both = both
            .and_then(|(inputs, outputs)| Some((self.reader.values(inputs)?, self.reader.values(outputs)?)));
        let Some((mut inputs, mut outputs)) = both else { return Ok(None) };
        for (values, facts) in [(&inputs, found.input_facts), (&outputs, found.output_facts)] {
            if let Some((layout, dims)) = self.reader.wrong_layout(values, facts) {
                let message = format!("the program asks for the layout {layout} of an array of {dims} dims");
                return Err(Error::invalid_argument(message).hint("export the program again"));
            }
        }
        let name = |location: &Option<u32>| location.and_then(|location| self.reader.name_of(location));
        let count = inputs.len();
        for locations in self.locations.iter().filter(|locations| locations.len() == count) {
            for (input, location) in inputs.iter_mut().zip(locations) {
                input.name = input.name.take().or_else(|| name(location));
            }
        }
        self.reader.add_facts(&mut inputs, found.input_facts);
        self.reader.add_facts(&mut outputs, found.output_facts);
        Ok(Some(Function { inputs, outputs }))
    }

    /// The targets of custom calls, by name.
    pub fn custom_calls(&mut self) -> Vec<CustomCall> {
        let mut calls: Vec<CustomCall> = std::mem::take(&mut self.custom_calls).into_values().collect();
        order::sort_by(&mut calls, |one, other| one.target < other.target);
        calls
    }
}

impl Value {
    pub(super) fn new(ty: super::ValueType) -> Value {
        Value { ty, is_donated: false, name: None }
    }
}
