//! Errors: made as Rust values, handed out as objects, told and destroyed.

use crate::broken::Mode;
use crate::ledger::{self, Object};
use crate::script::Script;
use crate::sys::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    code: PJRT_Error_Code,
    /// Exactly as long as the text, so that a memory checker sees a reader that
    /// looks for a terminator. `None` gives a NULL message.
    text: Option<Box<[u8]>>,
}

impl Object for Failure {
    const KIND: &'static str = "error";
}

impl Failure {
    pub fn new(code: PJRT_Error_Code, text: impl Into<String>) -> Self {
        Self { code, text: Some(text.into().into_bytes().into()) }
    }

    pub fn internal(text: impl Into<String>) -> Self {
        Self::new(PJRT_Error_Code_INTERNAL, text)
    }

    pub fn invalid(text: impl Into<String>) -> Self {
        Self::new(PJRT_Error_Code_INVALID_ARGUMENT, text)
    }

    /// What the broken modes return from client creation, in the mode's own manner.
    pub fn synthetic(mode: Mode) -> Self {
        let mut failure = Self::internal("synthetic failure");
        match mode {
            Mode::NullMessage => failure.text = None,
            Mode::WildMessage => failure.text = Some(b"bad\xff\xfe\0xy".to_vec().into()),
            Mode::UnknownCode => failure.code = 4242,
            _ => {}
        }
        failure
    }

    /// Makes an error object of it.
    pub fn hand_out(self) -> *mut PJRT_Error {
        GIVEN.fetch_add(1, Ordering::SeqCst);
        ledger::hand_out(Arc::new(self))
    }
}

static GIVEN: AtomicI64 = AtomicI64::new(0);
static DESTROYS: AtomicI64 = AtomicI64::new(0);

pub fn given() -> i64 {
    GIVEN.load(Ordering::SeqCst)
}

pub fn destroys() -> i64 {
    DESTROYS.load(Ordering::SeqCst)
}

pub unsafe extern "C" fn PJRT_Error_Destroy(args: *mut PJRT_Error_Destroy_Args) {
    // SAFETY: the caller passes a struct of this type, or NULL.
    let Some(args) = (unsafe { args.as_ref() }) else {
        return;
    };
    if args.struct_size < PJRT_Error_Destroy_Args::STRUCT_SIZE || args.error.is_null() {
        return;
    }
    DESTROYS.fetch_add(1, Ordering::SeqCst);
    // This function cannot fail; a second destruction shows in the two counts.
    let _ = ledger::destroy::<Failure, _>(args.error);
}

pub unsafe extern "C" fn PJRT_Error_Message(args: *mut PJRT_Error_Message_Args) {
    // SAFETY: the caller passes a struct of this type, or NULL.
    let Some(args) = (unsafe { args.as_mut() }) else {
        return;
    };
    if args.struct_size < PJRT_Error_Message_Args::STRUCT_SIZE {
        return;
    }
    let failure = ledger::find::<Failure, _>(args.error);
    let text = failure.as_ref().ok().and_then(|failure| failure.text.as_ref());
    args.message = text.map_or(std::ptr::null(), |text| text.as_ptr().cast());
    args.message_size = text.map_or(0, |text| text.len());
}

entry! { PJRT_Error_GetCode(args: PJRT_Error_GetCode_Args) {
    args.code = ledger::find::<Failure, _>(args.error)?.code;
    Ok(())
}}

/// The failure that the script wants of this function, if any.
pub fn scripted(function: &str) -> Result<(), Failure> {
    let script = Script::current();
    if script.fail.iter().any(|name| name == function) {
        let text = format!("synthetic failure of {function}");
        return Err(Failure::new(script.fail_code, text));
    }
    Ok(())
}
