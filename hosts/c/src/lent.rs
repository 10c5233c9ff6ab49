//! A host's memory: bytes at an address, and the function that the host wants to be called when they are needed no more.
#![allow(unsafe_code)]

use galopvm::Given;
use std::ffi::c_void;

/// Called once, with the host's context, when memory goes back.
pub type Release = Option<extern "C" fn(*mut c_void)>;

/// A stretch of a host's memory, and how it goes back.
pub struct Stretch {
    first: *mut u8,
    bytes: usize,
    release: Release,
    context: *mut c_void,
}

// SAFETY: the header says that the memory is the library's to read, or to use alone if it is given, until it is released,
// and that the release function may be called on any thread. The context is only handed to it.
unsafe impl Send for Stretch {}
// SAFETY: as above; what is shared is only read.
unsafe impl Sync for Stretch {}

impl Stretch {
    /// A stretch at an address; no memory is needed for no bytes. It is not released before [`Stretch::released_by`] says how.
    pub fn new(first: *mut u8, bytes: usize) -> Stretch {
        let first = if bytes == 0 { std::ptr::NonNull::dangling().as_ptr() } else { first };
        Stretch { first, bytes, release: None, context: std::ptr::null_mut() }
    }

    /// The same memory, as long as this is there, without a way to release it.
    pub fn unreleased(&self) -> Stretch {
        Stretch::new(self.first, self.bytes)
    }

    /// From now on the memory is to be released.
    pub fn released_by(self, release: Release, context: *mut c_void) -> Stretch {
        let (first, bytes) = (self.first, self.bytes);
        Stretch { first, bytes, release, context }
    }
}

impl Drop for Stretch {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            release(self.context);
        }
    }
}

impl AsRef<[u8]> for Stretch {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the header asks for so many readable bytes that stay as they are until they are released.
        unsafe { std::slice::from_raw_parts(self.first, self.bytes) }
    }
}

impl Given for Stretch {
    fn bytes(&self) -> &[u8] {
        self.as_ref()
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: of memory that is given the header asks that nobody else uses it, and that it may be written.
        unsafe { std::slice::from_raw_parts_mut(self.first, self.bytes) }
    }
}
