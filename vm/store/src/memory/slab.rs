//! Slabs: small pieces of storage are cut one after the other from larger ones, so that the system is not asked for each.
//!
//! A piece is cut once and then goes from block to block through the free lists of its size class. It keeps its slab
//! alive; a slab goes back to the system as a whole, when none of its pieces is in use or kept.
#![allow(unsafe_code)]

use super::block::{LINE, Line};
use std::ptr::NonNull;
use std::sync::Arc;

/// Bytes of a slab.
pub(super) const SLAB: usize = 1 << 18;

/// The largest piece.
pub(super) const LARGEST_PIECE: usize = 1 << 12;

/// The lines of a slab. Who may touch them is said by pieces.
struct Slab {
    /// The first of `SLAB / LINE` lines, made from a boxed slice.
    lines: NonNull<Line>,
}

// SAFETY: the lines are plain bytes, and each is only reached through the one piece that has it.
unsafe impl Send for Slab {}
// SAFETY: as above.
unsafe impl Sync for Slab {}

impl Slab {
    fn new() -> Option<Slab> {
        let mut lines = Vec::new();
        lines.try_reserve_exact(SLAB / LINE).ok()?;
        lines.resize(SLAB / LINE, Line::ZERO);
        let lines: *mut [Line] = Box::into_raw(lines.into_boxed_slice());
        NonNull::new(lines.cast()).map(|lines| Slab { lines })
    }
}

impl Drop for Slab {
    fn drop(&mut self) {
        let lines = std::ptr::slice_from_raw_parts_mut(self.lines.as_ptr(), SLAB / LINE);
        // SAFETY: `new` got the pointer from a box of so many lines, and there is no piece any more that reaches them.
        drop(unsafe { Box::from_raw(lines) });
    }
}

/// Some lines of a slab that nobody else has.
pub(super) struct Piece {
    first: NonNull<Line>,
    lines: usize,
    slab: Arc<Slab>,
}

// SAFETY: a piece is the only way to its lines, which are plain bytes.
unsafe impl Send for Piece {}
// SAFETY: as above; a shared piece is only read.
unsafe impl Sync for Piece {}

impl Piece {
    /// Number of bytes.
    pub(super) fn size(&self) -> usize {
        self.lines * LINE
    }

    /// The bytes.
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: the piece has these lines, which live as long as the slab, to itself; they are initialised bytes.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr().cast(), self.lines * LINE) }
    }

    /// The bytes for writing.
    #[inline]
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`, and the result borrows the piece mutably.
        unsafe { std::slice::from_raw_parts_mut(self.first.as_ptr().cast(), self.lines * LINE) }
    }

    /// Whether this is all that is left of its slab; the others hold it no longer.
    pub(super) fn is_last(&self) -> bool {
        Arc::strong_count(&self.slab) == 1
    }

    /// A number for the slab, and how many hold it.
    pub(super) fn slab(&self) -> (usize, usize) {
        (Arc::as_ptr(&self.slab) as usize, Arc::strong_count(&self.slab))
    }
}

/// A slab that pieces are being cut from.
pub(super) struct Cutter {
    slab: Arc<Slab>,
    /// Lines that are cut already.
    used: usize,
}

impl Cutter {
    /// A new slab, if there is memory.
    pub(super) fn new() -> Option<Cutter> {
        Some(Cutter { slab: Arc::new(Slab::new()?), used: 0 })
    }

    /// The next piece of `size` bytes, a multiple of a line; nothing if too little is left.
    pub(super) fn cut(&mut self, size: usize) -> Option<Piece> {
        let lines = size / LINE;
        if lines > SLAB / LINE - self.used {
            return None;
        }
        // SAFETY: `used + lines` is at most the number of lines of the slab.
        let first = unsafe { self.slab.lines.add(self.used) };
        self.used += lines;
        Some(Piece { first, lines, slab: self.slab.clone() })
    }

    /// Whether no piece is left, in use or kept.
    pub(super) fn is_unused(&self) -> bool {
        Arc::strong_count(&self.slab) == 1
    }

    /// A number for the slab.
    pub(super) fn slab(&self) -> usize {
        Arc::as_ptr(&self.slab) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_apart_and_outlive_the_cutter() {
        let mut cutter = Cutter::new().unwrap();
        let mut pieces = Vec::new();
        while let Some(mut piece) = cutter.cut(LARGEST_PIECE - 64) {
            assert!(piece.bytes().iter().all(|byte| *byte == 0));
            piece.bytes_mut().fill(pieces.len() as u8 + 1);
            pieces.push(piece);
        }
        assert_eq!(pieces.len(), SLAB / (LARGEST_PIECE - 64));
        assert!(!cutter.is_unused() && cutter.cut(64).is_some());
        drop(cutter);
        for (k, piece) in pieces.iter().enumerate() {
            assert!(piece.bytes().iter().all(|byte| *byte == k as u8 + 1));
            assert_eq!(piece.bytes().as_ptr() as usize % LINE, 0);
        }
        pieces.truncate(1);
        assert!(pieces[0].is_last());
    }
}
