//! Adds to a plugin's compile error what to do about it.

use crate::error::Error;

/// What is known of the two sides: the StableHLO versions that the plugin accepts, and
/// who wrote the program.
pub struct Sides<'a> {
    /// Oldest and newest, if the plugin tells.
    pub accepted: Option<(String, String)>,
    /// As bytecode records it.
    pub writer: Option<&'a str>,
    /// Targets of the program's custom calls.
    pub custom_calls: &'a [String],
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
    if is_unknown_custom_call(message) && !sides.custom_calls.is_empty() {
        let targets = sides.custom_calls.join(", ");
        return error
            .map_message(|message| format!("{message} The program makes the custom calls {targets}."))
            .with("custom_calls", targets)
            .hint("the plugin has to know every custom call: JAX registers those of its linear algebra and of its callbacks itself; avoid them in the function, or use a plugin that has them");
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

/// Whether a plugin says that it does not know the target of a custom call, in the
/// words of either of XLA's registries.
fn is_unknown_custom_call(message: &str) -> bool {
    message.contains("No FFI handler registered")
        || message.contains("No registered implementation for untyped custom call")
        || (message.contains("ustom call")
            && (message.contains("not registered") || message.contains("not find")))
        || message.contains("Unknown custom call")
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
        let sides = Sides {
            accepted: Some(("0.9.0".into(), "1.20.0".into())),
            writer: Some("StableHLO_v1.30.0"),
            custom_calls: &["a".into(), "b".into()],
        };
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
        for unknown in [
            "No FFI handler registered for a on a platform Host (canonical host)",
            "No registered implementation for untyped custom call to a for Host",
        ] {
            let custom = hint(unknown);
            assert!(custom.contains("custom calls a, b.") && custom.contains("avoid them"), "{custom}");
        }
        assert_eq!(hint("something else"), "something else | ");
    }
}
