//! Writes small files of bytecode for the tests.

use crate::program::mlir::MAGIC;

/// A number as bytecode writes it, in nine bytes where one is not enough.
pub fn number(value: u64) -> Vec<u8> {
    match u8::try_from(value) {
        Ok(small @ 0..128) => vec![small << 1 | 1],
        _ => [&[0][..], &value.to_le_bytes()].concat(),
    }
}

pub fn signed(value: i64) -> Vec<u8> {
    number((value << 1 ^ value >> 63) as u64)
}

pub fn numbers(values: &[u64]) -> Vec<u8> {
    values.iter().flat_map(|&value| number(value)).collect()
}

fn list(items: &[Vec<u8>]) -> Vec<u8> {
    [number(items.len() as u64), items.concat()].concat()
}

pub const BUILTIN: u64 = 0;
pub const VHLO: u64 = 1;
pub const SHARDY: u64 = 2;

/// The parts of a file.
#[derive(Clone)]
pub struct File {
    pub version: u64,
    pub strings: Vec<String>,
    /// A dialect and the position of a string each.
    pub ops: Vec<(u64, u64)>,
    /// A dialect and an encoding each.
    pub attributes: Vec<(u64, Vec<u8>)>,
    pub types: Vec<(u64, Vec<u8>)>,
    pub properties: Vec<Vec<u8>>,
    /// The operations of the outermost block.
    pub outermost: Vec<Vec<u8>>,
}

impl File {
    /// Attribute 0 is an unknown location.
    pub fn new() -> File {
        File {
            version: 6,
            strings: vec!["builtin".into(), "vhlo".into(), "sdy".into()],
            ops: Vec::new(),
            attributes: vec![(BUILTIN, number(15))],
            types: Vec::new(),
            properties: Vec::new(),
            outermost: Vec::new(),
        }
    }

    pub fn string(&mut self, text: &str) -> u64 {
        self.strings.push(text.to_owned());
        self.strings.len() as u64 - 1
    }

    pub fn attribute(&mut self, dialect: u64, encoding: Vec<u8>) -> u64 {
        self.attributes.push((dialect, encoding));
        self.attributes.len() as u64 - 1
    }

    pub fn type_of(&mut self, dialect: u64, encoding: Vec<u8>) -> u64 {
        self.types.push((dialect, encoding));
        self.types.len() as u64 - 1
    }

    /// A tensor of VHLO.
    pub fn tensor(&mut self, dims: &[i64], element: u64) -> u64 {
        let dims: Vec<Vec<u8>> = dims.iter().map(|&dim| signed(dim)).collect();
        self.type_of(VHLO, [number(20), list(&dims), number(element)].concat())
    }

    /// A string of VHLO.
    pub fn text(&mut self, text: &str) -> u64 {
        let string = self.string(text);
        self.attribute(VHLO, numbers(&[14, string]))
    }

    /// The head of an operation, up to its results: name, parts, location, properties.
    pub fn op(&mut self, dialect: u64, name: &str, parts: u8, properties: Option<Vec<u8>>) -> Vec<u8> {
        let string = self.string(name);
        self.ops.push((dialect, string));
        let name = number(self.ops.len() as u64 - 1);
        let Some(properties) = properties else { return [name, vec![parts], number(0)].concat() };
        self.properties.push(properties);
        let properties = number(self.properties.len() as u64 - 1);
        [name, vec![parts | 0x40], number(0), properties].concat()
    }

    pub fn write(&self) -> Vec<u8> {
        let section =
            |number_of: u8, data: Vec<u8>| [vec![number_of], number(data.len() as u64), data].concat();
        let lengths: Vec<u64> = self.strings.iter().rev().map(|text| text.len() as u64 + 1).collect();
        let texts: String = self.strings.iter().map(|text| format!("{text}\0")).collect();
        let strings = [number(self.strings.len() as u64), numbers(&lengths), texts.into_bytes()].concat();
        let mut dialects = numbers(&[3, 0, 1 << 1, 2 << 1, self.ops.len() as u64]);
        self.ops.iter().for_each(|&(dialect, name)| dialects.extend(numbers(&[dialect, 1, name << 1 | 1])));
        let mut sizes = numbers(&[self.attributes.len() as u64, self.types.len() as u64]);
        let mut entries = Vec::new();
        for (dialect, encoding) in self.attributes.iter().chain(&self.types) {
            sizes.extend(numbers(&[*dialect, 1, (encoding.len() as u64) << 1 | 1]));
            entries.extend_from_slice(encoding);
        }
        let properties: Vec<Vec<u8>> =
            self.properties.iter().map(|data| [number(data.len() as u64), data.clone()].concat()).collect();
        let ir = [number((self.outermost.len() as u64) << 1), self.outermost.concat()].concat();
        let mut file = [MAGIC, &number(self.version), b"StableHLO_v1.0.0\0"].concat();
        for (number_of, data) in
            [(0, strings), (1, dialects), (2, entries), (3, sizes), (4, ir), (8, list(&properties))]
        {
            file.extend(section(number_of, data));
        }
        file
    }
}

/// A region of one block.
pub fn region(values: u64, arguments: &[u64], ops: &[Vec<u8>]) -> Vec<u8> {
    let mut region = numbers(&[1, values]);
    region.extend(number((ops.len() as u64) << 1 | u64::from(!arguments.is_empty())));
    if !arguments.is_empty() {
        region.extend(number(arguments.len() as u64));
        arguments.iter().for_each(|&argument| region.extend(number(argument << 1)));
        region.push(0);
    }
    region.extend(ops.concat());
    region
}

/// What holds a region that sees nothing of what is around it.
pub fn isolated(region: &[u8]) -> Vec<u8> {
    [&number(1 << 1 | 1)[..], &[4], &number(region.len() as u64), region].concat()
}
