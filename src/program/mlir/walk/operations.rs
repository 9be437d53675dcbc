//! Reads an operation and checks it against what is known of its name.

use super::{
    HAS_ATTRIBUTES, HAS_OPERANDS, HAS_PROPERTIES, HAS_REGIONS, HAS_RESULTS, HAS_SUCCESSORS, HAS_USE_LISTS,
    Op, Walk,
};
use crate::program::mlir::cursor::Cursor;
use crate::program::mlir::encodings::{Code, attribute::DICTIONARY};
use crate::program::mlir::ops::is_kind;
use crate::program::mlir::tables;

impl<'a> Walk<'a> {
    /// Reads an operation up to its regions. The flag tells whether these see nothing of
    /// what is around them.
    pub(super) fn read_op(&mut self) -> Option<(Op<'a>, bool)> {
        let name = self.cursor.index(self.tables.ops.len())?;
        let parts = self.cursor.byte()?;
        if parts & 0x80 != 0 {
            return None;
        }
        self.location()?;
        let attributes = if parts & HAS_ATTRIBUTES != 0 { Some(self.dictionary(name)?) } else { None };
        let properties = if parts & HAS_PROPERTIES != 0 { Some(self.properties(name)?) } else { None };
        self.results.clear();
        if parts & HAS_RESULTS != 0 {
            for _ in 0..self.cursor.count()? {
                let result = self.cursor.index(self.entries.types.len())?;
                self.results.push(result);
            }
        }
        let operands = if parts & HAS_OPERANDS != 0 { self.operands()? } else { 0 };
        if parts & HAS_SUCCESSORS != 0 {
            let targets = self.frames.last()?.targets;
            for _ in 0..self.cursor.count()? {
                self.cursor.index(targets)?;
            }
        }
        if parts & HAS_USE_LISTS != 0 {
            let first = self.frames.last()?.next_value;
            let values = self.values.get_mut(first..first + self.results.len())?;
            self.use_lists.read(&mut self.cursor, first, values)?;
        }
        let mut regions = (0, false);
        if parts & HAS_REGIONS != 0 {
            regions = self.cursor.flagged()?;
        }
        let (regions, is_isolated) = (self.cursor.bounded(regions.0)?, regions.1);
        // Those outside of any region are not numbered.
        if !self.frames.last()?.values.is_empty() {
            for _ in 0..self.results.len() {
                self.define()?;
            }
        } else if !self.results.is_empty() && self.frames.len() > 1 {
            return None;
        }
        let op = Op { name, attributes, properties, regions };
        if !self.results.iter().all(|&result| self.entries.is_value(result)) {
            return None;
        }
        if let Some(shape) = &self.shapes[name as usize] {
            let is_foreign =
                |&result: &u32| matches!(self.entries.types[result as usize].code, Code::Builtin(_));
            if !shape.fits(operands, self.results.len(), regions) || self.results.iter().any(is_foreign) {
                return None;
            }
        }
        Some((op, is_isolated))
    }

    fn dictionary(&mut self, name: u32) -> Option<u32> {
        let index = self.cursor.index(self.entries.codes.len())?;
        match self.entries.codes[index as usize] {
            DICTIONARY if self.tables.version < tables::NATIVE_PROPERTIES => {
                if self.shapes[name as usize].is_some() {
                    self.facts.check_kinds(index)?;
                }
            }
            DICTIONARY | Code::Text => {}
            _ => return None,
        }
        Some(index)
    }

    fn properties(&mut self, name: u32) -> Option<Cursor<'a>> {
        if self.tables.version < tables::NATIVE_PROPERTIES {
            return None;
        }
        let index = self.cursor.index(self.tables.properties.len())?;
        let properties = self.tables.properties[index as usize];
        if let Some(shape) = &self.shapes[name as usize] {
            let mut cursor = properties;
            for letter in shape.attributes.bytes() {
                let index = cursor.index(self.entries.codes.len())?;
                is_kind(self.entries, letter, index)?;
            }
            if !cursor.is_at_end() {
                return None;
            }
        }
        Some(properties)
    }

    fn operands(&mut self) -> Option<usize> {
        let count = self.cursor.count()?;
        for _ in 0..count {
            let index = self.cursor.index(self.values.len() - self.scope)?;
            let value = &mut self.values[self.scope + index as usize];
            value.uses += 1;
            if !value.is_defined && !self.has_branches {
                return None;
            }
        }
        Some(count)
    }
}
