//! Twenty broken plugins. Each gives an error of its own, leaves nothing behind, and
//! the same process then runs a program on a good plugin. Two end the process before
//! anybody can do anything; their tests say how.

mod support;

use cyxla::error::{Code, Error};
use cyxla::options::{Options, Value};
use cyxla::runtime;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use support::{FakeCounts, Folder, Isolated, add_on_real_plugin, fake_plugin, isolated, native_library};

const SCRIPT: &str = "CYXLA_FAKE_PLUGIN";

/// Loads a plugin that must be refused, and checks what every such error has.
fn refused(path: &Path) -> Error {
    let error =
        runtime::initialize(Some(path), Some("cpu"), None).expect_err("the broken plugin was accepted");
    assert!(!runtime::is_initialized());
    assert_eq!(error.detail("plugin.path"), path.to_str(), "`{error}` does not name the plugin");
    error
}

/// The whole test of one mode of the fake plugin: the code, the origin and parts of
/// the message of the error, then what `check` wants to know, then a good plugin.
fn mode(name: &str, code: Code, origin: &str, parts: &[&str], check: impl FnOnce(&Error)) {
    isolated(name, &[(SCRIPT, name)], || {
        let fake = fake_plugin();
        let error = refused(&fake);
        assert_eq!(error.code(), code, "{error}");
        assert_eq!(error.detail("origin"), Some(origin), "{error}");
        for part in parts {
            assert!(error.message().contains(part), "`{error}` does not say `{part}`");
        }
        check(&error);
        FakeCounts::of(&fake).assert_clean();
        add_on_real_plugin();
    });
}

fn nothing_more(_: &Error) {}

/// The error of every mode that goes wrong no earlier than in client creation.
fn synthetic_failure(name: &str, check: impl FnOnce(&Error)) {
    mode(name, Code::Internal, "plugin", &["synthetic failure"], |error| {
        assert_eq!(error.detail("pjrt.code"), Some("13"));
        check(error);
    });
}

/// How a plugin that kills the process did so.
fn killed(ended: Option<support::Ended>) {
    let Some(ended) = ended else { return };
    assert!(ended.began && !ended.finished, "{ended:?}");
    assert_eq!(ended.status.signal(), Some(libc::SIGABRT), "{ended:?}");
}

#[test]
fn null_table() {
    mode("null_table", Code::Internal, "plugin", &["returned no API table"], |error| {
        assert!(error.message().contains(fake_plugin().to_str().unwrap()), "{error}");
    });
}

#[test]
fn no_symbol() {
    isolated("no_symbol", &[], || {
        let folder = Folder::new("no-symbol");
        let library = native_library("no_symbol.c", &folder);
        let error = refused(&library);
        assert_eq!(error.code(), Code::InvalidArgument);
        for part in ["GetPjrtApi", library.to_str().unwrap(), "no PJRT plugin"] {
            assert!(error.message().contains(part), "`{error}` does not say `{part}`");
        }
        add_on_real_plugin();
    });
}

#[test]
fn short_table() {
    let parts = ["PJRT 0.23", "0.54 or newer"];
    mode("short_table", Code::Unimplemented, "plugin", &parts, nothing_more);
}

#[test]
fn null_slots() {
    mode("null_slots", Code::Unimplemented, "plugin", &["lacks PJRT_"], nothing_more);
}

#[test]
fn other_major() {
    let parts = ["PJRT 1.115", "incompatible", "0.x"];
    mode("other_major", Code::Unimplemented, "plugin", &parts, nothing_more);
}

#[test]
fn initialize_fails() {
    synthetic_failure("initialize_fails", |first| {
        let again = refused(&fake_plugin());
        assert_eq!(*first, again, "a second attempt must fail in the same way");
    });
}

#[test]
fn attributes_null() {
    // The list is read as empty; what fails is what comes after it.
    synthetic_failure("attributes_null", nothing_more);
}

#[test]
fn null_client() {
    mode("null_client", Code::Internal, "plugin", &["returned no client"], nothing_more);
}

#[test]
fn null_message() {
    mode("null_message", Code::Internal, "plugin", &["without a message"], nothing_more);
}

#[test]
fn wild_message() {
    mode("wild_message", Code::Internal, "plugin", &["bad\u{fffd}\u{fffd}", "xy"], |error| {
        assert_eq!(error.message().chars().count(), 8, "{:?}", error.message());
    });
}

