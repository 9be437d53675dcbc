//! A PJRT plugin that works or misbehaves as a test asks.
//!
//! It runs no program: it reads the types of `@main` in StableHLO text, and its
//! executions add their first two arguments or copy them. That is enough to test
//! everything around a plugin without one, under a memory checker, and with faults
//! that a real plugin shows once a year.
//!
//! # What it is told
//!
//! The environment variable `CYXLA_FAKE_PLUGIN` is read when the library is loaded
//! and again at each call of `GetPjrtApi`. It holds words separated by commas; unset
//! or empty means `works`. A word that is not listed here aborts the process with a
//! message, since it is a mistake in the test.
//!
//! `works`, or a mode of [`broken`] by name, says what kind of plugin it is. The
//! other words change how a working one behaves:
//!
//! | word | effect |
//! |---|---|
//! | `lenient` | ignores create options that it does not know, `asynchronous` among them (as PJRT 0.81 does); otherwise they are errors and `asynchronous` is known (as 0.115 does) |
//! | `platform=NAME` | the platform that the client reports (`cpu`) |
//! | `devices=N` | devices of a client made without `cpu_device_count` (4) |
//! | `api_major=N`, `api_minor=N` | the version in the table (0.115) |
//! | `slots=N` | length of the table; every slot of this library's table behind it is poison that crashes when called (138) |
//! | `lack=FUNCTION` | this slot is NULL; may be given several times |
//! | `fail=FUNCTION` | this function returns an error, and does nothing unless it destroys something; may be given several times |
//! | `fail_code=N` | the code of that error (13) |
//! | `async` | executions run on a thread of their own unless the client was made with `asynchronous=false` and knows it |
//! | `always_async` | executions run on a thread of their own, whatever the client was told |
//! | `delay_ms=N` | such an execution waits so long before it computes (0) |
//! | `execute_error` | Execute returns FAILED_PRECONDITION |
//! | `await_error` | Execute succeeds; its results are ready with an error, INTERNAL |
//! | `column_major` | results of two and more dimensions are stored column-major |
//! | `memory=KIND` | a memory that each device has; given once or more, these instead of `device`, `pinned_host` and `unpinned_host` |
//! | `default_memory=N` | which of them is the default one (0) |
//! | `alias_copies` | copies share the memory of what they were made from |
//! | `copy_views` | host memory is copied also where it could be used in place |
//!
//! # What it checks
//!
//! Each handle is looked up before use: one that was destroyed, or never made, or is
//! of another kind, gives an error and is counted by `cyxla_fake_misuses`. So are
//! arguments on which real plugins crash, such as a NULL argument of Execute. A
//! struct that is smaller than it must be gives the error that real plugins give.

// The functions are called as in the table.
#![allow(non_snake_case)]

#[path = "../../../src/pjrt/sys/mod.rs"]
#[allow(dead_code, unused_imports)]
mod sys;

#[macro_use]
mod entry;

mod broken;
mod buffers;
mod client;
mod compile;
mod compile_options;
mod constructor;
mod element;
mod errors;
mod events;
mod executables;
mod execute;
mod layout;
mod ledger;
mod memories;
mod module_text;
mod options;
mod proto;
mod readback;
mod saving;
mod script;
mod storage;
mod table;

/// Gives the function table that `CYXLA_FAKE_PLUGIN` asks for.
#[unsafe(no_mangle)]
pub extern "C" fn GetPjrtApi() -> *const sys::PJRT_Api {
    broken::api(script::Script::read())
}

/// How many objects were made and not destroyed: clients, executables, buffers,
/// events and errors.
#[unsafe(no_mangle)]
pub extern "C" fn cyxla_fake_live_objects() -> i64 {
    ledger::live_objects()
}

/// How many errors were handed out.
#[unsafe(no_mangle)]
pub extern "C" fn cyxla_fake_errors_given() -> i64 {
    errors::given()
}

/// How often an error was destroyed. A second destruction of the same one counts too.
#[unsafe(no_mangle)]
pub extern "C" fn cyxla_fake_error_destroys() -> i64 {
    errors::destroys()
}

/// How often the plugin was given something that would crash a real one.
#[unsafe(no_mangle)]
pub extern "C" fn cyxla_fake_misuses() -> i64 {
    ledger::misuses()
}
