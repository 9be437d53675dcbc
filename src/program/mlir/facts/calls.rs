//! How the functions of a file call one another.

use std::collections::HashMap;

use super::Facts;
use crate::error::Result;
use crate::program::calls::{self, Node};

/// Functions by name. A name is looked at once, however often it is called: many calls
/// can share a long one.
struct Names<'a> {
    strings: &'a [&'a [u8]],
    by_text: HashMap<&'a [u8], usize>,
    /// By the position of the name in the table of strings, which may have it twice.
    by_position: HashMap<u32, Option<usize>>,
}

impl<'a> Names<'a> {
    /// The function of a name that is in the table at `position`.
    fn find(&mut self, position: u32) -> Option<usize> {
        let Names { strings, by_text, by_position } = self;
        *by_position.entry(position).or_insert_with(|| by_text.get(strings[position as usize]).copied())
    }
}

impl Facts<'_> {
    /// Whether anything calls the function to run, or one of its name.
    pub fn is_main_called(&self) -> bool {
        let mut names = self.functions.iter().flat_map(|found| &found.calls).chain(&self.required);
        names.any(|&name| self.reader.tables.strings[name as usize] == b"main")
    }

    /// Whether plugins can follow the calls between functions. Those of one name, in
    /// modules inside the module, count as one.
    pub fn check_calls(&self) -> Result<()> {
        let strings = &self.reader.tables.strings;
        let symbol = |name: u32| format!("@{}", String::from_utf8_lossy(strings[name as usize]));
        let mut names = Names { strings, by_text: HashMap::new(), by_position: HashMap::new() };
        let mut nodes: Vec<Node> = Vec::new();
        let mut places = Vec::with_capacity(self.functions.len());
        for found in &self.functions {
            let known = found.name.and_then(|name| names.by_position.get(&name).copied().flatten());
            let text = found.name.map(|name| strings[name as usize]);
            let known = known.or_else(|| text.and_then(|text| names.by_text.get(text).copied()));
            let place = known.unwrap_or(nodes.len());
            if place == nodes.len() {
                nodes.push(Node::function(found.name.map(symbol)));
                names.by_text.extend(text.map(|text| (text, place)));
            }
            names.by_position.extend(found.name.map(|name| (name, Some(place))));
            nodes[place].has_body &= found.has_body;
            places.push(place);
        }
        let mut calls = vec![Vec::new(); nodes.len()];
        for (found, &place) in self.functions.iter().zip(&places) {
            calls[place].extend(found.calls.iter().filter_map(|&name| names.find(name)));
        }
        calls::check_bodies(&nodes)?;
        if let Some(&missing) = self.required.iter().find(|&&name| names.find(name).is_none()) {
            return Err(calls::is_missing(&symbol(missing)));
        }
        calls::check_graph(&nodes, &calls)
    }
}
