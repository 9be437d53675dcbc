//! How the attributes and types of the dialects are encoded: builtin, VHLO, the form
//! that StableHLO has in files, StableHLO itself, and Shardy.
//!
//! Each begins with a number that tells what it is. Fields follow, a letter each:
//!
//! | letter | field |
//! |---|---|
//! | `a` `A` | an attribute, a list of them |
//! | `t` `T` | a type, a list of them |
//! | `l` `L` | a location, a list of them |
//! | `n` `N` | a builtin string, a list of them |
//! | `g` `G` | a reference to a symbol, a list of them |
//! | `x` | a VHLO string |
//! | `k` `K` | a list of names and attributes, of builtin and of VHLO |
//! | `p` | an attribute that may be absent, told by the number's lowest bit |
//! | `P` `C` | the same, and a list of attributes, of the dialect and the code that two digits give |
//! | `j` | a mesh of Shardy, or a reference to one |
//! | `q` | a number and, unless that is 0, an attribute |
//! | `s` | a string of the file's table |
//! | `v` `V` | a number, a list of them |
//! | `z` `Z` | a signed number, a list of them |
//! | `o` | a signed number above 0 |
//! | `y` `h` | a number, a byte that is 0 or 1 |
//! | `d` `D` | a 64-bit float, a list of them |
//! | `c` | a type of an element: a scalar |
//! | `m` | a type of a tensor |
//! | `U` | a list of types of values |
//! | `i` `f` | an integer, a float, of the type before |
//! | `b` | the bytes of a tensor of the type before |
//! | `w` | the number of elements and the bytes of an array of the type before |
//! | `e` | the strings of a tensor |
//! | `r` | a resource |
//! | `*` | anything |
//!
//! A digit bounds the number before it. Other fields that older versions wrote follow
//! behind a `|`.

use super::tables::Family;

/// What builtin attributes are made of.
const BUILTIN_ATTRIBUTES: [&str; 23] = [
    "A", "k", "s", "st", "n", "nG", "t", "", "ti", "tf", "ll", "nvv", "L", "La", "nl", "", "tr", "tw", "tb",
    "te", "taa", "a", "nV",
];

/// What builtin types are made of. A vector with scalable dims has been written in two ways.
const BUILTIN_TYPES: [&str; 33] = [
    "v", "", "TT", "", "", "", "", "", "", "c", "Zta", "aZta", "", "Zt", "aZt", "T", "t", "at", "t", "Zt",
    "*", "", "", "", "", "", "", "", "", "", "", "", "",
];

/// What VHLO attributes are made of.
const VHLO_ATTRIBUTES: [&str; 26] = [
    "*", "A", "y", "v5", "v4", "v4", "K", "v3", "tf", "ti", "ZzZ", "v2", "v2", "v2", "s", "mb", "v3", "t",
    "Z", "v2", "ddza", "oo", "xq", "aa", "xo", "ap",
];

/// What VHLO types are made of.
const VHLO_TYPES: [&str; 43] = [
    "", "c", "", "", "", "", "", "", "UU", "", "", "", "", "", "", "", "", "", "", "", "Zc", "aZc", "", "U",
    "vccdzzz", "c", "", "", "", "", "vccvzzDZ", "", "", "", "", "", "", "", "", "", "", "Zc", "U",
];

/// What attributes of StableHLO are made of.
const STABLEHLO_ATTRIBUTES: [&str; 23] = [
    "*",
    "zz",
    "v5",
    "v4",
    "zzZzzZzzZ",
    "ZZZZ",
    "v3",
    "ZZZZZz|ZZZz",
    "v2",
    "v2",
    "v2",
    "ZZZZZz|ZZZz",
    "v3",
    "Z",
    "ZzZ",
    "tttzzzh",
    "v2",
    "ddza",
    "aA",
    "oo",
    "*",
    "so",
    "*",
];

/// What types of StableHLO are made of.
const STABLEHLO_TYPES: [&str; 2] = ["", "T"];

