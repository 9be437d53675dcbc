//! The runtimes that the library is compared with, in a Python environment in the cache.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::Result;
use crate::process;
use crate::project;

/// What pip is to fetch, with the hashes of the wheels for this Python on x86-64.
const PACKAGES: &str = "\
flatbuffers==25.12.19 --hash=sha256:7634f50c427838bb021c2d66a3d1168e9d199b0607e6329399f04846d42e20b4
jax==0.10.2 --hash=sha256:724d73c4678d8b06f6a6ab4db1b8a2fea8cd4f1e2c2564f99601634ec7b8d1c6
jaxlib==0.10.2 --hash=sha256:1faca3c5d4662cb4a6130a68105d68bb520764817e165d6eebfd6786c0d1f30f
ml_dtypes==0.6.0 --hash=sha256:6c8e39b53e90afda8ce52859c93de4dba3e02b76d85dcf091cc469f9184c6dae
numpy==2.4.6 --hash=sha256:89cd468399cfd2504718f0ba50e410dca55a170b61a02ad92bb18c8a65186e93
onnx==1.23.2 --hash=sha256:c03ecf6b835d136108eeaeeafbd0026fc7b3cf98661409fbc6b63d5a29361348
onnxruntime==1.32.0 --hash=sha256:5a34fc4dfeb5a7b4a74c95dcba1e773d722abda720b474edf1b0c419dc6d163d
opt_einsum==3.4.0 --hash=sha256:69bb92469f86a1565195ece4ac0323943e83477171b91d24c35afe028a90d7cd
packaging==26.4 --hash=sha256:81383611a09c1bc0b08b76e0fd5829d7c6824c65b27a6aee339da133f4233ea2
protobuf==7.36.2 --hash=sha256:89f23aa53c24553a2416fd4fd1ec06f74fa42b14b546d8883128813f775bbfd2
pypjrt==0.1.1 --hash=sha256:f1517f4957934b9c02918770d88f3349502ed2bd0a6a5aa269fd6656b26eff1a
scipy==1.17.1 --hash=sha256:43af8d1f3bea642559019edfe64e9b11192a8978efbd1539d7bc2aaa23d92de4
typing_extensions==4.16.0 --hash=sha256:481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8
";

/// The Python that the wheels are for.
const PYTHON: &str = "3.11";

/// Within the environment.
const ONNXRUNTIME: &str = "lib/python3.11/site-packages/onnxruntime/capi/libonnxruntime.so.1.32.0";

/// The environment with all of them, once `ensure` has made it.
pub struct Peers {
    pub python: PathBuf,
    /// ONNX Runtime's library, with the C API.
    pub onnxruntime: PathBuf,
}

/// Makes the environment, unless it is there as it should be.
pub fn ensure() -> Result<Peers> {
    let folder = project::cache()?.join("peers");
    let peers = Peers { python: folder.join("bin/python"), onnxruntime: folder.join(ONNXRUNTIME) };
    // Written last, so that an interrupted installation is never taken for a whole one.
    let installed = folder.join("installed.txt");
    if fs::read_to_string(&installed).is_ok_and(|list| list == PACKAGES) {
        println!("peers: {}", folder.display());
        return Ok(peers);
    }
    println!(
        "installing ONNX Runtime, JAX and pypjrt, to compare with, into {} (170 MB to fetch, 710 MB on disk)",
        folder.display()
    );
    let python = python()?;
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| format!("cannot empty {}: {error}", folder.display()))?;
    }
    // Debian's Python cannot put a pip of its own into the environment.
    process::run(Command::new(python).args(["-m", "venv", "--without-pip"]).arg(&folder))?;
    let wanted = folder.join("wanted.txt");
    project::write(&wanted, PACKAGES)?;
    let mut pip = Command::new(python);
    pip.args(["-m", "pip", "--python"]).arg(&peers.python);
    pip.args(["install", "--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes", "--requirement"]);
    process::run(pip.arg(&wanted))?;
    fs::rename(&wanted, &installed)
        .map_err(|error| format!("cannot write {}: {error}", installed.display()))?;
    Ok(peers)
}

/// A Python of the right version that has pip.
fn python() -> Result<&'static str> {
    let script = "import pip, sys, venv; print('%d.%d' % sys.version_info[:2])";
    let fits = |name: &&str| {
        let said = Command::new(name).args(["-c", script]).output();
        said.is_ok_and(|said| said.stdout.trim_ascii() == PYTHON.as_bytes())
    };
    ["python3.11", "python3"].into_iter().find(fits).ok_or_else(|| {
        format!("install Python {PYTHON} with pip, and start again: what the library is compared with is pinned for it")
    })
}
