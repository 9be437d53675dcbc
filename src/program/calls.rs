//! Checks how the functions of a program text call one another.
//!
//! Plugins follow calls by recursion: one that leads back to its function overflows
//! the stack, and so does a long chain. A function without a body, or a missing one
//! where a custom call names it, they follow to nowhere.

use std::collections::HashMap;

use super::lexer::{Lexer, Token};
use crate::error::{Error, Result};

/// Real plugins overflow a stack of 2 MiB somewhere above this.
const DEEPEST: usize = 64;

/// Whether plugins can follow every call in the text.
pub fn check_calls(text: &str) -> Result<()> {
    let Scan { nodes, required, .. } = &Scan::of(text);
    check_bodies(nodes)?;
    let aliases: HashMap<&str, &Node> =
        nodes.iter().filter(|node| !node.is_function).flat_map(|node| node.named()).collect();
    let mut names = Names { first: nodes.len(), places: HashMap::new(), leads_to: Vec::new() };
    for (index, node) in nodes.iter().enumerate() {
        for (name, node) in node.named() {
            names.lead(Name::Own(name), index);
            if node.is_function && aliases.contains_key(name) {
                names.lead(Name::Alias(name), index);
            }
        }
    }
    // A name given by an alias is the string that the alias stands for.
    for (&name, alias) in &aliases {
        if let Some(place) = names.find(Name::Alias(name)) {
            alias.strings.iter().for_each(|text| names.lead(Name::Own(text), place));
        }
    }
    if let Some(name) = required.iter().find(|name| names.find(Name::Own(name)).is_none()) {
        return Err(is_missing(name));
    }
    let calls = nodes.iter().map(|node| node.uses.iter().filter_map(|name| names.find(Name::Own(name))));
    let calls: Vec<Vec<usize>> = calls.map(Iterator::collect).collect();
    check_graph(nodes, &[calls, names.leads_to].concat())
}

/// How a name comes to stand for a function.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Name<'a> {
    /// It is written out.
    Own(&'a str),
    /// Of the functions that are named by this alias.
    Alias(&'a str),
}

/// Names, each with a place of its own behind the nodes: many nodes can have one name,
/// and many others use it.
struct Names<'a> {
    first: usize,
    places: HashMap<Name<'a>, usize>,
    leads_to: Vec<Vec<usize>>,
}

impl<'a> Names<'a> {
    fn find(&self, name: Name<'_>) -> Option<usize> {
        self.places.get(&name).copied()
    }

    fn lead(&mut self, name: Name<'a>, to: usize) {
        let place = *self.places.entry(name).or_insert(self.first + self.leads_to.len());
        if place == self.first + self.leads_to.len() {
            self.leads_to.push(Vec::new());
        }
        self.leads_to[place - self.first].push(to);
    }
}

/// Whether every function that has a name has a body.
pub fn check_bodies(nodes: &[Node]) -> Result<()> {
    let mut hollow = nodes.iter().filter(|node| node.is_function && !node.has_body);
    match hollow.find_map(|function| function.names.first()) {
        Some(name) => Err(Error::invalid_argument(format!("the program's function {name} has no body"))),
        None => Ok(()),
    }
}

/// The error for a function that a custom call needs and nobody wrote.
pub fn is_missing(name: &str) -> Error {
    let message = format!("the program calls the computation {name}, which it does not have");
    Error::invalid_argument(message)
}

/// Whether plugins can follow every call: `calls` has what each node calls, and behind
/// the nodes what else leads to them.
///
/// Takes away, one after another, what nothing left calls. A cycle stays.
pub fn check_graph(nodes: &[Node], calls: &[Vec<usize>]) -> Result<()> {
    let is_function = |node: usize| nodes.get(node).is_some_and(|node| node.is_function);
    let mut callers = vec![0usize; calls.len()];
    calls.iter().flatten().for_each(|&callee| callers[callee] += 1);
    let mut ready: Vec<usize> = (0..calls.len()).filter(|&node| callers[node] == 0).collect();
    let mut depth: Vec<usize> = (0..calls.len()).map(|node| usize::from(is_function(node))).collect();
    let mut deepest = 0;
    while let Some(node) = ready.pop() {
        deepest = deepest.max(depth[node]);
        for &callee in &calls[node] {
            depth[callee] = depth[callee].max(depth[node] + usize::from(is_function(callee)));
            callers[callee] -= 1;
            if callers[callee] == 0 {
                ready.push(callee);
            }
        }
    }
    if callers.iter().any(|&count| count > 0) {
        let message = format!("the program's functions call themselves: {}", cycle(nodes, calls, &callers));
        return Err(Error::invalid_argument(message).hint("plugins compile no recursion; write a loop"));
    }
    if deepest > DEEPEST {
        let message =
            format!("the program's functions call one another {deepest} deep; plugins can follow {DEEPEST}");
        return Err(Error::invalid_argument(message).hint("inline the functions that only call another"));
    }
    Ok(())
}

