//! Blocks whose bytes are on a device until somebody of the host looks.
//!
//! A block that is away has its storage with the copy on the device, as the landing. The first look brings the bytes home, by
//! [`Away::bytes`], which is the only way to them; writing goes by [`Away::come_home`], after which the block is like any other.
//!
//! Invariants: the storage is counted as in use all the time, so that coming home needs no memory; bytes come home once, and
//! whoever looks meanwhile waits. Bytes that a device has lost are none, as those of a file that was shortened, and each
//! look at them is counted: a call that looked gives an error instead of a result.

use super::block::Storage;
use super::pool::Pool;
use galopvm_base::resident::{Landing, Resident};
use std::any::Any;
use std::sync::{Arc, OnceLock};

/// What a call says that has looked at bytes which a device has lost.
pub const DEVICE_LOST: &str = "The device that held an array was lost.";

/// Storage of a block that waits for the bytes.
pub(super) struct Room {
    storage: Option<Storage>,
    bytes: usize,
    pool: Arc<Pool>,
}

impl Room {
    pub(super) fn new(storage: Storage, bytes: usize, pool: Arc<Pool>) -> Room {
        Room { storage: Some(storage), bytes, pool }
    }

    fn bytes(&self) -> &[u8] {
        self.storage.as_ref().map_or(&[], |storage| &storage.bytes()[..self.bytes])
    }
}

impl Landing for Room {
    fn bytes_mut(&mut self) -> &mut [u8] {
        self.storage.as_mut().map_or(&mut [], |storage| &mut storage.bytes_mut()[..self.bytes])
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.pool.give_back(self.bytes, self.storage.take());
    }
}

/// Where the bytes of a block are that is away.
pub(super) struct Away {
    /// The storage with the bytes as soon as they have come home; nothing if they are lost.
    home: OnceLock<Option<Box<Room>>>,
    copy: Arc<dyn Resident>,
    pool: Arc<Pool>,
}

impl Away {
    pub(super) fn new(copy: Arc<dyn Resident>, pool: Arc<Pool>) -> Away {
        Away { home: OnceLock::new(), copy, pool }
    }

    /// The bytes, which are at home from now on; none if they are lost.
    pub(super) fn bytes(&self) -> &[u8] {
        match self.home.get_or_init(|| self.bring()) {
            Some(room) => room.bytes(),
            None => {
                self.pool.count_lost();
                &[]
            }
        }
    }

    fn bring(&self) -> Option<Box<Room>> {
        let landing: Box<dyn Any> = self.copy.bring()?;
        landing.downcast().ok()
    }

    /// The storage with the bytes; nothing if they are lost.
    pub(super) fn come_home(&mut self) -> Option<(Storage, Arc<Pool>)> {
        self.bytes();
        let storage = self.home.get_mut()?.as_mut()?.storage.take()?;
        Some((storage, self.pool.clone()))
    }

    /// Whether the bytes were looked for and are lost.
    pub(super) fn is_lost(&self) -> bool {
        matches!(self.home.get(), Some(None))
    }
}
