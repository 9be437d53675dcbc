//! Writes FlatBuffers that JAX would not write.

/// What a field or an element of a vector is.
#[derive(Clone)]
pub enum Item {
    Byte(u8),
    Short(u16),
    Word(u32),
    Text(Vec<u8>),
    Shorts(Vec<u16>),
    Words(Vec<u32>),
    List(Vec<Item>),
    Table(Vec<(u16, Item)>),
    /// Bytes to be placed as they are, and the position of the table in them.
    Raw(Vec<u8>, usize),
}

use Item::*;

pub fn text(text: &str) -> Item {
    Text(text.as_bytes().to_vec())
}

pub fn texts(list: &[&str]) -> Item {
    List(list.iter().map(|one| text(one)).collect())
}

/// A whole file around its root.
pub fn file(root: &Item) -> Vec<u8> {
    let mut bytes = vec![0; 4];
    // Where an offset is to be written, and what it leads to.
    let mut waiting = vec![(0, root)];
    while let Some((position, item)) = waiting.pop() {
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        let mut target = bytes.len();
        match item {
            Byte(_) | Short(_) | Word(_) => unreachable!("numbers have no offset"),
            Text(text) => {
                bytes.extend((text.len() as u32).to_le_bytes());
                bytes.extend(text);
                bytes.push(0);
            }
            Shorts(numbers) => {
                bytes.extend((numbers.len() as u32).to_le_bytes());
                bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
            }
            Words(numbers) => {
                bytes.extend((numbers.len() as u32).to_le_bytes());
                bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
            }
            List(items) => {
                bytes.extend((items.len() as u32).to_le_bytes());
                for item in items {
                    waiting.push((bytes.len(), item));
                    bytes.extend([0; 4]);
                }
            }
            Raw(raw, table) => {
                target += table;
                bytes.extend(raw);
            }
            Table(fields) => {
                let slots = fields.iter().map(|(slot, _)| slot + 1).max().unwrap_or(0);
                let vtable_size = 4 + 2 * slots;
                let mut vtable = vec![vtable_size, 4 + 4 * fields.len() as u16];
                vtable.resize(2 + usize::from(slots), 0);
                for (index, (slot, _)) in fields.iter().enumerate() {
                    vtable[2 + usize::from(*slot)] = 4 + 4 * index as u16;
                }
                bytes.extend(vtable.iter().flat_map(|entry| entry.to_le_bytes()));
                target = bytes.len();
                bytes.extend(u32::from(vtable_size).to_le_bytes());
                for (_, item) in fields {
                    let number = match item {
                        Byte(number) => u32::from(*number),
                        Short(number) => u32::from(*number),
                        Word(number) => *number,
                        _ => {
                            waiting.push((bytes.len(), item));
                            0
                        }
                    };
                    bytes.extend(number.to_le_bytes());
                }
            }
        }
        bytes[position..position + 4].copy_from_slice(&((target - position) as u32).to_le_bytes());
    }
    bytes
}

/// A node of a tree.
pub fn node(kind: u8, children: Vec<Item>) -> Item {
    Table(vec![(0, Byte(kind)), (1, List(children))])
}

/// A leaf of a tree.
pub fn leaf() -> Item {
    Table(vec![])
}

/// `f32` of this shape.
pub fn array(shape: &[&str]) -> Item {
    Table(vec![(1, texts(shape)), (2, Byte(10))])
}

/// The fields of an exported function of one input and one output.
pub fn fields() -> Vec<(u16, Item)> {
    let tree = node(2, vec![node(2, vec![leaf()]), Table(vec![(0, Byte(4))])]);
    vec![
        (0, Short(2)),
        (1, text("f")),
        (2, tree),
        (3, List(vec![array(&["2"])])),
        (4, leaf()),
        (5, List(vec![array(&["2"])])),
        (6, Short(1)),
        (9, texts(&["cpu"])),
        (13, Text(b"ML\xefR and more".to_vec())),
        (14, Short(9)),
        (15, Shorts(vec![0])),
    ]
}

/// The same with other fields in the place of some, or beside them.
pub fn with(others: Vec<(u16, Item)>) -> Vec<u8> {
    let mut fields = fields();
    fields.retain(|(slot, _)| others.iter().all(|(other, _)| other != slot));
    fields.extend(others);
    file(&Table(fields))
}

/// The same without a field.
pub fn without(slot: u16) -> Vec<u8> {
    let mut fields = fields();
    fields.retain(|(other, _)| *other != slot);
    file(&Table(fields))
}
