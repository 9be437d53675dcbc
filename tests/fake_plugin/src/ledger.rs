//! The objects that exist. Every handle given out is the address of an entry here,
//! so a stale or foreign one is found before it is followed.

use crate::errors::Failure;
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// An object that can stand behind a handle.
pub trait Object: Any + Send + Sync {
    /// What it is called in error texts.
    const KIND: &'static str;
    /// False for what lives and dies with its owner, such as a client's devices.
    const COUNTED: bool = true;
}

struct Entry {
    object: Arc<dyn Any + Send + Sync>,
    counted: bool,
}

static ENTRIES: LazyLock<Mutex<BTreeMap<usize, Entry>>> = LazyLock::new(Mutex::default);
static MISUSES: AtomicI64 = AtomicI64::new(0);

fn entries() -> MutexGuard<'static, BTreeMap<usize, Entry>> {
    ENTRIES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives `object` a handle.
pub fn hand_out<T: Object, Handle>(object: Arc<T>) -> *mut Handle {
    let address = Arc::as_ptr(&object).addr();
    let handle = Arc::as_ptr(&object).cast_mut().cast();
    let counted = T::COUNTED;
    entries().insert(address, Entry { object, counted });
    handle
}

/// The object behind a handle.
pub fn find<T: Object, Handle>(handle: *const Handle) -> Result<Arc<T>, Failure> {
    let found = entries().get(&handle.addr()).map(|entry| entry.object.clone());
    match found.map(Arc::downcast::<T>) {
        Some(Ok(object)) => Ok(object),
        Some(Err(_)) => Err(misuse(format!("a handle that is no {}", T::KIND))),
        None if handle.is_null() => Err(misuse(format!("NULL as {}", T::KIND))),
        None => Err(misuse(format!("a {} that does not exist", T::KIND))),
    }
}

/// Ends a handle. NULL is accepted, as by the real plugins.
pub fn destroy<T: Object, Handle>(handle: *const Handle) -> Result<Option<Arc<T>>, Failure> {
    if handle.is_null() {
        return Ok(None);
    }
    let object = find(handle)?;
    // The entry must not be dropped under the lock: what it holds may hold others.
    let entry = entries().remove(&handle.addr());
    drop(entry);
    Ok(Some(object))
}

/// Counts a call that a real plugin might not survive, and makes an error of it.
pub fn misuse(what: String) -> Failure {
    MISUSES.fetch_add(1, Ordering::SeqCst);
    Failure::internal(format!("the fake plugin was given {what}"))
}

pub fn misuses() -> i64 {
    MISUSES.load(Ordering::SeqCst)
}

pub fn live_objects() -> i64 {
    let live = entries().values().filter(|entry| entry.counted).count();
    i64::try_from(live).unwrap_or(i64::MAX)
}
