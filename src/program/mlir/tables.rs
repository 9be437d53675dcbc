//! The tables of a bytecode file: strings, dialects, names of operations, properties
//! and resources.

use super::cursor::{Cursor, to_index};

/// The numbers of sections.
const STRINGS: usize = 0;
const DIALECTS: usize = 1;
const ENTRIES: usize = 2;
const ENTRY_SIZES: usize = 3;
const IR: usize = 4;
const RESOURCES: usize = 5;
const RESOURCE_SIZES: usize = 6;
const DIALECT_VERSIONS: usize = 7;
const PROPERTIES: usize = 8;
const SECTIONS: usize = 9;

/// Which bytecode versions began to write what.
pub const DIALECT_VERSIONING: u64 = 1;
pub const REGION_SECTIONS: u64 = 2;
pub const USE_LISTS: u64 = 3;
pub const NO_UNKNOWN_LOCATIONS: u64 = 4;
pub const NATIVE_PROPERTIES: u64 = 5;

/// The sections of a file by number.
pub struct Sections<'a>([Option<Cursor<'a>>; SECTIONS]);

impl<'a> Sections<'a> {
    /// Splits what follows the header.
    pub fn split(mut file: Cursor<'a>) -> Option<Sections<'a>> {
        let mut sections = [None; SECTIONS];
        while !file.is_at_end() {
            let (number, section) = file.section()?;
            let place = sections.get_mut(usize::from(number))?;
            if place.replace(section).is_some() {
                return None;
            }
        }
        Some(Sections(sections))
    }

    /// What attributes and types are made of, and the sizes of each.
    pub fn entries(&self) -> Option<(Cursor<'a>, Cursor<'a>)> {
        self.0[ENTRIES].zip(self.0[ENTRY_SIZES])
    }

    pub fn ir(&self) -> Option<Cursor<'a>> {
        self.0[IR]
    }
}

/// The name of an operation.
#[derive(Clone, Copy, Debug)]
pub struct OpName<'a> {
    pub dialect: &'a [u8],
    /// Without the dialect.
    pub name: &'a [u8],
}

/// What the sections list.
pub struct Tables<'a> {
    pub version: u64,
    pub strings: Vec<&'a [u8]>,
    /// By name.
    pub dialects: Vec<&'a [u8]>,
    pub ops: Vec<OpName<'a>>,
    pub properties: Vec<Cursor<'a>>,
    /// How many resources dialects can refer to.
    pub resources: usize,
}

impl<'a> Tables<'a> {
    pub fn read(version: u64, sections: &Sections<'a>) -> Option<Tables<'a>> {
        let mut tables = Tables {
            version,
            strings: strings(sections.0[STRINGS]?)?,
            dialects: Vec::new(),
            ops: Vec::new(),
            properties: Vec::new(),
            resources: 0,
        };
        match sections.0[PROPERTIES] {
            Some(section) => tables.properties = properties(section)?,
            None if version >= NATIVE_PROPERTIES => return None,
            None => {}
        }
        tables.read_dialects(sections.0[DIALECTS]?)?;
        match (sections.0[RESOURCES], sections.0[RESOURCE_SIZES]) {
            (None, None) => {}
            (Some(data), Some(sizes)) => tables.read_resources(data, sizes)?,
            _ => return None,
        }
        Some(tables)
    }

    fn string(&self, index: u64) -> Option<&'a [u8]> {
        self.strings.get(usize::try_from(index).ok()?).copied()
    }

    fn read_dialects(&mut self, mut section: Cursor<'a>) -> Option<()> {
        for _ in 0..section.count()? {
            let (name, has_version) = if self.version < DIALECT_VERSIONING {
                (section.number()?, false)
            } else {
                section.flagged()?
            };
            if has_version && section.section()?.0 != DIALECT_VERSIONS as u8 {
                return None;
            }
            self.dialects.push(self.string(name)?);
        }
        let claimed = if self.version < NO_UNKNOWN_LOCATIONS { None } else { Some(section.count()?) };
        while !section.is_at_end() {
            let dialect = self.dialects[section.index(self.dialects.len())? as usize];
            for _ in 0..section.count()? {
                let name = if self.version < NATIVE_PROPERTIES {
                    section.number()?
                } else {
                    // The flag tells whether the writer knew the operation.
                    section.flagged()?.0
                };
                self.ops.push(OpName { dialect, name: self.string(name)? });
            }
        }
        claimed.is_none_or(|count| count == self.ops.len()).then_some(())
    }