/// The names along a cycle. Whatever still has callers is called from one, so that
/// going from callee to caller never ends.
fn cycle(nodes: &[Node], calls: &[Vec<usize>], callers: &[usize]) -> String {
    let mut caller_of: Vec<usize> = (0..calls.len()).collect();
    for caller in (0..calls.len()).rev().filter(|&node| callers[node] > 0) {
        calls[caller].iter().for_each(|&callee| caller_of[callee] = caller);
    }
    let mut path = Vec::new();
    let mut places = HashMap::new();
    let mut node = callers.iter().position(|&count| count > 0).unwrap_or(0);
    while !places.contains_key(&node) {
        places.insert(node, path.len());
        path.push(node);
        node = caller_of[node];
    }
    let around = path[places[&node]..].iter().rev().filter_map(|&node| nodes.get(node)?.names.first());
    let mut names: Vec<&str> = around.map(String::as_str).collect();
    names.extend(names.first().copied());
    match names.len() {
        0..8 => names.join(" -> "),
        count => format!("{} -> … {count} … -> {}", names[..4].join(" -> "), names[count - 1]),
    }
}

/// A function, or an alias of an attribute, which can hide the name of one.
#[derive(Default)]
pub struct Node {
    is_function: bool,
    /// Whether all functions of the name have one.
    pub has_body: bool,
    /// As `@name` or `#name`.
    names: Vec<String>,
    /// The names of what may be called, in the same form.
    uses: Vec<String>,
    /// The strings in an alias, as names of functions.
    strings: Vec<String>,
    /// How many brackets are open around it.
    depth: usize,
    /// Whether it is written with its operation's name in quotes.
    is_generic: bool,
}

impl Node {
    /// A function with a body. Names are written as `@name`.
    pub fn function(name: Option<String>) -> Node {
        Node { is_function: true, has_body: true, names: name.into_iter().collect(), ..Node::default() }
    }

    fn named(&self) -> impl Iterator<Item = (&str, &Node)> {
        self.names.iter().map(move |name| (name.as_str(), self))
    }
}

#[derive(Default)]
struct Scan {
    nodes: Vec<Node>,
    /// What has to be a function.
    required: Vec<String>,
    /// The nodes that the current place is in, innermost last.
    open: Vec<usize>,
    depth: usize,
}

impl Scan {
    fn of(text: &str) -> Scan {
        let mut scan = Scan::default();
        let mut tokens = Lexer::new(text).peekable();
        // The two tokens before, and whether they are in a list of computations.
        let mut before = [Token::Other(""), Token::Other("")];
        let mut in_computations = false;
        while let Some(token) = tokens.next() {
            match &token {
                Token::Open(bracket) => {
                    scan.open_bracket(*bracket, &before[1], tokens.peek());
                    scan.depth += 1;
                }
                Token::Close(_) => {
                    scan.depth = scan.depth.saturating_sub(1);
                    scan.close_above();
                    in_computations = false;
                }
                Token::Word("func.func") => scan.start(true, false),
                Token::Text(name) if name == "func.func" => scan.start(true, true),
                Token::Word("called_computations") => in_computations = true,
                Token::Text(name) if name == "called_computations" => in_computations = true,
                Token::Attribute(name) if scan.depth == 0 && tokens.peek() == Some(&Token::Other("=")) => {
                    scan.start(false, false);
                    scan.add_name(format!("#{name}"));
                }
                Token::Symbol(name) => {
                    let name = format!("@{name}");
                    if in_computations {
                        scan.required.push(name.clone());
                    }
                    // What a custom call names is no function of the program.
                    let is_custom = matches!(&before[1], Token::Word(word) if word.ends_with("custom_call"));
                    if !scan.names_custom_form(&name) && !is_custom {
                        scan.add_use(name);
                    }
                }
                Token::Attribute(name) if is_sym_name(&before) => scan.add_name(format!("#{name}")),
                Token::Attribute(name) => scan.add_use(format!("#{name}")),
                Token::Text(name) if is_sym_name(&before) => scan.add_name(format!("@{name}")),
                Token::Text(name) => scan.add_string(name),
                _ => {}
            }
            before = [std::mem::replace(&mut before[1], Token::Other("")), token];
        }
        scan
    }

    /// Begins a node, which ends one that stands beside it.
    fn start(&mut self, is_function: bool, is_generic: bool) {
        self.open.retain(|&node| self.nodes[node].depth < self.depth);
        self.open.push(self.nodes.len());
        self.nodes.push(Node { is_function, is_generic, depth: self.depth, ..Node::default() });
    }

    fn close_above(&mut self) {
        self.open.retain(|&node| self.nodes[node].depth <= self.depth);
    }

    fn current(&mut self) -> Option<&mut Node> {
        self.open.last().map(|&node| &mut self.nodes[node])
    }

    fn open_bracket(&mut self, bracket: u8, before: &Token, next: Option<&Token>) {
        let depth = self.depth;
        let Some(node) = self.current().filter(|_| bracket == b'{') else { return };
        node.has_body |= if node.is_generic {
            depth == node.depth + 1 && *before == Token::Open(b'(') && next != Some(&Token::Close(b'}'))
        } else {
            depth == node.depth && *before != Token::Word("attributes")
        };
    }

