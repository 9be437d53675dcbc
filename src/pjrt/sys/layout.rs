//! How a struct of the C ABI is declared, and what the tests may ask about it.

/// One field: its name in the header, its offset and its size in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: &'static str,
    pub offset: usize,
    pub size: usize,
}

/// One struct: its name in the header, the value of its `struct_size` and its
/// fields in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub name: &'static str,
    pub struct_size: usize,
    pub fields: &'static [Field],
}

/// The C name of a field whose Rust name had to be written as `r#name`.
pub(super) const fn c_name(rust_name: &'static str) -> &'static str {
    match rust_name.as_bytes() {
        [b'r', b'#', ..] => rust_name.split_at(2).1,
        _ => rust_name,
    }
}

/// Where the last field ends. PJRT counts a struct's size up to there and leaves
/// the padding behind it out.
pub(super) const fn end_of(fields: &[Field]) -> usize {
    let last = fields[fields.len() - 1];
    last.offset + last.size
}

/// Declares types that are only ever seen through a pointer.
macro_rules! pjrt_opaque {
    ($($name:ident)*) => {$(
        #[repr(C)]
        pub struct $name {
            _private: [u8; 0],
        }
    )*};
}

/// Declares integer constants and lists them as `CONSTANTS`.
macro_rules! pjrt_constants {
    ($($name:ident: $ty:ty = $value:expr;)*) => {
        $(pub const $name: $ty = $value;)*

        pub(super) const CONSTANTS: &[(&str, i64)] =
            &[$((stringify!($name), $name as i64),)*];
    };
}

/// Declares structs and lists their layouts as `LAYOUTS`.
///
/// Every struct begins with `struct_size`, which is added here. `STRUCT_SIZE` is
/// the value that a caller built from this declaration puts there.
macro_rules! pjrt_structs {
    ($($name:ident { $($field:ident: $ty:ty,)* })*) => {
        $(
            #[repr(C)]
            #[derive(Clone, Copy)]
            pub struct $name {
                pub struct_size: usize,
                $(pub $field: $ty,)*
            }

            impl $name {
                const FIELDS: &'static [super::layout::Field] = &[
                    super::layout::Field {
                        name: "struct_size",
                        offset: 0,
                        size: size_of::<usize>(),
                    },
                    $(super::layout::Field {
                        name: super::layout::c_name(stringify!($field)),
                        offset: std::mem::offset_of!($name, $field),
                        size: size_of::<$ty>(),
                    },)*
                ];

                pub const STRUCT_SIZE: usize = super::layout::end_of(Self::FIELDS);

                pub const LAYOUT: super::layout::Layout = super::layout::Layout {
                    name: stringify!($name),
                    struct_size: Self::STRUCT_SIZE,
                    fields: Self::FIELDS,
                };

                /// All fields zero, `struct_size` set.
                pub const fn new() -> Self {
                    // SAFETY: every field is an integer, a raw pointer, an optional
                    // function pointer, or a struct or union of these; zero is a
                    // value of each.
                    let mut made: Self = unsafe { std::mem::zeroed() };
                    made.struct_size = Self::STRUCT_SIZE;
                    made
                }
            }

            impl Default for $name {
                fn default() -> Self {
                    Self::new()
                }
            }
        )*

        pub(super) const LAYOUTS: &[super::layout::Layout] = &[$($name::LAYOUT,)*];
    };
}
