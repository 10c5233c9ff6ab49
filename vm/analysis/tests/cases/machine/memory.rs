//! Blocks: each a window onto bytes that know which element they are a part of, so that blocks that are packed into
//! one memory destroy each other's elements where they overlap while both are needed.

use super::Cell;
use galopvm_lmad::Lmad;

/// A byte of memory.
#[derive(Clone, Copy)]
enum Byte {
    /// Nobody wrote it.
    Nothing,
    /// The first byte of an element.
    Head(u64),
    /// Another byte of an element.
    Tail,
}

/// A block.
struct Window {
    memory: usize,
    base: usize,
    /// Bytes of an element; 1 for blocks with a memory of their own.
    width: usize,
    elements: usize,
    /// Somebody outside holds it: it must not be written.
    shared: bool,
}

/// An array: a block and a view of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Array {
    pub block: usize,
    pub view: Lmad,
}

impl Array {
    /// Whether both are the same places in the same order.
    pub fn is(&self, other: &Array) -> bool {
        self.block == other.block && self.view.index_form() == other.view.index_form()
    }
}

/// All memory of a run.
#[derive(Default)]
pub struct Memory {
    memories: Vec<Vec<Byte>>,
    windows: Vec<Window>,
}

impl Memory {
    /// A memory of so many bytes for blocks that are packed.
    pub fn arena(&mut self, bytes: usize) -> usize {
        self.memories.push(vec![Byte::Nothing; bytes]);
        self.memories.len() - 1
    }

    /// A block with a memory of its own.
    pub fn block(&mut self, elements: i64) -> usize {
        let elements = elements.max(0) as usize;
        let memory = self.arena(elements);
        self.windows.push(Window { memory, base: 0, width: 1, elements, shared: false });
        self.windows.len() - 1
    }

    /// A block in an arena; what lay there is gone.
    pub fn packed(&mut self, memory: usize, base: usize, width: usize, elements: i64) -> usize {
        let elements = elements.max(0) as usize;
        self.memories[memory][base..base + width * elements].fill(Byte::Nothing);
        self.windows.push(Window { memory, base, width, elements, shared: false });
        self.windows.len() - 1
    }

    /// The number of blocks.
    pub fn count(&self) -> usize {
        self.windows.len()
    }

    /// What lay in a block is gone.
    pub fn clear(&mut self, block: usize) {
        let window = &self.windows[block];
        let end = window.base + window.width * window.elements;
        self.memories[window.memory][window.base..end].fill(Byte::Nothing);
    }

    /// Nobody may write the block from now on.
    pub fn share(&mut self, block: usize) {
        self.windows[block].shared = true;
    }

    /// Whether somebody outside holds the block.
    pub fn is_shared(&self, block: usize) -> bool {
        self.windows[block].shared
    }

    /// The number of elements of a block.
    pub fn elements(&self, block: usize) -> usize {
        self.windows[block].elements
    }

    fn first(&self, block: usize, place: i64) -> Result<(usize, usize, usize), String> {
        let window = &self.windows[block];
        match usize::try_from(place) {
            Ok(place) if place < window.elements => {
                Ok((window.memory, window.base + place * window.width, window.width))
            }
            _ => Err(format!("place {place} of {}", window.elements)),
        }
    }

    /// The element at a place.
    pub fn get(&self, block: usize, place: i64) -> Result<Cell, String> {
        let (memory, first, width) = self.first(block, place)?;
        let bytes = &self.memories[memory][first..first + width];
        Ok(match bytes[0] {
            Byte::Head(value) if bytes[1..].iter().all(|byte| matches!(byte, Byte::Tail)) => Some(value),
            _ => None,
        })
    }

    /// Writes an element.
    pub fn set(&mut self, block: usize, place: i64, value: Cell) -> Result<(), String> {
        if self.windows[block].shared {
            return Err(format!("place {place} of a block that others hold is written"));
        }
        let (memory, first, width) = self.first(block, place)?;
        let bytes = &mut self.memories[memory][first..first + width];
        match value {
            Some(value) => {
                bytes.fill(Byte::Tail);
                bytes[0] = Byte::Head(value);
            }
            None => bytes.fill(Byte::Nothing),
        }
        Ok(())
    }

    /// The elements of an array in the order of its indices.
    pub fn cells(&self, array: &Array) -> Result<Vec<Cell>, String> {
        array.view.places().map(|place| self.get(array.block, place)).collect()
    }
}
