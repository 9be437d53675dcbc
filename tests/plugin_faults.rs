//! A working plugin in which one thing goes wrong: the error arrives as the plugin
//! gave it, and nothing is left behind.

mod support;

use cyxla::error::Code;
use cyxla::pjrt::sys;
use cyxla::program::{Format, Program};
use cyxla::runtime::{self, Executable};
use support::{FakeCounts, add_on_real_plugin, each_isolated, exercise, fake_plugin, isolated};

const SCRIPT: &str = "CYXLA_FAKE_PLUGIN";

/// The client, which a runtime keeps for the life of the process.
fn kept() -> i64 {
    i64::from(runtime::is_initialized())
}

/// Checks that all objects but the runtime's own are gone. Objects that a thread of
/// the plugin holds may live a moment longer.
fn assert_tidy() {
    let fake = fake_plugin();
    let mut counts = FakeCounts::of(&fake);
    for _ in 0..200 {
        if counts.live_objects == kept() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
        counts = FakeCounts::of(&fake);
    }
    counts.live_objects -= kept();
    counts.assert_clean();
}

#[test]
fn nothing_goes_wrong() {
    isolated("nothing_goes_wrong", &[(SCRIPT, "works")], || {
        exercise(&fake_plugin()).unwrap();
        assert_tidy();
    });
}

/// Functions whose failure has to come out. What the others do is an end that nobody
/// waits for, or is not used.
const MUST_COME_OUT: [&str; 20] = [
    "PJRT_Plugin_Initialize",
    "PJRT_Plugin_Attributes",
    "PJRT_Event_Await",
    "PJRT_Event_OnReady",
    "PJRT_Client_Create",
    "PJRT_Client_PlatformName",
    "PJRT_Client_AddressableDevices",
    "PJRT_Client_Compile",
    "PJRT_Client_BufferFromHostBuffer",
    "PJRT_Device_GetDescription",
    "PJRT_Executable_Name",
    "PJRT_Executable_NumOutputs",
    "PJRT_Executable_OptimizedProgram",
    "PJRT_Executable_OutputDimensions",
    "PJRT_LoadedExecutable_GetExecutable",
    "PJRT_LoadedExecutable_Execute",
    "PJRT_Buffer_GetMemoryLayout",
    "PJRT_Buffer_IsDeleted",
    "PJRT_Buffer_ReadyEvent",
    "PJRT_Buffer_OpaqueDeviceMemoryDataPointer",
];

#[test]
fn any_function_may_fail() {
    let kinds = ["works", "works,lenient,async"];
    let cases = sys::SLOTS
        .iter()
        .flat_map(|slot| kinds.map(|kind| (format!("{kind},fail={},fail_code=8", slot.name), slot.name)));
    each_isolated("any_function_may_fail", SCRIPT, cases, |function| {
        let outcome = exercise(&fake_plugin());
        assert!(outcome.is_err() || !MUST_COME_OUT.contains(function), "{function} failed unnoticed");
        if let Err(error) = outcome {
            let wanted = format!("synthetic failure of {function}");
            assert!(error.message().contains(&wanted), "{error}");
            assert_eq!(error.code(), Code::ResourceExhausted, "{error}");
            assert_eq!(error.detail("pjrt.code"), Some("8"));
            assert_eq!(error.detail("origin"), Some("plugin"));
        }
        assert_tidy();
        if !runtime::is_initialized() {
            add_on_real_plugin();
        }
    });
}

#[test]
fn an_execution_that_is_refused() {
    isolated("an_execution_that_is_refused", &[(SCRIPT, "works,execute_error")], || {
        let error = exercise(&fake_plugin()).unwrap_err();
        assert_eq!(error.code(), Code::FailedPrecondition);
        assert!(error.message().contains("synthetic failure of the execution"), "{error}");
        assert_tidy();
    });
}

/// An execution that starts well and ends badly.
fn ends_badly(name: &str, script: &str) {
    isolated(name, &[(SCRIPT, script)], || {
        let error = exercise(&fake_plugin()).unwrap_err();
        assert_eq!(error.code(), Code::Internal);
        assert!(error.message().contains("synthetic failure while running"), "{error}");
        assert_tidy();
    });
}

#[test]
fn an_execution_that_ends_badly_at_once() {
    // The plugin runs it in the call, and does not promise to.
    ends_badly("an_execution_that_ends_badly_at_once", "works,lenient,await_error");
}

#[test]
fn an_execution_that_ends_badly_later() {
    let script = "works,lenient,async,delay_ms=30,await_error";
    ends_badly("an_execution_that_ends_badly_later", script);
}

#[test]
fn an_execution_that_takes_its_time() {
    let script = "works,lenient,async,delay_ms=30";
    isolated("an_execution_that_takes_its_time", &[(SCRIPT, script)], || {
        exercise(&fake_plugin()).unwrap();
        assert_tidy();
    });
}

#[test]
fn results_that_are_stored_column_major() {
    let script = "works,column_major";
    isolated("results_that_are_stored_column_major", &[(SCRIPT, script)], || {
        let fake = fake_plugin();
        runtime::initialize(Some(&fake), Some("cpu"), None).unwrap();
        let text = "func.func @main(%a: tensor<2x3xi32>) -> tensor<2x3xi32> {
            return %a : tensor<2x3xi32> }";
        let program = Program::from_bytes(text.as_bytes(), Format::Detect, None).unwrap();
        let executable = Executable::compile(&program, None).unwrap();
        let matrix = [1i32, 2, 3, 4, 5, 6].map(i32::to_ne_bytes).concat();
        let mut read = vec![0; 24];
        executable.run(&[&matrix], &mut [&mut read]).unwrap();
        assert_eq!(read, matrix);
        assert_tidy_after(executable);
    });
}

fn assert_tidy_after(executable: Executable) {
    drop(executable);
    assert_tidy();
}

#[test]
fn another_platform_than_asked_for() {
    let script = "works,platform=cuda";
    isolated("another_platform_than_asked_for", &[(SCRIPT, script)], || {
        let error = exercise(&fake_plugin()).unwrap_err();
        assert_eq!(error.code(), Code::FailedPrecondition);
        for part in ["cuda", "cpu"] {
            assert!(error.message().contains(part), "{error}");
        }
        assert_tidy();
        add_on_real_plugin();
    });
}
