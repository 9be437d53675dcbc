use super::*;
use crate::error::Code;

fn parsed(text: &str) -> Options {
    let mut options = Options::new();
    options.parse(text).unwrap();
    options
}

fn check(text: &str) -> Result<CompileOptions> {
    CompileOptions::new(Some(&parsed(text)), DeviceCounts::default(), &[7, 5, 6, 4])
}

fn bytes(text: &str) -> Vec<u8> {
    check(text).unwrap().serialize(ProgramTraits::default())
}

/// The build options of `parts`, as field 3.
fn build(parts: &[&[u8]]) -> Vec<u8> {
    let parts = parts.concat();
    [&[0x1a, parts.len() as u8][..], &parts].concat()
}

#[test]
fn the_defaults() {
    let options = CompileOptions::new(None, DeviceCounts::default(), &[7, 5]).unwrap();
    assert_eq!((options.replicas, options.partitions), (1, 1));
    assert_eq!((&options.devices[..], &options.device_ids[..]), (&[0][..], &[7][..]));
    assert!(options.check_platform && !options.is_portable && !options.use_spmd_partitioning);
    assert_eq!((options.cache_dir.as_deref(), options.cache_size), (None, 1 << 30));
    assert_eq!(options.to_text(), "device_ids=7");
}

/// These are what plugins were seen to take.
#[test]
fn the_bytes_are_those_that_plugins_take() {
    const ONE: [u8; 4] = [0x20, 1, 0x28, 1];
    let one_device = |id: u8| build(&[&ONE, &[0x4a, 9, 8, 1, 0x10, 1, 0x1a, 3, 0x0a, 1, id]]);
    assert_eq!(bytes(""), [0x1a, 0x0f, 0x20, 1, 0x28, 1, 0x4a, 9, 8, 1, 0x10, 1, 0x1a, 3, 0x0a, 1, 7]);
    assert_eq!(bytes("device=1"), one_device(5));
    assert_eq!(bytes("device_ids=4"), one_device(4));
    assert_eq!(bytes("portable=true"), [0x1a, 4, 0x20, 1, 0x28, 1, 0x20, 1]);
    assert_eq!(bytes("profile_version=3"), [one_device(7), vec![0x28, 3]].concat());
    // All replicas of the one partition.
    let replicas = [0x4a, 0x0c, 8, 4, 0x10, 1, 0x1a, 6, 0x0a, 4, 7, 5, 6, 4];
    assert_eq!(bytes("replicas=4"), build(&[&[0x20, 4, 0x28, 1], &replicas]));
    let partitions = [0x4a, 0x0e, 8, 1, 0x10, 2, 0x1a, 3, 0x0a, 1, 4, 0x1a, 3, 0x0a, 1, 7];
    let two = [0x20, 1, 0x28, 2];
    assert_eq!(bytes("partitions=2;device_ids=4,7"), build(&[&two, &[0x30, 1], &partitions]));
    assert_eq!(bytes("partitions=2;device_ids=4,7;use_spmd_partitioning=false"), build(&[&two, &partitions]));
    let shardy = build(&[&two, &[0x30, 1], &partitions, &[0x98, 1, 1]]);
    assert_eq!(bytes("partitions=2;device_ids=4,7;use_shardy_partitioner=true"), shardy);
    let program = ProgramTraits { has_shardy: true, has_tuple_parameter: true };
    let options = check("partitions=2;device_ids=4,7").unwrap();
    assert_eq!(options.serialize(program), [&[0x10, 1][..], &shardy].concat());
    let options = check("partitions=2;device_ids=4,7;use_shardy_partitioner=false").unwrap();
    assert_eq!(
        options.serialize(ProgramTraits { has_shardy: true, ..program }),
        [&[0x10, 1][..], &build(&[&two, &[0x30, 1], &partitions])].concat()
    );
}

#[test]
fn each_partition_lists_its_replicas() {
    let options = check("replicas=2;partitions=2;device_ids=4,5,6,7").unwrap();
    assert_eq!(options.devices, [3, 1, 2, 0]);
    let rows = [0x1a, 4, 0x0a, 2, 4, 6, 0x1a, 4, 0x0a, 2, 5, 7];
    assert!(options.serialize(ProgramTraits::default()).windows(rows.len()).any(|window| window == rows));
}

#[test]
fn debug_options_are_sorted_and_typed() {
    let text = "xla.xla_dump_to=/tmp;xla.cpu_enable_fast_math=true;xla.xla_gpu_autotune_gemm_rtol=0";
    let options = check(text).unwrap();
    let names: Vec<&str> = options.debug_options.keys().map(String::as_str).collect();
    assert_eq!(names, ["xla_cpu_enable_fast_math", "xla_dump_to", "xla_gpu_autotune_gemm_rtol"]);
    let entry = |name: &str, value: &[u8]| {
        let head = [&[0x0a, name.len() as u8][..], name.as_bytes(), &[0x12, value.len() as u8]].concat();
        [&[0x3a, (head.len() + value.len()) as u8][..], &head, value].concat()
    };
    let expected = [
        bytes(""),
        entry("xla_cpu_enable_fast_math", &[0x10, 1]),
        entry("xla_dump_to", b"\x0a\x04/tmp"),
        entry("xla_gpu_autotune_gemm_rtol", b"\x0a\x030.0"),
    ];
    assert_eq!(bytes(text), expected.concat());
    assert_eq!(bytes("xla.xla_backend_optimization_level=-1").last(), Some(&1));
    assert_eq!(bytes("xla.new_thing=1,2"), [bytes(""), entry("xla_new_thing", b"\x0a\x031,2")].concat());
    assert!(check("xla.xla_disable_all_hlo_passes=false").is_ok());
    // A false and a 0 are values too.
    assert_eq!(bytes("xla.new_thing=false"), [bytes(""), entry("xla_new_thing", &[0x10, 0])].concat());
    assert_eq!(bytes("xla.new_thing=0"), [bytes(""), entry("xla_new_thing", &[0x18, 0])].concat());
}

