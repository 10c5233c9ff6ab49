//! A counted block of bytes.
//!
//! Blocks start at a multiple of 64 bytes (blocks of a host's memory start where that starts). Large ones start at different
//! places of a page: places of several arrays that are gone through side by side would have the same low bits of their
//! addresses otherwise, and be in each other's way in caches and memory. A block is written only through [`Block::bytes_mut`], which refuses while anybody else holds it.
//!
//! A block may have copies: in other layouts (its shelf), and on a device. Invariants: every way to bytes for writing -
//! [`Block::bytes_mut`], [`Block::exclusive`], the granted one, the host's own memory given back - goes by [`Inner::settle`], which takes the copies
//! away, so a copy has the bytes that the block has now; every way to bytes for reading goes by [`Inner::bytes`], which brings home what is
//! only on a device. Memory that a host lends may change between calls without a word: [`Block::forget`] ends its copy on a device when a
//! call begins.
#![allow(unsafe_code)]

use super::away::{Away, Losses, Room};
use super::given::Given;
use super::pool::{OutOfMemory, Pool};
use super::reserve::Part;
use super::shelf::Shelf;
use super::slab::Piece;
use galopvm_base::resident::{Landing, Resident, Stored};
use memmap2::MmapMut;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// One cache line: the unit of small storage, so that it is aligned without further care.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Line([u8; LINE]);

impl Line {
    pub(super) const ZERO: Line = Line([0; LINE]);
}

/// Bytes of a line.
pub const LINE: usize = 64;

/// Storage of at least this size is mapped, so that it goes back to the system whole and can have huge pages.
pub(super) const MAP_FROM: usize = 1 << 20;

/// Storage of at least this size asks for huge pages.
const HUGE_FROM: usize = 4 << 20;

/// Bytes that can be used again for another block of the same size class.
pub(super) enum Storage {
    Piece(Piece),
    Part(Part),
    Lines(Vec<Line>),
    /// A mapping, from a place on.
    Map(MmapMut, usize),
}

/// How many blocks were mapped.
static MAPPED: AtomicUsize = AtomicUsize::new(0);

/// Lines between the starts of mapped blocks, in their pages: an odd number goes round all of them.
const STAGGER: usize = 17;

/// Lines of a page.
const PAGE_LINES: usize = 64;

/// Where in its page the next mapped block starts.
fn staggered() -> usize {
    MAPPED.fetch_add(1, Ordering::Relaxed).wrapping_mul(STAGGER) % PAGE_LINES * LINE
}

impl Storage {
    /// Takes `size` bytes from the system; all are zero.
    pub(super) fn take(size: usize) -> Option<Storage> {
        if size >= MAP_FROM {
            let first = staggered();
            let map = MmapMut::map_anon(size.checked_add(first)?).ok()?;
            #[cfg(target_os = "linux")]
            if size >= HUGE_FROM {
                // Only advice: without huge pages the block works as well.
                let _ = map.advise(memmap2::Advice::HugePage);
            }
            return Some(Storage::Map(map, first));
        }
        Storage::allocated(size)
    }

    /// Takes `size` bytes from the allocator of the process; all are zero.
    pub(super) fn allocated(size: usize) -> Option<Storage> {
        let mut lines = Vec::new();
        lines.try_reserve_exact(size.div_ceil(LINE)).ok()?;
        lines.resize(size.div_ceil(LINE), Line::ZERO);
        Some(Storage::Lines(lines))
    }

    /// Number of bytes.
    #[inline]
    pub(super) fn size(&self) -> usize {
        match self {
            Storage::Piece(piece) => piece.size(),
            Storage::Part(part) => part.size(),
            Storage::Lines(lines) => lines.len() * LINE,
            Storage::Map(map, first) => map.len() - first,
        }
    }

    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Storage::Piece(piece) => piece.bytes(),
            Storage::Part(part) => part.bytes(),
            // SAFETY: the lines are `LINE` initialised bytes each without padding, one after the other, and the
            // result borrows from the vector.
            Storage::Lines(lines) => unsafe {
                std::slice::from_raw_parts(lines.as_ptr().cast(), lines.len() * LINE)
            },
            Storage::Map(map, first) => &map[*first..],
        }
    }

    #[inline]
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Storage::Piece(piece) => piece.bytes_mut(),
            Storage::Part(part) => part.bytes_mut(),
            // SAFETY: as in `bytes`; any byte pattern is a valid line, and the result borrows the vector mutably.
            Storage::Lines(lines) => unsafe {
                std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast(), lines.len() * LINE)
            },
            Storage::Map(map, first) => &mut map[*first..],
        }
    }
}

