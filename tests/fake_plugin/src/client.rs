//! The plugin as a whole, its clients and their devices.

use crate::errors::Failure;
use crate::ledger::{self, Object};
use crate::memories::Memory;
use crate::options::ClientOptions;
use crate::script::{Script, Threads};
use crate::sys::*;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// What a device is called.
pub struct Description {
    id: i32,
    debug: String,
    text: String,
}

pub struct Device {
    pub id: i32,
    pub name: String,
    description: Handle<PJRT_DeviceDescription>,
    pub memories: Vec<Handle<PJRT_Memory>>,
    pub default_memory: Handle<PJRT_Memory>,
}

impl Object for Description {
    const KIND: &'static str = "device description";
    const COUNTED: bool = false;
}

impl Object for Device {
    const KIND: &'static str = "device";
    const COUNTED: bool = false;
}

/// A handle that an object of this plugin keeps.
pub struct Handle<T>(pub *mut T);

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Handle<T> {}

// SAFETY: a handle is an address to look up, and is never followed.
unsafe impl<T> Send for Handle<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Handle<T> {}

/// A client. It owns its devices' handles.
pub struct Client {
    pub script: Arc<Script>,
    options: ClientOptions,
    devices: Vec<Handle<PJRT_Device>>,
    running: Arc<Running>,
}

impl Object for Client {
    const KIND: &'static str = "client";
}

impl Client {
    /// The handle of the device with this id.
    pub fn device(&self, id: u64) -> Result<*mut PJRT_Device, Failure> {
        usize::try_from(id)
            .ok()
            .and_then(|at| self.devices.get(at))
            .map(|handle| handle.0)
            .ok_or_else(|| Failure::invalid(format!("No matching device found for device_id {id}")))
    }

    pub fn owns(&self, device: *mut PJRT_Device) -> bool {
        self.devices.iter().any(|handle| handle.0 == device)
    }

    /// Runs `work` where this client runs its programs.
    pub fn run(&self, work: impl FnOnce() + Send + 'static) {
        let own = match self.script.threads {
            Threads::Caller => false,
            Threads::Own => true,
            Threads::OwnUnlessSynchronous => self.options.asynchronous != Some(false),
        };
        if !own {
            return work();
        }
        let delay = std::time::Duration::from_millis(self.script.delay_ms);
        let running = self.running.clone();
        running.change(1);
        std::thread::spawn(move || {
            std::thread::sleep(delay);
            work();
            running.change(-1);
        });
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        for device in &self.devices {
            if let Ok(Some(device)) = ledger::destroy::<Device, _>(device.0) {
                let _ = ledger::destroy::<Description, _>(device.description.0);
                for memory in &device.memories {
                    let _ = ledger::destroy::<Memory, _>(memory.0);
                }
            }
        }
    }
}

/// How many executions run on threads of their own.
#[derive(Default)]
struct Running {
    count: Mutex<i64>,
    changed: Condvar,
}

impl Running {
    fn change(&self, by: i64) {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner) += by;
        self.changed.notify_all();
    }

    fn wait(&self) {
        let count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        let none = self.changed.wait_while(count, |count| *count > 0);
        drop(none);
    }
}

fn make_device(id: i32, script: &Script) -> Handle<PJRT_Device> {
    let description = ledger::hand_out(Arc::new(Description {
        id,
        debug: format!("cpu:{id}"),
        text: format!("FakeDevice(id={id})"),
    }));
    let memories: Vec<_> = script.memories.iter().map(|kind| Memory::of_kind(kind)).collect();
    let device = Handle(ledger::hand_out(Arc::new(Device {
        id,
        name: format!("cpu:{id}"),
        description: Handle(description),
        default_memory: memories[script.default_memory],
        memories: memories.clone(),
    })));
    for memory in memories {
        Memory::belongs_to(memory, device);
    }
    device
}

entry! { PJRT_Plugin_Initialize(_args: PJRT_Plugin_Initialize_Args) {
    Ok(())
}}

/// The plugin's attributes, which stay where they are.
struct Attributes([PJRT_NamedValue; 3]);

// SAFETY: nothing writes them, and they point at constants.
unsafe impl Sync for Attributes {}

static ATTRIBUTES: Attributes = Attributes([
    number_attribute("xla_version", &2),
    list_attribute("stablehlo_current_version", &[1, 20, 0]),
    list_attribute("stablehlo_minimum_version", &[0, 9, 0]),
]);

const fn number_attribute(name: &'static str, value: &i64) -> PJRT_NamedValue {
    let mut attribute = PJRT_NamedValue::new();
    attribute.name = name.as_ptr().cast();
    attribute.name_size = name.len();
    attribute.r#type = PJRT_NamedValue_kInt64;
    attribute.value.int64_value = *value;
    attribute.value_size = 1;
    attribute
}

