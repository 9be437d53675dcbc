//! Whether the device of a platform is visibly absent, by what the kernel shows.
//! Opens no driver.

use std::fs;
use std::path::Path;

/// The kernel's files of NVIDIA's driver, and of Windows' under Linux.
const NVIDIA: [&str; 3] = ["dev/nvidia0", "dev/nvidiactl", "dev/dxg"];
const WINDOWS_GPU: &str = "dev/dxg";
const AMD_NODES: &str = "sys/class/kfd/kfd/topology/nodes";
const PCI_DEVICES: &str = "sys/bus/pci/devices";
const GOOGLE: u64 = 0x1ae0;
/// The TPU generations.
const TPUS: [u64; 9] = [0x0027, 0x0056, 0x005e, 0x0062, 0x0063, 0x006f, 0x0076, 0x0083, 0x007c];

/// Why no device of this platform can be there; `None` when one may be.
pub fn absent(platform: &str, root: &Path) -> Option<String> {
    match platform {
        "cuda" if !NVIDIA.iter().any(|file| root.join(file).exists()) => {
            Some("this machine shows no NVIDIA GPU (no /dev/nvidia0, /dev/nvidiactl or /dev/dxg)".into())
        }
        "rocm" if !root.join(WINDOWS_GPU).exists() && !has_amd(root) => {
            Some("this machine shows no AMD GPU (no compute node in /sys/class/kfd, no /dev/dxg)".into())
        }
        "tpu" if !has_tpu(root) => {
            Some("this machine shows no TPU (no PCI device of vendor 0x1ae0 that is one)".into())
        }
        _ => None,
    }
}

/// Nodes without SIMD units are processors.
fn has_amd(root: &Path) -> bool {
    let nodes = fs::read_dir(root.join(AMD_NODES)).into_iter().flatten().flatten();
    let mut properties = nodes.filter_map(|node| fs::read_to_string(node.path().join("properties")).ok());
    properties.any(|text| {
        let counts = text.lines().filter_map(|line| line.trim().strip_prefix("simd_count"));
        counts.filter_map(|count| count.trim().parse::<u64>().ok()).any(|count| count > 0)
    })
}

fn has_tpu(root: &Path) -> bool {
    let number = |path: std::path::PathBuf| {
        let text = fs::read_to_string(path).ok()?;
        u64::from_str_radix(text.trim().trim_start_matches("0x"), 16).ok()
    };
    let mut devices = fs::read_dir(root.join(PCI_DEVICES)).into_iter().flatten().flatten();
    devices.any(|device| {
        number(device.path().join("vendor")) == Some(GOOGLE)
            && number(device.path().join("device")).is_some_and(|device| TPUS.contains(&device))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discover::scratch::Scratch;

    #[test]
    fn each_platform_by_its_own_marks() {
        let machine = Scratch::new("devices");
        let root = machine.path();
        for platform in ["cuda", "rocm", "tpu"] {
            assert!(absent(platform, root).unwrap().contains("shows no"), "{platform}");
        }
        assert_eq!(absent("cpu", root), None);
        assert_eq!(absent("oneapi", root), None);

        machine.write("sys/class/kfd/kfd/topology/nodes/0/properties", "cpu_cores_count 8\nsimd_count 0\n");
        assert!(absent("rocm", root).is_some());
        machine.write("sys/class/kfd/kfd/topology/nodes/1/properties", "simd_count 416\n");
        assert_eq!(absent("rocm", root), None);

        machine.write("sys/bus/pci/devices/0000:00:04.0/vendor", "0x1ae0\n");
        machine.write("sys/bus/pci/devices/0000:00:04.0/device", "0x0042\n");
        assert!(absent("tpu", root).is_some(), "a network card of the same vendor");
        machine.write("sys/bus/pci/devices/0000:00:05.0/vendor", "0x1ae0\n");
        machine.write("sys/bus/pci/devices/0000:00:05.0/device", "0x0063\n");
        assert_eq!(absent("tpu", root), None);

        machine.write("dev/nvidiactl", "");
        assert_eq!(absent("cuda", root), None);
    }
}
