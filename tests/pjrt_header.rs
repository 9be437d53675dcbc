//! Our declarations of the PJRT C ABI against the published header.
//!
//! bindgen reads the header and states sizes and offsets in its output; this test
//! compares them with what the compiler makes of `src/pjrt/sys`. What the header has
//! must be the same there: a field that is newer than the header must lie behind all
//! that the header knows.

use cyxla::pjrt::sys;
use std::collections::BTreeMap;

/// A field in the header.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Field {
    name: String,
    offset: usize,
    size: usize,
}

/// A struct in the header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Struct {
    fields: Vec<Field>,
    /// The header's own `<name>_STRUCT_SIZE`.
    struct_size: usize,
}

/// What bindgen understood of the header.
struct Header {
    text: String,
    constants: BTreeMap<String, i64>,
}

impl Header {
    fn read() -> Self {
        let path = std::env::var("CYXLA_TEST_HEADER")
            .expect("CYXLA_TEST_HEADER must name the published pjrt_c_api.h: run `cargo xtask test`");
        let bindings = bindgen::Builder::default()
            .header(&path)
            .prepend_enum_name(false)
            .generate()
            .unwrap_or_else(|error| panic!("bindgen cannot read {path}: {error}"));
        Self::parse(bindings.to_string())
    }

    fn parse(text: String) -> Self {
        let constants = text
            .lines()
            .filter_map(|line| {
                let (name, rest) = line.strip_prefix("pub const ")?.split_once(": ")?;
                let value = rest.split_once("= ")?.1.strip_suffix(';')?.parse().ok()?;
                Some((name.to_owned(), value))
            })
            .collect();
        Self { text, constants }
    }

    /// The number that bindgen asserts under this label.
    fn asserted(&self, label: &str) -> Option<usize> {
        let (_, rest) = self.text.split_once(&format!("[\"{label}\"]"))?;
        let (_, number) = rest.split_once(" - ")?;
        number.split_once("usize]")?.0.parse().ok()
    }

    /// The size of a type as bindgen wrote it.
    fn size_of(&self, ty: &str) -> usize {
        if ty.starts_with(['*', '&']) || ty.starts_with("::std::option::Option<") {
            return size_of::<usize>();
        }
        match ty {
            "usize" | "isize" | "i64" | "u64" | "f64" => 8,
            "i32" | "u32" | "f32" | "::std::os::raw::c_int" | "::std::os::raw::c_uint" => 4,
            "bool" | "i8" | "u8" => 1,
            _ => self.asserted(&format!("Size of {ty}")).unwrap_or_else(|| self.size_of(&self.alias(ty))),
        }
    }

    /// What the type name `ty` stands for.
    fn alias(&self, ty: &str) -> String {
        let (_, rest) = self
            .text
            .split_once(&format!("\npub type {ty} ="))
            .unwrap_or_else(|| panic!("bindgen's output does not say what `{ty}` is"));
        let (meaning, _) = rest.split_once(';').expect("a type alias ends in a semicolon");
        meaning.trim().to_owned()
    }

    /// The struct `name`, or `None` if the header does not define it.
    fn structure(&self, name: &str) -> Option<Struct> {
        let (_, rest) = self.text.split_once(&format!("\npub struct {name} {{\n"))?;
        let (body, _) = rest.split_once("\n}")?;
        let mut fields: Vec<Field> = Vec::new();
        // A long type stands on a line of its own, so lines are no unit here.
        for declaration in body.split("pub ").map(str::trim).filter(|text| !text.is_empty()) {
            let (name_here, ty) = declaration.split_once(':')?;
            let size = self.size_of(ty.trim().trim_end_matches(','));
            let label = format!("Offset of field: {name}::{name_here}");
            // bindgen states no offset for a union without a name. All of this ABI's are
            // aligned like a pointer.
            let offset = self.asserted(&label).unwrap_or_else(|| {
                let before = fields.last().map_or(0, |field| field.offset + field.size);
                before.next_multiple_of(align_of::<usize>())
            });
            fields.push(Field { name: c_name(name_here), offset, size });
        }
        let stated = self.constants.get(&format!("{name}_STRUCT_SIZE"));
        Some(Struct { struct_size: usize::try_from(*stated?).ok()?, fields })
    }
}

