//! The programs that the checks need: found, or installed, or named in an error.

mod install;
mod presence;

pub use install::cargo_deny;

use crate::Result;

/// Something that must be on the machine.
pub struct Tool {
    name: &'static str,
    from: Source,
    is_present: fn(&str) -> bool,
}

/// Where a tool comes from.
enum Source {
    /// A package of the Debian that runs here.
    Debian(&'static str),
    /// Julia, which only an older Debian has.
    OlderDebian,
    /// A component of the Rust toolchain.
    Rustup(&'static str),
}

const fn program(name: &'static str, package: &'static str) -> Tool {
    Tool { name, from: Source::Debian(package), is_present: presence::on_path }
}

const fn cargo_command(name: &'static str, component: &'static str) -> Tool {
    Tool { name, from: Source::Rustup(component), is_present: presence::cargo_command }
}

const fn other(name: &'static str, package: &'static str, is_present: fn(&str) -> bool) -> Tool {
    Tool { name, from: Source::Debian(package), is_present }
}

pub const CC: Tool = program("cc", "gcc");
pub const GCC: Tool = program("gcc", "gcc");
pub const GXX: Tool = program("g++", "g++");
pub const CLANG: Tool = program("clang", "clang");
pub const CMAKE: Tool = program("cmake", "cmake");
pub const MAKE: Tool = program("make", "make");
pub const PKG_CONFIG: Tool = program("pkg-config", "pkg-config");
pub const NM: Tool = program("nm", "binutils");
pub const VALGRIND: Tool = program("valgrind", "valgrind");
pub const GO: Tool = program("go", "golang-go");
pub const PYTHON: Tool = program("python3", "python3");
pub const PIP: Tool = other("pip", "python3-pip", presence::pip);
pub const LIBC_HEADERS: Tool = other("stdio.h", "libc6-dev", presence::c_headers);
pub const LIBCLANG: Tool = other("libclang", "libclang-dev", presence::libclang);
pub const JULIA: Tool = Tool { name: "julia", from: Source::OlderDebian, is_present: presence::on_path };
pub const RUST_SOURCES: Tool =
    Tool { name: "Rust's own sources", from: Source::Rustup("rust-src"), is_present: presence::rust_sources };
pub const RUSTFMT: Tool = cargo_command("fmt", "rustfmt");
pub const CLIPPY: Tool = cargo_command("clippy", "clippy");

impl Tool {
    fn is_present(&self) -> bool {
        (self.is_present)(self.name)
    }

    fn advice(&self) -> String {
        match self.from {
            Source::Debian(package) => format!("{} (Debian's package {package})", self.name),
            Source::OlderDebian => format!("{} (1.5 or newer)", self.name),
            Source::Rustup(component) => of_the_toolchain(component, presence::on_path("rustup")),
        }
    }
}

fn of_the_toolchain(component: &str, has_rustup: bool) -> String {
    match has_rustup {
        true => format!("{component} (`rustup component add {component}`)"),
        // A distribution's compiler may come without, or with that of another version.
        false => format!(
            "{component} for this very Rust toolchain, which is not rustup's (install rustup, https://rustup.rs, then `rustup component add {component}`; or take a package of {component} from where the toolchain came from)"
        ),
    }
}

/// Installs what is missing where that is possible (root on Debian and its
/// kin), else says what to install.
pub fn need(tools: &[&Tool]) -> Result<()> {
    let missing = missing(tools);
    if missing.is_empty() {
        return Ok(());
    }
    if install::is_possible() {
        install::install(&missing)?;
    }
    check(&missing)
}

/// Says what is missing, without installing anything.
pub fn check(tools: &[&Tool]) -> Result<()> {
    let advice: Vec<String> = missing(tools).iter().map(|tool| tool.advice()).collect();
    if advice.is_empty() { Ok(()) } else { Err(format!("install {}, and start again", advice.join(", "))) }
}

fn missing<'a>(tools: &[&'a Tool]) -> Vec<&'a Tool> {
    let mut missing: Vec<&Tool> = Vec::new();
    for tool in tools {
        if !missing.iter().any(|known| known.name == tool.name) && !tool.is_present() {
            missing.push(tool);
        }
    }
    missing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_had_without_rustup_too() {
        assert_eq!(of_the_toolchain("rust-src", true), "rust-src (`rustup component add rust-src`)");
        let without = of_the_toolchain("rust-src", false);
        assert!(without.contains("is not rustup's") && without.contains("https://rustup.rs"), "{without}");
    }
}
