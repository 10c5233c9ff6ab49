//! Matrices whose rows are the columns of another one, moved tile by tile, so that stretches of both sides are read and written
//! as wholes.
//!
//! Where the processor can, a tile is a square of whole cache lines of the target, turned in registers (`lines.rs`); else, and for
//! what is beside such squares, it is a square that goes through a buffer. The remainder is moved element by element.

use crate::CopyDim;
use crate::lines::{self, LINE, Square, Strip};
use crate::transfer::{element, line};
use std::ops::Range;

/// Elements of the side of a tile that goes through a buffer: for elements of 4 bytes the buffer is a third of a first-level cache.
const TILE: usize = 64;

/// Squares of lines to the side of a block: its lines stay in the second-level cache.
const SQUARES: i64 = 16;

/// A matrix of the target whose rows lie along `cols`, and for which the source lies closer along `rows`.
pub(crate) struct Matrix<'a, const W: usize> {
    pub target: &'a mut [u8],
    /// The place of the first element.
    pub to: i64,
    pub source: &'a [u8],
    /// The place of the first element.
    pub from: i64,
    pub rows: CopyDim,
    pub cols: CopyDim,
    /// It is part of a target that is larger than the caches.
    pub is_large: bool,
}

impl<const W: usize> Matrix<'_, W> {
    /// Elements of the side of a tile that goes through a buffer.
    const SIDE: i64 = if W == 8 { TILE as i64 / 2 } else { TILE as i64 };

    /// Copies it; `go` is told of each piece.
    pub fn copy<E>(&mut self, go: &mut impl FnMut(usize) -> Result<(), E>) -> Result<(), E> {
        let (rows, cols) = (0..self.rows.size, 0..self.cols.size);
        if !self.is_packed() || !lines::turns::<W>() {
            return self.by_buffer(go, rows, cols);
        }
        let side = (LINE / W) as i64;
        let first = self.first_line();
        let begins = first.unwrap_or(0).min(cols.end);
        let ends = begins + (cols.end - begins) / side * side;
        let last = rows.end / side * side;
        self.by_lines(go, 0..last, begins..ends, self.is_large && first.is_some())?;
        self.by_buffer(go, 0..last, 0..begins)?;
        self.by_buffer(go, 0..last, ends..cols.end)?;
        self.by_buffer(go, last..rows.end, cols)
    }

    fn is_packed(&self) -> bool {
        self.rows.source == 1 && self.cols.target == 1
    }

    /// The column from which on a line of the target begins, if that is one column for all rows.
    fn first_line(&self) -> Option<i64> {
        let begins = (self.target.as_ptr() as usize).wrapping_add(self.to as usize * W);
        let ahead = begins.wrapping_neg() % LINE;
        let is_one =
            ahead.is_multiple_of(W) && self.rows.target.unsigned_abs().is_multiple_of((LINE / W) as u64);
        is_one.then_some((ahead / W) as i64)
    }

    /// Whole squares of lines, block by block; `past` the caches if the lines begin where those of memory do.
    fn by_lines<E>(
        &mut self,
        go: &mut impl FnMut(usize) -> Result<(), E>,
        rows: Range<i64>,
        cols: Range<i64>,
        past: bool,
    ) -> Result<(), E> {
        let side = LINE / W;
        let block = (SQUARES * side as i64) as usize;
        let square = Square { row: self.rows.target, col: self.cols.source, past };
        for row in rows.clone().step_by(block) {
            for col in cols.clone().step_by(block) {
                let (low, right) = (rows.end.min(row + block as i64), cols.end.min(col + block as i64));
                go(((low - row) * (right - col)) as usize * W)?;
                for col in (col..right).step_by(side) {
                    let (to, from) = self.place(row, col);
                    let count = (low - row) / side as i64;
                    square.turn::<W>(Strip { target: self.target, to, source: self.source, from, count });
                }
            }
        }
        if past {
            lines::settle();
        }
        Ok(())
    }

    /// The places of an element.
    fn place(&self, row: i64, col: i64) -> (i64, i64) {
        let to = self.to + row * self.rows.target + col * self.cols.target;
        (to, self.from + row * self.rows.source + col * self.cols.source)
    }

    fn by_buffer<E>(
        &mut self,
        go: &mut impl FnMut(usize) -> Result<(), E>,
        rows: Range<i64>,
        cols: Range<i64>,
    ) -> Result<(), E> {
        let is_packed = self.is_packed();
        for row in rows.clone().step_by(Self::SIDE as usize) {
            let height = Self::SIDE.min(rows.end - row);
            for col in cols.clone().step_by(Self::SIDE as usize) {
                let breadth = Self::SIDE.min(cols.end - col);
                go((height * breadth) as usize * W)?;
                let (to, from) = self.place(row, col);
                match (is_packed && height == Self::SIDE && breadth == Self::SIDE, W == 8) {
                    (true, true) => self.tile::<{ TILE / 2 }>(to, from),
                    (true, false) => self.tile::<TILE>(to, from),
                    _ => self.part_of_tile((to, from), height, breadth),
                }
            }
        }
        Ok(())
    }

    /// A whole tile, by way of a buffer.
    fn tile<const SIDE: usize>(&mut self, to: i64, from: i64) {
        let mut buffer = [[[0u8; W]; SIDE]; SIDE];
        for (c, column) in buffer.iter_mut().enumerate() {
            let from = (from + c as i64 * self.cols.source) as usize * W;
            let (elements, _) = self.source[from..from + SIDE * W].as_chunks::<W>();
            column.copy_from_slice(elements);
        }
        for r in 0..SIDE {
            let to = (to + r as i64 * self.rows.target) as usize * W;
            let (places, _) = self.target[to..to + SIDE * W].as_chunks_mut::<W>();
            places.iter_mut().zip(&buffer).for_each(|(place, column)| *place = column[r]);
        }
    }

    fn part_of_tile(&mut self, (to, from): (i64, i64), height: i64, breadth: i64) {
        for r in 0..height {
            let (to, from) = (to + r * self.rows.target, from + r * self.rows.source);
            if self.cols.target == 1 {
                let to = to as usize * W;
                let (places, _) = self.target[to..to + breadth as usize * W].as_chunks_mut::<W>();
                for (c, place) in places.iter_mut().enumerate() {
                    *place = element(self.source, from + c as i64 * self.cols.source);
                }
            } else {
                line::<W>(self.target, to, self.source, from, CopyDim { size: breadth, ..self.cols });
            }
        }
    }
}
