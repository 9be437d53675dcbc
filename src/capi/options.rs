//! Options: a typed key/value set, for cyxla_initialize and cyxla_compile_program.
//!
//! One thread at a time may change a set; several may read it. A function that
//! takes a set reads it during the call and keeps nothing of it.

use std::ffi::{CString, c_char};

use super::error::{c_text, cyxla_error};
use super::guard::{guard, value};
use super::pointer;
use crate::options::{Options, Value};

/// The kind of an option's value.
#[repr(transparent)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct cyxla_option_kind(pub i32);

/// There is no such option.
pub const CYXLA_OPTION_KIND_NONE: cyxla_option_kind = cyxla_option_kind(-1);
/// Text.
pub const CYXLA_OPTION_KIND_STRING: cyxla_option_kind = cyxla_option_kind(0);
/// A 64-bit signed integer.
pub const CYXLA_OPTION_KIND_INT: cyxla_option_kind = cyxla_option_kind(1);
/// A list of 64-bit signed integers.
pub const CYXLA_OPTION_KIND_INTS: cyxla_option_kind = cyxla_option_kind(2);
/// A double; plugins get it in single precision.
pub const CYXLA_OPTION_KIND_FLOAT: cyxla_option_kind = cyxla_option_kind(3);
/// A bool.
pub const CYXLA_OPTION_KIND_BOOL: cyxla_option_kind = cyxla_option_kind(4);

/// A typed key/value set. One thread at a time may change it.
pub struct cyxla_options {
    pub(super) options: Options,
    /// Key and value as C strings, made anew at each change.
    texts: Vec<(CString, CString)>,
}

impl cyxla_options {
    pub(super) fn new(options: Options) -> cyxla_options {
        let mut made = cyxla_options { options, texts: Vec::new() };
        made.write_texts();
        made
    }

    fn write_texts(&mut self) {
        self.texts =
            self.options.iter().map(|(key, value)| (c_text(key), c_text(&value.to_string()))).collect();
    }

    fn value(&self, index: usize) -> Option<&Value> {
        self.options.iter().nth(index).map(|(_, value)| value)
    }
}

/// # Safety
/// NULL or a living set that nobody else uses; NULL or NUL-terminated text.
unsafe fn set(
    function: &'static str,
    options: *mut cyxla_options,
    key: *const c_char,
    value: impl FnOnce() -> crate::error::Result<Value>,
) -> *mut cyxla_error {
    guard(function, || {
        // SAFETY: the caller's promise.
        let (options, key) = unsafe { (pointer::exclusive(options, "options")?, pointer::text(key, "key")?) };
        options.options.set(key, value()?).map_err(|error| error.parameter("key"))?;
        options.write_texts();
        Ok(())
    })
}

/// Makes an empty set of options.
///
/// @return a set to free with cyxla_options_free; never NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub extern "C" fn cyxla_options_new() -> *mut cyxla_options {
    value(std::ptr::null_mut(), || Box::into_raw(Box::new(cyxla_options::new(Options::new()))))
}

/// Frees a set of options.
///
/// @param options  a set, or NULL.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_options_free(options: *mut cyxla_options) {
    // SAFETY: NULL or a set that was not freed before.
    value((), || unsafe { pointer::free(options) });
}

/// Sets an option to text, or replaces its value.
///
/// @param options  a set.
/// @param key      the option's name.
/// @param value    NUL-terminated UTF-8; copied.
/// @return NULL, or an owned error: INVALID_ARGUMENT (NULL, no UTF-8, a name that is empty or holds white space, '=' or ';').
/// @threads one at a time per set.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_options_set_string(
    options: *mut cyxla_options,
    key: *const c_char,
    value: *const c_char,
) -> *mut cyxla_error {
    // SAFETY: the contract; NULL or NUL-terminated text.
    unsafe {
        set("cyxla_options_set_string", options, key, || {
            Ok(Value::String(pointer::text(value, "value")?.to_owned()))
        })
    }
}

