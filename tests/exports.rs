//! The shared library exports the functions that include/cyxla.h declares,
//! and nothing else.

#[path = "../xtask/src/symbols.rs"]
mod symbols;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The shared library that cargo built beside this test.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    let beside = test.parent().expect("its folder").join("libcyxla.so");
    assert!(beside.is_file(), "no {}; run `cargo xtask test`", beside.display());
    beside
}

fn header() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/cyxla.h");
    std::fs::read_to_string(&path).expect("include/cyxla.h; run `cargo xtask header`")
}

fn names(list: &[&str]) -> BTreeSet<String> {
    list.iter().map(|name| (*name).to_string()).collect()
}

#[test]
fn the_library_exports_what_the_header_declares() {
    let exported = symbols::exported(&library()).expect("symbols of the library");
    let declared = symbols::declared(&header());
    symbols::compare(&exported, &declared).expect("the same names");
}

#[test]
fn a_difference_either_way_is_found() {
    let two = names(&["cyxla_a", "cyxla_b"]);
    let missing = symbols::compare(&names(&["cyxla_a"]), &two).unwrap_err();
    assert!(missing.contains("not exported: cyxla_b"), "{missing}");
    let extra = symbols::compare(&two, &names(&["cyxla_b"])).unwrap_err();
    assert!(extra.contains("not declared in the header: cyxla_a"), "{extra}");
    assert!(symbols::compare(&names(&[]), &names(&[])).is_err(), "an empty header is no success");
}

#[test]
fn declarations_are_told_from_comments_and_types() {
    let header = "/* cyxla_in_comment(void) */\n\
                  // cyxla_in_line(void)\n\
                  typedef struct cyxla_error cyxla_error;\n\
                  #define CYXLA_MACRO(x) x\n\
                  cyxla_error *cyxla_one(void (*release)(void *));\n\
                  const char *cyxla_two(const cyxla_error *error,\n    size_t index);\n";
    assert_eq!(symbols::declared(header), names(&["cyxla_one", "cyxla_two"]));
}

#[test]
fn a_file_that_is_no_library_is_an_error() {
    assert!(symbols::exported(Path::new(file!())).is_err());
}
