//! Scalars of a group of rows, and the buffers that hold them.

use crate::array::Store;
use crate::loops;
use galopvm_base::{Bits, element};
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

/// Bytes of a buffer that every column of a group fits in.
const ROOM: usize = 8 << 10;

/// Buffers that are kept for later columns.
const MOST_SPARE: usize = 64;

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
    Own(Buffer, usize),
    /// A part of what a launch gave.
    Part(Rc<Store<'a>>, Range<usize>),
}

impl Column<'_> {
    pub fn bytes(&self) -> &[u8] {
        match self {
            Column::Own(buffer, bytes) => &buffer.bytes()[..*bytes],
            Column::Part(store, range) => &store.bytes()[range.clone()],
        }
    }

    /// Whether a condition holds in some row.
    pub fn holds_somewhere(&self) -> bool {
        let (words, rest) = self.bytes().as_chunks();
        let any = words.iter().fold(0, |any, word| any | u64::from_ne_bytes(*word));
        any != 0 || rest.iter().any(|holds| *holds != 0)
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

/// Bytes that may be in several columns: whoever drops them last leaves them for the next column of the thread.
#[derive(Clone)]
pub(crate) struct Buffer(Option<Rc<Vec<u8>>>);

thread_local! {
    /// Buffers that nobody has.
    static SPARE: RefCell<Vec<Rc<Vec<u8>>>> = const { RefCell::new(Vec::new()) };
}

impl Buffer {
    fn bytes(&self) -> &[u8] {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }
}

impl Drop for Buffer {
    #[inline]
    fn drop(&mut self) {
        let Some(mut buffer) = self.0.take() else { return };
        if Rc::get_mut(&mut buffer).is_some() {
            // At the end of the thread there is no list any more.
            let _ = SPARE.try_with(|spare| {
                let mut spare = spare.borrow_mut();
                if spare.len() < MOST_SPARE {
                    spare.push(buffer);
                }
            });
        }
    }
}

/// A new column of so many bytes.
pub(crate) fn fill<'a>(bytes: usize, f: impl FnOnce(&mut [u8])) -> Column<'a> {
    let mut buffer = SPARE.with(|spare| spare.borrow_mut().pop()).unwrap_or_default();
    let room = Rc::make_mut(&mut buffer);
    if room.len() < bytes {
        room.resize(bytes.max(ROOM), 0);
    }
    f(&mut room[..bytes]);
    Column::Own(Buffer(Some(buffer)), bytes)
}

/// A column with one number in all rows, kept for the next groups.
#[derive(Default)]
pub(crate) struct Splat {
    bits: Bits,
    width: usize,
    /// The column, and how many of its bytes have the number.
    column: Option<(Buffer, usize)>,
}

impl Splat {
    /// The column of so many bytes.
    pub fn column<'a>(&mut self, bits: Bits, width: usize, bytes: usize) -> Column<'a> {
        if let Some((buffer, filled)) = &self.column
            && (self.bits, self.width) == (bits, width)
            && *filled >= bytes
        {
            return Column::Own(buffer.clone(), bytes);
        }
        self.column = None;
        let made = fill(bytes, |out| loops::splat(out, width, bits));
        if let Column::Own(buffer, _) = &made {
            *self = Splat { bits, width, column: Some((buffer.clone(), bytes)) };
        }
        made
    }
}
