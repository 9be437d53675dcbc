//! Version of the library.
//!
//! The header's CYXLA_VERSION tells what a program was compiled against; these
//! functions tell what it runs with.

use std::ffi::c_char;

/// Returns the version as text, such as "0.1.0".
///
/// @return NUL-terminated text that lives as long as the process.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub extern "C" fn cyxla_version() -> *const c_char {
    const TEXT: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    TEXT.as_ptr().cast()
}

/// Returns the version as a number that grows with each version.
///
/// @return major * 10000 + minor * 100 + patch.
/// @threads safe.   @blocks no.   @since 0.1
#[unsafe(no_mangle)]
pub extern "C" fn cyxla_version_number() -> u32 {
    const fn number(text: &str) -> u32 {
        let (bytes, mut value, mut at) = (text.as_bytes(), 0, 0);
        while at < bytes.len() {
            value = value * 10 + (bytes[at] - b'0') as u32;
            at += 1;
        }
        value
    }
    number(env!("CARGO_PKG_VERSION_MAJOR")) * 10_000
        + number(env!("CARGO_PKG_VERSION_MINOR")) * 100
        + number(env!("CARGO_PKG_VERSION_PATCH"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn text_and_number_agree() {
        let number = super::cyxla_version_number();
        let text = format!("{}.{}.{}", number / 10_000, number / 100 % 100, number % 100);
        assert_eq!(text, env!("CARGO_PKG_VERSION"));
    }
}