/// Sets an option to an integer, or replaces its value.
///
/// @param options  a set.
/// @param key      the option's name.
/// @param value    any integer; ranges are checked where the option is used.
/// @return NULL, or an owned error: INVALID_ARGUMENT (as cyxla_options_set_string).
/// @threads one at a time per set.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_options_set_int(
    options: *mut cyxla_options,
    key: *const c_char,
    value: i64,
) -> *mut cyxla_error {
    // SAFETY: the contract.
    unsafe { set("cyxla_options_set_int", options, key, || Ok(Value::Int(value))) }
}

/// Sets an option to a list of integers, or replaces its value.
///
/// @param options  a set.
/// @param key      the option's name.
/// @param values   the list; copied. May be NULL only if `count` is 0.
/// @param count    how many integers.
/// @return NULL, or an owned error: INVALID_ARGUMENT (as cyxla_options_set_string).
/// @threads one at a time per set.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_options_set_ints(
    options: *mut cyxla_options,
    key: *const c_char,
    values: *const i64,
    count: usize,
) -> *mut cyxla_error {
    // SAFETY: the contract; NULL or `count` integers.
    unsafe {
        set("cyxla_options_set_ints", options, key, || {
            Ok(Value::Ints(pointer::slice(values, count, "values")?.to_vec()))
        })
    }
}

/// Sets an option to a floating-point number, or replaces its value.
///
/// @param options  a set.
/// @param key      the option's name.
/// @param value    a finite number.
/// @return NULL, or an owned error: INVALID_ARGUMENT (as cyxla_options_set_string; infinite or NaN).
/// @threads one at a time per set.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_options_set_float(
    options: *mut cyxla_options,
    key: *const c_char,
    value: f64,
) -> *mut cyxla_error {
    // SAFETY: the contract.
    unsafe { set("cyxla_options_set_float", options, key, || Ok(Value::Float(value))) }
}

/// Sets an option to true or false, or replaces its value.
///
/// @param options  a set.
/// @param key      the option's name.
/// @param value    true or false.
/// @return NULL, or an owned error: INVALID_ARGUMENT (as cyxla_options_set_string).
/// @threads one at a time per set.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_options_set_bool(
    options: *mut cyxla_options,
    key: *const c_char,
    value: bool,
) -> *mut cyxla_error {
    // SAFETY: the contract.
    unsafe { set("cyxla_options_set_bool", options, key, || Ok(Value::Bool(value))) }
}

/// Adds the options of a text such as "memory_fraction=0.5;preallocate=false".
///
/// The kind of each value follows from how it looks: true or false, an integer, a
/// decimal number, integers divided by commas, else text. White space around names
/// and values does not count. A text with an error in it changes nothing.
///
/// @param options  a set.
/// @param text     NUL-terminated UTF-8.
/// @return NULL, or an owned error: INVALID_ARGUMENT (an item without '=', a bad name, a name twice in the text).
/// @threads one at a time per set.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_options_parse(
    options: *mut cyxla_options,
    text: *const c_char,
) -> *mut cyxla_error {
    guard("cyxla_options_parse", || {
        // SAFETY: the contract; NULL or NUL-terminated text.
        let (options, text) =
            unsafe { (pointer::exclusive(options, "options")?, pointer::text(text, "text")?) };
        options.options.parse(text).map_err(|error| error.parameter("text"))?;
        options.write_texts();
        Ok(())
    })
}

/// Returns how many options a set has.
///
/// @param options  a set, or NULL.
/// @return the count; 0 for NULL.
/// @threads safe while nobody changes the set.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_options_count(options: *const cyxla_options) -> usize {
    // SAFETY: NULL or a living set.
    let options = unsafe { pointer::optional(options) };
    value(0, || options.map_or(0, |options| options.options.len()))
}

/// Returns the name of an option, in the order in which they were set first.
///
/// @param options  a set, or NULL.
/// @param index    from 0.
/// @return text that lives until the set is changed or freed; NULL if there is no such option.
/// @threads safe while nobody changes the set.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_options_key(options: *const cyxla_options, index: usize) -> *const c_char {
    // SAFETY: NULL or a living set.
    let options = unsafe { pointer::optional(options) };
    value(std::ptr::null(), || {
        let texts = options.and_then(|options| options.texts.get(index));
        texts.map_or(std::ptr::null(), |(key, _)| key.as_ptr())
    })
}

