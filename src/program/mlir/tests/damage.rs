//! Files that no writer writes.

use super::file::{BUILTIN, File, SHARDY, VHLO, isolated, number, numbers, region};
use super::*;

fn refused(file: &File, part: &str) {
    let error = read(&file.write()).expect_err(part);
    assert!(error.message().contains(part), "{error}");
}

#[test]
fn cut_off_anywhere() {
    for whole in [NAMES, DTYPES, TOPK] {
        for end in 0..whole.len() {
            assert_eq!(read(&whole[..end]).unwrap_err().code(), Code::InvalidArgument, "{end}");
        }
        assert!(read(&[whole, &[0]].concat()).is_err());
    }
}

/// No value of any byte leads to a panic or to a large allocation.
#[test]
fn any_byte_wrong() {
    for whole in [NAMES, TOPK] {
        for position in 0..whole.len() {
            for value in [0, 3, 0xff, whole[position].wrapping_add(2)] {
                let mut wrong = whole.to_vec();
                wrong[position] = value;
                let _ = read(&wrong);
            }
        }
    }
}

#[test]
fn nothing_in_it() {
    assert_eq!(read(&File::new().write()).unwrap().main, None);
    assert!(read(b"").is_err());
    assert!(read(MAGIC).is_err());
}

#[test]
fn references_stay_in_their_tables() {
    for (dialect, encoding) in [
        (BUILTIN, numbers(&[2, 99])),    // a string
        (BUILTIN, numbers(&[0, 1, 99])), // an attribute in a list
        (BUILTIN, numbers(&[0, 99, 0])), // a list of 99
        (BUILTIN, numbers(&[6, 0])),     // a type
        (BUILTIN, numbers(&[16, 0, 0])), // a resource
        (BUILTIN, numbers(&[14, 0, 0])), // a name that is no string
        (VHLO, numbers(&[2, 2])),        // a truth value
        (VHLO, numbers(&[3, 6])),        // a direction of comparison
        (VHLO, numbers(&[14, 0, 0])),    // more than there is
        (VHLO, number(14)),              // less
    ] {
        let mut file = File::new();
        file.attribute(dialect, encoding);
        refused(&file, "its attributes or types");
    }
}

#[test]
fn what_is_not_known_is_passed_over() {
    let mut file = File::new();
    file.attribute(VHLO, numbers(&[77, 1, 2, 3]));
    file.attribute(BUILTIN, numbers(&[99, 1, 2, 3]));
    file.type_of(VHLO, numbers(&[99, 1]));
    let op = file.op(VHLO, "newer_v1", 0, Some(numbers(&[1, 2, 3])));
    file.outermost.push(op);
    read(&file.write()).unwrap();
}

#[test]
fn constants_have_their_size() {
    let constant = |dims: &[i64], code: u64, data: &[u8]| {
        let mut file = File::new();
        let element = file.type_of(VHLO, number(code));
        let tensor = file.tensor(dims, element);
        file.attribute(VHLO, [numbers(&[15, tensor, data.len() as u64]), data.to_vec()].concat());
        read(&file.write()).is_ok()
    };
    let (bool_code, f32_code, s4_code) = (0, 4, 10);
    assert!(constant(&[2, 3], f32_code, &[0; 24]));
    assert!(constant(&[2, 3], f32_code, &[0; 4]), "one for all");
    assert!(!constant(&[2, 3], f32_code, &[0; 23]));
    assert!(!constant(&[2, 3], f32_code, &[0; 28]));
    assert!(!constant(&[i64::MIN], f32_code, &[0; 4]), "of unknown size");
    assert!(constant(&[0, 3], f32_code, &[]));
    assert!(constant(&[5], s4_code, &[0; 5]));
    assert!(constant(&[9], bool_code, &[0xff, 1]), "packed");
    assert!(constant(&[9], bool_code, &[1; 9]));
    assert!(!constant(&[9], bool_code, &[2; 9]));
    assert!(!constant(&[9], bool_code, &[1; 3]));
    assert!(constant(&[], bool_code, &[0xff]));
    assert!(!constant(&[], bool_code, &[3]));
}

#[test]
fn sizes_beyond_memory() {
    let sized = |dims: &[i64]| {
        let mut file = File::new();
        let element = file.type_of(VHLO, number(11));
        file.tensor(dims, element);
        read(&file.write())
    };
    sized(&[1 << 35]).unwrap();
    sized(&[i64::MIN, 1 << 35]).unwrap();
    for dims in [&[1 << 36][..], &[1 << 32, 1 << 32], &[i64::MAX, 0], &[i64::MIN, i64::MAX]] {
        let error = sized(dims).unwrap_err();
        assert!(error.message().contains("is larger than memory can be"), "{error}");
    }
    assert!(sized(&[-1]).is_err());
    assert!(sized(&[1 << 36]).unwrap_err().message().contains("tensor<68719476736xs8>"));
}

#[test]
fn attributes_that_contain_themselves() {
    let mut file = File::new();
    file.attribute(BUILTIN, numbers(&[0, 1, 2]));
    file.attribute(BUILTIN, numbers(&[0, 1, 1]));
    refused(&file, "contain themselves");
}

