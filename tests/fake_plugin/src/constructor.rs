//! What the plugin does to its process while it is being loaded.

use crate::broken::Mode;
use crate::script::Script;
use std::ffi::{c_char, c_int};
use std::io::Write;

unsafe extern "C" {
    fn atexit(handler: extern "C" fn()) -> c_int;
    fn signal(number: c_int, handler: usize) -> usize;
    fn setlocale(category: c_int, locale: *const c_char) -> *mut c_char;
}

const SIGSEGV: c_int = 11;
const SIGPIPE: c_int = 13;
const SIG_DFL: usize = 0;
const SIG_IGN: usize = 1;
const LC_ALL: c_int = 6;

/// Run by the loader, before `dlopen` returns.
#[used]
#[unsafe(link_section = ".init_array")]
static ON_LOAD: extern "C" fn() = on_load;

extern "C" fn on_load() {
    match Script::parse(&Script::text()).mode {
        Mode::Noisy => {
            // A closed stdout or stderr is no concern of this plugin.
            let _ = std::io::stdout().write_all(b"noise on stdout from a constructor\n");
            let _ = std::io::stdout().flush();
            let _ = std::io::stderr().write_all(b"noise on stderr from a constructor\n");
        }
        Mode::Rude => {
            // SAFETY: both calls are allowed at any time; that they change what
            // belongs to the host is the point.
            unsafe {
                signal(SIGSEGV, SIG_IGN);
                signal(SIGPIPE, SIG_DFL);
                setlocale(LC_ALL, c"".as_ptr());
            }
        }
        Mode::AtExit => {
            // SAFETY: the handler takes and returns nothing.
            unsafe { atexit(at_exit) };
        }
        _ => {}
    }
}

/// Crashes when the library has been unmapped before the process ends.
extern "C" fn at_exit() {
    let mut args = crate::sys::PJRT_Error_Destroy_Args::new();
    // SAFETY: the struct is a complete one without an error in it.
    unsafe { crate::errors::PJRT_Error_Destroy(&mut args) };
}
