//! What tests/corpus/make.py wrote down of the programs of one version of JAX.

use std::path::{Path, PathBuf};

use cyxla::dtype::{self, DType};
use serde_json::Value;

/// The programs of one version of JAX.
pub struct Corpus {
    pub entries: Vec<Entry>,
    folder: PathBuf,
    data: Vec<u8>,
}

/// A program, or the gradients that are a program inside another one.
pub struct Entry {
    pub program: String,
    pub function: String,
    pub convention: u16,
    pub platforms: Vec<String>,
    pub devices: u32,
    pub in_tree: String,
    pub out_tree: String,
    pub kept: Vec<usize>,
    pub inputs: Vec<Array>,
    pub outputs: Vec<Array>,
    pub custom_calls: Vec<String>,
    pub tolerance: f64,
    /// Why it has to be refused.
    pub refused: Option<String>,
    pub vjp: Option<Box<Entry>>,
}

/// An input or output and, where JAX could run the program, what is in it.
pub struct Array {
    pub name: String,
    pub is_donated: bool,
    pub value: Option<Contents>,
}

pub struct Contents {
    pub dtype: DType,
    pub dims: Vec<i64>,
    at: usize,
}

/// The folder of all versions.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

impl Corpus {
    pub fn read(version: &str) -> Corpus {
        let folder = folder().join(version);
        let read = |name: &str| {
            let path = folder.join(name);
            std::fs::read(&path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()))
        };
        let index: Value = serde_json::from_slice(&read("index.json")).expect("index.json is JSON");
        let entries: Vec<Entry> = list(&index).iter().map(entry).collect();
        assert!(entries.len() > 50, "only {} programs of JAX {version}", entries.len());
        Corpus { entries, data: read("data.bin"), folder }
    }

    pub fn file(&self, entry: &Entry) -> PathBuf {
        self.folder.join(&entry.program).with_extension("jaxexport")
    }

    /// The bytes of an array, if it has a value.
    pub fn bytes(&self, array: &Array) -> Option<&[u8]> {
        array.value.as_ref().map(|contents| {
            let elements: i64 = contents.dims.iter().product();
            let size = usize::try_from(elements).expect("a size") * contents.dtype.host_size();
            &self.data[contents.at..contents.at + size]
        })
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn texts(value: &Value) -> Vec<String> {
    list(value).iter().map(text).collect()
}

fn number<T: TryFrom<u64>>(value: &Value) -> T {
    let number = value.as_u64().unwrap_or_else(|| panic!("{value} is no number"));
    number.try_into().unwrap_or_else(|_| panic!("{number} is too large"))
}

/// The inside of JAX's `PyTreeDef(…)`.
fn tree(value: &Value) -> String {
    let text = text(value);
    let inside = text.strip_prefix("PyTreeDef(").and_then(|rest| rest.strip_suffix(')'));
    inside.unwrap_or_else(|| panic!("{text} is no tree")).to_owned()
}

fn entry(value: &Value) -> Entry {
    let arrays = |key: &str| list(&value[key]).iter().map(array).collect();
    Entry {
        program: text(&value["program"]),
        function: text(&value["function"]),
        convention: number(&value["convention"]),
        platforms: texts(&value["platforms"]),
        devices: number(&value["devices"]),
        in_tree: tree(&value["in_tree"]),
        out_tree: tree(&value["out_tree"]),
        kept: list(&value["kept"]).iter().map(number).collect(),
        inputs: arrays("inputs"),
        outputs: arrays("outputs"),
        custom_calls: texts(&value["custom_calls"]),
        tolerance: value["tolerance"].as_f64().unwrap_or(0.0),
        refused: value["refused"].as_str().map(str::to_owned),
        vjp: value.get("vjp").map(|vjp| Box::new(entry(vjp))),
    }
}

fn array(value: &Value) -> Array {
    let contents = value["dtype"].as_str().map(|name| Contents {
        dtype: type_named(name),
        dims: list(&value["dims"]).iter().map(number).collect(),
        at: number(&value["at"]),
    });
    Array {
        name: text(&value["name"]),
        is_donated: value["donated"].as_bool().unwrap_or(false),
        value: contents,
    }
}

fn type_named(name: &str) -> DType {
    let known = dtype::ALL.iter().find(|dtype| dtype.name() == name);
    *known.unwrap_or_else(|| panic!("there is no element type {name}"))
}
