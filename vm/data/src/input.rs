//! Where values come from: a file, which is mapped; standard input; or what is packed in either with gzip.
//!
//! Everything that is not mapped lives in a counted block, so that the limit of memory holds for it.

use flate2::bufread::MultiGzDecoder;
use galopvm_base::ElemType;
use galopvm_lmad::Lmad;
use galopvm_store::Array;
use galopvm_store::memory::{Block, MappedFile, Memory};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

/// How gzip begins.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Bytes of the first block for an input of unknown length.
const FIRST: usize = 1 << 16;

/// The bytes of an input. Cheap to clone.
#[derive(Clone)]
pub struct Input(Arc<dyn AsRef<[u8]> + Send + Sync>);

impl Input {
    /// A file, mapped if it is large, unpacked if it is packed.
    pub fn open(memory: &Memory, path: &Path) -> io::Result<Input> {
        Input::of_file(memory, File::open(path)?)
    }

    /// An open file, from where it stands, unpacked if it is packed.
    pub fn of_file(memory: &Memory, file: File) -> io::Result<Input> {
        Input::as_it_is(memory, file)?.unpacked(memory)
    }

    /// An open file, from where it stands, mapped if it is large, and packed if it is packed.
    pub fn as_it_is(memory: &Memory, mut file: File) -> io::Result<Input> {
        match MappedFile::of_file(&file)? {
            Some(map) => Ok(Input(Arc::new(map))),
            None => {
                let expected = file.metadata().ok().map_or(0, |meta| meta.len());
                Input::read_as_it_is(memory, &mut file, usize::try_from(expected).unwrap_or(0))
            }
        }
    }

    /// Everything that a source gives, unpacked if it is packed.
    pub fn read(memory: &Memory, source: &mut dyn Read, expected: usize) -> io::Result<Input> {
        Input::read_as_it_is(memory, source, expected)?.unpacked(memory)
    }

    /// Everything that a source gives, packed if it is packed.
    pub fn read_as_it_is(memory: &Memory, source: &mut dyn Read, expected: usize) -> io::Result<Input> {
        Ok(Input(Arc::new(Part::read(memory, source, expected)?)))
    }

    fn unpacked(self, memory: &Memory) -> io::Result<Input> {
        if !self.bytes().starts_with(&GZIP) {
            return Ok(self);
        }
        let unpacked = Part::read(memory, &mut MultiGzDecoder::new(self.bytes()), 4 * self.bytes().len())?;
        Ok(Input(Arc::new(unpacked)))
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        (*self.0).as_ref()
    }

    /// All bytes as one array of `u8`, which lies in the input. Nothing if they are gone, as those of a mapped file may be.
    pub fn array(&self) -> Option<Array> {
        let length = self.bytes().len();
        let block = Block::foreign(self.owner(), 0..length)?;
        Array::from_block(block, ElemType::U8, Lmad::row_major(&[i64::try_from(length).ok()?]))
    }

    pub(super) fn owner(&self) -> Arc<dyn AsRef<[u8]> + Send + Sync> {
        self.0.clone()
    }
}

/// The first bytes of a block.
struct Part {
    block: Block,
    used: usize,
}

impl AsRef<[u8]> for Part {
    fn as_ref(&self) -> &[u8] {
        &self.block.bytes()[..self.used]
    }
}

impl Part {
    fn read(memory: &Memory, source: &mut dyn Read, expected: usize) -> io::Result<Part> {
        // One byte more shows that there is nothing more.
        let mut part = Part { block: block(memory, (expected + 1).max(FIRST))?, used: 0 };
        loop {
            if part.used == part.block.len() {
                let mut larger = block(memory, part.used.saturating_mul(2))?;
                if let Some(target) = larger.bytes_mut() {
                    target[..part.used].copy_from_slice(part.block.bytes());
                }
                part.block = larger;
            }
            // Nobody else has seen the block.
            let free = part.block.bytes_mut().map_or(&mut [][..], |bytes| &mut bytes[part.used..]);
            match source.read(free) {
                Ok(0) => return Ok(part),
                Ok(read) => part.used += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

fn block(memory: &Memory, bytes: usize) -> io::Result<Block> {
    memory.block(bytes).map_err(|error| io::Error::new(io::ErrorKind::OutOfMemory, error.to_string()))
}
