//! A plugin's function table, and how its errors become ours.

use std::mem::offset_of;

use super::{Attribute, call, list, owned_text, sys};
use crate::error::{Code, Error, Origin, Result};

/// The oldest PJRT version that this library works with.
const OLDEST_MINOR: i32 = 54;
/// Version 0.56 put a function into the middle of the table, and 0.57 moved it.
const BROKEN_MINOR: i32 = 56;
/// No plugin has more extensions than this; a longer chain is a cycle.
const MOST_EXTENSIONS: usize = 256;

/// A plugin's functions, as a copy that is never shorter than our declaration:
/// what the plugin's own table lacks is `None` here.
pub struct Api {
    table: sys::PJRT_Api,
    extensions: Vec<i32>,
}

// SAFETY: a table is immutable once made, and PJRT functions may be called from
// any thread.
unsafe impl Send for Api {}
// SAFETY: as above.
unsafe impl Sync for Api {}

impl Api {
    /// Copies and checks the table that a plugin handed out.
    ///
    /// # Safety
    /// `table` is what GetPjrtApi of a library returned that is never unmapped.
    pub unsafe fn from_table(table: *const sys::PJRT_Api) -> Result<&'static Api> {
        let malformed = |what: String| {
            Err(Error::new(
                Code::Internal,
                Origin::Plugin,
                format!("the plugin's API table is malformed: {what}"),
            ))
        };
        if !table.is_aligned() {
            return malformed("it is misaligned".into());
        }
        // SAFETY: every table begins with its size.
        let size = unsafe { table.cast::<usize>().read() };
        let header = offset_of!(sys::PJRT_Api, PJRT_Error_Destroy);
        if size < header {
            return malformed(format!("it has {size} bytes, too few to hold a version"));
        }
        // Whole slots only: half a pointer is none.
        let known = size.min(size_of::<sys::PJRT_Api>());
        let known = known - (known - header) % size_of::<usize>();
        let mut copy = sys::PJRT_Api::new();
        // SAFETY: the plugin's table has `size` bytes and ours at least `known`;
        // any bytes are valid for its integers, pointers and optional functions.
        unsafe {
            std::ptr::copy_nonoverlapping(table.cast::<u8>(), (&raw mut copy).cast::<u8>(), known);
        }
        copy.struct_size = size;