/// Memory that somebody else owns; it is only read.
pub(super) type Foreign = Arc<dyn AsRef<[u8]> + Send + Sync>;

pub(super) enum Source {
    Own {
        storage: Option<Storage>,
        pool: Arc<Pool>,
    },
    Given(Box<dyn Given>),
    Foreign {
        owner: Foreign,
        range: Range<usize>,
    },
    /// On a device until somebody looks.
    Away(Box<Away>),
}

struct Inner {
    source: Source,
    bytes: usize,
    /// Copies in other layouts; taken away before anybody writes.
    shelf: OnceLock<Arc<Shelf>>,
    /// The copy on a device; taken away before anybody writes.
    copy: Mutex<Option<Arc<dyn Resident>>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Source::Own { storage, pool } = &mut self.source {
            pool.give_back(self.bytes, storage.take());
        }
    }
}

/// A counted block of bytes; cloning counts, it does not copy.
#[derive(Clone)]
pub struct Block(Arc<Inner>);

impl Inner {
    #[inline]
    fn bytes(&self) -> &[u8] {
        match &self.source {
            Source::Own { storage: Some(storage), .. } => &storage.bytes()[..self.bytes],
            Source::Own { storage: None, .. } => &[],
            Source::Given(memory) => &memory.bytes()[..self.bytes],
            // An owner whose memory shrinks gives an empty block, and every access is checked against that.
            Source::Foreign { owner, range } => (**owner).as_ref().get(range.clone()).unwrap_or(&[]),
            Source::Away(away) => away.bytes(),
        }
    }

    /// Before anybody writes: bytes come home, and copies go.
    #[inline]
    fn settle(&mut self) {
        if self.shelf.get().is_some() {
            self.shelf = OnceLock::new();
        }
        if let Source::Away(away) = &mut self.source
            && let Some((storage, pool)) = away.come_home()
        {
            self.source = Source::Own { storage: Some(storage), pool };
        }
        let copy = self.copy.get_mut().unwrap_or_else(PoisonError::into_inner);
        if copy.is_some() {
            *copy = None;
        }
    }

    /// The bytes for writing, of a block that has settled.
    #[inline]
    fn bytes_of_own(&mut self) -> Option<&mut [u8]> {
        match &mut self.source {
            Source::Own { storage: Some(storage), .. } => Some(&mut storage.bytes_mut()[..self.bytes]),
            Source::Own { storage: None, .. } => Some(&mut []),
            Source::Given(memory) => Some(&mut memory.bytes_mut()[..self.bytes]),
            Source::Foreign { .. } | Source::Away(_) => None,
        }
    }

    #[inline]
    fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        self.settle();
        self.bytes_of_own()
    }

    fn new(source: Source, bytes: usize) -> Inner {
        Inner { source, bytes, shelf: OnceLock::new(), copy: Mutex::default() }
    }
}

/// A block that only one can hold, for code that writes to it often: nobody has to be asked before.
pub struct Exclusive(Inner);

impl Exclusive {
    /// The bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }

    /// The bytes for writing.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.0.bytes_of_own().unwrap_or(&mut [])
    }

    /// A block that others can hold as well.
    #[inline]
    pub fn share(self) -> Block {
        Block(Arc::new(self.0))
    }
}

impl Block {
    /// The block for its only holder, or back if others hold it or it may not be written.
    #[inline]
    pub fn exclusive(self) -> Result<Exclusive, Block> {
        if !self.is_unique() {
            return Err(self);
        }
        let mut inner = Arc::try_unwrap(self.0).map_err(Block)?;
        inner.settle();
        Ok(Exclusive(inner))
    }

