//! Pytrees: how a function's arguments or results are nested.

use std::fmt::{self, Write};

use super::flat::{Field, Flat, List, Table, damaged};
use super::repr::{Repr, plain};
use crate::error::Result;

const KIND: Field = Field(0, "the kind of a tree's node");
const CHILDREN: Field = Field(1, "the children of a tree's node");
const CHILDREN_NAMES: Field = Field(2, "the keys of a tree's dict");
const CUSTOM_NAME: Field = Field(3, "the type of a tree's node");
const CUSTOM_AUXDATA: Field = Field(4, "the data of a tree's node");

/// JAX's own reader takes about a thousand.
const DEEPEST: usize = 200;
/// How JAX registers this type; its data are the keys.
const ORDERED_DICT: &str = "collections.OrderedDict";

/// A pytree. Its `Display` is what JAX prints of a `PyTreeDef`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tree {
    /// Every node comes before its children.
    nodes: Vec<Node>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Node {
    kind: Kind,
    children: usize,
    /// How its parent tells it from its siblings, when that is not its position.
    name: Option<Box<str>>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Kind {
    Leaf,
    None,
    Tuple,
    List,
    Dict,
    Custom(Box<Custom>),
    /// A kind of node that came after this library.
    Unknown(i8),
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Custom {
    name: String,
    names: Names,
}

/// What the names of a custom node's children are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Names {
    Nothing,
    Keys,
    Attributes,
}

/// The names of a node's children while they are read.
enum Naming<'a> {
    Positions,
    Keys(List<'a>),
    Owned(std::vec::IntoIter<String>),
}

impl Tree {
    /// Reads the tree whose root is this table.
    pub(super) fn read(root: Table<'_>) -> Result<Tree> {
        let mut tree = Tree { nodes: Vec::new() };
        // The nodes whose children are being read, the outermost first.
        let mut open = vec![tree.add(root, None)?];
        while let Some(level) = open.last_mut() {
            let index = level.next;
            if index == level.children.len() {
                open.pop();
                continue;
            }
            level.next += 1;
            let name = match &mut level.naming {
                Naming::Positions => None,
                Naming::Keys(keys) => Some(keys.string(index)?.into()),
                Naming::Owned(names) => names.next().map(String::into_boxed_str),
            };
            let child = level.children.table(index)?;
            let level = tree.add(child, name)?;
            open.push(level);
            if open.len() > DEEPEST {
                return Err(damaged(format_args!("a tree is nested more than {DEEPEST} levels deep")));
            }
        }
        Ok(tree)
    }

    fn add<'a>(&mut self, table: Table<'a>, name: Option<Box<str>>) -> Result<Level<'a>> {
        let children = table.list(CHILDREN)?;
        let (kind, naming) = match table.i8(KIND)? {
            0 => (Kind::Leaf, Naming::Positions),
            1 => (Kind::None, Naming::Positions),
            2 => (Kind::Tuple, Naming::Positions),
            3 => (Kind::List, Naming::Positions),
            4 => (Kind::Dict, Naming::Keys(keys(table, children.len())?)),
            5 => custom(table, children.len())?,
            other => (Kind::Unknown(other), Naming::Positions),
        };
        if matches!(kind, Kind::Leaf | Kind::None) && children.len() > 0 {
            return Err(damaged("a leaf of a tree has children"));
        }
        self.nodes.push(Node { kind, children: children.len(), name });
        Ok(Level { children, naming, next: 0 })
    }

    /// How many arrays the tree has room for.
    pub fn leaf_count(&self) -> usize {
        self.nodes.iter().filter(|node| node.kind == Kind::Leaf).count()
    }

    /// JAX's key path of each leaf of a function's arguments: `args[0]['w']`.
    pub(super) fn argument_paths(&self, flat: &Flat<'_>) -> Result<Vec<String>> {
        match self.nodes.first() {
            Some(Node { kind: Kind::Tuple, children: 2, .. }) => self.paths("", &["args", "kwargs"], flat),
            _ => self.paths("args", &[], flat),
        }
    }

    /// JAX's key path of each leaf of a function's results: `result['w']`.
    pub(super) fn result_paths(&self, flat: &Flat<'_>) -> Result<Vec<String>> {
        self.paths("result", &[], flat)
    }

    /// The path of each leaf: the root's name, and a step for each level. The first
    /// steps are named by `first` where that has names.
    fn paths(&self, root: &str, first: &[&str], flat: &Flat<'_>) -> Result<Vec<String>> {
        let mut paths = Vec::new();
        let mut path = root.to_owned();
        let mut open: Vec<(&Node, usize, usize)> = Vec::new();
        for node in &self.nodes {
            let depth = open.len();
            if let Some((parent, index, length)) = open.last_mut() {
                path.truncate(*length);
                match first.get(*index).filter(|_| depth == 1) {
                    Some(name) => path.push_str(name),
                    None => step(&mut path, parent, *index, node.name.as_deref()),
                }
                *index += 1;
            }
            if node.kind == Kind::Leaf {
                flat.make(path.len() + size_of::<String>())?;
                paths.push(path.clone());
            }
            open.push((node, 0, path.len()));
            while open.pop_if(|(node, done, _)| *done == node.children).is_some() {}
        }
        Ok(paths)
    }
}

