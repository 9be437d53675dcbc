//! Checks a caller's options against the table, before a plugin sees them.

use super::of;
use crate::error::Result;
use crate::options::Options;

/// Checks the caller's values of known options; those of unknown ones stay as they
/// are. An integer where a float is wanted becomes one.
pub fn checked(platform: &str, options: &Options) -> Result<Options> {
    let mut checked = options.clone();
    for known in of(platform) {
        if let Some(value) = options.get(known.name) {
            let what = format!("create option '{}'", known.name);
            checked.set(known.name, known.kind.check(&what, value)?)?;
        }
    }
    Ok(checked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Value;

    fn outcome(platform: &str, text: &str) -> std::result::Result<String, String> {
        let mut options = Options::new();
        options.parse(text).unwrap();
        let checked = checked(platform, &options).map_err(|error| error.message().to_owned())?;
        Ok(checked.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(";"))
    }

    #[test]
    fn kinds_and_ranges() {
        let bad = |platform, text, part: &str| {
            let message = outcome(platform, text).unwrap_err();
            assert!(message.contains(part), "{message}");
        };
        bad("cpu", "cpu_device_count=-1", "from 1 to 1024");
        bad("cpu", "cpu_device_count=0", "from 1 to 1024");
        bad("cpu", "cpu_device_count=100000", "from 1 to 1024");
        bad("cpu", "cpu_device_count=four", "is a string ('four'), expected an integer");
        bad("cpu", "cpu_device_count=true", "is a bool");
        bad("cpu", "asynchronous=0", "expected a bool");
        bad("cuda", "memory_fraction=100", "not above 1");
        bad("cuda", "preallocate=no", "is a string ('no'), expected a bool");
        bad("rocm", "visible_devices=-1", "not negative");
        bad("rocm", "allocator=best", "is best, expected one of default, platform, bfc");
        bad("cuda", "allocator=1", "is an integer ('1'), expected a string");
        bad("cuda", "mock_gpu_topology=2", "expected a string");
        bad("tpu", "max_inflight_computations=0", "expected an integer from 1");
        bad("tpu", "ml_framework_name=7", "expected a string");
        assert_eq!(outcome("cuda", "memory_fraction=1").unwrap(), "memory_fraction=1.0");
        assert_eq!(outcome("cuda", "allocator=vmm").unwrap(), "allocator=vmm");
        assert_eq!(outcome("tpu", "use_tf_pjrt_client=-1").unwrap(), "use_tf_pjrt_client=-1");
        assert_eq!(outcome("cuda", "visible_devices=0").unwrap(), "visible_devices=0");
        assert_eq!(outcome("cpu", "memory_fraction=7;x=y").unwrap(), "memory_fraction=7;x=y");
        assert_eq!(outcome("npu", "cpu_device_count=-1").unwrap(), "cpu_device_count=-1");
    }

    #[test]
    fn an_empty_list_has_no_meaning() {
        let mut options = Options::new();
        options.set("visible_devices", Value::Ints(Vec::new())).unwrap();
        assert!(checked("cuda", &options).is_err());
    }
}