    #[inline]
    pub(super) fn own(pool: Arc<Pool>, storage: Option<Storage>, bytes: usize) -> Block {
        Block::of_source(Source::Own { storage, pool }, bytes)
    }

    #[inline]
    pub(super) fn of_source(source: Source, bytes: usize) -> Block {
        Block(Arc::new(Inner::new(source, bytes)))
    }

    /// The memory that a host gave, if this is its only holder.
    pub(super) fn given_mut(&mut self) -> Option<&mut dyn Given> {
        let inner = Arc::get_mut(&mut self.0)?;
        inner.settle();
        match &mut inner.source {
            Source::Given(memory) => Some(&mut **memory),
            Source::Own { .. } | Source::Foreign { .. } | Source::Away(_) => None,
        }
    }

    /// Part of memory that somebody else owns, without copying; it is never written. Nothing if the range is not
    /// inside.
    #[inline]
    pub fn foreign(owner: Arc<dyn AsRef<[u8]> + Send + Sync>, range: Range<usize>) -> Option<Block> {
        let bytes = (*owner).as_ref().get(range.clone())?.len();
        Some(Block::of_source(Source::Foreign { owner, range }, bytes))
    }

    /// The bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }

    /// The bytes for writing, if nobody else holds the block.
    #[inline]
    pub fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        Arc::get_mut(&mut self.0)?.bytes_mut()
    }

    /// The bytes for writing although others may hold the block; nothing if it may not be written.
    ///
    /// # Safety
    /// While the result lives, nobody looks at the bytes through another holder of the block: all holders are known to
    /// the caller, and none of them lends bytes.
    #[expect(clippy::mut_from_ref, reason = "the caller promises what a unique reference would")]
    #[inline]
    pub(crate) unsafe fn bytes_mut_unguarded(&self) -> Option<&mut [u8]> {
        let inner = Arc::as_ptr(&self.0).cast_mut();
        // SAFETY: the pointer is that of a living `Arc`, and by the caller's promise no other reference into it is used
        // as long as this one is.
        unsafe { (*inner).bytes_mut() }
    }

    /// From now on the bytes are those of a copy on a device, which `make` makes with the block's storage as landing. Does nothing
    /// and says so if somebody else holds the block, or it has no storage from a pool.
    pub fn leave(&mut self, make: &mut dyn FnMut(Box<dyn Landing>) -> Arc<dyn Resident>) -> bool {
        let Some(inner) = Arc::get_mut(&mut self.0) else { return false };
        inner.settle();
        let Source::Own { storage, pool } = &mut inner.source else { return false };
        let Some(storage) = storage.take() else { return false };
        let pool = pool.clone();
        let copy = make(Box::new(Room::new(storage, inner.bytes, pool.clone())));
        inner.source = Source::Away(Box::new(Away::new(copy.clone(), pool)));
        inner.copy = Mutex::new(Some(copy));
        true
    }

    /// What is lost of the memory that a block is of which is away.
    pub fn losses(&self) -> Option<Losses> {
        match &self.0.source {
            Source::Away(away) => Some(away.losses()),
            Source::Own { .. } | Source::Given(_) | Source::Foreign { .. } => None,
        }
    }

    /// Lets go of the copy on a device.
    pub fn forget(&self) {
        let copy = self.0.copy.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(copy);
    }

    /// The block's shelf, made by `make` if there is none.
    #[inline]
    pub(super) fn shelf_or(&self, make: impl FnOnce() -> Arc<Shelf>) -> &Arc<Shelf> {
        self.0.shelf.get_or_init(make)
    }

    /// Whether the block may be written at all: it is not somebody else's memory, and not known to be lost.
    #[inline]
    pub fn is_own(&self) -> bool {
        match &self.0.source {
            Source::Own { .. } | Source::Given(_) => true,
            Source::Foreign { .. } => false,
            Source::Away(away) => !away.is_lost(),
        }
    }

    /// Whether this is the only holder of a block that may be written.
    #[inline]
    pub fn is_unique(&self) -> bool {
        self.references() == 1 && self.is_own()
    }

    /// Whether the bytes are still there: those of a file that was shortened are gone, and those that a device has lost, as soon as
    /// somebody looked for them.
    #[inline]
    pub fn is_intact(&self) -> bool {
        match &self.0.source {
            Source::Own { .. } | Source::Given(_) => true,
            Source::Away(away) => !away.is_lost(),
            Source::Foreign { owner, range } => (**owner).as_ref().get(range.clone()).is_some(),
        }
    }

    /// Whether somebody else owns the bytes.
    #[inline]
    pub fn is_foreign(&self) -> bool {
        matches!(self.0.source, Source::Foreign { .. })
    }

    /// How many hold the block. What those did that hold it no longer has happened before.
    #[inline]
    pub fn references(&self) -> usize {
        let count = Arc::strong_count(&self.0);
        fence(Ordering::Acquire);
        count
    }

    /// Number of bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.bytes
    }

    /// Whether the block has no bytes.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.bytes == 0
    }

    /// Whether both are the same block.
    #[inline]
    pub fn same(&self, other: &Block) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// A number that no other living block has.
    #[inline]
    pub fn id(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }
}

