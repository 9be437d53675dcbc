//! Loads the CUDA libraries of the nvidia wheels, as JAX does before it loads its
//! CUDA plugin: the plugin's own search path misses some of them, and the wheels'
//! own search paths are wrong in places.
//!
//! It takes half a second and 200 MB, so it is done when a CUDA client is about to
//! be created and never to list plugins.

use std::error::Error as _;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use serde_json::json;

use crate::error::Error;

/// A library of an nvidia wheel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The folder in `nvidia` that the wheel fills.
    pub module: &'static str,
    /// The library, which is in that folder's `lib`.
    pub library: &'static str,
    /// The CUDA version that it is for; `None` when wheels of both install it.
    pub generation: Option<u32>,
}

const fn wanted(generation: u32, module: &'static str, library: &'static str) -> Wanted {
    Wanted { module, library, generation: if generation == 0 { None } else { Some(generation) } }
}

/// What JAX loads, in its order, whichever generation its plugin is of.
pub const LIBRARIES: [Wanted; 19] = [
    wanted(12, "cuda_runtime", "libcudart.so.12"),
    wanted(13, "cu13", "libcudart.so.13"),
    wanted(12, "cuda_nvrtc", "libnvrtc.so.12"),
    wanted(13, "cu13", "libnvrtc.so.13"),
    wanted(12, "cublas", "libcublas.so.12"),
    wanted(12, "cublas", "libcublasLt.so.12"),
    wanted(13, "cu13", "libcublas.so.13"),
    wanted(13, "cu13", "libcublasLt.so.13"),
    wanted(0, "nccl", "libnccl.so.2"),
    wanted(12, "cuda_cupti", "libcupti.so.12"),
    wanted(13, "cu13", "libcupti.so.13"),
    wanted(12, "cusparse", "libcusparse.so.12"),
    wanted(13, "cu13", "libcusparse.so.12"),
    wanted(12, "cusolver", "libcusolver.so.11"),
    wanted(13, "cu13", "libcusolver.so.12"),
    wanted(12, "cufft", "libcufft.so.11"),
    wanted(13, "cu13", "libcufft.so.12"),
    wanted(0, "nvshmem", "libnvshmem_host.so.3"),
    wanted(0, "cudnn", "libcudnn.so.9"),
];

/// What became of each library. Nothing of it is an error: a plugin needs few of
/// them, and those of a system-wide CUDA do as well.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The CUDA version that the plugin is for, 12 or 13, as far as its path tells.
    pub generation: Option<u32>,
    /// The libraries that were loaded, in order.
    pub loaded: Vec<PathBuf>,
    /// Those that are in none of the folders.
    pub missing: Vec<Wanted>,
    /// Those that are there and could not be loaded, with the loader's reason.
    pub failed: Vec<(PathBuf, String)>,
    /// The `nvidia` folders that were looked into.
    pub searched: Vec<PathBuf>,
}

/// Whether this is a plugin for CUDA, by the platform that it is declared for or
/// else by its path.
pub fn is_for_cuda(platform: Option<&str>, plugin: &Path) -> bool {
    match platform {
        Some("cuda") => true,
        Some("gpu") | None => plugin.to_string_lossy().contains("cuda"),
        Some(_) => false,
    }
}

/// Loads the libraries for the CUDA plugin at `plugin`, for good. They are looked
/// for in the `nvidia` folder beside the plugin's package, by its path as given and
/// then by its real one, and then in the `nvidia` folder of each of `folders`.
pub fn cuda(plugin: &Path, folders: &[PathBuf]) -> Report {
    let searched = nvidia_folders(plugin, folders);
    let mut report = Report { generation: generation(plugin), searched, ..Report::default() };
    for wanted in LIBRARIES {
        match wanted.find(&report.searched) {
            None => report.missing.push(wanted),
            Some(path) => match load(&path) {
                Ok(()) => report.loaded.push(path),
                Err(reason) => report.failed.push((path, reason)),
            },
        }
    }
    report
}

/// The libraries that [`cuda`] would load, which loads none of them.
pub fn present(plugin: &Path, folders: &[PathBuf]) -> Vec<PathBuf> {
    let searched = nvidia_folders(plugin, folders);
    LIBRARIES.iter().filter_map(|wanted| wanted.find(&searched)).collect()
}

impl Wanted {
    fn find(&self, nvidia_folders: &[PathBuf]) -> Option<PathBuf> {
        let inside = Path::new(self.module).join("lib").join(self.library);
        nvidia_folders.iter().map(|folder| folder.join(&inside)).find(|path| path.is_file())
    }
}

/// Where the wheels for a plugin may be.
fn nvidia_folders(plugin: &Path, folders: &[PathBuf]) -> Vec<PathBuf> {
    let beside = |path: &Path| path.parent().map(|folder| folder.join("../../nvidia"));
    let real = plugin.canonicalize().ok();
    let candidates = beside(plugin)
        .into_iter()
        .chain(real.as_deref().and_then(beside))
        .chain(folders.iter().map(|folder| folder.join("nvidia")));
    let mut found: Vec<PathBuf> = Vec::new();
    for folder in candidates.filter_map(|folder| folder.canonicalize().ok()) {
        if folder.is_dir() && !found.contains(&folder) {
            found.push(folder);
        }
    }
    found
}

