//! Large input files as memory: mapped, not read.
//!
//! A file that is shortened while it is mapped takes its pages away, and the next access to them is a signal (`SIGBUS`)
//! that would end the process. Here it ends nothing: a handler puts empty pages in their place and marks the file as
//! [shortened](SHORTENED). From then on it gives no bytes, and whoever used them says so instead of giving a result.
//! Signals from other places go on to the handler that was there before.
//!
//! Small files, and files on systems without such a handler, are not mapped at all: they are to be read.
//! Another process may still change the *contents* of a mapped file: the program then sees old bytes or new ones, as
//! with any reading of a file that is being written. No check relies on two looks at the same byte being alike.
#![allow(unsafe_code)]

use memmap2::Mmap;
use std::fs::File;
use std::io;
use std::path::Path;

/// Files below this size are not worth a mapping.
const MAP_FROM: u64 = 1 << 20;

/// The message about a file that was shortened.
pub const SHORTENED: &str = "The input file became shorter while it was in use.";

/// A file mapped into memory, for reading.
#[derive(Debug)]
pub struct MappedFile {
    /// Dropped first: what is no longer mapped is no longer watched.
    watched: watch::Watched,
    map: Mmap,
}

impl MappedFile {
    /// Maps a file. Nothing if it is to be read instead.
    pub fn open(path: &Path) -> io::Result<Option<MappedFile>> {
        MappedFile::of_file(&File::open(path)?)
    }

    /// Maps an open file that stands at its start. Nothing if it is to be read instead.
    pub fn of_file(file: &File) -> io::Result<Option<MappedFile>> {
        let meta = file.metadata()?;
        if !meta.is_file() || meta.len() < MAP_FROM || io::Seek::stream_position(&mut &*file)? != 0 {
            return Ok(None);
        }
        // SAFETY: the mapping is private and only read. If another process changes the file, bytes change: they are
        // only ever read as numbers, all of whose patterns are valid, and never twice with the same expectation. If it
        // shortens the file, the watch below replaces the pages that are gone.
        let Ok(map) = (unsafe { Mmap::map(file) }) else { return Ok(None) };
        Ok(watch::Watched::new(&map).map(|watched| MappedFile { watched, map }))
    }
}

/// The bytes; none of a file that was shortened.
impl AsRef<[u8]> for MappedFile {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        if self.watched.is_whole() { &self.map } else { &[] }
    }
}

#[cfg(not(unix))]
mod watch {
    //! Without signals there is no watch, so nothing is mapped.

    #[derive(Debug)]
    pub(super) struct Watched;

    impl Watched {
        pub(super) fn new(_: &[u8]) -> Option<Watched> {
            None
        }

        pub(super) fn is_whole(&self) -> bool {
            true
        }
    }
}

#[cfg(unix)]
mod watch {
    //! The list of mapped stretches that the signal handler looks at. It takes no lock and allocates nothing.

    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

    /// Files mapped at one time; any further one is read.
    const MOST: usize = 64;

    /// A mapped stretch of memory. `start` is 0 while the slot is free, and `CLAIMED` while it is being filled.
    struct Slot {
        start: AtomicUsize,
        end: AtomicUsize,
        shortened: AtomicBool,
    }

    const CLAIMED: usize = usize::MAX;

    static SLOTS: [Slot; MOST] = [const {
        Slot { start: AtomicUsize::new(0), end: AtomicUsize::new(0), shortened: AtomicBool::new(false) }
    }; MOST];

    /// The handler that was there before; nothing while there is none of ours.
    static BEFORE: OnceLock<Option<libc::sigaction>> = OnceLock::new();

    /// A slot in use.
    #[derive(Debug)]
    pub(super) struct Watched(usize);

    impl Watched {
        /// Watches these bytes, if there is a slot and a handler.
        pub(super) fn new(bytes: &[u8]) -> Option<Watched> {
            (*BEFORE.get_or_init(install))?;
            let start = bytes.as_ptr() as usize;
            let free = |slot: &Slot| slot.start.compare_exchange(0, CLAIMED, SeqCst, SeqCst).is_ok();
            let number = SLOTS.iter().position(free)?;
            let slot = &SLOTS[number];
            slot.shortened.store(false, SeqCst);
            slot.end.store(start + bytes.len(), SeqCst);
            slot.start.store(start, SeqCst);
            Some(Watched(number))
        }

        #[inline]
        pub(super) fn is_whole(&self) -> bool {
            !SLOTS[self.0].shortened.load(std::sync::atomic::Ordering::Relaxed)
        }
    }