/// Returns the kind of an option's value.
///
/// @param options  a set, or NULL.
/// @param index    from 0.
/// @return the kind; CYXLA_OPTION_KIND_NONE if there is no such option.
/// @threads safe while nobody changes the set.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_options_kind(
    options: *const cyxla_options,
    index: usize,
) -> cyxla_option_kind {
    // SAFETY: NULL or a living set.
    let options = unsafe { pointer::optional(options) };
    value(CYXLA_OPTION_KIND_NONE, || match options.and_then(|options| options.value(index)) {
        Some(Value::String(_)) => CYXLA_OPTION_KIND_STRING,
        Some(Value::Int(_)) => CYXLA_OPTION_KIND_INT,
        Some(Value::Ints(_)) => CYXLA_OPTION_KIND_INTS,
        Some(Value::Float(_)) => CYXLA_OPTION_KIND_FLOAT,
        Some(Value::Bool(_)) => CYXLA_OPTION_KIND_BOOL,
        None => CYXLA_OPTION_KIND_NONE,
    })
}

/// Returns an option's value as text, whatever its kind.
///
/// @param options  a set, or NULL.
/// @param index    from 0.
/// @return text that lives until the set is changed or freed; NULL if there is no such option.
/// @threads safe while nobody changes the set.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_options_get_string(
    options: *const cyxla_options,
    index: usize,
) -> *const c_char {
    // SAFETY: NULL or a living set.
    let options = unsafe { pointer::optional(options) };
    value(std::ptr::null(), || {
        let texts = options.and_then(|options| options.texts.get(index));
        texts.map_or(std::ptr::null(), |(_, text)| text.as_ptr())
    })
}

/// Returns the value of an integer option.
///
/// @param options  a set, or NULL.
/// @param index    from 0.
/// @return the value; 0 if the option is of another kind or does not exist.
/// @threads safe while nobody changes the set.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_options_get_int(options: *const cyxla_options, index: usize) -> i64 {
    // SAFETY: NULL or a living set.
    let options = unsafe { pointer::optional(options) };
    value(0, || match options.and_then(|options| options.value(index)) {
        Some(Value::Int(number)) => *number,
        _ => 0,
    })
}

/// Returns the value of an option that is a list of integers.
///
/// @param options  a set, or NULL.
/// @param index    from 0.
/// @param count    receives how many integers; may be NULL.
/// @return the integers, which live until the set is changed or freed; NULL with a count of 0 if the list is empty, or the option is of another kind or does not exist.
/// @threads safe while nobody changes the set.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_options_get_ints(
    options: *const cyxla_options,
    index: usize,
    count: *mut usize,
) -> *const i64 {
    // SAFETY: NULL or a living set.
    let options = unsafe { pointer::optional(options) };
    let numbers = value(&[][..], || match options.and_then(|options| options.value(index)) {
        Some(Value::Ints(numbers)) => numbers.as_slice(),
        _ => &[],
    });
    // SAFETY: NULL or writable.
    unsafe { pointer::list(numbers, count) }
}

/// Returns the value of a floating-point option.
///
/// @param options  a set, or NULL.
/// @param index    from 0.
/// @return the value; 0 if the option is of another kind or does not exist.
/// @threads safe while nobody changes the set.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_options_get_float(options: *const cyxla_options, index: usize) -> f64 {
    // SAFETY: NULL or a living set.
    let options = unsafe { pointer::optional(options) };
    value(0.0, || match options.and_then(|options| options.value(index)) {
        Some(Value::Float(number)) => *number,
        _ => 0.0,
    })
}

/// Returns the value of an option that is true or false.
///
/// @param options  a set, or NULL.
/// @param index    from 0.
/// @return the value; false if the option is of another kind or does not exist.
/// @threads safe while nobody changes the set.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cyxla_options_get_bool(options: *const cyxla_options, index: usize) -> bool {
    // SAFETY: NULL or a living set.
    let options = unsafe { pointer::optional(options) };
    value(false, || options.and_then(|options| options.value(index)) == Some(&Value::Bool(true)))
}