/// What attributes of Shardy are made of.
const SHARDY_ATTRIBUTES: [&str; 18] = [
    "N",
    "so",
    "C01Z",
    "oo",
    "sP03",
    "C04hv",
    "jC05C04",
    "C06",
    "Z",
    "C08",
    "ZC09C09ZZZZh|ZC09C09ZZZh|ZC09C09ZZh|ZC09C09h",
    "C04",
    "C11",
    "C04zz",
    "C13",
    "jC05C04C04",
    "C06",
    "jC05C04C04z",
];

/// What an attribute or a type is: the dialect's own number for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Code {
    Builtin(u8),
    Vhlo(u8),
    StableHlo(u8),
    Shardy(u8),
    /// Text.
    Text,
    /// Of a dialect, or of a kind, that this module does not know.
    Unknown,
}

impl Code {
    /// The code that an encoded attribute or type begins with.
    pub fn new(family: Family, number: u64) -> Code {
        let small = u8::try_from(number).ok();
        match (family, small) {
            (Family::Builtin, Some(number)) => Code::Builtin(number),
            (Family::Vhlo, Some(number)) => Code::Vhlo(number),
            (Family::StableHlo, Some(number)) => Code::StableHlo(number),
            (Family::Shardy, Some(number)) => Code::Shardy(number),
            _ => Code::Unknown,
        }
    }

    /// The fields of an attribute; `None` where they are not known.
    pub fn attribute_fields(self) -> Option<&'static str> {
        known(match self {
            Code::Builtin(number) => BUILTIN_ATTRIBUTES.get(usize::from(number)),
            Code::Vhlo(number) => VHLO_ATTRIBUTES.get(usize::from(number)),
            Code::StableHlo(number) => STABLEHLO_ATTRIBUTES.get(usize::from(number)),
            Code::Shardy(number) => SHARDY_ATTRIBUTES.get(usize::from(number)),
            Code::Text | Code::Unknown => None,
        })
    }

    /// The fields of a type; `None` where they are not known.
    pub fn type_fields(self) -> Option<&'static str> {
        known(match self {
            Code::Builtin(number) => BUILTIN_TYPES.get(usize::from(number)),
            Code::Vhlo(number) => VHLO_TYPES.get(usize::from(number)),
            Code::StableHlo(number) => STABLEHLO_TYPES.get(usize::from(number)),
            Code::Shardy(_) | Code::Text | Code::Unknown => None,
        })
    }
}

fn known(fields: Option<&&'static str>) -> Option<&'static str> {
    fields.copied().filter(|fields| *fields != "*")
}

/// The attributes that this module asks for by name.
pub mod attribute {
    use super::Code;

    pub const ARRAY: Code = Code::Builtin(0);
    pub const DICTIONARY: Code = Code::Builtin(1);
    pub const STRING: Code = Code::Builtin(2);
    pub const SYMBOL: Code = Code::Builtin(4);
    pub const TYPE: Code = Code::Builtin(6);
    pub const INTEGER: Code = Code::Builtin(8);
    pub const NAME_LOCATION: Code = Code::Builtin(14);
    pub const VHLO_ARRAY: Code = Code::Vhlo(1);
    pub const VHLO_BOOLEAN: Code = Code::Vhlo(2);
    pub const VHLO_API_VERSION: Code = Code::Vhlo(5);
    pub const VHLO_DICTIONARY: Code = Code::Vhlo(6);
    pub const VHLO_INTEGER: Code = Code::Vhlo(9);
    pub const VHLO_STRING: Code = Code::Vhlo(14);
    pub const VHLO_TENSOR: Code = Code::Vhlo(15);
    pub const VHLO_TYPE: Code = Code::Vhlo(17);
    pub const VHLO_BOUNDS: Code = Code::Vhlo(18);

    pub const MESH: Code = Code::Shardy(2);

    /// Whether an attribute can be where something is in a source. Of text and of
    /// unknown ones that is not told.
    pub fn may_be_location(code: Code) -> bool {
        matches!(code, Code::Builtin(10..=15 | 22) | Code::Text | Code::Unknown)
    }

    /// Whether an attribute is a location for certain.
    pub fn is_location(code: Code) -> bool {
        matches!(code, Code::Builtin(10..=15 | 22))
    }
}