    /// Takes the name of a function that is written as `func.func private @name`.
    fn names_custom_form(&mut self, name: &str) -> bool {
        let Some(node) = self.current() else { return false };
        let is_name = node.is_function && !node.is_generic && node.names.is_empty();
        if is_name {
            node.names.push(name.to_owned());
        }
        is_name
    }

    fn add_name(&mut self, name: String) {
        let depth = self.depth;
        // Deeper is another operation's name.
        if let Some(node) = self.current().filter(|node| depth <= node.depth + 2) {
            node.names.push(name);
        }
    }

    fn add_use(&mut self, name: String) {
        if let Some(node) = self.current() {
            node.uses.push(name);
        }
    }

    fn add_string(&mut self, text: &str) {
        if let Some(node) = self.current().filter(|node| !node.is_function) {
            node.strings.push(format!("@{text}"));
        }
    }
}

fn is_sym_name(before: &[Token; 2]) -> bool {
    let is_key = match &before[0] {
        Token::Word(word) => *word == "sym_name",
        Token::Text(text) => text == "sym_name",
        _ => false,
    };
    is_key && before[1] == Token::Other("=")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str, part: &str) {
        let error = check_calls(text).expect_err(text);
        assert!(error.message().contains(part), "{text}: {error}");
    }

    fn chain(length: usize) -> String {
        let link = |i| format!("func.func private @f{i}(%a: i32) {{ call @f{}(%a) : i32 return }}\n", i + 1);
        let links: String = (1..length).map(link).collect();
        format!("module {{ {links} func.func @f{length}() {{ return }} }}")
    }

    #[test]
    fn calls_that_end() {
        for text in [
            "",
            "module {}",
            "func.func @main(%a: i32 {x.y}) -> (i32 {z.z}) attributes {x} { call @f(%a) return }\n\
             func.func private @f(%a: i32) { return }",
            "func.func @main() { stablehlo.custom_call @main() }",
            "func.func @main() { return } // call @main",
            "module @main { func.func @main() { \"a @main\" } }",
            "#loc1 = loc(\"x\") #loc2 = loc(callsite(#loc1 at #loc1)) func.func @main() { return loc(#loc2) }",
            "sdy.mesh @mesh = <[\"a\"=1]> func.func @main() { x.y {s = #sdy.sharding<@mesh>} }",
            "\"func.func\"() <{sym_name = \"main\"}> ({ \"x.y\"() {sym_name = \"f\"} }) : () -> ()",
            "func.func",
        ] {
            check_calls(text).expect(text);
        }
        check_calls(&chain(DEEPEST)).unwrap();
    }

    #[test]
    fn calls_that_do_not() {
        for text in [
            "func.func @main() { call @main() }",
            "func.func public @main() { func.call @\"ma\\69n\"() }",
            "func.func @main(%a: i32) { \"func.call\"(%a) {callee = @main} : () -> () }",
            "func.func @main() { stablehlo.composite \"x.y\" %a {decomposition = @main} }",
            "func.func @main() { stablehlo.custom_call @f() {called_computations = [@main]} }",
            "#f = @main func.func @main() { \"func.call\"() {callee = #f} }",
            "#n = \"main\" \"func.func\"() ({ \"func.call\"() {\"callee\" = @main} }) {\"sym_name\" = #n}",
            "\"builtin.module\"() ({ \"func\\2Efunc\"() <{sym_name = \"main\"}> ({ call @main() }) : () -> () })",
        ] {
            refused(text, "call themselves");
        }
        let cycle = "func.func @a() { call @b } func.func @b() { call @c } func.func @c() { call @b }";
        let error = check_calls(cycle).unwrap_err();
        assert!(error.message().contains("@b -> @c -> @b") || error.message().contains("@c -> @b -> @c"));
        refused(&chain(DEEPEST + 1), "65 deep");
    }

    #[test]
    fn names_of_many_and_with_many_uses_cost_little() {
        let many = |text: &str| text.repeat(20_000);
        let functions = many("\"func.func\"() <{sym_name = #a}> ({ return }) : () -> ()\n");
        check_calls(&format!("#a = [{} \"y\"]\n{functions}", many("\"x\","))).unwrap();
        let functions = many("func.func @f() { return }\n");
        check_calls(&format!("{functions} func.func @g() {{ {} }}", many("call @f() "))).unwrap();
    }

    #[test]
    fn calls_to_nowhere() {
        refused("module { func.func private @g(%a: i32 {x.y}) -> i32 }", "@g has no body");
        refused("func.func private @g() attributes {x = {}} func.func @main() { }", "@g has no body");
        refused("\"func.func\"() <{sym_name = \"g\"}> ({}) : () -> ()", "@g has no body");
        refused("func.func @main() { custom_call @f() {called_computations = [@g]} }", "computation @g");
    }
}
