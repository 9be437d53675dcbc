//! Link settings of the shared library: the SONAME is the ABI version, and the
//! library stays mapped for the life of the process.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let os = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if os == "linux" {
        // The plugin keeps threads and exit handlers that call back into this
        // library, so a host that closes it must not unmap it.
        for argument in ["-Wl,-soname,libcyxla.so.0", "-Wl,-z,nodelete"] {
            println!("cargo::rustc-cdylib-link-arg={argument}");
        }
    }
}
