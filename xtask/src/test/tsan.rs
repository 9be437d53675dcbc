//! Tests of threads under ThreadSanitizer, which reports what two threads do to the same
//! memory without an order between them, whether it went well this time or not.
//!
//! The library, the fake plugin and Rust's own library are built for it: one that is not
//! hides from it what its locks order, and it would report races that are none. So no
//! report of theirs is suppressed; tests/tsan/suppressions.txt has what the C library does.
//! The toolchain is the usual one, told to take the options.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::process;
use crate::project::Project;

/// What a program runs with: the fake plugin's script.
const SYNCHRONOUS: &str = "works";
/// Steps end in a thread of the plugin's, a while after they were started.
const ASYNCHRONOUS: &str = "lenient,always_async,delay_ms=1";

const RUNS: [(&str, &[&str]); 13] = [
    ("threads", &[SYNCHRONOUS, ASYNCHRONOUS]),
    ("threads_calls", &[SYNCHRONOUS, ASYNCHRONOUS]),
    ("threads_sharing", &[SYNCHRONOUS]),
    ("test_run", &[SYNCHRONOUS, ASYNCHRONOUS]),
    ("test_call", &[SYNCHRONOUS, ASYNCHRONOUS]),
    ("test_buffer", &[ASYNCHRONOUS]),
    ("test_dlpack", &[ASYNCHRONOUS]),
    ("test_memory", &[ASYNCHRONOUS]),
    ("test_saved", &[ASYNCHRONOUS]),
    ("test_cache", &[SYNCHRONOUS]),
    ("lifetimes", &[ASYNCHRONOUS]),
    ("order", &[ASYNCHRONOUS]),
    ("fork", &[ASYNCHRONOUS]),
];
/// What every test is linked with.
const SUPPORT: [&str; 6] = ["test", "child", "crowd", "support", "corpus", "lend"];

/// What a person may not expect, in the case that it fails.
const STD_IS_BUILT: &str =
    "Rust's own library is built here too: cargo fetches the crates that it needs, once, from its registry";

/// What ThreadSanitizer begins a report with.
const REPORT: &str = "WARNING: ThreadSanitizer: data race";

pub fn tests(project: &Project) -> Result<()> {
    let built = Built::new(project)?;
    built.check_that_races_are_reported()?;
    for (name, scripts) in RUNS {
        let program = built.link(name, &project.root.join("tests/c").join(name).with_extension("c"))?;
        for script in scripts {
            println!("CYXLA_FAKE_PLUGIN={script}");
            process::run(built.command(&program).env("CYXLA_FAKE_PLUGIN", script))?;
        }
    }
    Ok(())
}

/// What was built for ThreadSanitizer.
struct Built {
    /// The folder of the library and of the plugin.
    libraries: PathBuf,
    /// The folder of the programs.
    programs: PathBuf,
    /// What the compiler has to find.
    sources: PathBuf,
    include: PathBuf,
    /// ThreadSanitizer itself, of the version that the Rust code was compiled for.
    runtime: PathBuf,
    support: Vec<PathBuf>,
}

impl Built {
    fn new(project: &Project) -> Result<Built> {
        let triple = process::output(Command::new("rustc").args(["--print", "host-tuple"]))?;
        let (triple, target) = (triple.trim(), project.target.join("xtask/tsan-target"));
        for (package, part) in
            [("libcyxla", "--crate-type=cdylib"), ("cyxla-fake-plugin", "--crate-type=cdylib")]
        {
            let mut cargo = project.cargo();
            cargo.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", "-Zsanitizer=thread");
            cargo.env("CARGO_TARGET_DIR", &target).env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only");
            cargo.args(["rustc", part, "--package", package, "--locked"]);
            process::run(cargo.args(["-Zbuild-std=std,panic_unwind", "--target", triple]))
                .map_err(|error| format!("{error}; {STD_IS_BUILT}"))?;
        }
        let libraries = target.join(triple).join("debug");
        let link = libraries.join("libcyxla.so.0");
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink("libcyxla.so", &link)
            .map_err(|error| format!("cannot make the link {}: {error}", link.display()))?;
        let mut built = Built {
            libraries,
            programs: project.fresh_folder("tsan")?,
            sources: project.root.join("tests/c"),
            include: project.include(),
            runtime: runtime(triple)?,
            support: Vec::new(),
        };
        for name in SUPPORT {
            let object = built.compile(name, &built.sources.join(name).with_extension("c"))?;
            built.support.push(object);
        }
        Ok(built)
    }