#[test]
fn what_is_wrong_is_named() {
    for (text, part) in [
        ("device=4", "4 devices, counted from 0"),
        ("device=-1", "is -1, expected an integer from 0"),
        ("device=a", "is a string ('a'), expected an integer"),
        ("replicas=0", "is 0, expected an integer from 1"),
        ("partitions=-1", "is -1"),
        ("replicas=4294967296", "from 1 to 2147483647"),
        ("replicas=5", "need 5 devices, but there are 4"),
        ("replicas=2147483647;partitions=2147483647", "need"),
        ("replicas=2;device=0", "names one device, but the program needs 2"),
        ("device=0;device_ids=7", "exclude each other"),
        ("device_ids=7,5", "names 2 devices, but 1 replicas of 1 partitions need 1"),
        ("replicas=2;device_ids=7", "names 1 devices"),
        ("replicas=2;device_ids=7,7", "the device 7 twice"),
        ("device_ids=8", "names the device 8; there are 7, 5, 6, 4"),
        ("device_ids=-1", "not negative"),
        ("portable=true;replicas=2", "one replica and one partition, not of 2 x 1"),
        ("portable=1", "expected a bool"),
        ("cache_dir=1", "expected a string"),
        ("cache_size=-1", "0 or more"),
        ("cache_size=1.5", "is a float"),
        ("check_platform=no", "expected a bool"),
        ("profile_version=x", "expected an integer"),
        ("xla.xla_cpu_enable_fast_math=1", "is an integer ('1'), expected a bool"),
        ("xla.cpu_enable_fast_math=yes", "'xla.cpu_enable_fast_math' is a string"),
        ("xla.xla_backend_optimization_level=true", "expected an integer"),
        ("xla.xla_backend_optimization_level=2147483648", "from -2147483648 to 2147483647"),
        ("xla.xla_gpu_autotune_gemm_rtol=x", "expected a float"),
        ("xla.xla_dump_to=true", "expected a string"),
        ("xla.xla_cpu_parallel_codegen_split_count=0", "from 1 to 4096"),
        ("xla.xla_reduce_window_rewrite_base_length=-1", "0 or more"),
        ("xla.xla_unsupported_crash_on_hlo_pass_noop_change=true", "may end this process"),
        ("xla.disable_all_hlo_passes=true", "may end this process"),
        ("xla.xla_disable_all_hlo_passes=1", "expected a bool"),
        ("xla.xla_enable_hlo_passes_only=dce", "is dce, with which XLA may end this process"),
        ("xla.xla_backend_extra_options=a", "cannot be set for one program"),
        ("xla.xla_dump_to=/a;xla.dump_to=/b", "'xla.dump_to' is set twice"),
        ("xla_dump_to=/a", "unknown compile option 'xla_dump_to'"),
    ] {
        let error = check(text).unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument);
        assert_eq!(error.detail("parameter"), Some("options"), "{error}");
        assert!(error.message().contains(part), "{text}: {error}");
    }
}

#[test]
fn unknown_names_get_advice() {
    let hint = |text: &str| check(text).unwrap_err().detail("hint").map(str::to_owned);
    assert_eq!(hint("devize=1").as_deref(), Some("did you mean 'device'?"));
    assert_eq!(hint("replica=1").as_deref(), Some("did you mean 'replicas'?"));
    assert_eq!(hint("something_else=1"), None);
    assert_eq!(hint("xla_dump_to=x").as_deref(), Some("XLA's debug options are set as 'xla.xla_dump_to'"));
    let explained = |name: &str| {
        let error = Error::invalid_argument(format!("No such compile option: '{name}'"));
        explain(error).detail("hint").unwrap_or_default().to_owned()
    };
    assert!(explained("xla_cpu_enable_fast_maths").ends_with("did you mean 'xla.xla_cpu_enable_fast_math'?"));
    assert!(explained("xla_cpu_use_thunk_runtime").contains("come and go"));
    assert_eq!(explain(Error::internal("else")), Error::internal("else"));
}

#[test]
fn the_text_tells_what_was_compiled() {
    let text =
        "device_ids=5,4;partitions=2;use_shardy_partitioner=true;profile_version=2;xla.xla_dump_to=/tmp";
    assert_eq!(
        check(&format!("{text};cache_dir=/x;cache_size=1;check_platform=false")).unwrap().to_text(),
        text
    );
    let again = check(&check(text).unwrap().to_text()).unwrap();
    assert_eq!(again, check(text).unwrap());
    let text = "device_ids=7;use_spmd_partitioning=true;portable=true";
    assert_eq!(check(text).unwrap().to_text(), text);
}