fn generation(plugin: &Path) -> Option<u32> {
    let text = plugin.to_string_lossy();
    let number = text.rsplit("cuda").find_map(|rest| rest.get(..2)?.parse().ok());
    number.filter(|number| [12, 13].contains(number))
}

fn load(path: &Path) -> Result<(), String> {
    // SAFETY: running the library's initializers is what the user asks for by
    // asking for CUDA; its symbols stay its own, and it is never unmapped.
    let library = unsafe { Library::open(Some(path), RTLD_NOW | RTLD_LOCAL | libc::RTLD_NODELETE) };
    match library {
        Ok(library) => {
            std::mem::forget(library);
            Ok(())
        }
        Err(error) => Err(error.source().map_or_else(|| error.to_string(), ToString::to_string)),
    }
}

impl Report {
    /// The missing libraries that a plugin of this generation may need.
    fn lacking(&self) -> impl Iterator<Item = &Wanted> {
        let other = |wanted: &Wanted| {
            self.generation.is_some_and(|mine| wanted.generation.is_some_and(|its| its != mine))
        };
        self.missing.iter().filter(move |wanted| !other(wanted))
    }

    /// The report in a sentence.
    pub fn summary(&self) -> String {
        let file_name = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let loaded: Vec<String> = self.loaded.iter().map(file_name).collect();
        let mut text = match loaded.len() {
            0 => "loaded none of the CUDA libraries of the nvidia wheels".to_owned(),
            _ => format!("loaded of the nvidia wheels: {}", loaded.join(", ")),
        };
        let lacking: Vec<&str> = self.lacking().map(|wanted| wanted.library).collect();
        // Writing to a string cannot fail.
        if !lacking.is_empty() {
            let _ = write!(text, "; not found: {}", lacking.join(", "));
        }
        for (path, reason) in &self.failed {
            let _ = write!(text, "; could not load {}: {reason}", path.display());
        }
        let searched: Vec<String> = self.searched.iter().map(|path| path.display().to_string()).collect();
        match searched.len() {
            0 => {
                text += "; there is no folder nvidia beside the plugin's package or where Python packages were searched"
            }
            _ => {
                let _ = write!(text, "; searched {}", searched.join(", "));
            }
        }
        text
    }

    /// The report as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        let text = |path: &PathBuf| path.to_string_lossy().into_owned();
        let failed = |(path, problem): &(PathBuf, String)| json!({"path": text(path), "problem": problem});
        let missing = |wanted: &Wanted| format!("nvidia/{}/lib/{}", wanted.module, wanted.library);
        json!({
            "loaded": self.loaded.iter().map(text).collect::<Vec<_>>(),
            "missing": self.missing.iter().map(missing).collect::<Vec<_>>(),
            "failed": self.failed.iter().map(failed).collect::<Vec<_>>(),
            "searched": self.searched.iter().map(text).collect::<Vec<_>>(),
        })
    }

    /// The same error with the report as its detail `preload`.
    pub fn attach(&self, error: Error) -> Error {
        error.with("preload", self.summary())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_platform_or_else_the_path_decides() {
        let jax = Path::new("/env/jax_plugins/xla_cuda12/xla_cuda_plugin.so");
        let other = Path::new("/env/plugin.so");
        assert!(is_for_cuda(Some("cuda"), other) && is_for_cuda(None, jax) && is_for_cuda(Some("gpu"), jax));
        assert!(
            !is_for_cuda(Some("cpu"), jax) && !is_for_cuda(None, other) && !is_for_cuda(Some("gpu"), other)
        );
    }

    #[test]
    fn the_generation_is_in_the_path() {
        let of = |path: &str| generation(Path::new(path));
        assert_eq!(of("/env/jax_plugins/xla_cuda12/xla_cuda_plugin.so"), Some(12));
        assert_eq!(of("/env/cuda12/jax_plugins/xla_cuda13/xla_cuda_plugin.so"), Some(13));
        assert_eq!(of("/opt/cuda/plugin.so"), None);
        assert_eq!(of("/opt/cuda-é/cuda99.so"), None);
    }

    #[test]
    fn a_report_tells_what_the_plugin_may_lack() {
        let report = Report {
            generation: Some(12),
            loaded: vec!["/n/cuda_runtime/lib/libcudart.so.12".into()],
            missing: vec![LIBRARIES[1], LIBRARIES[2], LIBRARIES[8]],
            failed: vec![("/n/cudnn/lib/libcudnn.so.9".into(), "file too short".into())],
            searched: vec!["/n".into()],
        };
        let text = report.summary();
        assert!(text.starts_with("loaded of the nvidia wheels: libcudart.so.12; "), "{text}");
        assert!(text.contains("not found: libnvrtc.so.12, libnccl.so.2;"), "{text}");
        assert!(text.contains("libcudnn.so.9: file too short; searched /n"), "{text}");
        assert_eq!(report.to_json()["missing"][0], "nvidia/cu13/lib/libcudart.so.13");
        assert!(Report::default().summary().contains("no folder nvidia"));
    }
}
