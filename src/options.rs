//! Typed key/value options: for the client, for compiling and for installing.

mod kind;

pub use kind::Kind;

use crate::error::{Error, Result};

/// A value, of one of PJRT's five kinds.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// Text.
    String(String),
    /// A 64-bit signed integer.
    Int(i64),
    /// A list of 64-bit signed integers.
    Ints(Vec<i64>),
    /// A floating-point number; plugins get it in single precision.
    Float(f64),
    /// True or false.
    Bool(bool),
}

impl Value {
    /// The kind in words, with its article: "an integer".
    pub fn kind(&self) -> &'static str {
        match self {
            Value::String(_) => "a string",
            Value::Int(_) => "an integer",
            Value::Ints(_) => "a list of integers",
            Value::Float(_) => "a float",
            Value::Bool(_) => "a bool",
        }
    }

    /// The kind that a text looks like: bool, integer, float, list of integers
    /// or else string.
    fn guess(text: &str) -> Value {
        let ints = || text.split(',').map(|item| item.trim().parse().ok()).collect::<Option<Vec<i64>>>();
        match text {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ if !text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) => {
                // Keeps "inf" and "nan", which parse as floats, what they are: words.
                Value::String(text.to_owned())
            }
            _ => (text.parse().map(Value::Int).ok())
                .or_else(|| text.parse().map(Value::Float).ok())
                .or_else(|| ints().map(Value::Ints))
                .unwrap_or_else(|| Value::String(text.to_owned())),
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::String(text) => f.write_str(text),
            Value::Int(number) => write!(f, "{number}"),
            Value::Float(number) => write!(f, "{number:?}"),
            Value::Bool(truth) => write!(f, "{truth}"),
            Value::Ints(numbers) => {
                let texts: Vec<String> = numbers.iter().map(i64::to_string).collect();
                f.write_str(&texts.join(","))
            }
        }
    }
}

/// A set of options in the order in which they were first set.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Options(Vec<(String, Value)>);

impl Options {
    /// No options.
    pub fn new() -> Options {
        Options::default()
    }

    /// Sets an option, or replaces its value.
    pub fn set(&mut self, key: &str, value: Value) -> Result<()> {
        check_key(key)?;
        match &value {
            Value::Float(number) if !number.is_finite() => {
                let message = format!("option '{key}' is {number}, but must be a finite number");
                return Err(Error::invalid_argument(message));
            }
            Value::String(text) if text.contains('\0') => {
                let message = format!("option '{key}' holds a NUL character");
                return Err(Error::invalid_argument(message));
            }
            _ => {}
        }
        match self.0.iter_mut().find(|(existing, _)| existing == key) {
            Some((_, old)) => *old = value,
            None => self.0.push((key.to_owned(), value)),
        }
        Ok(())
    }

    /// Adds the options of a text such as `memory_fraction=0.5;preallocate=false`.
    ///
    /// A key that the text names twice is an error; one that was set before gets
    /// the text's value. A text with an error in it changes nothing.
    pub fn parse(&mut self, text: &str) -> Result<()> {
        let mut parsed = Options::new();
        for item in text.split(';').map(str::trim).filter(|item| !item.is_empty()) {
            let Some((key, value)) = item.split_once('=') else {
                let message = format!("option '{item}' has no '=', expected key=value");
                return Err(Error::invalid_argument(message));
            };
            let key = key.trim();
            if parsed.get(key).is_some() {
                let message = format!("duplicate option '{key}' in '{text}'");
                return Err(Error::invalid_argument(message));
            }
            parsed.set(key, Value::guess(value.trim()))?;
        }
        for (key, value) in parsed.0 {
            self.set(&key, value)?;
        }
        Ok(())
    }

    /// The value of an option.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.iter().find(|(existing, _)| *existing == key).map(|(_, value)| value)
    }

    /// Removes an option and gives its value.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let position = self.0.iter().position(|(existing, _)| existing == key)?;
        Some(self.0.remove(position).1)
    }

    /// All options, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// How many options are set.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether none is set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The options as a JSON object.
    pub fn to_json(&self) -> serde_json::Value {
        let entries = self.iter().map(|(key, value)| {
            let value = match value {
                Value::String(text) => text.as_str().into(),
                Value::Int(number) => (*number).into(),
                Value::Ints(numbers) => numbers.as_slice().into(),
                Value::Float(number) => (*number).into(),
                Value::Bool(truth) => (*truth).into(),
            };
            (key.to_owned(), value)
        });
        serde_json::Value::Object(entries.collect())
    }
}

fn check_key(key: &str) -> Result<()> {
    if key.is_empty() {
        return Err(Error::invalid_argument("an option has an empty name"));
    }
    if key.contains(|c: char| c.is_control() || c.is_whitespace() || "=;".contains(c)) {
        let message = format!("option name {key:?} holds white space, '=', ';' or a control character");
        return Err(Error::invalid_argument(message));
    }
    Ok(())
}

/// The known name that a wrong one most likely meant, if any is close.
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|name| (distance(wrong, name), name))
        .min()
        .filter(|&(distance, name)| distance <= name.len() / 3)
        .map(|(_, name)| name)
}

/// Levenshtein's distance in bytes: one row of the table at a time.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Code;

    fn parsed(text: &str) -> Options {
        let mut options = Options::new();
        options.parse(text).unwrap();
        options
    }

    #[test]
    fn kinds_are_guessed() {
        let options = parsed(" a=1; b=-0.5 ;c=true;d=1,2, 3;e=hello;f=;g=1e-3;h=inf;i=+7;j=1,x;");
        let expected = [
            ("a", Value::Int(1)),
            ("b", Value::Float(-0.5)),
            ("c", Value::Bool(true)),
            ("d", Value::Ints(vec![1, 2, 3])),
            ("e", Value::String("hello".into())),
            ("f", Value::String(String::new())),
            ("g", Value::Float(1e-3)),
            ("h", Value::String("inf".into())),
            ("i", Value::Int(7)),
            ("j", Value::String("1,x".into())),
        ];
        for ((key, value), (want_key, want)) in options.iter().zip(&expected) {
            assert_eq!((key, value), (*want_key, want));
        }
        assert_eq!(options.len(), expected.len());
    }

    #[test]
    fn bad_texts_change_nothing() {
        let mut options = parsed("a=1");
        for bad in ["a", "a=2;a=3", "=1", "b c=1", "a=2;b", "x=1e999"] {
            let error = options.parse(bad).unwrap_err();
            assert_eq!(error.code(), Code::InvalidArgument, "{bad}");
            assert_eq!(options, parsed("a=1"), "{bad}");
        }
    }

    #[test]
    fn setting_again_replaces_in_place() {
        let mut options = parsed("a=1;b=2");
        options.set("a", Value::Bool(false)).unwrap();
        assert_eq!(options, parsed("a=false;b=2"));
        assert_eq!(options.remove("a"), Some(Value::Bool(false)));
        assert_eq!(options.remove("a"), None);
    }

    #[test]
    fn the_nearest_name_is_found_when_close() {
        let known = ["cpu_device_count", "asynchronous", "preallocate"];
        assert_eq!(nearest("cpu_device_cout", known), Some("cpu_device_count"));
        assert_eq!(nearest("async", known), None);
        assert_eq!(nearest("", known), None);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
