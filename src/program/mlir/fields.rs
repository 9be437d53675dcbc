//! Reads and checks the fields of attributes and types.

use super::cursor::{Cursor, to_index};
use super::encodings::{Code, attribute};
use super::entries::{Entries, NOTHING};
use super::tables::Tables;
use super::types::Kind;

/// Reads the fields of attributes and types.
pub struct Fields<'a, 'e> {
    tables: &'e Tables<'a>,
    pub entries: &'e Entries<'a>,
    /// Attributes by number, and types behind all of these.
    pub references: Vec<u32>,
    type_before: u32,
    /// Whether what is read is of VHLO, which takes no types of other dialects where it
    /// looks into them.
    is_vhlo: bool,
}

impl<'a, 'e> Fields<'a, 'e> {
    pub fn new(tables: &'e Tables<'a>, entries: &'e Entries<'a>) -> Fields<'a, 'e> {
        Fields { tables, entries, references: Vec::new(), type_before: NOTHING, is_vhlo: false }
    }

    /// Reads the fields that `letters` stand for, which has to be all there is.
    pub fn read(&mut self, cursor: &mut Cursor<'a>, code: Code, letters: &str) -> Option<()> {
        self.is_vhlo = matches!(code, Code::Vhlo(_));
        let before = self.references.len();
        for way in letters.split('|') {
            self.references.truncate(before);
            let mut cursor = *cursor;
            if self.one_way(&mut cursor, way).is_some() {
                return Some(());
            }
        }
        None
    }

    fn one_way(&mut self, cursor: &mut Cursor<'a>, letters: &str) -> Option<()> {
        for (position, letter) in letters.bytes().enumerate() {
            let behind =
                || letters.as_bytes()[position + 1..].iter().take_while(|byte| byte.is_ascii_digit());
            let digits = || behind().fold(0, |number, digit| number * 10 + u64::from(digit - b'0'));
            match letter {
                b'A' | b'T' | b'U' | b'L' | b'N' | b'G' | b'V' | b'Z' | b'D' => {
                    for _ in 0..cursor.count()? {
                        self.field(cursor, letter.to_ascii_lowercase(), None)?;
                    }
                }
                b'k' | b'K' => {
                    let name = if letter == b'k' { b'n' } else { b'x' };
                    for _ in 0..cursor.count()? {
                        self.field(cursor, name, None)?;
                        self.field(cursor, b'a', None)?;
                    }
                }
                b'C' => {
                    for _ in 0..cursor.count()? {
                        let index = cursor.number()?;
                        self.shardy(index, digits())?;
                    }
                }
                b'P' => {
                    let (index, is_there) = cursor.flagged()?;
                    if is_there {
                        self.shardy(index, digits())?;
                    }
                }
                b'0'..=b'9' => {}
                // What depends on a type that is not known ends the checks.
                b'i' | b'f' | b'b' | b'w' | b'e' if self.is_unknown() => return self.is_of_family(),
                _ => self.field(cursor, letter, behind().next().map(|_| digits()))?,
            }
        }
        cursor.is_at_end().then_some(())
    }

    /// An attribute of Shardy. There are three of the sharding of a tensor.
    fn shardy(&mut self, index: u64, wanted: u64) -> Option<()> {
        let index = to_index(index, self.entries.codes.len())?;
        self.references.push(index);
        match self.entries.codes[index as usize] {
            Code::Shardy(6 | 15 | 17) => wanted == 6,
            Code::Shardy(code) => u64::from(code) == wanted,
            code => code == Code::Text,
        }
        .then_some(())
    }

    fn is_unknown(&self) -> bool {
        self.entries.types[self.type_before as usize].kind == Kind::Unknown
    }

