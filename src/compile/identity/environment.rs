//! What of the environment changes the code that plugins generate.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;

use crate::env;

/// Variables that XLA reads: its flags, those of the TPU's compiler, and into how many
/// threads the code for a CPU is divided.
const VARIABLES: [&str; 4] = [env::XLA_FLAGS, env::LIBTPU_INIT_ARGS, env::NPROC, env::PJRT_NPROC];
/// The longest file of flags that plugins are let to read.
const LONGEST: u64 = 1 << 20;

/// All that the code depends on, as text. Plugins read the variables when they are
/// loaded, and how many threads there are when the client is made.
pub fn environment() -> String {
    let mut text = String::new();
    for name in VARIABLES {
        let Some(value) = env::seen_by_plugin(name) else { continue };
        let _ = writeln!(text, "{name}={value:?}");
        // What is no flag is the name of a file with flags.
        let is_file = name == env::XLA_FLAGS && !value.to_string_lossy().trim_start().starts_with('-');
        let mut flags = Vec::new();
        // Anything but a regular file could block or never end.
        let is_file = is_file && std::fs::metadata(&value).is_ok_and(|found| found.is_file());
        if is_file && let Ok(file) = File::open(&value) {
            let _ = file.take(LONGEST).read_to_end(&mut flags);
            let _ = writeln!(text, "{:?}", String::from_utf8_lossy(&flags));
        }
    }
    // Those that the process may run on; limits on its time do not count here.
    let threads = rustix::thread::sched_getaffinity(None).map_or(0, |cpus| cpus.count());
    let _ = writeln!(text, "threads={threads}");
    text
}