/// A field's name in C. A member without a name gets ours.
fn c_name(bindgen_name: &str) -> String {
    match bindgen_name {
        "type_" => "type".to_owned(),
        name if name.starts_with("__bindgen_anon") => "value".to_owned(),
        name => name.to_owned(),
    }
}

/// Every way in which one of our structs differs from the header's.
fn differences(ours: &sys::Layout, theirs: &Struct) -> Vec<String> {
    let name = ours.name;
    let mut found = Vec::new();
    for (at, field) in theirs.fields.iter().enumerate() {
        match ours.fields.get(at) {
            None => found.push(format!("{name}.{} is missing", field.name)),
            Some(own) if (own.name, own.offset, own.size) != (&field.name, field.offset, field.size) => {
                found.push(format!(
                    "{name} field {at}: ours is {} at {} of {} bytes, the header's {} at {} of {} bytes",
                    own.name, own.offset, own.size, field.name, field.offset, field.size
                ));
            }
            Some(_) => {}
        }
    }
    let newer = ours.fields.get(theirs.fields.len()..).unwrap_or_default();
    match newer.first() {
        Some(first) if first.offset < theirs.struct_size => {
            found.push(format!("{name}.{} lies inside the header's struct", first.name));
        }
        None if ours.struct_size != theirs.struct_size => found.push(format!(
            "{name}: our struct_size is {}, the header's {}",
            ours.struct_size, theirs.struct_size
        )),
        _ => {}
    }
    found
}

fn header_layout(header: &Header, name: &str) -> Struct {
    header
        .structure(name)
        .unwrap_or_else(|| panic!("{name} is not in the header, which is older than its use here"))
}

