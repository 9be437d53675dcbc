//! Errors as JSON, and back again: from the child that loads a plugin.

use cyxla::error::{Code, Error, Origin};
use serde_json::{Map, Value, json};

/// An error as `--json` shows it.
pub fn to_json(error: &Error) -> Value {
    let details: Map<String, Value> =
        error.details().map(|(key, value)| (key.to_owned(), value.into())).collect();
    json!({ "code": error.code().name(), "message": error.message(), "details": details })
}

/// The error that [`to_json`] described.
pub fn from_json(value: &Value) -> Error {
    let name = value["code"].as_str().unwrap_or_default();
    let code = (0..=16).filter_map(Code::from_number).find(|code| code.name() == name);
    let message = value["message"].as_str().unwrap_or_default();
    let error = Error::new(code.unwrap_or(Code::Unknown), Origin::Library, message);
    let details = value["details"].as_object().into_iter().flatten();
    details.fold(error, |error, (key, value)| {
        // Keys are static by nature; the process reads few and ends soon.
        error.with(key.clone().leak(), value.as_str().unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_comes_back_as_it_was() {
        let error = Error::new(Code::NotFound, Origin::Loader, "no such file")
            .with("plugin.path", "/x.so")
            .hint("look elsewhere");
        let json = to_json(&error);
        assert_eq!(json["code"], "NOT_FOUND");
        assert_eq!(json["details"]["origin"], "loader");
        let back = from_json(&json);
        assert_eq!(to_json(&back), json);
        assert_eq!(from_json(&json!({})).code(), Code::Unknown);
    }
}