impl Stored for Block {
    fn size(&self) -> usize {
        self.len()
    }

    fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }

    fn copy(&self) -> Option<Arc<dyn Resident>> {
        self.0.copy.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn keep(&self, copy: Arc<dyn Resident>) {
        let before = self.0.copy.lock().unwrap_or_else(PoisonError::into_inner).replace(copy);
        // What goes is dropped when nobody holds the lock.
        drop(before);
    }
}

impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Block({} bytes, {} holders)", self.len(), self.references())
    }
}

impl super::Memory {
    /// Storage for a block, and whether it is all zero: what is offered, else from the pool. For want of memory copies
    /// in other layouts are given up.
    #[inline]
    fn take(&self, bytes: usize) -> Result<(Option<Storage>, bool), OutOfMemory> {
        if let Some(storage) = self.offered(bytes) {
            return Ok((Some(storage), false));
        }
        let pool = self.pool();
        pool.take(bytes).or_else(|error| if pool.shelves.empty() { pool.take(bytes) } else { Err(error) })
    }

    /// A block of this size with unspecified contents.
    #[inline]
    pub fn block(&self, bytes: usize) -> Result<Block, OutOfMemory> {
        let (storage, _) = self.take(bytes)?;
        Ok(Block::own(self.pool().clone(), storage, bytes))
    }

    /// A block without bytes, of which no account is kept.
    #[inline]
    pub(crate) fn nothing(&self) -> Block {
        Block::own(self.pool().clone(), None, 0)
    }

    /// A block of this size whose bytes are 0.
    #[inline]
    pub(crate) fn zeros(&self, bytes: usize) -> Result<Block, OutOfMemory> {
        let (mut storage, is_zero) = self.take(bytes)?;
        // What the system gives is zero already, and what is kept is not much.
        if let Some(storage) = storage.as_mut().filter(|_| !is_zero) {
            storage.bytes_mut()[..bytes].fill(0);
        }
        Ok(Block::own(self.pool().clone(), storage, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::{LINE, MAP_FROM, PAGE_LINES, Storage};

    #[test]
    fn large_blocks_start_at_lines_of_their_own() {
        let blocks: Vec<Storage> = (0..3).map(|_| Storage::take(MAP_FROM).expect("memory")).collect();
        let place = |block: &Storage| block.bytes().as_ptr() as usize % (PAGE_LINES * LINE);
        for block in &blocks {
            assert_eq!((place(block) % LINE, block.size()), (0, MAP_FROM));
            assert_eq!(block.bytes().len(), MAP_FROM);
        }
        // Other tests map blocks as well, but no whole round of them between two of these.
        assert!(blocks.windows(2).any(|pair| place(&pair[0]) != place(&pair[1])));
    }
}
