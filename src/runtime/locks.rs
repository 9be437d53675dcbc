//! Holds device arrays while a program starts that reads them and may take some.

use std::sync::{Arc, RwLockReadGuard, RwLockWriteGuard};

use smallvec::SmallVec;

use super::buffer::{Buffer, alive};
use crate::error::{Error, Result};
use crate::order;
use crate::pjrt::{self, INLINE};

/// A lock on an argument: for writing where the program may take its contents, so that
/// nobody reads what the program overwrites.
enum Lock<'a> {
    Shared(RwLockReadGuard<'a, Option<Arc<pjrt::Buffer>>>),
    Exclusive(RwLockWriteGuard<'a, Option<Arc<pjrt::Buffer>>>),
}

/// Each buffer once, in the order of their addresses, with the lock on it.
pub struct Locks<'a>(SmallVec<[(&'a Buffer, Lock<'a>); INLINE]>);

/// Contents that a program took, to be destroyed once no lock is held: the host's
/// `release` may run then.
pub type Taken = SmallVec<[Arc<pjrt::Buffer>; INLINE]>;

impl<'a> Locks<'a> {
    /// Locks every buffer, each with whether the program may take it, in the order of their
    /// addresses: two programs that run at once on the same buffers cannot wait for each
    /// other.
    pub fn of(wanted: impl Iterator<Item = (&'a Buffer, bool)>) -> Locks<'a> {
        let mut wanted: SmallVec<[(&'a Buffer, bool); INLINE]> = wanted.collect();
        let key = |(buffer, donated): &(&Buffer, bool)| (std::ptr::from_ref::<Buffer>(buffer), !donated);
        order::sort_by(&mut wanted, |one, other| key(one) < key(other));
        wanted.dedup_by_key(|(buffer, _)| std::ptr::from_ref::<Buffer>(buffer));
        let lock = |(buffer, donated): (&'a Buffer, bool)| match donated {
            true => (buffer, Lock::Exclusive(buffer.write())),
            false => (buffer, Lock::Shared(buffer.read())),
        };
        Locks(wanted.into_iter().map(lock).collect())
    }

    /// The contents of a locked buffer; an error if they were donated.
    pub fn contents(&self, buffer: &Buffer) -> Result<&pjrt::Buffer> {
        let address = std::ptr::from_ref(buffer);
        let found = self.0.binary_search_by_key(&address, |(one, _)| std::ptr::from_ref::<Buffer>(one));
        let position = found.map_err(|_| Error::internal("an argument was not locked"))?;
        match &self.0[position].1 {
            Lock::Shared(contents) => alive(contents).map(Arc::as_ref),
            Lock::Exclusive(contents) => alive(contents).map(Arc::as_ref),
        }
    }

    /// Takes the contents of the buffers whose contents the program took. Only the plugin
    /// knows which of those that it may take it took. `argument` is what it was given for a
    /// buffer, if not its contents.
    pub fn take_donated<'b>(
        &mut self,
        argument: impl Fn(&Buffer) -> Option<&'b pjrt::Buffer>,
    ) -> Result<Taken> {
        let mut taken = Taken::new();
        for (buffer, lock) in &mut self.0 {
            let Lock::Exclusive(contents) = lock else { continue };
            if let Some(given) = argument(buffer).or(contents.as_deref())
                && given.is_deleted()?
            {
                taken.extend(buffer.take(contents));
            }
        }
        Ok(taken)
    }
}
