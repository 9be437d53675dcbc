//! Saving executables and loading them again.
//!
//! Like real plugins, this one loads whatever looks like its own, and trusts it.

use crate::client::Client;
use crate::compile::{bytes, load};
use crate::errors::Failure;
use crate::executables;
use crate::ledger;
use crate::sys::*;
use std::sync::Arc;

const MAGIC: &str = "fake executable for device ";

entry! { PJRT_Executable_Serialize(args: PJRT_Executable_Serialize_Args) {
    let compiled = executables::find(args.executable)?;
    let device = compiled.device.map_or_else(|| "any".to_owned(), |device| device.to_string());
    let saved = Box::new(format!("{MAGIC}{device}\n{}", compiled.text).into_bytes());
    args.serialized_bytes = saved.as_ptr().cast();
    args.serialized_bytes_size = saved.len();
    args.serialized_executable = Box::into_raw(saved).cast();
    args.serialized_executable_deleter = Some(delete);
    Ok(())
}}

unsafe extern "C" fn delete(saved: *mut PJRT_SerializedExecutable) {
    // SAFETY: made above, and callers delete once.
    drop(unsafe { Box::from_raw(saved.cast::<Vec<u8>>()) });
}

entry! { PJRT_Executable_DeserializeAndLoad(args: PJRT_Executable_DeserializeAndLoad_Args) {
    let client = ledger::find::<Client, _>(args.client)?;
    // SAFETY: the caller describes its bytes.
    let saved = unsafe { bytes(args.serialized_executable, args.serialized_executable_size) };
    let failed = || Failure::invalid("Executable deserialization failed.");
    let saved = std::str::from_utf8(saved).map_err(|_| failed())?;
    let (device, text) =
        saved.strip_prefix(MAGIC).and_then(|rest| rest.split_once('\n')).ok_or_else(failed)?;
    let device = match device {
        "any" => None,
        id => Some(id.parse().map_err(|_| failed())?),
    };
    args.loaded_executable = ledger::hand_out(Arc::new(load(client, text, device)?));
    Ok(())
}}
