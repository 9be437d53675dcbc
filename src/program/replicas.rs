//! Refuses program text that says it is written for several replicas.
//!
//! Compiled for one, its collectives would return each device's own part as if it
//! were everybody's. Bytecode says it too, but in a form that only a plugin reads.

use memchr::memmem;

use crate::error::{Code, Error, Origin, Result};

/// Whether a text is written for one replica, as far as it says.
pub fn check(text: &str) -> Result<()> {
    const ATTRIBUTE: &str = "mhlo.num_replicas";
    for start in memmem::find_iter(text.as_bytes(), ATTRIBUTE) {
        let behind = text[start + ATTRIBUTE.len()..].trim_start();
        let value = behind.strip_prefix('=').unwrap_or("").trim_start();
        let digits = value.len() - value.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if value[..digits].parse::<u64>().is_ok_and(|count| count > 1) {
            let message =
                format!("the program is written for {} replicas; this version runs one", &value[..digits]);
            return Err(Error::new(Code::Unimplemented, Origin::Library, message)
                .hint("export the program for one device"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_replica_passes() {
        for fine in ["", "mhlo.num_replicas", "{mhlo.num_replicas = 1 : i32}", "mhlo.num_partitions = 8"] {
            assert!(check(fine).is_ok(), "{fine}");
        }
        for several in ["mhlo.num_replicas = 8 : i32", "{mhlo.num_replicas=2}", "= 1 mhlo.num_replicas =\n 3"]
        {
            assert_eq!(check(several).unwrap_err().code(), Code::Unimplemented, "{several}");
        }
    }
}
