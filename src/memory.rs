//! Memory of a size that somebody else decides. Where it cannot be had, that is an
//! error, while Rust's own collections would end the process.

use crate::error::{Code, Error, Origin, Result};

/// An empty list with room for `size` bytes.
pub fn room(size: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size).map_err(|_| out_of_memory(size))?;
    Ok(bytes)
}

/// Adds a byte, for which the list grows by one and not by its own size again.
pub fn push(bytes: &mut Vec<u8>, byte: u8) -> Result<()> {
    bytes.try_reserve_exact(1).map_err(|_| out_of_memory(bytes.len()))?;
    bytes.push(byte);
    Ok(())
}

fn out_of_memory(size: usize) -> Error {
    let message = format!("out of memory: {size} bytes could not be had");
    Error::new(Code::ResourceExhausted, Origin::System, message)
}

/// `size` bytes of value 0.
pub fn zeroed(size: usize) -> Result<Vec<u8>> {
    let mut bytes = room(size)?;
    bytes.resize(size, 0);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_much_is_an_error() {
        let mut three = zeroed(3).unwrap();
        assert_eq!(three, [0; 3]);
        push(&mut three, 7).unwrap();
        assert_eq!(three, [0, 0, 0, 7]);
        assert_eq!(room(isize::MAX as usize).unwrap_err().code(), Code::ResourceExhausted);
    }
}
