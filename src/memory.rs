//! Memory of a size that somebody else decides. Where it cannot be had, that is an
//! error, while Rust's own collections would end the process.

use crate::error::{Code, Error, Origin, Result};

/// An empty list with room for `size` bytes.
pub fn room(size: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size).map_err(|_| {
        let message = format!("out of memory: {size} bytes could not be had");
        Error::new(Code::ResourceExhausted, Origin::System, message)
    })?;
    Ok(bytes)
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
        assert_eq!(zeroed(3).unwrap(), [0; 3]);
        assert_eq!(room(isize::MAX as usize).unwrap_err().code(), Code::ResourceExhausted);
    }
}
