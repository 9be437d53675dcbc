//! What of the host's memory can be used in place.

use super::Runtime;
use crate::dtype::{ArrayType, DType};
use crate::error::{Error, Result};
use crate::pjrt::VIEW_ALIGNMENT;

/// An error that says why an array at an address in host memory cannot be.
pub(super) fn check(runtime: &Runtime, array: &ArrayType<'_>, address: *const u8) -> Result<()> {
    let ArrayType(dtype, dims) = *array;
    let refuse =
        |parameter: &str, message: String| Err(Error::invalid_argument(message).parameter(parameter));
    if !runtime.client.is_in_place() {
        let platform = &runtime.info.platform;
        let message = format!(
            "the memory of a device of {platform} is not the host's, so nothing can be used in place"
        );
        return refuse("device", message);
    }
    if dtype == DType::PRED {
        let why = "its bytes are checked once, and could change afterwards";
        return refuse("dtype", format!("an array of pred cannot be used in place: {why}"));
    }
    if dtype.is_sub_byte() {
        let (name, why) = (dtype.name(), "devices pack its elements, host memory does not");
        return refuse("dtype", format!("an array of {name} cannot be used in place: {why}"));
    }
    if dims.contains(&0) {
        return refuse("dims", format!("{array} has no elements, so there is no memory to use in place"));
    }
    match address.addr() % VIEW_ALIGNMENT {
        0 => Ok(()),
        past => {
            let place = format!("{address:p} is {past} bytes past a multiple of {VIEW_ALIGNMENT}");
            let message = format!("needs {VIEW_ALIGNMENT}-byte alignment to be used in place; {place}");
            Err(Error::invalid_argument(message)
                .hint("allocate with aligned_alloc or posix_memalign, or use cyxla_buffer_view_host, which copies")
                .parameter("data"))
        }
    }
}
