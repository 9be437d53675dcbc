//! Named values: what a plugin tells, and what a client is created with.

use std::ffi::CString;

use super::{list, owned_text, sys};
use crate::options::{Options, Value};

/// One thing that a plugin says of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// Its name, such as `stablehlo_current_version`.
    pub name: String,
    /// Its value.
    pub value: Value,
}

impl Attribute {
    /// Copies a named value; `None` when its kind is unknown.
    ///
    /// # Safety
    /// The value's pointers are NULL or as long as its sizes say.
    pub(super) unsafe fn from_named_value(value: &sys::PJRT_NamedValue) -> Option<Attribute> {
        // SAFETY: the caller's promise; the kind says which member of the union
        // the plugin wrote.
        let (name, value) = unsafe {
            let name = owned_text(value.name, value.name_size);
            let size = value.value_size;
            let value = match value.r#type {
                sys::PJRT_NamedValue_kString => Value::String(owned_text(value.value.string_value, size)),
                sys::PJRT_NamedValue_kInt64 => Value::Int(value.value.int64_value),
                sys::PJRT_NamedValue_kInt64List => {
                    Value::Ints(list(value.value.int64_array_value, size).to_vec())
                }
                sys::PJRT_NamedValue_kFloat => Value::Float(value.value.float_value.into()),
                sys::PJRT_NamedValue_kBool => Value::Bool(value.value.bool_value != 0),
                _ => return None,
            };
            (name, value)
        };
        Some(Attribute { name, value })
    }

    /// The value as a list of integers, if it is one.
    pub fn ints(&self) -> Option<&[i64]> {
        match &self.value {
            Value::Ints(numbers) => Some(numbers),
            _ => None,
        }
    }
}

/// Options in the form that a plugin reads, with the texts that they point at.
pub(super) struct NamedValues {
    values: Vec<sys::PJRT_NamedValue>,
    _texts: Vec<CString>,
    _options: Options,
}

impl NamedValues {
    pub(super) fn new(options: &Options) -> NamedValues {
        // The values point into this copy and into `texts`; neither moves its heap.
        let options = options.clone();
        let mut texts = Vec::new();
        let mut text = |text: &str| {
            // Options hold no NUL; an empty text would be the only outcome.
            let text = CString::new(text).unwrap_or_default();
            let pointer = text.as_ptr();
            texts.push(text);
            pointer
        };
        let mut values = Vec::new();
        for (key, value) in options.iter() {
            let mut named = sys::PJRT_NamedValue::new();
            named.name = text(key);
            named.name_size = key.len();
            named.value_size = 1;
            match value {
                Value::String(value) => {
                    named.r#type = sys::PJRT_NamedValue_kString;
                    named.value.string_value = text(value);
                    named.value_size = value.len();
                }
                Value::Int(value) => {
                    named.r#type = sys::PJRT_NamedValue_kInt64;
                    named.value.int64_value = *value;
                }
                Value::Ints(value) => {
                    named.r#type = sys::PJRT_NamedValue_kInt64List;
                    named.value.int64_array_value = value.as_ptr();
                    named.value_size = value.len();
                }
                Value::Float(value) => {
                    named.r#type = sys::PJRT_NamedValue_kFloat;
                    named.value.float_value = *value as f32;
                }
                Value::Bool(value) => {
                    named.r#type = sys::PJRT_NamedValue_kBool;
                    named.value.bool_value = u8::from(*value);
                }
            }
            values.push(named);
        }
        NamedValues { values, _texts: texts, _options: options }
    }

    pub(super) fn as_slice(&self) -> &[sys::PJRT_NamedValue] {
        &self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_survives_the_round_trip() {
        let mut options = Options::new();
        options.parse("a=1;b=x y;c=true;d=0.5;e=1,2;f=").unwrap();
        let values = NamedValues::new(&options);
        let mut back = Options::new();
        for value in values.as_slice() {
            // SAFETY: `values` holds what its items point at.
            let attribute = unsafe { Attribute::from_named_value(value) }.unwrap();
            back.set(&attribute.name, attribute.value).unwrap();
        }
        assert_eq!(options, back);
    }

    #[test]
    fn unknown_kinds_and_null_pointers_are_not_followed() {
        let mut value = sys::PJRT_NamedValue::new();
        value.r#type = 99;
        // SAFETY: its pointers are NULL.
        assert_eq!(unsafe { Attribute::from_named_value(&value) }, None);
        value.r#type = sys::PJRT_NamedValue_kInt64List;
        value.value_size = 3;
        // SAFETY: as above.
        let attribute = unsafe { Attribute::from_named_value(&value) }.unwrap();
        assert_eq!(attribute.ints(), Some(&[][..]));
    }
}
