//! How many replicas and partitions a program says that it is written for.

use super::lexer::{Lexer, Token};
use crate::error::{Error, Result};

/// What a program says of the devices that run it together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DeviceCounts {
    /// Copies of the program with data of their own.
    pub replicas: Option<i64>,
    /// Devices that share the work of one copy.
    pub partitions: Option<i64>,
}

impl DeviceCounts {
    /// What a text says; the first time counts.
    pub fn of_text(text: &str) -> DeviceCounts {
        let mut counts = DeviceCounts::default();
        let mut tokens = Lexer::new(text);
        while let Some(token) = tokens.next() {
            let name = match &token {
                Token::Word(name) => *name,
                Token::Text(name) => name.as_ref(),
                _ => continue,
            };
            let count = match name {
                "mhlo.num_replicas" => &mut counts.replicas,
                "mhlo.num_partitions" => &mut counts.partitions,
                _ => continue,
            };
            if count.is_none()
                && tokens.next() == Some(Token::Other("="))
                && let Some(Token::Number(number)) = tokens.next()
            {
                // What is no number of this size stands for none that is possible.
                *count = Some(number.parse().unwrap_or(0));
            }
        }
        counts
    }

    /// An error for a number that cannot be.
    pub fn check(&self) -> Result<()> {
        for (count, what) in [(self.replicas, "replicas"), (self.partitions, "partitions")] {
            if let Some(count) = count.filter(|&count| count < 1) {
                let message = format!("the program says that it is for {count} {what}");
                return Err(Error::invalid_argument(message).hint("the file is damaged; write it again"));
            }
        }
        Ok(())
    }

    /// How many devices that is, where it is said.
    pub fn devices(&self) -> Option<u32> {
        if *self == DeviceCounts::default() {
            return None;
        }
        let count = self.replicas.unwrap_or(1).checked_mul(self.partitions.unwrap_or(1))?;
        u32::try_from(count).ok().filter(|&count| count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;

    #[test]
    fn texts_tell() {
        let told = |text| {
            let counts = DeviceCounts::of_text(text);
            (counts.replicas, counts.partitions)
        };
        let both = "module attributes {mhlo.num_replicas = 1 : i32, mhlo.num_partitions = 8 : i32} {}";
        assert_eq!(told(both), (Some(1), Some(8)));
        for silent in ["", "mhlo.num_replicas", "// mhlo.num_replicas = 8\n", "\"mhlo.num_replicas = 8\""] {
            assert_eq!(told(silent), (None, None), "{silent}");
        }
        assert_eq!(told("{\"mhlo.num_replicas\" = 3 : i32}"), (Some(3), None));
        assert_eq!(told("{mhlo.num_replicas=2, mhlo.num_replicas=4}"), (Some(2), None));
        assert_eq!(told("{mhlo.num_partitions = 99999999999999999999 : i32}"), (None, Some(0)));
    }

    #[test]
    fn only_some_numbers_can_be() {
        let check = |replicas, partitions| {
            DeviceCounts { replicas, partitions }.check().map_err(|error| error.code())
        };
        assert_eq!(check(None, None), Ok(()));
        assert_eq!(check(Some(1), Some(4)), Ok(()));
        assert_eq!(check(Some(0), None), Err(Code::InvalidArgument));
        assert_eq!(check(None, Some(-1)), Err(Code::InvalidArgument));
    }
}
