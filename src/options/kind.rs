//! What values an option takes.

use std::ops::RangeInclusive;

use super::Value;
use crate::error::{Error, Result};

/// A kind of value, with the range that makes sense.
pub enum Kind {
    /// Any text.
    Text,
    /// One of these texts.
    Choice(&'static [&'static str]),
    /// An integer in a range.
    Int(RangeInclusive<i64>),
    /// A list of integers that are not negative.
    Ints,
    /// A number above the first and not above the second.
    Float(f64, f64),
    /// True or false.
    Bool,
}

impl Kind {
    /// The kind in words, with its article: "an integer".
    pub fn name(&self) -> &'static str {
        match self {
            Kind::Text | Kind::Choice(_) => "a string",
            Kind::Int(_) => "an integer",
            Kind::Ints => "a list of integers",
            Kind::Float(..) => "a float",
            Kind::Bool => "a bool",
        }
    }

    /// Which values of the kind make sense; empty when all do.
    pub fn range(&self) -> String {
        match self {
            Kind::Text | Kind::Bool => String::new(),
            Kind::Choice(words) => words.join(", "),
            Kind::Int(range) => match (*range.start(), *range.end()) {
                (i64::MIN, i64::MAX) => String::new(),
                (least, i64::MAX) => format!("{least} or more"),
                (least, most) => format!("{least} to {most}"),
            },
            Kind::Ints => "not negative".into(),
            Kind::Float(above, most) => format!("above {above}, at most {most}"),
        }
    }

    /// A value that is not of this kind.
    pub fn wrong_value(&self) -> Value {
        match self {
            Kind::Text | Kind::Choice(_) => Value::Bool(true),
            _ => Value::String("x".into()),
        }
    }

    /// The value, if it is of this kind and in its range: an integer where a float is
    /// wanted becomes one, and one where a list is wanted a list. `what` names it in
    /// the error.
    pub fn check(&self, what: &str, value: &Value) -> Result<Value> {
        let out_of_range = |range: String| {
            Err(Error::invalid_argument(format!("{what} is {value}, expected {range}")).parameter("options"))
        };
        match (self, value) {
            (Kind::Text, Value::String(_)) | (Kind::Bool, Value::Bool(_)) => Ok(value.clone()),
            (Kind::Choice(words), Value::String(text)) if words.contains(&text.as_str()) => Ok(value.clone()),
            (Kind::Choice(words), Value::String(_)) => out_of_range(format!("one of {}", words.join(", "))),
            (Kind::Int(range), Value::Int(number)) if range.contains(number) => Ok(value.clone()),
            (Kind::Int(range), Value::Int(_)) => match (range.start(), range.end()) {
                (least, &i64::MAX) => out_of_range(format!("an integer that is {least} or more")),
                (least, most) => out_of_range(format!("an integer from {least} to {most}")),
            },
            // A list of one item reads as an integer in a text.
            (Kind::Ints, Value::Int(number)) if *number >= 0 => Ok(Value::Ints(vec![*number])),
            (Kind::Ints, Value::Ints(numbers)) if numbers.is_empty() => {
                out_of_range("at least one number; leave the option out for all".into())
            }
            (Kind::Ints, Value::Ints(numbers)) if numbers.iter().all(|&number| number >= 0) => {
                Ok(value.clone())
            }
            (Kind::Ints, Value::Int(_) | Value::Ints(_)) => {
                out_of_range("numbers that are not negative".into())
            }
            (Kind::Float(above, most), Value::Int(_) | Value::Float(_)) => {
                let number = match value {
                    Value::Int(number) => *number as f64,
                    Value::Float(number) => *number,
                    _ => f64::NAN,
                };
                if number > *above && number <= *most {
                    return Ok(Value::Float(number));
                }
                out_of_range(format!("a number above {above} and not above {most}"))
            }
            _ => {
                let message = format!("{what} is {} ('{value}'), expected {}", value.kind(), self.name());
                Err(Error::invalid_argument(message).parameter("options"))
            }
        }
    }
}
