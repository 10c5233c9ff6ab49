//! Input files as memory: mapped, not read.
#![allow(unsafe_code)]

use memmap2::Mmap;
use std::fs::File;
use std::io;
use std::path::Path;

/// A file mapped into memory, for reading.
#[derive(Debug)]
pub struct MappedFile(Option<Mmap>);

impl MappedFile {
    /// Maps a file.
    pub fn open(path: &Path) -> io::Result<MappedFile> {
        let file = File::open(path)?;
        if file.metadata()?.len() == 0 {
            // Nothing can be mapped of an empty file.
            return Ok(MappedFile(None));
        }
        // SAFETY: the mapping is private and only read. Another process may still change the file underneath; the
        // bytes are then unspecified, as with any reading of a file that is being written, and every use of them is
        // checked as input. Shortening the file while it is mapped ends the process, which the documentation of the
        // command says.
        let map = unsafe { Mmap::map(&file)? };
        Ok(MappedFile(Some(map)))
    }
}

impl AsRef<[u8]> for MappedFile {
    fn as_ref(&self) -> &[u8] {
        self.0.as_deref().unwrap_or(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_file_is_empty_and_a_missing_one_an_error() {
        let path = std::env::temp_dir().join(format!("galopvm-mapped-{}", std::process::id()));
        std::fs::write(&path, b"").unwrap();
        assert_eq!(MappedFile::open(&path).unwrap().as_ref(), b"");
        std::fs::write(&path, b"abc").unwrap();
        assert_eq!(MappedFile::open(&path).unwrap().as_ref(), b"abc");
        std::fs::remove_file(&path).unwrap();
        assert!(MappedFile::open(&path).is_err());
    }
}
