//! The elements of an array whose text is being read: a block that grows.
//!
//! The block is counted like any other, and is as large as the commas that follow say, so that it rarely grows and
//! nothing is copied at the end.

use galopvm_base::{ElemType, Scalar};
use galopvm_lmad::Lmad;
use galopvm_store::array::{Array, store};
use galopvm_store::memory::{Block, Memory, OutOfMemory};

/// Bytes of text that are looked at together.
const PIECE: usize = 4096;

/// Bytes of elements that are collected before they go to the block.
const WAITING: usize = 4096;

/// Elements of one type.
pub(super) struct Elements {
    rank: usize,
    block: Option<Block>,
    /// Bytes of the block that hold elements.
    used: usize,
    waiting: Box<[u8; WAITING]>,
    /// Bytes that wait.
    held: usize,
}

impl Elements {
    /// No elements yet of an array of this rank.
    pub(super) fn new(rank: usize) -> Elements {
        Elements { rank, block: None, used: 0, waiting: Box::new([0; WAITING]), held: 0 }
    }

    /// Adds an element; `rest` is the text that follows it.
    #[inline]
    pub(super) fn push(&mut self, memory: &Memory, scalar: Scalar, rest: &[u8]) -> Result<(), OutOfMemory> {
        let width = scalar.ty.bytes();
        if self.held + width > WAITING {
            self.settle(memory, width, rest)?;
        }
        store(&mut self.waiting[self.held..], width, 0, scalar.bits);
        self.held += width;
        Ok(())
    }

    /// Moves what waits to the block, which has room for what follows.
    #[cold]
    fn settle(&mut self, memory: &Memory, width: usize, rest: &[u8]) -> Result<(), OutOfMemory> {
        let needed = self.used + self.held;
        if self.block.as_ref().is_none_or(|block| block.len() < needed) {
            let expected = following(rest, self.rank).saturating_add(1).saturating_mul(width);
            self.grow(memory, needed.saturating_add(expected.max(self.used / 2)))?;
        }
        self.move_waiting();
        Ok(())
    }

    fn grow(&mut self, memory: &Memory, bytes: usize) -> Result<(), OutOfMemory> {
        let mut larger = memory.block(bytes)?;
        if let (Some(target), Some(block)) = (larger.bytes_mut(), &self.block) {
            target[..self.used].copy_from_slice(&block.bytes()[..self.used]);
        }
        self.block = Some(larger);
        Ok(())
    }

    fn move_waiting(&mut self) {
        let needed = self.used + self.held;
        if let Some(target) = self.block.as_mut().and_then(Block::bytes_mut) {
            target[self.used..needed].copy_from_slice(&self.waiting[..self.held]);
        }
        self.used = needed;
        self.held = 0;
    }

    /// The array of this shape, which has as many elements as were added.
    pub(super) fn into_array(
        mut self,
        memory: &Memory,
        elem: ElemType,
        shape: &[i64],
    ) -> Result<Array, OutOfMemory> {
        let needed = self.used + self.held;
        if self.block.as_ref().is_none_or(|block| block.len() < needed) {
            self.grow(memory, needed)?;
        }
        self.move_waiting();
        match self.block.and_then(|block| Array::from_block(block, elem, Lmad::row_major(shape))) {
            Some(array) => Ok(array),
            None => Array::fresh(memory, elem, shape),
        }
    }
}

/// About how many elements follow before the array ends: as many as there are commas before so many brackets are
/// closed. Brackets in comments mislead it, which costs a copy.
fn following(rest: &[u8], open: usize) -> usize {
    let (mut commas, mut depth) = (0, open);
    for piece in rest.chunks(PIECE) {
        let count = |wanted: u8| piece.iter().filter(|b| **b == wanted).count();
        let closing = count(b']');
        if closing < depth {
            commas += count(b',');
            depth = depth - closing + count(b'[');
            continue;
        }
        for byte in piece {
            match byte {
                b',' => commas += 1,
                b'[' => depth += 1,
                b']' if depth <= 1 => return commas,
                b']' => depth -= 1,
                _ => {}
            }
        }
    }
    commas
}