    fn compile(&self, name: &str, source: &Path) -> Result<PathBuf> {
        let object = self.programs.join(name).with_extension("o");
        let fixtures = self.sources.join("../fixtures");
        let mut clang = Command::new("clang");
        clang.args(["-std=c99", "-g", "-O1", "-fsanitize=thread", "-D_POSIX_C_SOURCE=200809L", "-c"]);
        clang.arg("-D_ISOC11_SOURCE"); // for quick_exit
        clang.arg(format!("-DTEST_FIXTURES=\"{}\"", fixtures.display()));
        clang.arg("-I").arg(&self.sources).arg("-I").arg(&self.include);
        process::run_quietly(clang.arg(source).arg("-o").arg(&object))?;
        Ok(object)
    }

    fn link(&self, name: &str, source: &Path) -> Result<PathBuf> {
        let program = self.programs.join(name);
        let mut clang = Command::new("clang");
        clang.arg(self.compile(name, source)?).args(&self.support);
        // The program has the one ThreadSanitizer of the process; the libraries look for it there.
        clang.args(["-rdynamic", "-Wl,--whole-archive"]).arg(&self.runtime).arg("-Wl,--no-whole-archive");
        clang.arg("-L").arg(&self.libraries).arg("-lcyxla");
        clang.arg(format!("-Wl,-rpath,{}", self.libraries.display()));
        // What ThreadSanitizer itself needs.
        clang.args(["-lpthread", "-ldl", "-lm", "-lrt", "-lstdc++"]);
        process::run_quietly(clang.arg("-o").arg(&program))?;
        Ok(program)
    }

    /// A run of a program. What the person at the keyboard or cargo has set would lead it
    /// to other libraries and plugins.
    fn command(&self, program: &Path) -> Command {
        let mut run = Command::new(program);
        // ThreadSanitizer finds the names for its reports with the help of a program.
        let path = std::env::var_os("PATH").unwrap_or_default();
        run.env_clear().env("PATH", path).env("CYXLA_TEST_PLUGIN_API", "fake");
        let suppressions = self.sources.join("../tsan/suppressions.txt");
        run.env("TSAN_OPTIONS", format!("suppressions={}", suppressions.display()));
        run.env("CYXLA_PLUGIN", self.libraries.join("libcyxla_fake_plugin.so"));
        run
    }

    /// A race in the host and one in the library, both made for this.
    fn check_that_races_are_reported(&self) -> Result<()> {
        let program = self.link("control", &self.sources.join("../tsan/control.c"))?;
        for (race, place) in [("host", "write_variable"), ("library", "cyxla_options_set_int")] {
            let said = process::output_of_failure(self.command(&program).arg(race))?;
            if !is_report(&said, place) {
                return Err(format!("a race in {place} was not reported, so nothing would be:\n{said}"));
            }
            println!("a race in {place} is reported");
        }
        Ok(())
    }
}

/// Whether ThreadSanitizer tells of a race in a function.
fn is_report(said: &str, place: &str) -> bool {
    said.contains(REPORT) && said.contains(place)
}

/// The ThreadSanitizer that comes with the Rust toolchain.
fn runtime(triple: &str) -> Result<PathBuf> {
    let sysroot = process::output(Command::new("rustc").args(["--print", "sysroot"]))?;
    let folder = Path::new(sysroot.trim()).join("lib/rustlib").join(triple).join("lib");
    let names = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found = names.filter(|path| path.to_string_lossy().ends_with("_rt.tsan.a"));
    found.next().ok_or(format!("the Rust toolchain has no ThreadSanitizer in {}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_names_the_place() {
        let said = format!("{REPORT} (pid=1)\n  #0 write_variable control.c:23\n");
        assert!(is_report(&said, "write_variable"));
        assert!(!is_report(&said, "cyxla_options_set_int"));
        assert!(!is_report("write_variable: segmentation fault", "write_variable"));
    }
}
