//! Every create option that is known, with the platforms that have it.

use super::{Default, Known, Since};
use crate::options::Kind;

const CPU: &[&str] = &["cpu"];
const CUDA: &[&str] = &["cuda"];
const ROCM: &[&str] = &["rocm"];
const GPU: &[&str] = &["cuda", "rocm"];
const TPU: &[&str] = &["tpu"];

/// Thousands of devices take plugins long to make; far above they hang, wrap
/// around or abort.
const MOST_CPU_DEVICES: i64 = 1024;
/// As many CPUs as a set of them has room for.
const MOST_THREADS: i64 = 1024;
const MOST: i64 = i32::MAX as i64;
/// Seen in libtpu, which checks its kind and says nothing more of it.
const UNDOCUMENTED: &str = "not documented by the plugin, which takes it";
const BYTES: Kind = Kind::Int(0..=i64::MAX);

/// Every known option, those of a platform together.
pub const KNOWN: &[Known] = &[
    Known {
        default: Default::Int(1),
        ..known(
            CPU,
            "cpu_device_count",
            Kind::Int(1..=MOST_CPU_DEVICES),
            "4",
            "how many devices the client has",
        )
    },
    Known {
        default: Default::Bool(false),
        since: Since::Api { last_without: 106, first_with: 115 },
        ..known(
            CPU,
            "asynchronous",
            Kind::Bool,
            "true",
            "run programs on threads of the plugin instead of the calling thread",
        )
    },
    Known {
        since: Since::Api { last_without: 106, first_with: 115 },
        ..known(CPU, "process_id", Kind::Int(0..=MOST), "0", "number of this process among several")
    },
    Known {
        since: Since::Library,
        ..known(
            CPU,
            "threads",
            Kind::Int(1..=MOST_THREADS),
            "the number of CPUs",
            "how many threads the client's pool has, up to the number of CPUs that the process may run on",
        )
    },
    Known {
        since: Since::Patched,
        ..known(
            CPU,
            "max_inflight_computations",
            Kind::Int(1..=MOST),
            "",
            "how many computations may wait or run at once on a device",
        )
    },
    Known {
        since: Since::Patched,
        ..known(CPU, "pooling_allocator", Kind::Bool, "", "keep freed memory for later buffers")
    },
    Known {
        default: Default::Bool(false),
        ..known(
            GPU,
            "preallocate",
            Kind::Bool,
            "true",
            "take the whole memory_fraction when the client is created, instead of growing to it",
        )
    },
    known(
        GPU,
        "memory_fraction",
        Kind::Float(0.0, 1.0),
        "0.75",
        "share of the device's memory that may be used; the limit of the bfc allocator",
    ),
    known(
        GPU,
        "allocator",
        Kind::Choice(&["default", "platform", "bfc", "cuda_async", "vmm", "address"]),
        "default",
        "how device memory is allocated; default is bfc, and address is known from JAX 0.12 on",
    ),
    known(
        CUDA,
        "platform_name",
        Kind::Text,
        "the only one that the plugin has",
        "the platform's name inside XLA",
    ),
    Known {
        default: Default::Text("ROCM"),
        ..known(
            ROCM,
            "platform_name",
            Kind::Text,
            "the only one that the plugin has",
            "the platform's name inside XLA",
        )
    },
    known(GPU, "visible_devices", Kind::Ints, "all", "hardware numbers of the devices to use"),
    known(
        GPU,
        "collective_memory_size",
        BYTES,
        "0",
        "bytes kept for collectives; a multiple of 512 MB is best",
    ),
    known(GPU, "node_id", Kind::Int(0..=MOST), "0", "number of this process among several"),
    known(GPU, "num_nodes", Kind::Int(1..=MOST), "1", "how many processes there are"),
    known(GPU, "partition_index", Kind::Int(0..=MOST), "none", "number of this process's partition"),
    known(
        GPU,
        "should_stage_host_to_device_transfers",
        Kind::Bool,
        "true",
        "copy to the device by way of pinned host memory",
    ),
    known(
        GPU,
        "abort_collectives_on_failure",
        Kind::Bool,
        "false",
        "give collectives up when a process fails, instead of waiting for it",
    ),
    known(GPU, "use_tfrt_gpu_client", Kind::Bool, "false", "use XLA's other GPU client"),
    known(GPU, "enable_mock_nccl", Kind::Bool, "false", "pretend that the other processes are there"),
    known(
        GPU,
        "mock_gpu_topology",
        Kind::Text,
        "none",
        "the pretended topology as AxBxC: partitions, hosts in each, devices of each",
    ),
    known(
        TPU,
        "max_inflight_computations",
        Kind::Int(1..=MOST),
        "32",
        "how many computations may wait or run at once on a device",
    ),
    known(TPU, "premapped_buffer_size", BYTES, "", "bytes of host memory mapped for transfers in advance"),
    known(
        TPU,
        "maximum_premapped_buffer_size_for_transfers_in_bytes",
        BYTES,
        "",
        "the largest part of that memory that a transfer may take",
    ),
    known(TPU, "num_premapped_partitions", Kind::Int(1..=MOST), "", "how many parts that memory has"),
    known(TPU, "tpu_allow_async_allocations", Kind::Bool, "", UNDOCUMENTED),
    known(TPU, "throttle_low_priority_host_transfers", Kind::Bool, "", UNDOCUMENTED),
    known(TPU, "executable_compatibility_check_on_deserialization", Kind::Bool, "", UNDOCUMENTED),
    known(TPU, "skip_megascale_pjrt_client", Kind::Bool, "", UNDOCUMENTED),
    known(TPU, "use_global_tpu_system", Kind::Bool, "", UNDOCUMENTED),
    known(TPU, "use_tf_pjrt_client", Kind::Int(i64::MIN..=i64::MAX), "", UNDOCUMENTED),
    known(TPU, "ml_framework_name", Kind::Text, "", "name of the framework that uses the plugin"),
    known(TPU, "ml_framework_version", Kind::Text, "", "version of that framework"),
];

const fn known(
    platforms: &'static [&'static str],
    name: &'static str,
    kind: Kind,
    plugin_default: &'static str,
    meaning: &'static str,
) -> Known {
    Known { platforms, name, kind, default: Default::Plugin, plugin_default, meaning, since: Since::Always }
}
