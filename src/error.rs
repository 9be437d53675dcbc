//! The one error type of the library: a canonical code, a sentence, details.

use std::fmt;

/// What the library's functions return.
pub type Result<T> = std::result::Result<T, Error>;

/// The canonical status codes (0 to 16) that PJRT, gRPC and Abseil share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(i32)]
#[allow(missing_docs)] // the names are the standard's own
pub enum Code {
    Ok = 0,
    Cancelled = 1,
    Unknown = 2,
    InvalidArgument = 3,
    DeadlineExceeded = 4,
    NotFound = 5,
    AlreadyExists = 6,
    PermissionDenied = 7,
    ResourceExhausted = 8,
    FailedPrecondition = 9,
    Aborted = 10,
    OutOfRange = 11,
    Unimplemented = 12,
    Internal = 13,
    Unavailable = 14,
    DataLoss = 15,
    Unauthenticated = 16,
}

impl Code {
    const ALL: [(Code, &'static str); 17] = [
        (Code::Ok, "OK"),
        (Code::Cancelled, "CANCELLED"),
        (Code::Unknown, "UNKNOWN"),
        (Code::InvalidArgument, "INVALID_ARGUMENT"),
        (Code::DeadlineExceeded, "DEADLINE_EXCEEDED"),
        (Code::NotFound, "NOT_FOUND"),
        (Code::AlreadyExists, "ALREADY_EXISTS"),
        (Code::PermissionDenied, "PERMISSION_DENIED"),
        (Code::ResourceExhausted, "RESOURCE_EXHAUSTED"),
        (Code::FailedPrecondition, "FAILED_PRECONDITION"),
        (Code::Aborted, "ABORTED"),
        (Code::OutOfRange, "OUT_OF_RANGE"),
        (Code::Unimplemented, "UNIMPLEMENTED"),
        (Code::Internal, "INTERNAL"),
        (Code::Unavailable, "UNAVAILABLE"),
        (Code::DataLoss, "DATA_LOSS"),
        (Code::Unauthenticated, "UNAUTHENTICATED"),
    ];

    /// The code of a number; `None` when it is none of the seventeen.
    pub fn from_number(number: i32) -> Option<Code> {
        usize::try_from(number).ok().and_then(|index| Code::ALL.get(index)).map(|&(code, _)| code)
    }

    /// The code's standard name, such as `INVALID_ARGUMENT`.
    pub fn name(self) -> &'static str {
        Code::ALL[self as usize].1
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Who has to act on an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The host program passed something wrong.
    Caller,
    /// libcyxla itself.
    Library,
    /// The PJRT plugin said so.
    Plugin,
    /// The dynamic loader could not load a library.
    Loader,
    /// The operating system, a file or an environment variable.
    System,
}

impl Origin {
    fn name(self) -> &'static str {
        match self {
            Origin::Caller => "caller",
            Origin::Library => "library",
            Origin::Plugin => "plugin",
            Origin::Loader => "loader",
            Origin::System => "system",
        }
    }
}

/// An error: immutable, owned, with details by key.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}", .0.message)]
pub struct Error(Box<Inner>);

#[derive(Clone, PartialEq, Eq, Debug)]
struct Inner {
    code: Code,
    message: String,
    details: Vec<(&'static str, String)>,
}

impl Error {
    /// An error with a code, who has to act on it, and one sentence.
    pub fn new(code: Code, origin: Origin, message: impl Into<String>) -> Error {
        Error::make(code, origin, message.into())
    }

    /// Not inlined: errors are made in a thousand places and rarely.
    #[cold]
    #[inline(never)]
    fn make(code: Code, origin: Origin, message: String) -> Error {
        let details = vec![("origin", origin.name().to_owned())];
        Error(Box::new(Inner { code, message, details }))
    }

    /// The caller passed something that cannot be right.
    pub fn invalid_argument(message: impl Into<String>) -> Error {
        Error::new(Code::InvalidArgument, Origin::Caller, message)
    }

    /// The library met something that its own code should have made impossible.
    pub fn internal(message: impl Into<String>) -> Error {
        Error::new(Code::Internal, Origin::Library, message)
    }

    /// The same error with a detail added, or replaced when it has that key.
    pub fn with(self, key: &'static str, value: impl Into<String>) -> Error {
        self.set(key, value.into())
    }

    #[cold]
    #[inline(never)]
    fn set(mut self, key: &'static str, value: String) -> Error {
        let details = &mut self.0.details;
        match details.iter_mut().find(|(existing, _)| *existing == key) {
            Some((_, old)) => *old = value,
            None => details.push((key, value)),
        }
        self
    }

    /// The same error with advice on what to do.
    pub fn hint(self, advice: impl Into<String>) -> Error {
        self.with("hint", advice)
    }

    /// The same error with the parameter of the C function that is at fault.
    pub fn parameter(self, name: &str) -> Error {
        self.with("parameter", name)
    }

    /// The same error with its sentence changed.
    pub fn map_message(mut self, change: impl FnOnce(&str) -> String) -> Error {
        self.0.message = change(&self.0.message);
        self
    }

    /// The canonical code, never [`Code::Ok`].
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// One sentence: what is wrong, which, expected and got.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The detail of this key.
    pub fn detail(&self, key: &str) -> Option<&str> {
        self.details().find(|(existing, _)| *existing == key).map(|(_, value)| value)
    }

    /// All details, in the order in which they were added.
    pub fn details(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.0.details.iter().map(|(key, value)| (*key, value.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_their_numbers_and_names() {
        for (number, (code, name)) in Code::ALL.iter().enumerate() {
            assert_eq!(*code as usize, number);
            assert_eq!(Code::from_number(number as i32), Some(*code));
            assert_eq!(code.name(), *name);
        }
        for wrong in [-1, 17, 4242, i32::MAX, i32::MIN] {
            assert_eq!(Code::from_number(wrong), None);
        }
    }

    #[test]
    fn a_detail_is_replaced_not_repeated() {
        let error = Error::invalid_argument("no").hint("a").hint("b").parameter("dims");
        let details: Vec<_> = error.details().collect();
        assert_eq!(details, [("origin", "caller"), ("hint", "b"), ("parameter", "dims")]);
        assert_eq!(error.detail("nothing"), None);
    }
}
