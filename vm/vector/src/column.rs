//! Scalars of a group of rows, and the buffers that hold them.

use crate::array::Store;
use crate::loops;
use galopvm_base::{Bits, element};
use std::ops::Range;
use std::rc::Rc;

/// Bytes of a buffer that every column of a group fits in.
const ROOM: usize = 8 << 10;

/// Buffers that are kept for later columns.
const MOST_SPARE: usize = 64;

/// Columns with one value that are kept.
const MOST_SPLATS: usize = 16;

/// A scalar for each row of a group.
#[derive(Clone)]
pub(crate) enum Scalars<'a> {
    /// The same for all rows.
    One(Bits),
    /// An `i64` that grows from row to row: `start + row * step`.
    Line {
        /// That of the first row.
        start: i64,
        /// The distance.
        step: i64,
    },
    /// One for each row.
    Many(Column<'a>),
}

/// Elements one after the other, as they lie in memory.
#[derive(Clone)]
pub(crate) enum Column<'a> {
    /// The first bytes of a buffer.
    Own(Rc<Vec<u8>>, usize),
    /// A part of what a launch gave.
    Part(Rc<Store<'a>>, Range<usize>),
}

impl Column<'_> {
    pub fn bytes(&self) -> &[u8] {
        match self {
            Column::Own(buffer, bytes) => &buffer[..*bytes],
            Column::Part(store, range) => &store.bytes()[range.clone()],
        }
    }

    /// Whether a condition holds in some row.
    pub fn holds_somewhere(&self) -> bool {
        self.bytes().iter().any(|holds| *holds != 0)
    }

    /// Whether a condition holds in a row.
    pub fn holds(&self, row: usize) -> bool {
        self.bytes()[row] != 0
    }

    /// The `i64` of a row.
    pub fn int(&self, row: usize) -> i64 {
        element::load(self.bytes(), 8, row as i64) as i64
    }
}

/// Buffers for columns.
#[derive(Default)]
pub(crate) struct Buffers {
    spare: Vec<Vec<u8>>,
    /// Columns with the same number everywhere: the number, its width, the column.
    splats: Vec<(Bits, usize, Rc<Vec<u8>>)>,
    next_splat: usize,
}

impl Buffers {
    /// A new column of so many bytes.
    pub fn fill<'a>(&mut self, bytes: usize, f: impl FnOnce(&mut [u8])) -> Column<'a> {
        let mut buffer = self.spare.pop().unwrap_or_default();
        if buffer.len() < bytes {
            buffer.resize(bytes.max(ROOM), 0);
        }
        f(&mut buffer[..bytes]);
        Column::Own(Rc::new(buffer), bytes)
    }

    /// A column with one value in all rows.
    pub fn splat<'a>(&mut self, bits: Bits, width: usize, rows: usize) -> Column<'a> {
        let bytes = rows * width;
        let is_it = |known: &&(Bits, usize, Rc<Vec<u8>>)| {
            (known.0, known.1) == (bits, width) && known.2.len() >= bytes
        };
        if let Some((.., buffer)) = self.splats.iter().find(is_it) {
            return Column::Own(buffer.clone(), bytes);
        }
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.resize(bytes.max(ROOM), 0);
        loops::splat(&mut buffer, width, bits);
        let buffer = Rc::new(buffer);
        let entry = (bits, width, buffer.clone());
        if self.splats.len() < MOST_SPLATS {
            self.splats.push(entry);
        } else {
            let old = std::mem::replace(&mut self.splats[self.next_splat], entry);
            self.next_splat = (self.next_splat + 1) % MOST_SPLATS;
            self.give_back(Column::Own(old.2, 0));
        }
        Column::Own(buffer, bytes)
    }

    /// A column that is not needed any more by whoever had it.
    pub fn give_back(&mut self, column: Column<'_>) {
        if let Column::Own(buffer, _) = column
            && self.spare.len() < MOST_SPARE
            && let Some(buffer) = Rc::into_inner(buffer)
        {
            self.spare.push(buffer);
        }
    }
}
