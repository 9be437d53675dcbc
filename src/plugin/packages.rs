//! Which package brings a library that a plugin needs.

/// Where a library comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Package {
    /// The Python package that has it; empty when none has.
    pub wheel: &'static str,
    /// The package of Debian and its kin, or of the vendor's archive for them;
    /// empty when none has.
    pub debian: &'static str,
}

impl Package {
    /// Both names, as advice: "install the wheel a or the Debian package b".
    pub fn advice(&self) -> String {
        match (self.wheel, self.debian) {
            (wheel, "") => format!("install the wheel {wheel}"),
            ("", debian) => format!("install the Debian package {debian}"),
            (wheel, debian) => format!("install the wheel {wheel} or the Debian package {debian}"),
        }
    }
}

/// The beginning of a library's name, the wheel and the Debian package. The first
/// row that fits counts.
const PACKAGES: &[(&str, &str, &str)] = &[
    ("libcudart.so.12", "nvidia-cuda-runtime-cu12", "libcudart12"),
    ("libcudart.so.13", "nvidia-cuda-runtime", ""),
    ("libnvrtc-builtins.so.12", "nvidia-cuda-nvrtc-cu12", "libnvrtc-builtins12"),
    ("libnvrtc.so.12", "nvidia-cuda-nvrtc-cu12", "libnvrtc12"),
    ("libnvrtc", "nvidia-cuda-nvrtc", ""),
    ("libcublas.so.12", "nvidia-cublas-cu12", "libcublas12"),
    ("libcublasLt.so.12", "nvidia-cublas-cu12", "libcublaslt12"),
    ("libcublas", "nvidia-cublas", ""),
    ("libnccl.so", "nvidia-nccl-cu12", "libnccl2"),
    ("libcupti.so.12", "nvidia-cuda-cupti-cu12", "libcupti12"),
    ("libcupti", "nvidia-cuda-cupti", ""),
    ("libcusolver.so.11", "nvidia-cusolver-cu12", "libcusolver11"),
    ("libcusolver", "nvidia-cusolver", ""),
    ("libcusparse.so.12", "nvidia-cusparse-cu12", "libcusparse12"),
    ("libcufft.so.11", "nvidia-cufft-cu12", "libcufft11"),
    ("libcufft", "nvidia-cufft", ""),
    ("libnvJitLink.so.12", "nvidia-nvjitlink-cu12", "libnvjitlink12"),
    ("libnvJitLink", "nvidia-nvjitlink", ""),
    ("libnvshmem", "nvidia-nvshmem-cu12", ""),
    ("libcudnn", "nvidia-cudnn-cu12", "libcudnn9-cuda-12"),
    ("libcuda.so", "", "libcuda1 (the NVIDIA driver)"),
    ("libnvidia-ptxjitcompiler.so", "", "libnvidia-ptxjitcompiler1 (the NVIDIA driver)"),
    ("libtvm_ffi.so", "apache-tvm-ffi", ""),
    ("librocprofiler-sdk.so", "rocm-sdk-core", "rocprofiler-sdk"),
    ("librocprofiler-register.so", "rocm-sdk-core", "rocprofiler-register"),
    ("libamdhip64.so", "rocm-sdk-core", "hip-runtime-amd"),
    ("libhsa-runtime64.so", "rocm-sdk-core", "hsa-rocr"),
    ("libamd_smi.so", "rocm-sdk-core", "amd-smi-lib"),
    ("libamd_comgr.so", "rocm-sdk-core", "comgr"),
    ("librocm_sysdeps_", "rocm-sdk-core", ""),
    ("librccl.so", "rocm-sdk-libraries", "rccl"),
    ("libhipblaslt.so", "rocm-sdk-libraries", "hipblaslt"),
    ("libhipfft.so", "rocm-sdk-libraries", "hipfft"),
    ("libhipsolver.so", "rocm-sdk-libraries", "hipsolver"),
    ("librocsolver.so", "rocm-sdk-libraries", "rocsolver"),
    ("librocblas.so", "rocm-sdk-libraries", "rocblas"),
    ("libMIOpen.so", "rocm-sdk-libraries", "miopen-hip"),
    ("libmpi.so.12", "impi-rt", "libmpich12"),
    ("libccl.so", "oneccl", ""),
    ("libumf.so", "umf", ""),
    ("libur_", "intel-cmplr-lib-ur", ""),
    ("libimf.so", "intel-cmplr-lib-rt", ""),
    ("libintlc.so", "intel-cmplr-lib-rt", ""),
    ("libirc.so", "intel-cmplr-lib-rt", ""),
    ("libirng.so", "intel-cmplr-lib-rt", ""),
    ("libsvml.so", "intel-cmplr-lib-rt", ""),
    ("libsycl.so", "intel-sycl-rt", ""),
    ("libmkl_sycl_blas.so", "onemkl-sycl-blas", ""),
    ("libmkl_sycl_lapack.so", "onemkl-sycl-lapack", ""),
    ("libmkl_sycl_dft.so", "onemkl-sycl-dft", ""),
    ("libmkl_sycl_sparse.so", "onemkl-sycl-sparse", ""),
    ("libmkl_", "mkl", ""),
    ("libze_", "", "libze1"),
    ("libOpenCL.so", "", "ocl-icd-libopencl1"),
    ("libhwloc.so", "", "libhwloc15"),
    ("libnuma.so", "", "libnuma1"),
    ("libdrm_amdgpu.so", "", "libdrm-amdgpu1"),
    ("libdrm.so", "", "libdrm2"),
    ("libz.so", "", "zlib1g"),
    ("libstdc++.so", "", "libstdc++6"),
    ("libgcc_s.so", "", "libgcc-s1"),
    ("libgomp.so", "", "libgomp1"),
    ("libatomic.so", "", "libatomic1"),
    ("libelf.so", "", "libelf1"),
];

