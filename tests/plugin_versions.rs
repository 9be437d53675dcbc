//! Plugins of other versions than this library: a function that a plugin does not
//! have gives an error that names it, and whatever lies behind a short table is left
//! alone. The fake plugin puts addresses there that crash.

mod support;

use cyxla::error::{Code, Error};
use cyxla::pjrt::sys;
use cyxla::program::{Format, Program};
use cyxla::runtime::{self, Executable};
use std::io::Write;
use support::{FakeCounts, each_isolated, exercise, fake_plugin, isolated};

const SCRIPT: &str = "CYXLA_FAKE_PLUGIN";

/// Without these nothing can be done at all.
const NEEDED: [&str; 25] = [
    "PJRT_Error_Destroy",
    "PJRT_Error_Message",
    "PJRT_Error_GetCode",
    "PJRT_Plugin_Initialize",
    "PJRT_Event_Destroy",
    "PJRT_Event_Await",
    "PJRT_Client_Create",
    "PJRT_Client_Destroy",
    "PJRT_Client_PlatformName",
    "PJRT_Client_Compile",
    "PJRT_Client_BufferFromHostBuffer",
    "PJRT_Device_GetDescription",
    "PJRT_DeviceDescription_Id",
    "PJRT_Executable_Destroy",
    "PJRT_Executable_NumOutputs",
    "PJRT_Executable_OptimizedProgram",
    "PJRT_Executable_OutputElementTypes",
    "PJRT_Executable_OutputDimensions",
    "PJRT_LoadedExecutable_Destroy",
    "PJRT_LoadedExecutable_GetExecutable",
    "PJRT_LoadedExecutable_Execute",
    "PJRT_Buffer_Destroy",
    "PJRT_Buffer_GetMemoryLayout",
    "PJRT_Buffer_OnDeviceSizeInBytes",
    "PJRT_Buffer_ReadyEvent",
];

/// Uses a plugin as each script makes it, in a process of its own, and says which of
/// them went well. `accept` judges the error of one that did not.
fn try_plugins(
    test: &str,
    scripts: impl Iterator<Item = (String, usize)>,
    accept: impl Fn(&Error, usize),
) -> Vec<usize> {
    const FINE: &str = "[everything worked]";
    let all = each_isolated(test, SCRIPT, scripts, |&case| {
        let fake = fake_plugin();
        match exercise(&fake) {
            Ok(()) => writeln!(std::io::stdout(), "{FINE}").expect("stdout takes text"),
            Err(error) => accept(&error, case),
        }
        assert_eq!(FakeCounts::of(&fake).misuses, 0);
    });
    all.into_iter().filter(|(_, ended)| ended.stdout.contains(FINE)).map(|(case, _)| case).collect()
}

/// Position of the slot that an error says is lacking.
fn lacking(error: &Error) -> usize {
    assert_eq!(error.code(), Code::Unimplemented, "{error}");
    let message = error.message();
    let (_, rest) = message.split_once("lacks ").unwrap_or_else(|| panic!("{message}"));
    let name = rest.split([',', ' ', ';']).next().unwrap_or_default();
    sys::SLOTS
        .iter()
        .position(|slot| slot.name == name)
        .unwrap_or_else(|| panic!("`{message}` names no function of the table"))
}

#[test]
fn a_function_that_is_missing_is_named() {
    let scripts = sys::SLOTS.iter().map(|slot| format!("works,lack={}", slot.name));
    let name = "a_function_that_is_missing_is_named";
    let fine = try_plugins(name, scripts.zip(0..), |error, at| {
        let function = sys::SLOTS[at].name;
        assert_eq!(lacking(error), at, "`{error}` should name {function}");
    });
    let missed = fine.iter().map(|&at| sys::SLOTS[at].name).find(|name| NEEDED.contains(name));
    assert_eq!(missed, None, "a function that is needed was not missed");
}