    fn read_resources(&mut self, mut data: Cursor<'a>, mut sizes: Cursor<'a>) -> Option<()> {
        for _ in 0..sizes.count()? {
            let _provider = sizes.index(self.strings.len())?;
            self.read_resource_group(&mut data, &mut sizes)?;
        }
        while !sizes.is_at_end() {
            let _dialect = sizes.index(self.dialects.len())?;
            self.resources += self.read_resource_group(&mut data, &mut sizes)?;
        }
        data.is_at_end().then_some(())
    }

    fn read_resource_group(&self, data: &mut Cursor<'a>, sizes: &mut Cursor<'a>) -> Option<usize> {
        let count = sizes.count()?;
        for _ in 0..count {
            let _key = sizes.index(self.strings.len())?;
            let size = sizes.number()?;
            let kind = sizes.byte()?;
            let mut resource = data.part(usize::try_from(size).ok()?)?;
            if size > 0 {
                self.check_resource(&mut resource, kind)?;
            }
        }
        Some(count)
    }

    fn check_resource(&self, resource: &mut Cursor<'a>, kind: u8) -> Option<()> {
        match kind {
            0 => {
                let alignment = resource.number()?;
                let size = usize::try_from(resource.number()?).ok()?;
                if !alignment.is_power_of_two() || u32::try_from(alignment).is_err() {
                    return None;
                }
                let start = resource.position().checked_next_multiple_of(alignment as usize)?;
                resource.take(start - resource.position())?;
                resource.take(size)?;
            }
            1 => {
                resource.byte().filter(|&flag| flag <= 1)?;
            }
            2 => {
                resource.index(self.strings.len())?;
            }
            _ => return None,
        }
        resource.is_at_end().then_some(())
    }
}

/// Strings stand one after another at the section's end; their sizes stand before
/// them, last one first. Each has a NUL at its end.
fn strings(mut section: Cursor<'_>) -> Option<Vec<&[u8]>> {
    let count = section.count()?;
    let mut sizes = Vec::with_capacity(count);
    for _ in 0..count {
        sizes.push(usize::try_from(section.number()?).ok()?);
    }
    let mut strings = Vec::with_capacity(count);
    for &size in sizes.iter().rev() {
        let (&end, text) = section.take(size)?.split_last()?;
        if end != 0 {
            return None;
        }
        strings.push(text);
    }
    section.is_at_end().then_some(strings)
}

fn properties(mut section: Cursor<'_>) -> Option<Vec<Cursor<'_>>> {
    let mut properties = Vec::new();
    if section.is_at_end() {
        return Some(properties);
    }
    for _ in 0..section.count()? {
        let size = section.number()?;
        properties.push(section.part(usize::try_from(size).ok()?)?);
    }
    section.is_at_end().then_some(properties)
}

/// Whether attributes or types of a dialect are numbered as this module knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    Builtin,
    Vhlo,
    StableHlo,
    Shardy,
    Other,
}

impl Family {
    pub fn of(dialect: &[u8]) -> Family {
        match dialect {
            b"builtin" => Family::Builtin,
            b"vhlo" => Family::Vhlo,
            b"stablehlo" => Family::StableHlo,
            b"sdy" => Family::Shardy,
            _ => Family::Other,
        }
    }
}

/// An attribute or a type as the file has it.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    pub family: Family,
    /// Not text.
    pub is_encoded: bool,
    pub data: Cursor<'a>,
}

/// The attributes and the types, split by the sizes that the file lists in groups.
pub fn entries<'a>(
    tables: &Tables<'a>,
    (mut data, mut sizes): (Cursor<'a>, Cursor<'a>),
) -> Option<(Vec<Entry<'a>>, Vec<Entry<'a>>)> {
    let families: Vec<Family> = tables.dialects.iter().map(|name| Family::of(name)).collect();
    let counts = [sizes.number()?, sizes.number()?];
    let total = counts[0].checked_add(counts[1])?;
    sizes.bounded(total).and_then(|total| to_index(total as u64, u32::MAX as usize))?;
    let mut lists = [Vec::new(), Vec::new()];
    for (list, count) in lists.iter_mut().zip(counts) {
        list.reserve_exact(count as usize);
        while list.len() < count as usize {
            let family = families[sizes.index(families.len())? as usize];
            let in_group = sizes.count()?;
            if in_group > count as usize - list.len() {
                return None;
            }
            for _ in 0..in_group {
                let (size, is_encoded) = sizes.flagged()?;
                let data = data.part(usize::try_from(size).ok()?)?;
                list.push(Entry { family, is_encoded, data });
            }
        }
    }
    let [attributes, types] = lists;
    (sizes.is_at_end() && data.is_at_end()).then_some((attributes, types))
}