const fn list_attribute(name: &'static str, values: &'static [i64]) -> PJRT_NamedValue {
    let mut attribute = number_attribute(name, &0);
    attribute.r#type = PJRT_NamedValue_kInt64List;
    attribute.value.int64_array_value = values.as_ptr();
    attribute.value_size = values.len();
    attribute
}

entry! { PJRT_Plugin_Attributes(args: PJRT_Plugin_Attributes_Args) {
    args.attributes = ATTRIBUTES.0.as_ptr();
    args.num_attributes = ATTRIBUTES.0.len();
    Ok(())
}}

entry! { PJRT_Client_Create(args: PJRT_Client_Create_Args) {
    let script = Script::current();
    // SAFETY: the caller describes its options as the ABI demands.
    let options = unsafe {
        ClientOptions::read(&script, args.create_options, args.num_options)?
    };
    let devices = (0..).take(options.devices).map(|id| make_device(id, &script)).collect();
    let client = Client { script, options, devices, running: Arc::default() };
    args.client = ledger::hand_out(Arc::new(client));
    Ok(())
}}

entry! { PJRT_Client_Destroy(args: PJRT_Client_Destroy_Args) {
    if let Some(client) = ledger::destroy::<Client, _>(args.client)? {
        client.running.wait();
    }
    Ok(())
}}

entry! { PJRT_Client_PlatformName(args: PJRT_Client_PlatformName_Args) {
    let client = ledger::find::<Client, _>(args.client)?;
    args.platform_name = client.script.platform.as_ptr().cast();
    args.platform_name_size = client.script.platform.len();
    Ok(())
}}

entry! { PJRT_Client_PlatformVersion(args: PJRT_Client_PlatformVersion_Args) {
    const VERSION: &str = "fake 1";
    ledger::find::<Client, _>(args.client)?;
    args.platform_version = VERSION.as_ptr().cast();
    args.platform_version_size = VERSION.len();
    Ok(())
}}

entry! { PJRT_Client_ProcessIndex(args: PJRT_Client_ProcessIndex_Args) {
    ledger::find::<Client, _>(args.client)?;
    args.process_index = 0;
    Ok(())
}}

entry! { PJRT_Client_Devices(args: PJRT_Client_Devices_Args) {
    let client = ledger::find::<Client, _>(args.client)?;
    args.devices = client.devices.as_ptr().cast();
    args.num_devices = client.devices.len();
    Ok(())
}}

entry! { PJRT_Client_AddressableDevices(args: PJRT_Client_AddressableDevices_Args) {
    let client = ledger::find::<Client, _>(args.client)?;
    args.addressable_devices = client.devices.as_ptr().cast();
    args.num_addressable_devices = client.devices.len();
    Ok(())
}}

entry! { PJRT_Device_GetDescription(args: PJRT_Device_GetDescription_Args) {
    args.device_description = ledger::find::<Device, _>(args.device)?.description.0;
    Ok(())
}}

entry! { PJRT_Device_IsAddressable(args: PJRT_Device_IsAddressable_Args) {
    ledger::find::<Device, _>(args.device)?;
    args.is_addressable = 1;
    Ok(())
}}

entry! { PJRT_Device_LocalHardwareId(args: PJRT_Device_LocalHardwareId_Args) {
    args.local_hardware_id = ledger::find::<Device, _>(args.device)?.id;
    Ok(())
}}

entry! { PJRT_DeviceDescription_Id(args: PJRT_DeviceDescription_Id_Args) {
    args.id = ledger::find::<Description, _>(args.device_description)?.id;
    Ok(())
}}

entry! { PJRT_DeviceDescription_Kind(args: PJRT_DeviceDescription_Kind_Args) {
    const KIND: &str = "cpu";
    ledger::find::<Description, _>(args.device_description)?;
    args.device_kind = KIND.as_ptr().cast();
    args.device_kind_size = KIND.len();
    Ok(())
}}

entry! { PJRT_DeviceDescription_DebugString(args: PJRT_DeviceDescription_DebugString_Args) {
    let description = ledger::find::<Description, _>(args.device_description)?;
    args.debug_string = description.debug.as_ptr().cast();
    args.debug_string_size = description.debug.len();
    Ok(())
}}

entry! { PJRT_DeviceDescription_ToString(args: PJRT_DeviceDescription_ToString_Args) {
    let description = ledger::find::<Description, _>(args.device_description)?;
    args.to_string = description.text.as_ptr().cast();
    args.to_string_size = description.text.len();
    Ok(())
}}
