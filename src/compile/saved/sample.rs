//! A saved executable for tests.

use super::Facts;
use crate::compile::identity::{CpuFeatures, FileStat, Hash, PluginFile, Surroundings};
use crate::dtype::DType;
use crate::program::{Parameter, Signature, TensorSpec};

pub fn cpu(names: &[&str]) -> CpuFeatures {
    CpuFeatures::new("x86_64", names.iter().map(|&name| name.to_owned()).collect())
}

pub fn surroundings() -> Surroundings {
    let stat = FileStat { inode: 2, size: u64::MAX, modified: -4, changed: i64::MAX };
    Surroundings {
        platform: "cpu".into(),
        platform_version: "cpu".into(),
        api_version: (0, 106),
        plugin: PluginFile { name: "libpjrt_cpu.so".into(), hash: Hash([9; 32]), stat: Some(stat) },
        cpu: cpu(&["avx2", "avx512f", "amx-tile"]),
        device_kind: "cpu".into(),
        device_count: 4,
    }
}

pub fn facts() -> Facts {
    let spec = |name: Option<&str>, dtype, dims: &[i64], is_donated| {
        TensorSpec::new(name.map(str::to_owned), dtype, dims.to_vec(), is_donated).unwrap()
    };
    Facts {
        library_version: "0.1.0".into(),
        made_in: surroundings(),
        name: "jit_step".into(),
        options: "device=1".into(),
        signature: Signature {
            inputs: vec![
                spec(Some("args[0]['w']"), DType::F32, &[4, 8], true),
                spec(None, DType::S4, &[0], false),
                spec(Some(""), DType::PRED, &[], false),
            ],
            outputs: vec![spec(Some("result"), DType::BF16, &[2, 2, 2], false)],
        },
        parameters: vec![Parameter::PlatformIndex(1), Parameter::Input(2), Parameter::Input(0)],
        index_dtype: DType::S64,
        replica_count: 2,
        partition_count: 1,
        devices: vec![1, 3],
        cache_key: None,
    }
}
