//! Our declarations of DLPack's ABI against the published header, as bindgen reads it.

use cyxla::pjrt::dlpack::abi::{self, Layout};

/// What bindgen wrote of the header.
struct Header(String);

impl Header {
    fn read() -> Self {
        let path = std::env::var("CYXLA_TEST_DLPACK")
            .expect("CYXLA_TEST_DLPACK must name the published dlpack.h: run `cargo xtask test`");
        let bindings = bindgen::Builder::default()
            .header(&path)
            .prepend_enum_name(false)
            .generate()
            .unwrap_or_else(|error| panic!("bindgen cannot read {path}: {error}"));
        Self(bindings.to_string())
    }

    /// The number that bindgen asserts under this label.
    fn asserted(&self, label: &str) -> Option<usize> {
        let (_, rest) = self.0.split_once(&format!("[\"{label}\"]"))?;
        let (_, number) = rest.split_once(" - ")?;
        number.split_once("usize]")?.0.parse().ok()
    }

    fn constant(&self, name: &str) -> Option<i64> {
        let (_, rest) = self.0.split_once(&format!("pub const {name}: "))?;
        rest.split_once("= ")?.1.split_once(';')?.0.parse().ok()
    }

    /// Every way in which a struct of ours differs.
    fn differences(&self, ours: &Layout) -> Vec<String> {
        let name = ours.name;
        let mut found = Vec::new();
        let mut compare = |what: String, ours: usize, theirs: Option<usize>| {
            if theirs != Some(ours) {
                found.push(format!("{what}: ours is {ours}, the header's {theirs:?}"));
            }
        };
        compare(format!("size of {name}"), ours.size, self.asserted(&format!("Size of {name}")));
        for field in ours.fields {
            let label = format!("Offset of field: {name}::{}", field.name);
            compare(format!("offset of {name}.{}", field.name), field.offset, self.asserted(&label));
        }
        let theirs = self.0.matches(&format!("[\"Offset of field: {name}::")).count();
        compare(format!("fields of {name}"), ours.fields.len(), Some(theirs));
        found
    }
}

#[test]
fn every_struct_is_as_the_header_has_it() {
    let header = Header::read();
    assert_eq!(abi::LAYOUTS.len(), 6);
    let found: Vec<String> = abi::LAYOUTS.iter().flat_map(|ours| header.differences(ours)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_constant_has_the_header_s_value() {
    let header = Header::read();
    assert!(abi::CONSTANTS.len() > 20, "only {} constants are declared", abi::CONSTANTS.len());
    for (name, value) in abi::CONSTANTS {
        assert_eq!(header.constant(name), Some(*value), "{name}");
    }
}

#[test]
fn fields_fill_their_structs() {
    for layout in abi::LAYOUTS {
        let ends = layout.fields.iter().map(|field| field.offset + field.size);
        let starts = layout.fields.iter().skip(1).map(|field| field.offset).chain([layout.size]);
        for ((end, start), field) in ends.zip(starts).zip(layout.fields) {
            // No gap but before a field of eight bytes, or at the end.
            assert!(end == start || (end < start && start % 8 == 0), "behind {}.{}", layout.name, field.name);
        }
    }
}

#[test]
fn a_difference_is_found() {
    let text = r#"
pub const kDLCPU: DLDeviceType = 2;
    ["Size of Sample"][::std::mem::size_of::<Sample>() - 8usize];
    ["Offset of field: Sample::code"][::std::mem::offset_of!(Sample, code) - 4usize];
    ["Offset of field: Sample::more"][::std::mem::offset_of!(Sample, more) - 6usize];
"#;
    let header = Header(text.to_owned());
    let fields = &[abi::Field { name: "code", offset: 0, size: 4 }];
    let found = header.differences(&Layout { name: "Sample", size: 4, fields });
    assert_eq!(found.len(), 3, "{found:?}");
    assert_eq!(header.constant("kDLCPU"), Some(2));
    assert_eq!(header.constant("kDLCUDA"), None);
}