        let version = copy.pjrt_api_version;
        let (major, minor) = (version.major_version, version.minor_version);
        if major != 0 {
            let message = format!(
                "the plugin implements PJRT {major}.{minor}, which is incompatible with the PJRT 0.x that this library speaks"
            );
            return Err(Error::new(Code::Unimplemented, Origin::Plugin, message)
                .hint("use a plugin of PJRT 0.x, or a newer libcyxla"));
        }
        if minor < OLDEST_MINOR {
            let message =
                format!("the plugin implements PJRT 0.{minor}; this library needs 0.{OLDEST_MINOR} or newer");
            return Err(
                Error::new(Code::Unimplemented, Origin::Plugin, message).hint("install a newer plugin")
            );
        }
        // What destroys must be there before anything is made: memory that the host lends
        // comes back only when its buffer is destroyed.
        if minor == BROKEN_MINOR {
            let message = format!(
                "the plugin implements PJRT 0.{minor}, a version whose function table no other version shares"
            );
            return Err(
                Error::new(Code::Unimplemented, Origin::Plugin, message).hint("install a newer plugin")
            );
        }
        let present = [
            ("PJRT_Error_Destroy", copy.PJRT_Error_Destroy.is_some()),
            ("PJRT_Error_Message", copy.PJRT_Error_Message.is_some()),
            ("PJRT_Error_GetCode", copy.PJRT_Error_GetCode.is_some()),
            ("PJRT_Plugin_Initialize", copy.PJRT_Plugin_Initialize.is_some()),
            ("PJRT_Event_Destroy", copy.PJRT_Event_Destroy.is_some()),
            ("PJRT_Client_Create", copy.PJRT_Client_Create.is_some()),
            ("PJRT_Client_Destroy", copy.PJRT_Client_Destroy.is_some()),
            ("PJRT_Executable_Destroy", copy.PJRT_Executable_Destroy.is_some()),
            ("PJRT_LoadedExecutable_Destroy", copy.PJRT_LoadedExecutable_Destroy.is_some()),
            ("PJRT_Buffer_Destroy", copy.PJRT_Buffer_Destroy.is_some()),
        ];
        let api = Api { table: copy, extensions: extension_types(copy.extension_start) };
        if let Some((name, _)) = present.iter().find(|(_, present)| !present) {
            return Err(api.missing(name));
        }
        Ok(Box::leak(Box::new(api)))
    }

    /// The functions.
    pub(crate) fn table(&self) -> &sys::PJRT_Api {
        &self.table
    }

    /// The PJRT version that the plugin implements, major and minor.
    pub fn version(&self) -> (i32, i32) {
        let version = &self.table.pjrt_api_version;
        (version.major_version, version.minor_version)
    }

    /// The numbers of the plugin's extension types, in the plugin's order.
    pub fn extensions(&self) -> &[i32] {
        &self.extensions
    }

    /// The extension that tells how arrays are divided among devices, if there is one
    /// that holds all that is declared of it.
    pub(super) fn shardings(&self) -> Option<&sys::PJRT_Shardings_Extension> {
        let mut next = self.table.extension_start;
        for _ in &self.extensions {
            // SAFETY: the chain was walked so far when the table was copied, and is never
            // freed.
            let extension = unsafe { &*next };
            if extension.r#type == sys::PJRT_Extension_Type_Shardings {
                let is_whole = extension.struct_size >= sys::PJRT_Shardings_Extension::STRUCT_SIZE;
                // SAFETY: the type and the size say what it is.
                return is_whole.then(|| unsafe { &*next.cast::<sys::PJRT_Shardings_Extension>() });
            }
            next = extension.next;
        }
        None
    }

    /// The error that says that the plugin lacks a function.
    #[cold]
    pub(crate) fn missing(&self, function: &str) -> Error {
        let (major, minor) = self.version();
        let message =
            format!("the plugin lacks {function}, which is needed here; it implements PJRT {major}.{minor}");
        Error::new(Code::Unimplemented, Origin::Plugin, message).hint("install a newer plugin")
    }

    /// Turns what a PJRT function returned into a result.
    #[inline]
    pub(crate) fn check(&self, error: *mut sys::PJRT_Error) -> Result<()> {
        if error.is_null() { Ok(()) } else { Err(self.take_error(error)) }
    }

    /// Reads an error and destroys it.
    #[cold]
    fn take_error(&self, error: *mut sys::PJRT_Error) -> Error {
        let mut message = sys::PJRT_Error_Message_Args::new();
        message.error = error;
        let mut code = sys::PJRT_Error_GetCode_Args::new();
        code.error = error;
        let mut destroy = sys::PJRT_Error_Destroy_Args::new();
        destroy.error = error;
        // SAFETY: the plugin returned the error, which is alive until the destroy
        // below; its text is copied before.
        let text = unsafe {
            if let Some(function) = self.table.PJRT_Error_Message {
                function(&mut message);
            }
            let unread =
                self.table.PJRT_Error_GetCode.map_or(std::ptr::null_mut(), |function| function(&mut code));
            let text = owned_text(message.message, message.message_size);
            if let Some(function) = self.table.PJRT_Error_Destroy {
                function(&mut destroy);
                // An error about reading an error has nobody left to report it.
                if !unread.is_null() {
                    destroy.error = unread;
                    function(&mut destroy);
                }
            }
            text
        };
        let known = Code::from_number(code.code).filter(|&code| code != Code::Ok);
        let text = match text.trim_end() {
            "" => "the plugin reported an error without a message",
            text => text,
        };
        let error = Error::new(known.unwrap_or(Code::Unknown), Origin::Plugin, text)
            .with("pjrt.code", code.code.to_string());
        if text.contains("Args size") || text.contains("struct_size") {
            return error.hint("the plugin refuses the size of an argument struct; its PJRT version and this library's do not fit together");
        }
        error
    }

    /// Runs the plugin's own set-up. Plugins allow it more than once.
    pub fn initialize_plugin(&'static self) -> Result<()> {
        let mut args = sys::PJRT_Plugin_Initialize_Args::new();
        // SAFETY: the struct is the slot's and has no handles.
        unsafe { call!(self, PJRT_Plugin_Initialize, &mut args) }
    }

    /// What the plugin says of itself; nothing when it cannot say.
    pub fn attributes(&'static self) -> Result<Vec<Attribute>> {
        if self.table.PJRT_Plugin_Attributes.is_none() {
            return Ok(Vec::new());
        }
        let mut args = sys::PJRT_Plugin_Attributes_Args::new();
        // SAFETY: the struct is the slot's; the plugin's list lives as long as
        // the process.
        unsafe {
            call!(self, PJRT_Plugin_Attributes, &mut args)?;
            let values = list(args.attributes, args.num_attributes);
            Ok(values.iter().filter_map(|value| Attribute::from_named_value(value)).collect())
        }
    }
}

/// Walks the chain of extensions as far as it is sane.
fn extension_types(first: *mut sys::PJRT_Extension_Base) -> Vec<i32> {
    let mut types = Vec::new();
    let mut next = first;
    while !next.is_null() && types.len() < MOST_EXTENSIONS {
        // SAFETY: each link points at a struct of the plugin that begins with an
        // extension base and is never freed.
        let extension = unsafe { &*next };
        if extension.struct_size < sys::PJRT_Extension_Base::STRUCT_SIZE || types.contains(&extension.r#type)
        {
            break; // malformed, or the chain has come round
        }
        types.push(extension.r#type);
        next = extension.next;
    }
    types
}