    impl Drop for Watched {
        fn drop(&mut self) {
            SLOTS[self.0].start.store(0, SeqCst);
        }
    }

    /// Installs the handler; what was there before, or nothing if that fails.
    fn install() -> Option<libc::sigaction> {
        // SAFETY: both structures are valid for the calls; all-zero is a valid `sigaction`. The handler does only what
        // may be done in one: atomic loads and stores, and system calls.
        unsafe {
            let mut before: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(libc::SIGBUS, std::ptr::null(), &raw mut before) != 0 {
                return None;
            }
            let mut ours: libc::sigaction = std::mem::zeroed();
            ours.sa_sigaction = on_bus_error as *const () as libc::sighandler_t;
            ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
            libc::sigemptyset(&raw mut ours.sa_mask);
            (libc::sigaction(libc::SIGBUS, &raw const ours, std::ptr::null_mut()) == 0).then_some(before)
        }
    }

    extern "C" fn on_bus_error(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // SAFETY: the system gives a valid `info` to a handler with SA_SIGINFO.
        let address = unsafe { (*info).si_addr() } as usize;
        for slot in &SLOTS {
            let start = slot.start.load(SeqCst);
            let end = slot.end.load(SeqCst);
            if start == 0 || start == CLAIMED || !(start..end).contains(&address) {
                continue;
            }
            slot.shortened.store(true, SeqCst);
            // SAFETY: the whole stretch is one mapping of ours that is only read; the page-aligned replacement is
            // readable as well, and is given back with the mapping. Whoever holds the slice sees other bytes from
            // now on, which is what shortening the file has done already.
            let replaced = unsafe {
                libc::mmap(
                    start as *mut libc::c_void,
                    end - start,
                    libc::PROT_READ,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
                    -1,
                    0,
                )
            };
            if replaced != libc::MAP_FAILED {
                return;
            }
        }
        go_on(signal, info, context);
    }

    /// Gives a signal that is not ours to the handler that was there before.
    fn go_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        let Some(Some(before)) = BEFORE.get() else { return };
        let handler = before.sa_sigaction;
        if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
            // SAFETY: `before` is what the system gave. The access happens again, and ends the process.
            unsafe { libc::sigaction(signal, before, std::ptr::null_mut()) };
        } else if before.sa_flags & libc::SA_SIGINFO != 0 {
            // SAFETY: with this flag the address is that of a handler with three parameters.
            let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                unsafe { std::mem::transmute(handler) };
            handler(signal, info, context);
        } else {
            // SAFETY: without it the address is that of a handler with one parameter.
            let handler: extern "C" fn(libc::c_int) = unsafe { std::mem::transmute(handler) };
            handler(signal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Block;
    use std::sync::Arc;

    fn path(name: &str) -> std::path::PathBuf {
        std::env::temp_dir().join(format!("galopvm-mapped-{name}-{}", std::process::id()))
    }

    #[test]
    fn small_files_are_not_mapped_and_a_missing_one_is_an_error() {
        let path = path("small");
        std::fs::write(&path, b"abc").unwrap();
        assert!(MappedFile::open(&path).unwrap().is_none());
        std::fs::remove_file(&path).unwrap();
        assert!(MappedFile::open(&path).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_shortened_ends_nothing() {
        let path = path("shortened");
        std::fs::write(&path, vec![7u8; 3 << 20]).unwrap();
        let other = Arc::new(MappedFile::open(&path).unwrap().expect("large enough"));
        let file = Arc::new(MappedFile::open(&path).unwrap().expect("large enough"));
        let block = Block::foreign(file.clone(), 1 << 20..3 << 20).expect("inside");
        assert!(block.is_intact() && block.bytes().iter().all(|b| *b == 7));
        File::options().write(true).open(&path).unwrap().set_len(4096).unwrap();
        let bytes = (*file).as_ref();
        assert_eq!((bytes[0], bytes[2 << 20], bytes[(3 << 20) - 1]), (7, 0, 0));
        assert!((*file).as_ref().is_empty() && !block.is_intact() && block.bytes().is_empty());
        // The other mapping has not been looked at yet.
        assert!((*other).as_ref().len() == 3 << 20);
        std::fs::remove_file(&path).unwrap();
        drop((block, file, other));
        // The slots can be used again.
        std::fs::write(&path, vec![9u8; 2 << 20]).unwrap();
        let again = MappedFile::open(&path).unwrap().expect("large enough");
        assert!(again.as_ref().iter().all(|b| *b == 9));
        std::fs::remove_file(&path).unwrap();
    }
}