#[test]
fn deep_and_wide_nesting() {
    let nested = |levels: u64, times: u64| {
        let mut file = File::new();
        for level in 0..levels {
            let list = [numbers(&[0, times]), numbers(&vec![level; times as usize])].concat();
            file.attribute(BUILTIN, list);
        }
        read(&file.write()).map(drop)
    };
    nested(257, 1).unwrap();
    assert!(nested(258, 1).unwrap_err().message().contains("deep"));
    nested(20, 2).unwrap();
    assert!(nested(25, 2).unwrap_err().message().contains("parts"));
}

#[test]
fn locations_may_be_long_chains() {
    let chain = |levels: u64| {
        let mut file = File::new();
        for level in 0..levels {
            file.attribute(BUILTIN, numbers(&[10, level, 0]));
        }
        read(&file.write()).map(drop)
    };
    chain(1024).unwrap();
    assert!(chain(1025).is_err());
}

#[test]
fn regions_inside_one_another() {
    let nested = |levels: usize| {
        let mut file = File::new();
        let head = file.op(VHLO, "newer_v1", 0x10, None);
        let leaf = file.op(VHLO, "leaf_v1", 0, None);
        let op = (0..levels)
            .fold(leaf, |inner, _| [&head[..], &number(1 << 1), &region(0, &[], &[inner])].concat());
        file.outermost.push(op);
        read(&file.write()).map(drop)
    };
    nested(128).unwrap();
    assert!(nested(129).unwrap_err().message().contains("regions nest"));
}

/// `add` of two arguments, in a region that sees nothing of what is around it.
fn addition(operands: &[u64], result: u64, announced: u64) -> File {
    let mut file = File::new();
    let element = file.type_of(VHLO, number(4));
    file.tensor(&[], element);
    let mut add = file.op(VHLO, "add_v1", 2 | 4, None);
    add.extend(numbers(&[1, result, operands.len() as u64]));
    add.extend(numbers(operands));
    let mut outer = file.op(VHLO, "newer_v1", 0x10, None);
    outer.extend(isolated(&region(announced, &[1, 1], &[add])));
    file.outermost.push(outer);
    file
}

#[test]
fn values_are_there_before_they_are_used() {
    read(&addition(&[0, 1], 1, 3).write()).unwrap();
    refused(&addition(&[0, 2], 1, 3), "its operations"); // its own result
    refused(&addition(&[0, 3], 1, 3), "its operations");
    refused(&addition(&[0, 1], 2, 3), "its operations"); // no such type
    refused(&addition(&[0, 1], 1, 2), "its operations");
    refused(&addition(&[0, 1], 1, 4), "its operations");
    refused(&addition(&[0], 1, 3), "its operations");
    refused(&addition(&[0, 1], 1, 1 << 40), "its operations");
}

#[test]
fn orders_of_uses_are_orders() {
    let ordered = |list: &[u64]| {
        let mut file = File::new();
        let element = file.type_of(VHLO, number(4));
        file.tensor(&[], element);
        let mut add = file.op(VHLO, "add_v1", 2 | 4, None);
        add.extend(numbers(&[1, 1, 2, 0, 0]));
        let mut outer = file.op(VHLO, "newer_v1", 0x10, None);
        let inside = [&numbers(&[1, 2, 1 << 1 | 1, 1, 1 << 1])[..], &[1], &numbers(list), &add].concat();
        outer.extend(isolated(&inside));
        file.outermost.push(outer);
        read(&file.write())
    };
    ordered(&[2 << 1, 1, 0]).unwrap();
    ordered(&[4 << 1 | 1, 0, 1, 1, 0]).unwrap();
    for wrong in [&[2 << 1, 1, 1][..], &[2 << 1, 1, 2], &[1 << 1, 0], &[2 << 1 | 1, 0, 9], &[1 << 1 | 1, 0]] {
        assert!(ordered(wrong).is_err(), "{wrong:?}");
    }
}

#[test]
fn scalars_of_vhlo_are_no_values() {
    refused(&addition(&[0, 1], 0, 3), "its operations");
    let mut file = File::new();
    file.type_of(VHLO, number(4));
    file.type_of(VHLO, numbers(&[8, 1, 0, 0]));
    refused(&file, "its attributes or types");
}

#[test]
fn shardings_are_made_of_their_parts() {
    let mut file = File::new();
    let x = file.string("x");
    let axis = file.attribute(SHARDY, numbers(&[1, x, 4]));
    for size in [0, 3] {
        let mut file = file.clone();
        file.attribute(SHARDY, numbers(&[1, x, size]));
        refused(&file, "its attributes or types");
    }
    let mesh = file.attribute(SHARDY, numbers(&[2, 1, axis, 0]));
    let reference = file.attribute(SHARDY, numbers(&[4, x, 0]));
    let dim = file.attribute(SHARDY, [&numbers(&[5, 1, reference])[..], &[1], &number(0)].concat());
    let sharding = |dim: u64| numbers(&[6, mesh, 1, dim, 0]);
    let mut fine = file.clone();
    fine.attribute(SHARDY, sharding(dim));
    read(&fine.write()).unwrap();
    for wrong in [sharding(reference), sharding(99), numbers(&[6, axis, 0, 0]), numbers(&[6, mesh, 99, 0])] {
        let mut file = file.clone();
        file.attribute(SHARDY, wrong);
        refused(&file, "its attributes or types");
    }
}
