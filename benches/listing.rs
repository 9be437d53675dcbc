//! How long listing takes in an environment of 500 packages, of which none has to be
//! asked. `cargo bench --bench listing` prints the figure, and fails above the bound.

use cyxla::discover::{Surroundings, find_in};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

const PACKAGES: usize = 500;
const ROUNDS: usize = 50;
const BOUND: Duration = Duration::from_millis(10);

fn write(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("a folder");
    fs::write(path, content).expect("a file");
}

/// An environment as pip leaves it: each package with its module and its metadata, a
/// third with entry points of other groups, and JAX's CUDA wheel among them.
fn build(root: &Path) {
    let site = root.join("env/lib/python3.11/site-packages");
    write(&root.join("env/pyvenv.cfg"), "home = /usr/bin\nversion = 3.11.2\n");
    for number in 0..PACKAGES {
        let info = site.join(format!("package{number}-1.0.dist-info"));
        write(&site.join(format!("package{number}/__init__.py")), "");
        write(
            &info.join("METADATA"),
            &format!("Name: package{number}\nVersion: 1.0\n\n{}", "text ".repeat(1000)),
        );
        write(&info.join("RECORD"), &"a/b.py,sha256=x,1\n".repeat(50));
        if number % 3 == 0 {
            let text = format!("[console_scripts]\nrun{number} = package{number}:main\n");
            write(&info.join("entry_points.txt"), &text);
        }
    }
    let info = site.join("jax_cuda12_pjrt-0.10.2.dist-info");
    write(&info.join("METADATA"), "Name: jax-cuda12-pjrt\nVersion: 0.10.2\n");
    write(&info.join("entry_points.txt"), "[jax_plugins]\nxla_cuda12 = jax_plugins.xla_cuda12\n");
    write(&site.join("jax_plugins/xla_cuda12/xla_cuda_plugin.so"), "a library");
}

fn main() {
    let root = std::env::temp_dir().join(format!("cyxla-listing-{}", std::process::id()));
    build(&root);
    let surroundings = Surroundings::made_up(&root, [("VIRTUAL_ENV", root.join("env"))]);
    let time = || {
        let start = Instant::now();
        let list = find_in(&surroundings);
        assert_eq!(list.plugins.len(), 1, "{list:#?}");
        start.elapsed()
    };
    let first = time();
    let mut times: Vec<Duration> = (0..ROUNDS).map(|_| time()).collect();
    times.sort_unstable();
    fs::remove_dir_all(&root).expect("the environment can be removed");
    let median = times[ROUNDS / 2];
    let line = format!(
        "listing with {PACKAGES} packages: median {median:.2?}, fastest {:.2?}, slowest {:.2?}, first {first:.2?}\n",
        times[0],
        times[ROUNDS - 1]
    );
    std::io::stdout().write_all(line.as_bytes()).expect("stdout takes text");
    assert!(median < BOUND, "listing takes {median:.2?}, more than {BOUND:?}");
}