/// A node whose children are being read.
struct Level<'a> {
    children: List<'a>,
    naming: Naming<'a>,
    next: usize,
}

fn keys(table: Table<'_>, count: usize) -> Result<List<'_>> {
    let keys = table.list(CHILDREN_NAMES)?;
    if keys.len() != count {
        let found = keys.len();
        return Err(damaged(format_args!("a dict of a tree has {found} keys for {count} children")));
    }
    Ok(keys)
}

/// A node of a type that the user registered. JAX leaves to the type what its data
/// are; for named tuples and ordered dicts they are a JSON list of names.
fn custom<'a>(table: Table<'_>, count: usize) -> Result<(Kind, Naming<'a>)> {
    let name =
        plain(table.string(CUSTOM_NAME)?.ok_or_else(|| damaged("a custom node of a tree has no type"))?);
    let data = table.bytes(CUSTOM_AUXDATA)?;
    let listed: Vec<String> = serde_json::from_slice(data).unwrap_or_default();
    let is_attribute =
        |name: &String| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let names = match () {
        () if listed.len() != count => Names::Nothing,
        () if name == ORDERED_DICT => Names::Keys,
        () if listed.iter().all(is_attribute) => Names::Attributes,
        () => Names::Nothing,
    };
    let naming = if names == Names::Nothing { Naming::Positions } else { Naming::Owned(listed.into_iter()) };
    Ok((Kind::Custom(Box::new(Custom { name, names })), naming))
}

/// Adds the step from a node to one of its children.
fn step(path: &mut String, parent: &Node, index: usize, name: Option<&str>) {
    let names = match &parent.kind {
        Kind::Dict => Names::Keys,
        Kind::Custom(custom) => custom.names,
        _ => Names::Nothing,
    };
    let written = match (names, name, &parent.kind) {
        (Names::Keys, Some(name), _) => write!(path, "[{}]", Repr(name)),
        (Names::Attributes, Some(name), _) => write!(path, ".{name}"),
        (_, _, Kind::Tuple | Kind::List) => write!(path, "[{index}]"),
        _ => write!(path, "[<flat index {index}>]"),
    };
    debug_assert!(written.is_ok(), "writing to a string does not fail");
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut open: Vec<(&Node, usize)> = Vec::new();
        for node in &self.nodes {
            if let Some((parent, index)) = open.last_mut() {
                if *index > 0 {
                    f.write_str(", ")?;
                }
                *index += 1;
                if let (Kind::Dict, Some(key)) = (&parent.kind, &node.name) {
                    write!(f, "{}: ", Repr(key))?;
                }
            }
            match &node.kind {
                Kind::Leaf => f.write_str("*")?,
                Kind::None => f.write_str("None")?,
                Kind::Tuple => f.write_str("(")?,
                Kind::List => f.write_str("[")?,
                Kind::Dict => f.write_str("{")?,
                Kind::Custom(custom) => write!(f, "CustomNode({}, [", custom.name)?,
                Kind::Unknown(kind) => write!(f, "Unknown({kind}, [")?,
            }
            open.push((node, 0));
            while let Some((node, _)) = open.pop_if(|(node, done)| *done == node.children) {
                f.write_str(match &node.kind {
                    Kind::Leaf | Kind::None => "",
                    Kind::Tuple if node.children == 1 => ",)",
                    Kind::Tuple => ")",
                    Kind::List => "]",
                    Kind::Dict => "}",
                    Kind::Custom(_) | Kind::Unknown(_) => "])",
                })?;
            }
        }
        Ok(())
    }
}