/// The package of a library by its name, such as `libnuma.so.1`.
pub fn of(library: &str) -> Option<Package> {
    let row = PACKAGES.iter().find(|(beginning, ..)| library.starts_with(beginning));
    row.map(|&(_, wheel, debian)| Package { wheel, debian })
}

/// Which packages have these libraries, in a sentence; `None` when none is known.
pub fn advice<'a>(libraries: impl Iterator<Item = &'a str>) -> Option<String> {
    let (mut wheels, mut debian) = (Vec::new(), Vec::new());
    for package in libraries.filter_map(of) {
        for (names, name) in [(&mut wheels, package.wheel), (&mut debian, package.debian)] {
            if !name.is_empty() && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let parts =
        [("wheels", wheels), ("Debian packages", debian)].into_iter().filter(|(_, names)| !names.is_empty());
    let parts: Vec<String> = parts.map(|(kind, names)| format!("{kind} {}", names.join(", "))).collect();
    (!parts.is_empty()).then(|| format!("they are in the {}", parts.join(", and in the ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generation_of_cuda_decides() {
        assert_eq!(of("libcublasLt.so.12").unwrap().wheel, "nvidia-cublas-cu12");
        assert_eq!(of("libcublasLt.so.13").unwrap().wheel, "nvidia-cublas");
        assert_eq!(of("libnvrtc-builtins.so.12.9").unwrap().wheel, "nvidia-cuda-nvrtc-cu12");
        assert_eq!(of("libsomething.so"), None);
    }

    #[test]
    fn advice_names_what_there_is() {
        let advice = |name| of(name).unwrap().advice();
        assert_eq!(advice("libnuma.so.1"), "install the Debian package libnuma1");
        assert_eq!(advice("libsycl.so.8"), "install the wheel intel-sycl-rt");
        assert_eq!(advice("librccl.so.1"), "install the wheel rocm-sdk-libraries or the Debian package rccl");
    }

    #[test]
    fn packages_of_several_libraries_are_named_once() {
        let text = advice(["librccl.so.1", "libMIOpen.so.1", "libnuma.so.1", "libx.so"].into_iter()).unwrap();
        let expected = "they are in the wheels rocm-sdk-libraries, and in the Debian packages rccl, miopen-hip, libnuma1";
        assert_eq!(text, expected);
        assert_eq!(advice(["libx.so"].into_iter()), None);
    }

    #[test]
    fn every_row_can_be_reached_and_says_something() {
        for (index, (beginning, wheel, debian)) in PACKAGES.iter().enumerate() {
            assert!(!wheel.is_empty() || !debian.is_empty(), "{beginning}");
            let hides = |(other, ..): &&(&str, &str, &str)| beginning.starts_with(other);
            assert_eq!(PACKAGES[..index].iter().find(hides), None, "{beginning}");
        }
    }
}
