//! `cyxla info`: plugins that work, and plugins that misbehave.

mod support;

use std::time::{Duration, Instant};

use support::{cyxla, error_json, failure_text, fake_plugin, plugin, required, stderr, stdout, success_json};

#[test]
fn the_details_are_those_of_the_plugin() {
    let mut command = cyxla();
    let output = command.args(["info", "--json", "--plugin"]).arg(plugin()).output().unwrap();
    let info = success_json(&output);
    assert_eq!(info["platform"], "cpu");
    assert_eq!(info["api_version"], required("CYXLA_TEST_PLUGIN_API").to_str().unwrap());
    assert_eq!(info["plugin_path"], plugin().to_str().unwrap());
    assert_eq!(info["devices"].as_array().unwrap().len(), 1);
    assert_eq!(info["options"]["cpu_device_count"], 1);
    assert!(info["is_synchronous"].is_boolean() && info["avoids_copies"].is_boolean());

    let mut command = cyxla();
    let two = ["info", "-o", "cpu_device_count=2", "--json", "--plugin"];
    let info = success_json(&command.args(two).arg(plugin()).output().unwrap());
    assert_eq!(info["devices"].as_array().unwrap().len(), 2);
}

#[test]
fn people_get_lines_and_a_table() {
    let output = cyxla().args(["info", "--plugin"]).arg(plugin()).output().unwrap();
    let text = stdout(&output);
    let version = required("CYXLA_TEST_PLUGIN_API");
    for line in [
        "platform           cpu".to_owned(),
        format!("api version        {}", version.display()),
        format!("plugin path        {}", plugin().display()),
        "devices:".to_owned(),
    ] {
        assert!(text.lines().any(|one| one == line), "{text} lacks {line}");
    }
    assert!(text.contains("DESCRIPTION"), "{text}");
}

#[test]
fn options_and_platforms_are_checked() {
    let info = |arguments: &[&str]| {
        let output = cyxla().args(["info", "--json", "--plugin"]).arg(plugin()).args(arguments).output();
        error_json(&output.unwrap())
    };
    let error = info(&["-o", "cpu_device_count=-1"]);
    assert_eq!(error["code"], "INVALID_ARGUMENT");
    assert!(error["message"].as_str().unwrap().contains("cpu_device_count"), "{error}");
    let error = info(&["-o", "threads=100000"]);
    assert!(error["message"].as_str().unwrap().contains("threads"), "{error}");
    let error = info(&["--platform", "cuda"]);
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("cuda") && message.contains("cpu"), "{error}");
}

#[test]
fn without_a_plugin_the_error_says_what_to_do() {
    let text = failure_text(&cyxla().arg("info").output().unwrap());
    assert!(text.contains("cyxla install cpu"), "{text}");
    let error = error_json(&cyxla().args(["info", "--json", "--plugin", "/no/such.so"]).output().unwrap());
    assert!(error["message"].as_str().unwrap().contains("/no/such.so"), "{error}");
}

#[test]
fn a_plugin_that_kills_the_process_is_one_line() {
    let info = || {
        let mut command = cyxla();
        command.env("CYXLA_FAKE_PLUGIN", "aborts").args(["info", "--plugin"]).arg(fake_plugin());
        command
    };
    let text = failure_text(&info().output().unwrap());
    let first = text.lines().next().unwrap();
    assert_eq!(first, "cyxla: the plugin killed the process (signal 6, SIGABRT)");
    assert!(text.contains(fake_plugin().to_str().unwrap()), "{text}");
    let error = error_json(&info().arg("--json").output().unwrap());
    assert_eq!(error["code"], "ABORTED");
    assert_eq!(error["details"]["plugin.path"], fake_plugin().to_str().unwrap());
}

#[test]
fn what_a_plugin_prints_stays_out_of_the_answer() {
    let output = cyxla()
        .env("CYXLA_FAKE_PLUGIN", "noisy")
        .args(["info", "--json", "--plugin"])
        .arg(fake_plugin())
        .output()
        .unwrap();
    let error = error_json(&output);
    assert!(error["message"].as_str().unwrap().contains("synthetic failure"), "{error}");
    assert!(stderr(&output).contains("noise on stdout"), "{}", stderr(&output));
}

/// Plugins in a few lines of C, for what the fake one does not do.
fn compiled(folder: &std::path::Path, body: &str) -> std::path::PathBuf {
    let source = support::file(
        folder,
        "plugin.c",
        format!(
            "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n\
             const void *GetPjrtApi(void) {{ {body} return 0; }}\n"
        ),
    );
    let library = folder.join("plugin.so");
    let status = std::process::Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .status()
        .expect("a C compiler, which `cargo xtask test` asks for");
    assert!(status.success());
    library
}

/// Whether a process is gone, or at least dead.
fn is_dead(id: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{id}/stat")).map_or(true, |text| text.contains(") Z"))
}

#[test]
fn a_plugin_that_hangs_is_stopped_with_all_that_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let id_file = folder.path().join("id");
    // It tries to pass for the command's own answer, starts a process that lives
    // on, and hangs.
    let body = format!(
        "puts(\"{{\\\"info\\\":{{}}}}\"); fflush(stdout); \
         int id = fork(); if (id == 0) {{ sleep(60); _exit(0); }} \
         FILE *file = fopen(\"{}\", \"w\"); fprintf(file, \"%d\", id); fclose(file); sleep(60);",
        id_file.display()
    );
    let library = compiled(folder.path(), &body);
    let begin = Instant::now();
    let mut command = cyxla();
    command.args(["info", "--timeout", "1", "--json", "--plugin"]).arg(&library);
    let error = error_json(&command.output().unwrap());
    assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
    assert_eq!(error["code"], "DEADLINE_EXCEEDED");
    assert!(error["message"].as_str().unwrap().contains("within 1 s"), "{error}");
    assert_eq!(error["details"]["printed"], "{\"info\":{}}");
    let id = std::fs::read_to_string(id_file).unwrap();
    let deadline = Instant::now() + Duration::from_secs(10);
    while !is_dead(&id) {
        assert!(Instant::now() < deadline, "process {id}, which the plugin started, lives on");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_plugin_that_ends_the_process_is_told() {
    let folder = tempfile::tempdir().unwrap();
    for (body, words) in [
        ("_exit(0);", "the plugin ended the process (exit code 0)"),
        ("exit(7);", "the plugin ended the process (exit code 7)"),
        ("*(volatile int *)0 = 1;", "the plugin killed the process (signal 11, SIGSEGV)"),
    ] {
        let library = compiled(folder.path(), body);
        let text = failure_text(&cyxla().args(["info", "--plugin"]).arg(&library).output().unwrap());
        assert!(text.starts_with(&format!("cyxla: {words}\n")), "{text}");
    }
}