#[test]
fn every_struct_and_slot_is_where_the_header_has_it() {
    let header = Header::read();
    let layouts = sys::all_layouts();
    assert!(layouts.len() > 60, "only {} structs are declared", layouts.len());
    let found: Vec<String> =
        layouts.iter().flat_map(|ours| differences(ours, &header_layout(&header, ours.name))).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// As plugins of PJRT 0.106 and 0.115 state them, and as they were seen to work.
#[test]
fn the_shardings_extension_has_its_size() {
    let sizes: Vec<usize> = sys::sharding_layouts().iter().map(|layout| layout.struct_size).collect();
    assert_eq!(sizes, [48, 48, 40]);
}

#[test]
fn the_table_is_complete_up_to_0_114() {
    let header = Header::read();
    let theirs = header_layout(&header, "PJRT_Api");
    // Three fields come before the functions.
    let slots: Vec<&str> = theirs.fields[3..].iter().map(|field| &*field.name).collect();
    let ours: Vec<&str> = sys::SLOTS.iter().map(|slot| slot.name).collect();
    assert_eq!(ours[..slots.len()], slots);
    for (at, slot) in sys::SLOTS.iter().enumerate() {
        assert_eq!(slot.offset, 40 + 8 * at, "{}", slot.name);
    }
    assert_eq!(sys::SLOTS.len(), 138);
    assert_eq!(sys::PJRT_Api::STRUCT_SIZE, 1144);
}

#[test]
fn every_constant_has_the_header_s_value() {
    let header = Header::read();
    let ours = sys::all_constants();
    assert!(ours.len() > 60, "only {} constants are declared", ours.len());
    let found: Vec<String> = ours
        .iter()
        .filter_map(|(name, value)| constant_difference(&header.constants, name, *value))
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// How a constant of ours differs from the header. One that the header does not have
/// must come after all others of its enumeration.
fn constant_difference(theirs: &BTreeMap<String, i64>, name: &str, value: i64) -> Option<String> {
    if let Some(&other) = theirs.get(name) {
        return (other != value).then(|| format!("{name} is {value}, in the header {other}"));
    }
    let (family, _) = name.rsplit_once('_')?;
    let last = theirs
        .iter()
        .filter(|(other, _)| other.rsplit_once('_').is_some_and(|(own, _)| own == family))
        .map(|(_, value)| *value)
        .max();
    (last.is_none_or(|last| value <= last))
        .then(|| format!("{name} = {value} is not in the header, whose {family} ends at {last:?}"))
}

mod comparison {
    //! The comparison itself: that it can fail.

    use super::*;

    const HEADER: &str = r#"
pub const Kind_First: Kind = 0;
pub const Kind_Last: Kind = 7;
pub const Sample_STRUCT_SIZE: _bindgen_ty_1 = 28;
pub type Kind = ::std::os::raw::c_uint;
pub struct Sample {
    pub struct_size: usize,
    pub start: *mut Other,
    pub __bindgen_anon_1: Sample__bindgen_ty_1,
    pub type_: Kind,
}
    ["Size of Sample__bindgen_ty_1"]
        [::std::mem::size_of::<Sample__bindgen_ty_1>() - 8usize];
    ["Offset of field: Sample::struct_size"]
        [::std::mem::offset_of!(Sample, struct_size) - 0usize];
    ["Offset of field: Sample::start"][::std::mem::offset_of!(Sample, start) - 8usize];
    ["Offset of field: Sample::type_"][::std::mem::offset_of!(Sample, type_) - 24usize];
"#;

    const fn field(name: &'static str, offset: usize, size: usize) -> sys::Field {
        sys::Field { name, offset, size }
    }

    fn compare(fields: &'static [sys::Field]) -> Vec<String> {
        let last = fields.last().expect("a struct has fields");
        let ours = sys::Layout { name: "Sample", struct_size: last.offset + last.size, fields };
        let header = Header::parse(HEADER.to_owned());
        differences(&ours, &header_layout(&header, "Sample"))
    }

    const SAME: [sys::Field; 4] =
        [field("struct_size", 0, 8), field("start", 8, 8), field("value", 16, 8), field("type", 24, 4)];

    #[test]
    fn accepts_the_same_and_the_newer() {
        assert_eq!(compare(&SAME), Vec::<String>::new());
        const NEWER: [sys::Field; 5] = [SAME[0], SAME[1], SAME[2], SAME[3], field("newer", 32, 8)];
        assert_eq!(compare(&NEWER), Vec::<String>::new());
    }

    #[test]
    fn finds_what_differs() {
        const MOVED: [sys::Field; 4] = [SAME[0], field("start", 12, 8), SAME[2], SAME[3]];
        const GROWN: [sys::Field; 4] = [SAME[0], SAME[1], SAME[2], field("type", 24, 8)];
        const RENAMED: [sys::Field; 4] = [SAME[0], field("begin", 8, 8), SAME[2], SAME[3]];
        const SHORT: [sys::Field; 3] = [SAME[0], SAME[1], SAME[2]];
        const INSIDE: [sys::Field; 5] = [SAME[0], SAME[1], SAME[2], SAME[3], field("new", 26, 2)];
        for (fields, wanted) in [
            (&MOVED[..], "ours is start at 12"),
            (&GROWN, "ours is type at 24 of 8 bytes"),
            (&RENAMED, "ours is begin"),
            (&SHORT, "Sample.type is missing"),
            (&INSIDE, "Sample.new lies inside"),
        ] {
            let found = compare(fields).join("\n");
            assert!(found.contains(wanted), "`{found}` does not say `{wanted}`");
        }
    }

    #[test]
    fn finds_a_constant_that_differs() {
        let theirs = Header::parse(HEADER.to_owned()).constants;
        let difference = |name, value| constant_difference(&theirs, name, value).is_some();
        assert!(!difference("Kind_Last", 7));
        assert!(difference("Kind_Last", 8));
        assert!(!difference("Kind_Newer", 8));
        assert!(difference("Kind_Newer", 7));
        assert!(difference("Nothing_Known", 1));
    }
}
