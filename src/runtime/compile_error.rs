//! Adds to a plugin's compile error what to do about it.

use crate::error::Error;

/// What is known of the two sides: the StableHLO versions that the plugin accepts, and
/// who wrote the program.
pub struct Sides<'a> {
    /// Oldest and newest, if the plugin tells.
    pub accepted: Option<(String, String)>,
    /// As bytecode records it.
    pub writer: Option<&'a str>,
}

/// The plugin's error with a hint, and with the versions where they can matter.
pub fn explain(error: Error, sides: &Sides<'_>) -> Error {
    let message = error.message();
    if message.contains("requires module with `main` function") {
        return error.hint("name the program's entry function @main and make it public");
    }
    if message.contains("Unbounded dynamism is disabled") {
        return error.hint("export the program with fixed shapes");
    }
    if !message.contains("Failed to parse using StableHLO") {
        return error;
    }
    let place = position(message).map(|(line, column)| {
        format!("look at line {line}, column {column} of the program; if nothing is wrong there, ")
    });
    let Some((oldest, newest)) = &sides.accepted else { return error };
    let writer =
        sides.writer.map_or(String::new(), |writer| format!(", and the program was written by {writer}"));
    let place = place.unwrap_or_else(|| "if the program is not just malformed, ".into());
    error
        .map_message(|message| {
            format!("{message} The plugin accepts StableHLO {oldest} to {newest}{writer}.")
        })
        .hint(format!("{place}export it again for StableHLO {newest} or older, or install a newer plugin"))
}

/// Line and column of the first place that a parser's message names, as in `-:2:10:`.
fn position(message: &str) -> Option<(u32, u32)> {
    message.split_whitespace().find_map(|word| {
        let mut parts = word.strip_prefix("-:")?.split(':');
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint(message: &str) -> String {
        let sides =
            Sides { accepted: Some(("0.9.0".into(), "1.20.0".into())), writer: Some("StableHLO_v1.30.0") };
        let error = explain(Error::internal(message), &sides);
        format!("{} | {}", error.message(), error.detail("hint").unwrap_or(""))
    }

    #[test]
    fn each_kind_of_error_says_what_to_do() {
        let parse = hint(
            "-:2:10: error: custom op 'stablehlo.ad' is unknown Failed to parse using StableHLO v1.20.0,",
        );
        assert!(parse.contains("line 2, column 10"), "{parse}");
        assert!(
            parse.contains("0.9.0 to 1.20.0, and the program was written by StableHLO_v1.30.0"),
            "{parse}"
        );
        let bytecode = hint("cannot read. Failed to parse using StableHLO v1.20.0");
        assert!(
            bytecode.contains("not just malformed") && bytecode.contains("1.20.0 or older"),
            "{bytecode}"
        );
        assert!(hint("conversion requires module with `main` function").contains("@main"));
        assert!(hint("Unbounded dynamism is disabled for this").contains("fixed shapes"));
        assert_eq!(hint("something else"), "something else | ");
    }
}
