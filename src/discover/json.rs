//! Strict JSON: a key that stands twice is an error, and integers stay integers.

use std::collections::HashSet;
use std::fmt;

use serde_core::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::options::{Options, Value};

/// A JSON value.
#[derive(Clone, PartialEq, Debug)]
pub enum Json {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// Larger ones may have been integers, which a float would change.
const LARGEST_FLOAT: f64 = i64::MAX as f64;

impl Json {
    /// Reads a text that has to be one JSON value.
    pub fn parse(text: &[u8]) -> Result<Json, String> {
        serde_json::from_slice(text).map_err(|error| format!("it is not JSON: {error}"))
    }

    /// The kind in words, with its article.
    pub fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "a bool",
            Json::Int(_) => "an integer",
            Json::Float(_) => "a float",
            Json::Text(_) => "a string",
            Json::List(_) => "a list",
            Json::Object(_) => "an object",
        }
    }

    /// The value of a key; `None` when there is none, or this is no object.
    pub fn get(&self, key: &str) -> Option<&Json> {
        let Json::Object(entries) = self else { return None };
        entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The text of a key that has to have one.
    pub fn text(&self, key: &str) -> Result<&str, String> {
        match self.get(key) {
            Some(Json::Text(text)) if !text.is_empty() => Ok(text),
            Some(Json::Text(_)) => Err(format!("its '{key}' is empty")),
            Some(other) => Err(format!("its '{key}' is {}, expected a string", other.kind())),
            None => Err(format!("it has no '{key}'")),
        }
    }

    /// The object of a key as options; none when the key is not there.
    pub fn options(&self, key: &str) -> Result<Options, String> {
        let mut options = Options::new();
        match self.get(key) {
            None => {}
            Some(Json::Object(entries)) => {
                for (name, value) in entries {
                    let value = value.option().ok_or_else(|| {
                        format!(
                            "its option '{name}' is {}, expected a string, an integer, a float, a bool or a list of integers",
                            value.kind()
                        )
                    })?;
                    options.set(name, value).map_err(|error| error.message().to_owned())?;
                }
            }
            Some(other) => return Err(format!("its '{key}' is {}, expected an object", other.kind())),
        }
        Ok(options)
    }

    fn option(&self) -> Option<Value> {
        Some(match self {
            Json::Bool(truth) => Value::Bool(*truth),
            Json::Int(number) => Value::Int(*number),
            Json::Float(number) => Value::Float(*number),
            Json::Text(text) => Value::String(text.clone()),
            Json::List(items) => {
                let int = |item: &Json| if let Json::Int(number) = item { Some(*number) } else { None };
                Value::Ints(items.iter().map(int).collect::<Option<_>>()?)
            }
            Json::Null | Json::Object(_) => return None,
        })
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Int(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Json, E> {
        let value = i64::try_from(value);
        value.map(Json::Int).map_err(|_| E::custom("a number does not fit 64 bits with a sign"))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Json, E> {
        if value.abs() >= LARGEST_FLOAT {
            return Err(E::custom("a number does not fit 64 bits with a sign"));
        }
        Ok(Json::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut object = Vec::new();
        let mut seen = HashSet::new();
        while let Some((key, value)) = entries.next_entry::<String, Json>()? {
            if !seen.insert(key.clone()) {
                return Err(A::Error::custom(format!("the key '{key}' stands twice")));
            }
            object.push((key, value));
        }
        Ok(Json::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_kinds() {
        let text = br#"{"options": {"a": 1, "b": 1.0, "c": [0, 2], "d": true, "e": "\u00fc"}}"#;
        let options = Json::parse(text).unwrap().options("options").unwrap();
        let values: Vec<Value> = options.iter().map(|(_, value)| value.clone()).collect();
        let wanted = [
            Value::Int(1),
            Value::Float(1.0),
            Value::Ints(vec![0, 2]),
            Value::Bool(true),
            Value::String("ü".into()),
        ];
        assert_eq!(values, wanted);
        assert!(Json::parse(b"{}").unwrap().options("options").unwrap().is_empty());
    }

    #[test]
    fn what_is_not_strict_is_refused() {
        for (text, part) in [
            (&b"{"[..], "not JSON"),
            (b"{} {}", "not JSON"),
            (b"\"\xff\"", "not JSON"),
            (br#"{"format": 1, "format": 2}"#, "'format' stands twice"),
            (br#"{"a": {"b": 1, "b": 1}}"#, "'b' stands twice"),
            (b"9223372036854775808", "does not fit"),
            (b"99999999999999999999999999", "does not fit"),
            (b"NaN", "not JSON"),
            (&[b'['; 100_000], "recursion limit"),
        ] {
            let problem = Json::parse(text).unwrap_err();
            assert!(problem.contains(part), "{problem}");
        }
        for (text, part) in [
            (&br#"{"o": []}"#[..], "is a list, expected an object"),
            (br#"{"o": {"a": null}}"#, "'a' is null"),
            (br#"{"o": {"a": [1, "2"]}}"#, "'a' is a list"),
            (br#"{"o": {"a": {}}}"#, "'a' is an object"),
            (br#"{"o": {"": 1}}"#, "empty"),
        ] {
            let problem = Json::parse(text).unwrap().options("o").unwrap_err();
            assert!(problem.contains(part), "{problem}");
        }
    }
}
