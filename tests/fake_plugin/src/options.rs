//! The create options: which are known, of which kind, and what they say.

use crate::errors::Failure;
use crate::script::Script;
use crate::sys::*;

/// What a client was made with.
#[derive(Clone, Copy, Debug)]
pub struct ClientOptions {
    pub devices: usize,
    /// `None` when nobody said, or the plugin does not know the option.
    pub asynchronous: Option<bool>,
}

impl ClientOptions {
    /// Reads `count` options at `options`.
    ///
    /// # Safety
    ///
    /// They are valid, with names and values as their sizes say.
    pub unsafe fn read(
        script: &Script,
        options: *const PJRT_NamedValue,
        count: usize,
    ) -> Result<Self, Failure> {
        let mut read = Self { devices: script.devices, asynchronous: None };
        if count == 0 {
            return Ok(read);
        }
        // SAFETY: by contract.
        let options = unsafe { std::slice::from_raw_parts(options, count) };
        for option in options {
            // SAFETY: by contract.
            let name = unsafe { std::slice::from_raw_parts(option.name.cast(), option.name_size) };
            let name = String::from_utf8_lossy(name);
            match &*name {
                "cpu_device_count" => {
                    expect(option, &name, PJRT_NamedValue_kInt64)?;
                    // SAFETY: the kind says that this is the member.
                    let devices = unsafe { option.value.int64_value };
                    read.devices = usize::try_from(devices)
                        .map_err(|_| crate::ledger::misuse(format!("{devices} devices")))?;
                }
                _ if script.lenient => {}
                "asynchronous" => {
                    expect(option, &name, PJRT_NamedValue_kBool)?;
                    // SAFETY: the kind says that this is the member.
                    read.asynchronous = Some(unsafe { option.value.bool_value } != 0);
                }
                "process_id" => expect(option, &name, PJRT_NamedValue_kInt64)?,
                _ => {
                    return Err(Failure::invalid(format!(
                        "Unexpected option name passed to PJRT_Client_Create: {name}"
                    )));
                }
            }
        }
        Ok(read)
    }
}

fn expect(option: &PJRT_NamedValue, name: &str, kind: PJRT_NamedValue_Type) -> Result<(), Failure> {
    if option.r#type == kind {
        return Ok(());
    }
    Err(Failure::invalid(format!(
        "Option passed to PJRT_Client_Create with name {name} has type {} but expected type is \
         {kind}",
        option.r#type
    )))
}
