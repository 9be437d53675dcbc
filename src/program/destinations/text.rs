//! Destinations in StableHLO text.

use std::collections::HashSet;
use std::iter::Peekable;
use std::ops::Range;

use super::{cannot, check_positions, fits, module_attribute_fits};
use crate::error::Result;
use crate::memory;
use crate::program::contents::{Dim, Element, Tensor};
use crate::program::lexer::{Lexer, Token};
use crate::program::text_facts;

/// What the names of destinations begin with.
const NAME: &str = "%destination";

/// The same text with destinations for those of the results that can have one, and which
/// these are.
pub fn with_destinations(code: &[u8], results: &[usize]) -> Result<(Vec<u8>, Vec<usize>)> {
    let text = std::str::from_utf8(code).map_err(|_| cannot("it is no UTF-8"))?;
    let unclear = || cannot("the types of its function main are not written out");
    let names = check_surroundings(text)?;
    let (_, outputs) = text_facts::main_function(text).ok_or_else(unclear)?;
    let head = Head::find(text).ok_or_else(unclear)?;
    if head.results.len() != outputs.len() {
        return Err(unclear());
    }
    check_positions(results, outputs.len())?;
    let takes = |&result: &usize| {
        head.results[result].is_plain && is_plain(&outputs[result]) && !head.aliased.contains(&result)
    };
    let destinations: Vec<usize> = results.iter().copied().filter(takes).collect();
    let mut free = (0..).map(|number| format!("{NAME}{number}")).filter(|name| !names.contains(&name[..]));
    let mut added = String::new();
    for (&result, name) in destinations.iter().zip(&mut free) {
        let comma = if head.has_arguments || !added.is_empty() { ", " } else { "" };
        let of_type = &text[head.results[result].of_type.clone()];
        added.push_str(&format!("{comma}{name}: {of_type} {{tf.aliasing_output = {result} : i32}}"));
    }
    let mut out = memory::room(text.len() + added.len() + 1)?;
    out.extend_from_slice(&code[..head.arguments_end]);
    out.extend_from_slice(added.as_bytes());
    out.extend_from_slice(&code[head.arguments_end..]);
    Ok((out, destinations))
}

fn is_plain(tensor: &Tensor) -> bool {
    let dims = tensor.dims.iter().map(|dim| match dim {
        Dim::Fixed(size) => Some(*size),
        Dim::Symbolic(_) => None,
    });
    matches!(tensor.element, Element::Array(dtype) if fits(dtype, dims))
}

/// Whether all that is around the function to run leaves room for destinations. Gives
/// the names of values that a destination's might be taken for.
fn check_surroundings(text: &str) -> Result<HashSet<&str>> {
    let mut names = HashSet::new();
    let mut tokens = Lexer::new(text);
    // Of a module its name and its attributes follow.
    let mut is_of_module = false;
    let mut mains = 0;
    while let Some(token) = tokens.next() {
        let was_of_module = std::mem::take(&mut is_of_module);
        match token {
            Token::Other(name) if name.starts_with(NAME) => drop(names.insert(name)),
            Token::Word("module" | "builtin.module") => is_of_module = true,
            Token::Word("attributes") if was_of_module => check_module(&mut tokens)?,
            Token::Symbol(_) if was_of_module => is_of_module = true,
            Token::Symbol(name) if name == "main" => mains += 1,
            _ => {}
        }
    }
    if mains > 1 { Err(cannot("it names its function main more than once")) } else { Ok(names) }
}

