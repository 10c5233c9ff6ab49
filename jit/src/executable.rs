//! Executable memory, and the one place where control passes into generated code.
//!
//! A buffer is written while writable and run while executable, never both (dynasmrt's two buffer types).
#![allow(unsafe_code)]

use dynasmrt::AssemblyOffset;
use dynasmrt::mmap::{ExecutableBuffer, MutableBuffer};

/// Machine code in executable memory.
pub struct Executable {
    buffer: ExecutableBuffer,
}

impl Executable {
    /// Places code; the error is the operating system's.
    pub fn new(code: &[u8]) -> std::io::Result<Executable> {
        let mut buffer = MutableBuffer::new(code.len())?;
        buffer.set_len(code.len());
        buffer.copy_from_slice(code);
        Ok(Executable { buffer: buffer.make_exec()? })
    }

    /// The bytes.
    pub fn code(&self) -> &[u8] {
        &self.buffer
    }

    /// Runs the code on a launch record. True if all is well, false if something trapped.
    ///
    /// # Safety
    /// The code was made by `emit` for the region the record was made for, and the record's addresses are those of
    /// blocks that stay where they are during the call, hold the views the record describes, and are not written
    /// elsewhere in the meantime (pieces that run at the same time write disjoint places).
    pub unsafe fn run(&self, record: &[u64]) -> bool {
        let entry = self.buffer.ptr(AssemblyOffset(0));
        // SAFETY: the buffer begins with a function of this type (see `emit`); the rest is the caller's promise.
        unsafe {
            let function: extern "C" fn(*const u64) -> u64 = std::mem::transmute(entry);
            function(record.as_ptr()) == 0
        }
    }
}
