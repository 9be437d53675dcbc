//! Refuses shardings on which plugins end the process.

use memchr::memmem;

use crate::error::{Error, Result};

/// Where a sharding of XLA's begins to list tiles, in texts and in bytecode alike.
const TILES: &[u8] = b"devices=[";
/// What such a list is made of.
const OF_LIST: &[u8] = b"0123456789,[]<=T()- ";

/// An error if a list of tiles or devices has a negative number.
pub fn check(code: &[u8]) -> Result<()> {
    for begin in memmem::find_iter(code, TILES) {
        let rest = &code[begin..];
        let length = rest[TILES.len()..].iter().take_while(|byte| OF_LIST.contains(byte)).count();
        let list = &rest[..TILES.len() + length];
        if list.contains(&b'-') {
            let list = String::from_utf8_lossy(&list[..list.len().min(80)]);
            let message = format!("the program has a sharding with a negative number: {list}");
            return Err(Error::invalid_argument(message));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;

    #[test]
    fn negative_numbers_are_refused() {
        for fine in
            ["", "{devices=[2,1]<=[2]}", "{devices=[2]0,1 metadata={op_name=\"a-b\"}}", "devices=[", "-1"]
        {
            assert!(check(fine.as_bytes()).is_ok(), "{fine}");
        }
        for wrong in
            ["{devices=[-1]<=[-1]}", "{devices=[2,1]0,-1}", "x {devices=[1]} {devices=[2]<=[2]T(-1)}"]
        {
            assert_eq!(check(wrong.as_bytes()).unwrap_err().code(), Code::InvalidArgument, "{wrong}");
        }
    }
}
