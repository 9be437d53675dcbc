//! Memory of a size that a program decides.

use cyxla::error::{Code, Error, Origin, Result};

/// So many bytes of value 0, or an error where they cannot be had.
pub fn zeroed(size: usize) -> Result<Vec<u8>> {
    let mut memory = Vec::new();
    if memory.try_reserve_exact(size).is_err() {
        let message = format!("an array needs {size} bytes of memory, which are not there");
        return Err(Error::new(Code::ResourceExhausted, Origin::System, message));
    }
    memory.resize(size, 0);
    Ok(memory)
}