    fn field(&mut self, cursor: &mut Cursor<'a>, letter: u8, most: Option<u64>) -> Option<()> {
        match letter {
            b'a' => self.attribute(cursor, |_| true)?,
            b'l' => self.attribute(cursor, attribute::may_be_location)?,
            b'n' => self.attribute(cursor, |code| matches!(code, Code::Builtin(2 | 3) | Code::Text))?,
            b'g' => self.attribute(cursor, |code| matches!(code, attribute::SYMBOL | Code::Text))?,
            b'j' => self
                .attribute(cursor, |code| matches!(code, attribute::SYMBOL | attribute::MESH | Code::Text))?,
            b'x' => self.attribute(cursor, |code| code == attribute::VHLO_STRING)?,
            b'p' => {
                let (index, is_there) = cursor.flagged()?;
                if is_there {
                    self.references.push(to_index(index, self.entries.codes.len())?);
                }
            }
            b'q' => {
                if cursor.number()? != 0 {
                    self.attribute(cursor, |_| true)?;
                }
            }
            b't' => self.type_of(cursor, |_| true)?,
            b'm' => {
                self.type_of(cursor, |kind| matches!(kind, Kind::Shaped | Kind::Unknown))?;
                self.is_of_family()?;
            }
            b'u' => {
                self.type_of(cursor, |_| true)?;
                self.entries.is_value(self.type_before).then_some(())?;
            }
            b'c' => {
                self.type_of(cursor, |kind| !matches!(kind, Kind::Shaped | Kind::Other))?;
                self.is_of_family()?;
            }
            b's' => drop(cursor.index(self.tables.strings.len())?),
            b'r' => drop(cursor.index(self.tables.resources)?),
            b'h' => drop(cursor.byte().filter(|&flag| flag <= 1)?),
            b'y' => drop(cursor.number().filter(|&flag| flag <= 1)?),
            b'v' => drop(cursor.number().filter(|&number| most.is_none_or(|most| number <= most))?),
            b'o' => drop(cursor.signed().filter(|&number| number > 0)?),
            b'z' | b'd' => drop(cursor.number()?),
            b'i' | b'f' => self.scalar(cursor, letter)?,
            b'b' => {
                let length = cursor.count()?;
                let data = cursor.take(length)?;
                let kind = self.entries.types[self.type_before as usize].kind;
                if kind != Kind::Shaped || !self.entries.fits(self.type_before, data) {
                    return None;
                }
            }
            b'w' => {
                let count = cursor.number()?;
                let length = cursor.count()?;
                cursor.take(length)?;
                let size = self.entries.storage(self.type_before)?;
                if count.checked_mul(size) != Some(length as u64) {
                    return None;
                }
            }
            b'e' => {
                let is_one_for_all = cursor.number()? != 0;
                let elements = self.entries.types[self.type_before as usize].elements?;
                let count = if is_one_for_all { 1 } else { cursor.bounded(elements)? };
                for _ in 0..count {
                    cursor.index(self.tables.strings.len())?;
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn attribute(&mut self, cursor: &mut Cursor<'a>, fits: fn(Code) -> bool) -> Option<()> {
        let index = cursor.index(self.entries.codes.len())?;
        self.references.push(index);
        fits(self.entries.codes[index as usize]).then_some(())
    }

    fn type_of(&mut self, cursor: &mut Cursor<'a>, fits: fn(Kind) -> bool) -> Option<()> {
        let index = cursor.index(self.entries.types.len())?;
        self.references.push(self.entries.codes.len() as u32 + index);
        self.type_before = index;
        fits(self.entries.types[index as usize].kind).then_some(())
    }

    /// Whether the type before is of VHLO if what refers to it is.
    fn is_of_family(&self) -> Option<()> {
        let code = self.entries.types[self.type_before as usize].code;
        (!self.is_vhlo || matches!(code, Code::Vhlo(_))).then_some(())
    }

    /// An integer or a float of the type before. Plugins end the process on a type of
    /// VHLO that is not of the right kind.
    fn scalar(&self, cursor: &mut Cursor<'a>, letter: u8) -> Option<()> {
        self.is_of_family()?;
        let found = self.entries.types[self.type_before as usize];
        let bits = match (letter, found.kind) {
            (b'i', Kind::Integer(1..4)) if matches!(found.code, Code::Vhlo(_)) => return None,
            (b'i', Kind::Integer(bits)) | (b'f', Kind::Float(bits)) => bits,
            _ => return None,
        };
        match bits {
            0..=8 => drop(cursor.byte()?),
            9..=64 => drop(cursor.number()?),
            _ => {
                for _ in 0..cursor.count()? {
                    cursor.number()?;
                }
            }
        }
        Some(())
    }
}