/// Checks the attributes of a module.
fn check_module(tokens: &mut Lexer<'_>) -> Result<()> {
    let mut depth = 0usize;
    let mut is_name = false;
    while let Some(token) = tokens.next() {
        let was_name = std::mem::take(&mut is_name);
        match &token {
            Token::Open(_) => {
                depth += 1;
                is_name = depth == 1;
            }
            Token::Close(_) => depth = depth.saturating_sub(1),
            Token::Other(",") => is_name = depth == 1,
            Token::Word(_) | Token::Text(_) if was_name => check_attribute(word(&token), tokens)?,
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    Ok(())
}

/// Checks an attribute of a module, whose value follows.
fn check_attribute(name: &str, tokens: &mut Lexer<'_>) -> Result<()> {
    if !module_attribute_fits(name) {
        return Err(cannot(&format!("its module has the attribute {name}")));
    }
    let counts = ["mhlo.num_partitions", "mhlo.num_replicas"].contains(&name);
    if counts && (tokens.next(), tokens.next()) != (Some(Token::Other("=")), Some(Token::Number("1"))) {
        return Err(cannot("it is for several devices"));
    }
    Ok(())
}

/// What a name says, written with quotes or without.
fn word<'t>(token: &'t Token<'_>) -> &'t str {
    match token {
        Token::Word(name) => name,
        Token::Text(name) => name,
        _ => "",
    }
}

type Tokens<'a> = Peekable<Spanned<'a>>;

/// Tokens, and where they stand.
struct Spanned<'a>(Lexer<'a>);

impl<'a> Iterator for Spanned<'a> {
    type Item = (Range<usize>, Token<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.spanned()
    }
}

/// The head of the function to run.
struct Head {
    has_arguments: bool,
    /// Where the bracket behind them stands.
    arguments_end: usize,
    /// The results that share memory with arguments.
    aliased: HashSet<usize>,
    results: Vec<Found>,
}

/// A result as it is written.
struct Found {
    of_type: Range<usize>,
    /// Whether its type is a tensor's without an encoding, and it has the usual layout.
    is_plain: bool,
}

impl Head {
    fn find(text: &str) -> Option<Head> {
        let mut tokens = Spanned(Lexer::new(text)).peekable();
        while let Some((_, token)) = tokens.next() {
            if !matches!(token, Token::Word("func.func" | "func")) {
                continue;
            }
            let is_visibility =
                |token: &Token<'_>| matches!(token, Token::Word("public" | "private" | "nested"));
            let _ = tokens.next_if(|(_, token)| is_visibility(token));
            let is_main = |token: &Token<'_>| matches!(token, Token::Symbol(name) if name == "main");
            if tokens.next_if(|(_, token)| is_main(token)).is_some() {
                return Head::read(&mut tokens);
            }
        }
        None
    }

    /// Reads on behind the function's name.
    fn read(tokens: &mut Tokens<'_>) -> Option<Head> {
        if tokens.next()?.1 != Token::Open(b'(') {
            return None;
        }
        let has_arguments = match tokens.peek()?.1 {
            Token::Close(_) => false,
            // Those of a function without a body have no names.
            Token::Other(name) if name.starts_with('%') => true,
            _ => return None,
        };
        let mut aliased = HashSet::new();
        let mut depth = 1usize;
        let arguments_end = loop {
            let (place, token) = tokens.next()?;
            match &token {
                Token::Open(_) => depth += 1,
                Token::Close(_) if depth == 1 => break place.start,
                Token::Close(_) => depth -= 1,
                Token::Word(_) | Token::Text(_) if depth == 2 && word(&token) == "tf.aliasing_output" => {
                    tokens.next_if(|(_, token)| *token == Token::Other("="))?;
                    let (_, Token::Number(result)) = tokens.next()? else { return None };
                    aliased.insert(result.parse().ok()?);
                }
                _ => {}
            }
        };
        let mut results = Vec::new();
        if tokens.next_if(|(_, token)| *token == Token::Other("->")).is_some() {
            let is_list = tokens.next_if(|(_, token)| *token == Token::Open(b'(')).is_some();
            while !is_list && results.is_empty()
                || is_list && tokens.next_if(|(_, token)| *token == Token::Close(b')')).is_none()
            {
                results.push(Found::read(tokens, is_list)?);
                let _ = tokens.next_if(|(_, token)| *token == Token::Other(","));
            }
        }
        Some(Head { has_arguments, arguments_end, aliased, results })
    }
}

impl Found {
    /// Reads a type and, in a list, attributes behind it.
    fn read(tokens: &mut Tokens<'_>, is_in_list: bool) -> Option<Found> {
        let (mut of_type, first) = tokens.next()?;
        let mut is_plain = first == Token::Word("tensor");
        if first == Token::Other("!") {
            of_type.end = tokens.next()?.0.end;
        }
        if tokens.peek()?.1 == Token::Open(b'<') {
            let mut depth = 0usize;
            loop {
                let (place, token) = tokens.next()?;
                match token {
                    Token::Open(_) => depth += 1,
                    Token::Close(_) => depth -= 1,
                    Token::Other(",") if depth == 1 => is_plain = false,
                    _ => {}
                }
                if depth == 0 {
                    of_type.end = place.end;
                    break;
                }
            }
        }
        if is_in_list && tokens.peek()?.1 == Token::Open(b'{') {
            is_plain &= has_usual_memory(tokens)?;
        }
        Some(Found { of_type, is_plain })
    }
}

/// Reads the attributes of a result for where and in which order it is to be in memory.
fn has_usual_memory(tokens: &mut Tokens<'_>) -> Option<bool> {
    let mut is_usual = true;
    let mut depth = 0usize;
    loop {
        let (_, token) = tokens.next()?;
        match &token {
            Token::Open(_) => depth += 1,
            Token::Close(_) => depth -= 1,
            _ if depth > 1 => {}
            _ if word(&token) == "mhlo.memory_kind" => is_usual = false,
            _ if word(&token) == "mhlo.layout_mode" => {
                tokens.next_if(|(_, token)| *token == Token::Other("="))?;
                is_usual &= tokens.peek()?.1 == Token::Text("default".into());
            }
            _ => {}
        }
        if depth == 0 {
            return Some(is_usual);
        }
    }
}
