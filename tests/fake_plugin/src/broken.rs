//! Twenty ways to be a bad plugin, less the two that need a library of their own
//! (`native/`): no `GetPjrtApi` at all, and one that throws a C++ exception.
//!
//! Where a mode says nothing else, client creation fails with INTERNAL
//! "synthetic failure", so no mode ever gives a client.

use crate::client::PJRT_Client_Create as create_client;
use crate::errors::Failure;
use crate::script::Script;
use crate::sys::*;
use crate::table::Table;
use std::sync::Arc;

macro_rules! modes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// What kind of plugin this is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Mode {
            /// One that works, but for what the other words ask.
            Works,
            $($(#[$doc])* $variant,)*
        }

        impl Mode {
            pub fn named(name: &str) -> Option<Self> {
                match name {
                    "works" => Some(Self::Works),
                    $($name => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

modes! {
    /// `GetPjrtApi` returns NULL.
    NullTable = "null_table",
    /// An old plugin of PJRT 0.23 with 20 slots; poison behind them.
    ShortTable = "short_table",
    /// A full table of which every slot is NULL.
    NullSlots = "null_slots",
    /// Major version 1.
    OtherMajor = "other_major",
    /// `PJRT_Plugin_Initialize` fails.
    InitializeFails = "initialize_fails",
    /// Three plugin attributes at address NULL.
    AttributesNull = "attributes_null",
    /// Client creation succeeds and gives no client.
    NullClient = "null_client",
    /// The error's message is NULL.
    NullMessage = "null_message",
    /// The error's message is not UTF-8, holds a NUL and does not end in one.
    WildMessage = "wild_message",
    /// The error's code is 4242.
    UnknownCode = "unknown_code",
    /// Writes to stdout and stderr while it is loaded.
    Noisy = "noisy",
    /// Changes signal dispositions and the locale while it is loaded.
    Rude = "rude",
    /// Registers an exit handler, which must find the plugin still mapped.
    AtExit = "atexit",
    /// `GetPjrtApi` ends the process.
    Aborts = "aborts",
    /// Client creation refuses every struct size but 80.
    StrictSize = "strict_size",
    /// A table of 16 bytes, too small to hold a version.
    TinyTable = "tiny_table",
    /// PJRT 0.9000, with a table 4096 bytes larger than any known.
    FarFuture = "far_future",
    /// Two unknown extensions, each the next of the other.
    CyclicExtensions = "cyclic_extensions",
}

/// The table for `script`.
pub fn api(script: Arc<Script>) -> *const PJRT_Api {
    let mut table = Table::working();
    if script.mode != Mode::Works {
        table.api.PJRT_Client_Create = Some(fail_to_create);
    }
    match script.mode {
        Mode::NullTable => return std::ptr::null(),
        Mode::Aborts => std::process::abort(),
        Mode::ShortTable => {
            table.api.pjrt_api_version.minor_version = 23;
            table.end_after(20);
            return table.publish();
        }
        Mode::NullSlots => table.clear_slots(),
        Mode::OtherMajor => {
            table.api.pjrt_api_version.major_version = 1;
            return table.publish();
        }
        Mode::InitializeFails => table.api.PJRT_Plugin_Initialize = Some(fail_to_initialize),
        Mode::AttributesNull => table.api.PJRT_Plugin_Attributes = Some(null_attributes),
        Mode::NullClient => table.api.PJRT_Client_Create = Some(create_nothing),
        Mode::StrictSize => table.api.PJRT_Client_Create = Some(create_if_80),
        Mode::TinyTable => table.api.struct_size = 16,
        Mode::FarFuture => {
            table.api.pjrt_api_version.minor_version = 9000;
            table.api.struct_size += 4096;
        }
        Mode::CyclicExtensions => table.api.extension_start = cyclic_chain(),
        Mode::Works => {
            table.api.pjrt_api_version.major_version = script.api_major;
            table.api.pjrt_api_version.minor_version = script.api_minor;
            table.api.PJRT_Client_Create = Some(create_client);
            for name in &script.lack {
                table.clear_slot(name);
            }
            table.end_after(script.slots);
        }
        Mode::NullMessage
        | Mode::WildMessage
        | Mode::UnknownCode
        | Mode::Noisy
        | Mode::Rude
        | Mode::AtExit => {}
    }
    table.publish()
}

fn synthetic() -> Failure {
    Failure::synthetic(Script::current().mode)
}

unsafe extern "C" fn fail_to_create(_: *mut PJRT_Client_Create_Args) -> *mut PJRT_Error {
    synthetic().hand_out()
}

unsafe extern "C" fn fail_to_initialize(_: *mut PJRT_Plugin_Initialize_Args) -> *mut PJRT_Error {
    synthetic().hand_out()
}

unsafe extern "C" fn create_nothing(_: *mut PJRT_Client_Create_Args) -> *mut PJRT_Error {
    std::ptr::null_mut()
}

unsafe extern "C" fn null_attributes(args: *mut PJRT_Plugin_Attributes_Args) -> *mut PJRT_Error {
    // SAFETY: the caller passes a struct of this type.
    let args = unsafe { &mut *args };
    args.attributes = std::ptr::null();
    args.num_attributes = 3;
    std::ptr::null_mut()
}

unsafe extern "C" fn create_if_80(args: *mut PJRT_Client_Create_Args) -> *mut PJRT_Error {
    // SAFETY: the struct begins with its size.
    let given = unsafe { args.cast::<usize>().read() };
    if given == 80 {
        return std::ptr::null_mut();
    }
    Failure::invalid(format!("Unexpected PJRT_Client_Create_Args size: expected 80, got {given}.")).hand_out()
}

/// Two extensions of unknown types that lead to each other.
fn cyclic_chain() -> *mut PJRT_Extension_Base {
    let first = Box::leak(Box::new(PJRT_Extension_Base::new()));
    let second = Box::leak(Box::new(PJRT_Extension_Base::new()));
    (first.r#type, second.r#type) = (7777, 7778);
    first.next = second;
    second.next = first;
    first
}
