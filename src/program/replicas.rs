//! Refuses programs that say they are written for several replicas.
//!
//! Compiled for one, their collectives would return each device's own part as if it
//! were everybody's.

use std::fmt::Display;

use super::lexer::{Lexer, Token};
use crate::error::{Code, Error, Origin, Result};

const ATTRIBUTE: &str = "mhlo.num_replicas";

/// Whether a text is written for one replica, as far as it says.
pub fn check_replicas(text: &str) -> Result<()> {
    let mut tokens = Lexer::new(text);
    while let Some(token) = tokens.next() {
        let is_attribute = match &token {
            Token::Word(name) => *name == ATTRIBUTE,
            Token::Text(name) => name == ATTRIBUTE,
            _ => false,
        };
        if !is_attribute || tokens.next() != Some(Token::Other("=")) {
            continue;
        }
        if let Some(Token::Number(count)) = tokens.next()
            && count.parse::<u64>() != Ok(1)
        {
            return Err(refused(count));
        }
    }
    Ok(())
}

/// The error for a program that is written for so many replicas.
pub fn refused(count: impl Display) -> Error {
    let message = format!("the program is written for {count} replicas; this version runs one");
    Error::new(Code::Unimplemented, Origin::Library, message).hint("export the program for one device")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_replica_passes() {
        let one = "module attributes {mhlo.num_replicas = 1 : i32, mhlo.num_partitions = 8 : i32} {}";
        for fine in ["", "mhlo.num_replicas", one, "// mhlo.num_replicas = 8\n", "\"mhlo.num_replicas = 8\""]
        {
            assert!(check_replicas(fine).is_ok(), "{fine}");
        }
        for several in
            ["{mhlo.num_replicas = 8 : i32}", "{mhlo.num_replicas=2}", "{\"mhlo.num_replicas\" = 3 : i32}"]
        {
            assert_eq!(check_replicas(several).unwrap_err().code(), Code::Unimplemented, "{several}");
        }
    }
}
