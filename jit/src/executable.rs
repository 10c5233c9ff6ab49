//! Executable memory, and the one place where control passes into generated code.
//!
//! A buffer is written while writable and run while executable, never both (dynasmrt's two buffer types). Where the
//! processor's instruction cache does not follow what is written, it is told.
#![allow(unsafe_code)]

use crate::record::{Record, Stop};
use dynasmrt::AssemblyOffset;
use dynasmrt::cache_control::{prepare_for_execution, synchronize_icache};
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
        let buffer = buffer.make_exec()?;
        synchronize_icache(&buffer);
        Ok(Executable { buffer })
    }

    /// The bytes.
    pub fn code(&self) -> &[u8] {
        &self.buffer
    }

    /// Where the code begins.
    pub fn address(&self) -> usize {
        self.buffer.ptr(AssemblyOffset(0)) as usize
    }

    /// Runs the code on the record of a piece. True if all is well, false if something trapped or the host wanted it
    /// to end.
    pub fn run(&self, record: &mut Record<'_>) -> bool {
        let entry = self.buffer.ptr(AssemblyOffset(0));
        prepare_for_execution(&self.buffer);
        // The code reads and writes inside the views of the record only (reads are checked, or proven by whoever made the plan),
        // and pieces that run at the same time write different elements.
        // SAFETY: the buffer holds a function of this type, made by an `Assembler`; a record is made from a checked launch and
        // borrows its blocks, so every view lies inside a block that stays where it is.
        unsafe {
            let function: extern "C" fn(*mut u64) -> u64 = std::mem::transmute(entry);
            function(record.words_mut().as_mut_ptr()) == 0
        }
    }
}

/// Asks the host whether a launch is to end: 1 if so. Generated code calls it with the word `STOP` of its record.
///
/// # Safety
/// `stop` points to a [`Stop`] that lives as long as the record.
pub unsafe extern "C" fn ask(stop: *const Stop<'_>) -> u32 {
    // SAFETY: the caller says so.
    u32::from(unsafe { (*stop)() })
}
