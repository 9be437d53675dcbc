//! Wheels that carry a plugin and do not say so to libcyxla: JAX's for CUDA and ROCm,
//! libtpu, and some for the CPU. Their files tell.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::distribution::Distribution;
use super::{described, normalized};
use crate::discover::names::{self, Named};
use crate::discover::{Found, Search, files};
use crate::order;

/// Wheels with a plugin in a fixed place: platform, library, package.
const FIXED: [(&str, &str, &str); 4] = [
    ("cpu", "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so", "lammps-jax-pjrt-cpu"),
    ("cpu", "fastatomstruct_xla_cpu/libpjrt_cpu.so", "fastatomstruct-xla-cpu"),
    ("cpu", "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so", "xla-cpu-pjrt"),
    ("tpu", "libtpu/libtpu.so", "libtpu"),
];
const JAX: &str = "jax_plugins";

/// Adds the wheels in a folder of packages. `modules` are those of earlier folders,
/// which hide later ones of the same name.
pub fn add(
    search: &mut Search,
    folder: &Path,
    distributions: &mut [Distribution],
    modules: &mut HashSet<PathBuf>,
    from: Option<&str>,
) {
    for wheel in fixed(folder).chain(of_jax(folder, distributions)) {
        let package = distributions.iter_mut().find(|package| {
            package.key == wheel.package
                || package.entry_points.of_jax.iter().any(|entry| entry.module == wheel.module)
        });
        // What is not there at all is nobody's problem, unless a package says it is.
        let is_there = is_there(&folder.join(&wheel.library)) || package.is_some();
        if !is_there || !modules.insert(wheel.library.clone()) {
            continue;
        }
        let package = package.map(|package| {
            package.read_headers();
            &*package
        });
        let mut origin = described(package, folder);
        if let Some(from) = from {
            origin += &format!(" ({from})");
        }
        let path = folder.join(&wheel.library);
        let mut found = Found::new(wheel.named.platform, path, origin).by_name(wheel.named.generation);
        found.version = package.and_then(|package| package.version.clone());
        search.add(found);
    }
}

/// A plugin that a wheel may have.
struct Wheel {
    named: Named,
    /// Below the folder of packages.
    library: PathBuf,
    /// The module that a package may declare to JAX; empty if none.
    module: String,
    /// The usual package, in the form that all spellings share.
    package: String,
}

fn fixed(folder: &Path) -> impl Iterator<Item = Wheel> {
    let there = FIXED.iter().filter(move |(_, library, _)| is_there(&folder.join(library)));
    there.map(|(platform, library, package)| Wheel {
        named: Named { platform: (*platform).into(), generation: 0 },
        library: library.into(),
        module: String::new(),
        package: (*package).into(),
    })
}

fn of_jax(folder: &Path, distributions: &[Distribution]) -> impl Iterator<Item = Wheel> + use<> {
    let folder = folder.to_owned();
    jax_modules(&folder, distributions).into_iter().filter_map(move |name| {
        let named = names::of_jax_folder(&name)?;
        let package = normalized(&format!("jax-{}-pjrt", name.trim_start_matches("xla_")));
        let library = library_of_jax(&folder, &name, &named.platform);
        Some(Wheel { named, library, module: format!("{JAX}.{name}"), package })
    })
}

/// A link to nothing is there too, and to be reported.
fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// The modules in JAX's folder, and those that packages say are there.
fn jax_modules(folder: &Path, distributions: &[Distribution]) -> Vec<String> {
    let names = files::names(&folder.join(JAX)).unwrap_or_default();
    let mut modules: Vec<String> = names.into_iter().filter_map(|name| name.into_string().ok()).collect();
    let declared = distributions.iter().flat_map(|package| &package.entry_points.of_jax);
    modules.extend(
        declared.filter_map(|entry| entry.module.strip_prefix(JAX)?.strip_prefix('.').map(str::to_owned)),
    );
    order::sort(&mut modules);
    modules.dedup();
    modules
}

/// The library of one of JAX's modules. The second name is of builds of one's own.
fn library_of_jax(folder: &Path, module: &str, platform: &str) -> PathBuf {
    let place = Path::new(JAX).join(module);
    let usual = place.join(format!("xla_{platform}_plugin.so"));
    let other = place.join("pjrt_c_api_gpu_plugin.so");
    if !is_there(&folder.join(&usual)) && is_there(&folder.join(&other)) { other } else { usual }
}
