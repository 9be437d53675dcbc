//! Operations that stand for what StableHLO does not have: custom calls and composites.

use super::Facts;
use crate::program::mlir::ops::is_kind;
use crate::program::mlir::walk::Op;
use crate::program::mlir::{CustomCall, attribute_names, encodings::attribute};

/// The number of the typed interface of custom calls in StableHLO.
const TYPED_INTERFACE: i64 = 4;

/// How many functions a custom call may need.
const MOST_COMPUTATIONS: usize = 256;

impl<'a> Facts<'a> {
    /// Takes a custom call. All but the target may be absent outside of VHLO, where
    /// `property` is another.
    pub(super) fn custom_call(
        &mut self,
        op: &Op<'a>,
        property: fn(&Self, &Op<'a>, usize, &[u8]) -> Option<u32>,
        function: Option<usize>,
    ) -> Option<()> {
        let reader = self.reader;
        let target = self.property(op, 2, b"call_target_name")?;
        let name = reader.string(target)?;
        // Many calls can share a list.
        if let Some(computations) = property(self, op, 3, b"called_computations")
            && self.computations.insert((computations, function))
        {
            let mut list = reader.entries.attribute(computations)?;
            let count = list.count().filter(|&count| count <= MOST_COMPUTATIONS)?;
            for _ in 0..count {
                let computation = list.index(reader.entries.codes.len())?;
                self.call(Some(computation), function);
                self.required.extend(reader.string(computation));
            }
        }
        if let Some(attributes) = op.attributes.and_then(|facts| reader.lookup(facts, b"mhlo.attributes")) {
            self.check_kinds(attributes)?;
        }
        // JAX tells the typed interface by where the configuration stands.
        let is_typed = op.attributes.and_then(|facts| reader.lookup(facts, b"mhlo.backend_config")).is_some();
        let api_version = if is_typed {
            Some(TYPED_INTERFACE)
        } else {
            property(self, op, 0, b"api_version").and_then(|version| reader.api_version(version))
        };
        let has_side_effect = property(self, op, 4, b"has_side_effect").and_then(|flag| reader.flag(flag));
        let found = self.custom_calls.entry(name).or_insert_with(|| CustomCall {
            target: String::from_utf8_lossy(reader.tables.strings[name as usize]).into_owned(),
            api_version,
            has_side_effect: false,
        });
        found.has_side_effect |= has_side_effect.unwrap_or(false);
        Some(())
    }

    /// Plugins make an operation of CHLO of a composite with such a name, and end the
    /// process on attributes that it cannot have.
    pub(super) fn check_composite(&mut self, op: &Op<'a>) -> Option<()> {
        let name = self.property(op, 2, b"name").and_then(|name| self.string(name));
        match self.property(op, 0, b"composite_attributes") {
            Some(attributes) if name?.starts_with(b"chlo.") => self.check_kinds(attributes),
            _ => Some(()),
        }
    }

    /// Whether the attributes in a dictionary are of the kinds that their names ask for.
    pub fn check_kinds(&mut self, dictionary: u32) -> Option<()> {
        let entries = self.reader.entries;
        if !matches!(entries.codes[dictionary as usize], attribute::DICTIONARY | attribute::VHLO_DICTIONARY)
            || !self.checked.insert(dictionary)
        {
            return Some(());
        }
        let mut fields = entries.attribute(dictionary)?;
        for _ in 0..fields.count()? {
            let (key, value) = (fields.index(entries.codes.len())?, fields.index(entries.codes.len())?);
            let name = self.string(key).unwrap_or(b"");
            is_kind(entries, attribute_names::kind(name), value)?;
        }
        Some(())
    }
}
