//! Texts as Python shows them.

use std::fmt::{self, Write};

/// A text in quotes, as Python's `repr` writes it.
pub struct Repr<'a>(pub &'a str);

impl fmt::Display for Repr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'\'' && byte != b'\\') {
            return write!(f, "'{}'", self.0); // nearly always
        }
        let quote = if self.0.contains('\'') && !self.0.contains('"') { '"' } else { '\'' };
        f.write_char(quote)?;
        for c in self.0.chars() {
            match c {
                '\n' => f.write_str("\\n")?,
                '\r' => f.write_str("\\r")?,
                '\t' => f.write_str("\\t")?,
                '\\' => f.write_str("\\\\")?,
                _ if c == quote => write!(f, "\\{c}")?,
                _ if is_printable(c) => f.write_char(c)?,
                _ => match u32::from(c) {
                    code @ ..0x100 => write!(f, "\\x{code:02x}")?,
                    code @ ..0x10000 => write!(f, "\\u{code:04x}")?,
                    code => write!(f, "\\U{code:08x}")?,
                },
            }
        }
        f.write_char(quote)
    }
}

/// Rust's `Debug` escapes the same characters as Python, except that it also escapes
/// a mark that goes on top of the character before it when it stands first.
fn is_printable(c: char) -> bool {
    let mut pair = [b'a', 0, 0, 0, 0];
    let size = 1 + c.encode_utf8(&mut pair[1..]).len();
    matches!(c, '"' | '\'')
        || std::str::from_utf8(&pair[..size]).is_ok_and(|pair| pair.escape_debug().skip(1).eq([c]))
}

/// A name without quotes: what a terminal might obey is escaped, and C strings end at
/// a NUL.
pub fn plain(name: &str) -> String {
    let mut shown = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_control() {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// A text for an error message, without its end if it is long.
pub fn shorten(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_python_writes_them() {
        let cases = [
            ("", "''"),
            ("w1", "'w1'"),
            ("it's", "\"it's\""),
            ("\"", "'\"'"),
            ("'\"", "'\\'\"'"),
            ("a\\b\n\r\t\0\x7f", r"'a\\b\n\r\t\x00\x7f'"),
            ("größe ∑ 日本 🦀", "'größe ∑ 日本 🦀'"),
            ("e\u{301}\u{301}", "'e\u{301}\u{301}'"),
            ("\u{a0}\u{ad}\u{200b}\u{2028}\u{e000}", r"'\xa0\xad\u200b\u2028\ue000'"),
            ("\u{e0001}\u{10ffff}", r"'\U000e0001\U0010ffff'"),
        ];
        for (text, shown) in cases {
            assert_eq!(Repr(text).to_string(), shown);
        }
    }

    #[test]
    fn names_without_quotes() {
        assert_eq!(plain("<lambda> é"), "<lambda> é");
        assert_eq!(shorten("a\n"), r#""a\n""#);
        assert_eq!(shorten(&"é".repeat(61)), format!("\"{}\"…", "é".repeat(60)));
        assert_eq!(plain("a\0\x1b[1m\n"), r"a\u{0}\u{1b}[1m\n");
    }
}
