//! Destinations in StableHLO text.

use std::fmt::Write;
use std::ops::Range;

use super::{cannot, choose, fits, module_attribute_fits};
use crate::error::Result;
use crate::memory;
use crate::program::contents::{Dim, Element, Tensor};
use crate::program::lexer::{Lexer, Token};

/// What the names of destinations begin with.
const NAME: &str = "%destination";

/// The same text with destinations for those of the results that can have one, and which
/// these are. `outputs` are its results, if they are known.
pub fn with_destinations(
    code: &[u8],
    outputs: Option<&[Tensor]>,
    results: &[usize],
) -> Result<(Vec<u8>, Vec<usize>)> {
    let text = std::str::from_utf8(code).map_err(|_| cannot("it is no UTF-8"))?;
    let first_name = check_surroundings(text)?;
    let known = outputs.and_then(|outputs| Some((outputs, Head::find(text)?)));
    let Some((outputs, head)) = known.filter(|(outputs, head)| outputs.len() == head.results.len()) else {
        return Err(cannot("the types of its function main are not written out"));
    };
    let mut is_free = Vec::with_capacity(outputs.len());
    for (output, found) in outputs.iter().zip(&head.results) {
        is_free.push(found.is_plain && is_plain(output));
    }
    for &aliased in &head.aliased {
        if let Some(is_free) = is_free.get_mut(aliased) {
            *is_free = false;
        }
    }
    let destinations = choose(results, is_free)?;
    let mut added = String::new();
    for (count, &result) in destinations.iter().enumerate() {
        let comma = if head.has_arguments || count > 0 { ", " } else { "" };
        let of_type = &text[head.results[result].of_type.clone()];
        let name = first_name + count as u64;
        let _ = write!(added, "{comma}{NAME}{name}: {of_type} {{tf.aliasing_output = {result} : i32}}");
    }
    let mut out = memory::room(text.len() + added.len() + 1)?;
    out.extend_from_slice(&code[..head.arguments_end]);
    out.extend_from_slice(added.as_bytes());
    out.extend_from_slice(&code[head.arguments_end..]);
    Ok((out, destinations))
}

fn is_plain(tensor: &Tensor) -> bool {
    let Element::Array(dtype) = tensor.element else { return false };
    let has_elements = |dim: &Dim| matches!(dim, Dim::Fixed(size) if *size > 0);
    fits(dtype, &[]) && tensor.dims.iter().all(has_elements)
}

/// Whether all that is around the function to run leaves room for destinations. Gives
/// the first number that no name of a value has, as a destination's would have it.
fn check_surroundings(text: &str) -> Result<u64> {
    let mut free = 0;
    let mut tokens = Lexer::new(text);
    // Of a module its name and its attributes follow.
    let mut is_of_module = false;
    let mut mains = 0;
    while let Some(token) = tokens.next() {
        let was_of_module = std::mem::take(&mut is_of_module);
        match token {
            Token::Other(name) => {
                let number = name.strip_prefix(NAME).and_then(|number| number.parse::<u32>().ok());
                free = number.map_or(free, |number| free.max(u64::from(number) + 1));
            }
            Token::Word("module" | "builtin.module") => is_of_module = true,
            Token::Word("attributes") if was_of_module => check_module(&mut tokens)?,
            Token::Symbol(_) if was_of_module => is_of_module = true,
            Token::Symbol(name) if name == "main" => mains += 1,
            _ => {}
        }
    }
    if mains > 1 { Err(cannot("it names its function main more than once")) } else { Ok(free) }
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

/// Tokens, of which the next can be looked at, and where they stand.
struct Tokens<'a> {
    rest: Lexer<'a>,
    next: Option<(Range<usize>, Token<'a>)>,
}

impl<'a> Tokens<'a> {
    fn new(text: &'a str) -> Tokens<'a> {
        let mut rest = Lexer::new(text);
        Tokens { next: rest.spanned(), rest }
    }

    fn take(&mut self) -> Option<(Range<usize>, Token<'a>)> {
        let next = self.rest.spanned();
        std::mem::replace(&mut self.next, next)
    }

    fn is_next(&self, wanted: &Token<'_>) -> bool {
        self.next.as_ref().is_some_and(|(_, token)| token == wanted)
    }

    /// Takes the next token if it is this one.
    fn skip(&mut self, wanted: &Token<'_>) -> bool {
        self.is_next(wanted) && self.take().is_some()
    }
}

/// The head of the function to run.
struct Head {
    has_arguments: bool,
    /// Where the bracket behind them stands.
    arguments_end: usize,
    /// The results that share memory with arguments.
    aliased: Vec<usize>,
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
        let mut tokens = Tokens::new(text);
        while let Some((_, token)) = tokens.take() {
            if !matches!(token, Token::Word("func.func" | "func")) {
                continue;
            }
            for visibility in ["public", "private", "nested"] {
                tokens.skip(&Token::Word(visibility));
            }
            if tokens.skip(&Token::Symbol("main".into())) {
                return Head::read(&mut tokens);
            }
        }
        None
    }

    /// Reads on behind the function's name.
    fn read(tokens: &mut Tokens<'_>) -> Option<Head> {
        if !tokens.skip(&Token::Open(b'(')) {
            return None;
        }
        let has_arguments = match tokens.next.as_ref()?.1 {
            Token::Close(_) => false,
            // Those of a function without a body have no names.
            Token::Other(name) if name.starts_with('%') => true,
            _ => return None,
        };
        let mut aliased = Vec::new();
        let mut depth = 1usize;
        let arguments_end = loop {
            let (place, token) = tokens.take()?;
            match &token {
                Token::Open(_) => depth += 1,
                Token::Close(_) if depth == 1 => break place.start,
                Token::Close(_) => depth -= 1,
                Token::Word(_) | Token::Text(_) if depth == 2 && word(&token) == "tf.aliasing_output" => {
                    tokens.skip(&Token::Other("="));
                    let (_, Token::Number(result)) = tokens.take()? else { return None };
                    aliased.push(result.parse().ok()?);
                }
                _ => {}
            }
        };
        let mut results = Vec::new();
        if tokens.skip(&Token::Other("->")) {
            let is_list = tokens.skip(&Token::Open(b'('));
            while !is_list && results.is_empty() || is_list && !tokens.skip(&Token::Close(b')')) {
                results.push(Found::read(tokens, is_list)?);
                tokens.skip(&Token::Other(","));
            }
        }
        Some(Head { has_arguments, arguments_end, aliased, results })
    }
}

impl Found {
    /// Reads a type and, in a list, attributes behind it.
    fn read(tokens: &mut Tokens<'_>, is_in_list: bool) -> Option<Found> {
        let (mut of_type, first) = tokens.take()?;
        let mut is_plain = first == Token::Word("tensor");
        if first == Token::Other("!") {
            of_type.end = tokens.take()?.0.end;
        }
        if tokens.is_next(&Token::Open(b'<')) {
            let mut depth = 0usize;
            loop {
                let (place, token) = tokens.take()?;
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
        if is_in_list && tokens.is_next(&Token::Open(b'{')) {
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
        let (_, token) = tokens.take()?;
        match &token {
            Token::Open(_) => depth += 1,
            Token::Close(_) => depth -= 1,
            _ if depth > 1 => {}
            _ if word(&token) == "mhlo.memory_kind" => is_usual = false,
            _ if word(&token) == "mhlo.layout_mode" => {
                tokens.skip(&Token::Other("="));
                is_usual &= tokens.is_next(&Token::Text("default".into()));
            }
            _ => {}
        }
        if depth == 0 {
            return Some(is_usual);
        }
    }
}
