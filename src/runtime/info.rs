//! What the runtime tells of itself.

use serde_json::json;

use crate::options::Options;
use crate::pjrt::Device;
use crate::plugin::{Plugin, preload};

/// Details of the process's runtime. Immutable.
#[derive(Debug)]
pub struct RuntimeInfo {
    /// The platform, as the client reports it.
    pub platform: String,
    /// What the platform says of its version.
    pub platform_version: String,
    /// The plugin's library, in the bytes of the file system.
    pub plugin_path: std::path::PathBuf,
    /// What led to the plugin: the caller, a variable or a file.
    pub plugin_origin: String,
    /// The plugin's PJRT version, major and minor.
    pub api_version: (i32, i32),
    /// Whether arguments and results in host memory can be used in place.
    pub avoids_copies: bool,
    /// Whether a program has ended when the call that runs it returns.
    pub is_synchronous: bool,
    /// The devices.
    pub devices: Vec<DeviceInfo>,
    /// All of it and more, as JSON.
    pub json: String,
}

/// Details of a device.
#[derive(Debug)]
pub struct DeviceInfo {
    /// The plugin's number of it.
    pub id: i64,
    /// What it is.
    pub kind: String,
    /// The kinds of its memories, the default one first.
    pub memory_kinds: Vec<String>,
    /// All of it, as JSON.
    pub json: String,
}

impl RuntimeInfo {
    /// Puts the details together.
    #[allow(clippy::too_many_arguments, reason = "one caller, which has just these parts")]
    pub(super) fn new(
        plugin: &Plugin,
        plugin_origin: String,
        platform: String,
        platform_version: String,
        is_synchronous: bool,
        avoids_copies: bool,
        devices: &[Device],
        in_force: &Options,
        ignored: &[String],
    ) -> RuntimeInfo {
        let api_version = plugin.api.version();
        let device_values: Vec<serde_json::Value> = devices
            .iter()
            .map(|device| {
                json!({
                    "id": device.id,
                    "kind": device.kind,
                    "description": device.description,
                    "local_hardware_id": device.local_hardware_id,
                    "memory_kinds": memory_kinds(device),
                })
            })
            .collect();
        let mut attributes = Options::new();
        for attribute in &plugin.attributes {
            // A name that is no good name is left out of the description.
            let _ = attributes.set(&attribute.name, attribute.value.clone());
        }
        let stablehlo = plugin
            .stablehlo_range()
            .map(|(minimum, current)| json!({"minimum": minimum, "current": current}));
        let json = json!({
            "platform": platform,
            "platform_version": platform_version,
            "plugin_path": plugin.path.to_string_lossy(),
            "plugin_origin": plugin_origin,
            "api_version": format!("{}.{}", api_version.0, api_version.1),
            "avoids_copies": avoids_copies,
            "is_synchronous": is_synchronous,
            "devices": device_values,
            "options": in_force.to_json(),
            "options_ignored": ignored,
            "stablehlo": stablehlo,
            "plugin_attributes": attributes.to_json(),
            "plugin_extensions": plugin.api.extensions(),
            "preload": plugin.preload.as_ref().map(preload::Report::to_json),
        });
        RuntimeInfo {
            platform,
            platform_version,
            plugin_path: plugin.path.clone(),
            plugin_origin,
            api_version,
            avoids_copies,
            is_synchronous,
            devices: devices
                .iter()
                .zip(device_values)
                .map(|(device, value)| DeviceInfo {
                    id: device.id,
                    kind: device.kind.clone(),
                    memory_kinds: memory_kinds(device),
                    json: value.to_string(),
                })
                .collect(),
            json: json.to_string(),
        }
    }
}

fn memory_kinds(device: &Device) -> Vec<String> {
    device.memories.iter().map(|memory| memory.kind().to_owned()).collect()
}