#[test]
fn wild_message_is_not_read_beyond_its_end() {
    let ended = Isolated::new("wild_message_is_not_read_beyond_its_end")
        .variable(SCRIPT, "wild_message")
        .under(&["valgrind", "--quiet", "--error-exitcode=99", "--undef-value-errors=yes"])
        .run(|| {
            let fake = fake_plugin();
            refused(&fake);
            FakeCounts::of(&fake).assert_clean();
        });
    if let Some(ended) = ended {
        ended.assert_well();
    }
}

#[test]
fn unknown_code() {
    mode("unknown_code", Code::Unknown, "plugin", &["synthetic failure"], |error| {
        assert_eq!(error.detail("pjrt.code"), Some("4242"));
    });
}

#[test]
fn noisy() {
    synthetic_failure("noisy", nothing_more);
}

#[test]
fn noisy_plugin_is_all_that_is_heard() {
    // Without the good plugin, which prints lines of its own.
    let ended = Isolated::new("noisy_plugin_is_all_that_is_heard")
        .variable(SCRIPT, "noisy")
        .run(|| drop(refused(&fake_plugin())));
    if let Some(ended) = ended {
        ended.assert_well();
        assert_eq!(ended.stderr, "noise on stderr from a constructor\n");
        let noise = ended.stdout.matches("noise on stdout from a constructor\n").count();
        assert_eq!(noise, 1, "{}", ended.stdout);
        assert!(!ended.stdout.contains("synthetic"), "{}", ended.stdout);
    }
}

/// What the process does when it gets this signal.
fn disposition(signal: libc::c_int) -> libc::sighandler_t {
    // SAFETY: the call only reads, into a struct of its own type.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        assert_eq!(libc::sigaction(signal, std::ptr::null(), &mut action), 0);
        action.sa_sigaction
    }
}

#[test]
fn rude() {
    let ended = Isolated::new("rude").variable(SCRIPT, "rude").variable("LC_ALL", "C.UTF-8").run(|| {
        assert_eq!(disposition(libc::SIGPIPE), libc::SIG_IGN);
        let error = refused(&fake_plugin());
        assert_eq!(error.code(), Code::Internal);
        // What a plugin does to its process is not undone: other threads of the host
        // may do the same at any time. It is recorded here.
        assert_eq!(disposition(libc::SIGSEGV), libc::SIG_IGN);
        assert_eq!(disposition(libc::SIGPIPE), libc::SIG_DFL);
        // SAFETY: asks for the name of the locale, which is a C string.
        let locale = unsafe {
            let name = libc::setlocale(libc::LC_ALL, std::ptr::null());
            std::ffi::CStr::from_ptr(name).to_owned()
        };
        assert_eq!(&*locale, c"C.UTF-8");
        let mut options = Options::new();
        options.parse("x=0.5").unwrap();
        assert_eq!(options.get("x"), Some(&Value::Float(0.5)));
        add_on_real_plugin();
    });
    if let Some(ended) = ended {
        ended.assert_well();
    }
}

#[test]
fn atexit() {
    // The exit handler crashes unless the library is still mapped when it runs.
    synthetic_failure("atexit", nothing_more);
}

#[test]
fn aborts() {
    // Nothing in this process can prevent it. The library has told nothing by then.
    killed(Isolated::new("aborts").variable(SCRIPT, "aborts").run(|| {
        let _ = runtime::initialize(Some(&fake_plugin()), Some("cpu"), None);
    }));
}

#[test]
fn strict_size() {
    let parts = ["PJRT_Client_Create_Args", "expected 80"];
    mode("strict_size", Code::InvalidArgument, "plugin", &parts, |error| {
        let hint = error.detail("hint").unwrap_or_default();
        assert!(hint.contains("size of an argument struct"), "{hint}");
    });
}

#[test]
fn tiny_table() {
    let parts = ["malformed", "16 bytes"];
    mode("tiny_table", Code::Internal, "plugin", &parts, nothing_more);
}

#[test]
fn far_future() {
    synthetic_failure("far_future", nothing_more);
}

#[test]
fn cyclic_extensions() {
    synthetic_failure("cyclic_extensions", nothing_more);
}

#[test]
fn throws() {
    // A C++ exception has no way through a function of the C ABI: the runtime of C++
    // finds no handler and aborts. The library is built here and handed to the child,
    // which has no chance to tidy up.
    const LIBRARY: &str = "CYXLA_TEST_THROWING_LIBRARY";
    let folder = std::env::var_os(LIBRARY).is_none().then(|| Folder::new("throws"));
    let mut test = Isolated::new("throws");
    if let Some(folder) = &folder {
        test = test.variable(LIBRARY, native_library("throws.cpp", folder));
    }
    killed(test.run(|| {
        let library = PathBuf::from(support::required(LIBRARY));
        let _ = runtime::initialize(Some(&library), Some("cpu"), None);
    }));
}