#[test]
fn a_table_may_end_anywhere() {
    let all = sys::SLOTS.len();
    let scripts = (0..=all).map(|slots| (format!("works,api_minor=54,slots={slots}"), slots));
    let fine = try_plugins("a_table_may_end_anywhere", scripts, |error, slots| {
        assert!(lacking(error) >= slots, "`{error}` with {slots} slots");
    });
    let Some(&enough) = fine.first() else { return };
    // PJRT 0.54 had 113 functions.
    assert!(enough <= 113, "{enough} functions are needed");
    assert_eq!(fine, (enough..=all).collect::<Vec<_>>(), "a longer table does not work");
}

#[test]
fn half_a_slot_is_none() {
    // No word of the script makes such a table; the copy is what matters.
    let mut table = sys::PJRT_Api::new();
    let first = sys::SLOTS[0].offset;
    table.struct_size = first + 4;
    table.pjrt_api_version.minor_version = 100;
    // SAFETY: the table outlives the call, which keeps a copy.
    let error = unsafe { cyxla::pjrt::Api::from_table(&table) }.err().expect("a useless table");
    assert_eq!(lacking(&error), 0);
}

#[test]
fn a_longer_table_works() {
    isolated("a_longer_table_works", &[(SCRIPT, "works,api_minor=9000,slots=600")], || {
        exercise(&fake_plugin()).unwrap();
    });
}

#[test]
fn the_version_with_a_table_of_its_own() {
    isolated("the_version_with_a_table_of_its_own", &[(SCRIPT, "works,api_minor=56")], || {
        let error = exercise(&fake_plugin()).unwrap_err();
        assert_eq!(error.code(), Code::Unimplemented);
        assert!(error.message().contains("PJRT 0.56"), "{error}");
    });
}

#[test]
fn the_oldest_version() {
    isolated("the_oldest_version", &[(SCRIPT, "works,api_minor=54")], || {
        exercise(&fake_plugin()).unwrap();
        assert_eq!(runtime::get().unwrap().api_version, (0, 54));
    });
}

#[test]
fn a_version_that_is_too_old() {
    isolated("a_version_that_is_too_old", &[(SCRIPT, "works,api_minor=53")], || {
        let error = exercise(&fake_plugin()).unwrap_err();
        assert_eq!(error.code(), Code::Unimplemented);
        assert!(error.message().contains("PJRT 0.53"), "{error}");
        assert!(error.message().contains("0.54 or newer"), "{error}");
    });
}

#[test]
fn a_plugin_that_ignores_options_is_not_called_synchronous() {
    let name = "a_plugin_that_ignores_options_is_not_called_synchronous";
    isolated(name, &[(SCRIPT, "works,lenient,api_minor=81")], || {
        exercise(&fake_plugin()).unwrap();
        let info = runtime::get().unwrap();
        assert!(!info.is_synchronous, "{}", info.json);
        assert_eq!(info.devices.len(), 1);
    });
}

#[test]
fn a_plugin_that_knows_the_option_is_synchronous() {
    let name = "a_plugin_that_knows_the_option_is_synchronous";
    isolated(name, &[(SCRIPT, "works,async,delay_ms=50")], || {
        exercise(&fake_plugin()).unwrap();
        assert!(runtime::get().unwrap().is_synchronous);
    });
}

#[test]
fn a_type_that_an_old_plugin_dies_of_is_refused() {
    isolated("a_type_that_an_old_plugin_dies_of_is_refused", &[(SCRIPT, "works,api_minor=106")], || {
        runtime::initialize(Some(&fake_plugin()), Some("cpu"), None).unwrap();
        let text = "module { func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
            %b = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xf6E2M3FN>
            %c = stablehlo.convert %b : (tensor<4xf6E2M3FN>) -> tensor<4xf32>
            return %c : tensor<4xf32> } }";
        let program = Program::from_bytes(text.as_bytes(), Format::StableHlo, None).unwrap();
        let Err(error) = Executable::compile(&program, None) else { panic!("it compiles") };
        assert_eq!(error.code(), Code::Unimplemented);
        assert!(error.message().contains("f6e2m3fn") && error.message().contains("0.106"), "{error}");
    });
}
