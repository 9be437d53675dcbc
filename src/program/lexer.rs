//! Splits a program text into the tokens that the checks look at.
//!
//! White space and comments are skipped, and strings are told from code, as MLIR
//! does it: a check that searched the bytes would miss `tensor <` and find what
//! stands in a comment.

use std::borrow::Cow;
use std::ops::Range;

/// A piece of a program text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Token<'a> {
    /// A bare name, such as `func.func`, or `x8xf32` of a tensor's dims.
    Word(&'a str),
    /// Decimal digits.
    Number(&'a str),
    /// A string, without its quotes and escapes.
    Text(Cow<'a, str>),
    /// `@name` or `@"name"`, without the `@`.
    Symbol(Cow<'a, str>),
    /// `#name`, without the `#`.
    Attribute(&'a str),
    /// `(`, `[`, `{` or `<`.
    Open(u8),
    /// `)`, `]`, `}` or `>`, but not that of an arrow.
    Close(u8),
    /// Anything else: an arrow, `%name`, `^name`, or a single character.
    Other(&'a str),
}

/// The tokens of a text.
pub struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str) -> Lexer<'a> {
        Lexer { text, at: 0 }
    }

    /// The next token, and where it stands.
    pub fn spanned(&mut self) -> Option<(Range<usize>, Token<'a>)> {
        self.skip_blanks();
        let start = self.at;
        let token = self.next()?;
        Some((start..self.at, token))
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    /// The text from here as long as the bytes are `good`.
    fn take_while(&mut self, good: impl Fn(u8) -> bool) -> &'a str {
        let rest = &self.text[self.at..];
        let length = rest.bytes().position(|byte| !good(byte)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn skip_blanks(&mut self) {
        loop {
            self.take_while(|byte| matches!(byte, 0 | b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c));
            if (self.peek(0), self.peek(1)) != (b'/', b'/') {
                return;
            }
            self.take_while(|byte| byte != b'\n' && byte != b'\r');
        }
    }

    /// The string whose opening quote is here. One that does not end is cut off at
    /// the line's end.
    fn string(&mut self) -> Cow<'a, str> {
        let rest = &self.text[self.at + 1..];
        let mut from = 0;
        let end = loop {
            // Constants are long strings.
            let stop = rest.as_bytes().get(from..).and_then(|rest| memchr::memchr3(b'"', b'\\', b'\n', rest));
            match stop.map(|stop| from + stop) {
                // A line ends a string even behind a backslash.
                Some(stop) if rest.as_bytes()[stop] == b'\\' => {
                    from = stop + if rest.as_bytes().get(stop + 1) == Some(&b'\n') { 1 } else { 2 };
                }
                stop => break stop,
            }
        };
        let inside = &rest[..end.unwrap_or(rest.len())];
        self.at += (inside.len() + 2).min(rest.len() + 1);
        if inside.contains('\\') { Cow::Owned(unescaped(inside)) } else { Cow::Borrowed(inside) }
    }
}

/// MLIR escapes a byte as two hexadecimal digits, and a few as letters.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    let digit = |byte: u8| char::from(byte).to_digit(16).map_or(0, |digit| digit as u8);
    while let Some(byte) = rest.next() {
        match (byte, if byte == b'\\' { rest.next() } else { None }) {
            (_, None) => bytes.push(byte),
            (_, Some(b'n')) => bytes.push(b'\n'),
            (_, Some(b't')) => bytes.push(b'\t'),
            (_, Some(high)) if high.is_ascii_hexdigit() => {
                bytes.push(digit(high) << 4 | digit(rest.next().unwrap_or(b'0')));
            }
            (_, Some(other)) => bytes.push(other),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.')
}

fn in_suffix(byte: u8) -> bool {
    in_name(byte) || byte == b'-'
}

impl<'a> Iterator for Lexer<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        self.skip_blanks();
        let start = self.at;
        let first = *self.text.as_bytes().get(start)?;
        Some(match first {
            b'"' => Token::Text(self.string()),
            b'@' if self.peek(1) == b'"' => {
                self.at += 1;
                Token::Symbol(self.string())
            }
            b'@' => {
                self.at += 1;
                Token::Symbol(Cow::Borrowed(self.take_while(in_name)))
            }
            b'#' => {
                self.at += 1;
                // `#-}` ends the resources of a file.
                Token::Attribute(if self.peek(0) == b'-' { "" } else { self.take_while(in_suffix) })
            }
            b'-' if self.peek(1) == b'>' => {
                self.at += 2;
                Token::Other("->")
            }
            b'%' | b'^' => {
                self.at += 1;
                self.take_while(in_suffix);
                Token::Other(&self.text[start..self.at])
            }
            b'0'..=b'9' => Token::Number(self.take_while(|byte| byte.is_ascii_digit())),
            _ if first.is_ascii_alphabetic() || first == b'_' => Token::Word(self.take_while(in_name)),
            _ => {
                self.at += self.text[start..].chars().next().map_or(1, char::len_utf8);
                match first {
                    b'(' | b'[' | b'{' | b'<' => Token::Open(first),
                    b')' | b']' | b'}' | b'>' => Token::Close(first),
                    _ => Token::Other(&self.text[start..self.at]),
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens() {
        let text = "module @m // @no \"\n#a = \"x\\22\\\\\\41\" %a.b-1: tensor <4x?xf32> -> @\"q\\6d\" é";
        let wanted = [
            Token::Word("module"),
            Token::Symbol("m".into()),
            Token::Attribute("a"),
            Token::Other("="),
            Token::Text("x\"\\A".into()),
            Token::Other("%a.b-1"),
            Token::Other(":"),
            Token::Word("tensor"),
            Token::Open(b'<'),
            Token::Number("4"),
            Token::Word("x"),
            Token::Other("?"),
            Token::Word("xf32"),
            Token::Close(b'>'),
            Token::Other("->"),
            Token::Symbol("qm".into()),
            Token::Other("é"),
        ];
        assert_eq!(Lexer::new(text).collect::<Vec<_>>(), wanted);
    }

    #[test]
    fn odd_ends() {
        for text in ["\"", "\"\\", "@", "@\"", "#", "//", "/", "-", "%", "\"é\\", "\"a\\\nb", "{-# x #-}"] {
            Lexer::new(text).for_each(drop);
        }
        assert_eq!(Lexer::new("\"open ((\n {").last(), Some(Token::Open(b'{')));
    }
}
