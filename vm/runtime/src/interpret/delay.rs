//! Ranges that need no memory: an `iota` that only operators of its own block go over is made when one of them wants it
//! in memory. Kernels count for themselves (`vm/lift/src/kernels/operator.rs`), and columns count for themselves, too, or
//! look at a window of it, which stays in the caches; so most of the time nobody does.
//!
//! Invariant: what is in the register of such an `iota` until then - a shape without a block - is seen by
//! parallel operators alone, and by `dim`.

use super::columns::Columns;
use super::soac::Arrays;
use super::{Interpreter, Outcome, Registers};
use galopvm_base::Bits;
use galopvm_bytecode::field::Fields;
use galopvm_bytecode::{Function, Instr, Operand, RegId};
use galopvm_store::array::{Array, store};
use galopvm_store::memory::Memory;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::ops::Range;

/// Ranges of fewer bytes are made at once: asking costs more.
pub(super) const DELAYED_FROM: i64 = 1 << 16;

/// Rows of a window: a quarter of a megabyte at most.
const WINDOW: i64 = 1 << 15;

/// First element and step of each `iota` that can wait.
pub(crate) type Delayed = HashMap<RegId, (Bits, Bits)>;

/// The ranges of a function that can wait.
pub(super) fn delayed(function: &Function) -> Delayed {
    let is_range = |instr: &Instr| matches!(instr, Instr::Iota { .. });
    if !function.blocks.iter().any(|block| block.code.iter().any(is_range)) {
        return Delayed::new();
    }
    let mut uses: HashMap<RegId, usize> = HashMap::new();
    for block in function.blocks.iter() {
        for instr in &block.code {
            if !matches!(instr, Instr::Dim { .. }) {
                Fields::of(instr).operands.iter().for_each(|o| *uses.entry(o.reg).or_default() += 1);
            }
        }
        block.results.iter().for_each(|o| *uses.entry(o.reg).or_default() += 1);
    }
    let all = || function.blocks.iter().flat_map(|block| &block.code);
    let constants: HashMap<RegId, Bits> = all()
        .filter_map(|instr| match instr {
            Instr::Const { dst, value } => Some((dst.0, value.bits)),
            _ => None,
        })
        .collect();
    let mut delayed = Delayed::new();
    for block in function.blocks.iter() {
        for instr in &block.code {
            if let Instr::Iota { dst, count, start, step, .. } = instr
                && let (Some(start), Some(step)) = (constants.get(&start.reg), constants.get(&step.reg))
            {
                let gone_over: usize =
                    block.code.iter().map(|instr| times_gone_over(instr, dst.0, count.reg)).sum();
                if gone_over > 0 && uses.get(&dst.0) == Some(&gone_over) {
                    delayed.insert(dst.0, (*start, *step));
                }
            }
        }
    }
    delayed
}

/// How often an instruction goes over an array with as many rows as a register says.
fn times_gone_over(instr: &Instr, array: RegId, rows: RegId) -> usize {
    let operator = instr.operator().filter(|operator| instr.goes_over_rows() && operator.width.reg == rows);
    operator.map_or(0, |operator| operator.arrays.iter().filter(|operand| operand.reg == array).count())
}

/// The arrays that an operator goes over, with windows on those that were not made.
pub(super) struct Windows {
    pub(super) arrays: Arrays,
    /// The row of the whole operator that is row 0 of the arrays.
    pub(super) first: i64,
    ranges: SmallVec<[Window; 1]>,
}

/// A window on a range.
struct Window {
    /// Which of the arrays it is.
    array: usize,
    start: Bits,
    step: Bits,
    /// Whether columns look at it: they can count for themselves.
    read: bool,
    /// The row that is the first element of the block.
    from: i64,
}

impl Windows {
    pub(super) fn new(
        registers: &Registers<'_>,
        operands: &[Operand],
        arrays: Arrays,
        first: i64,
        columns: Option<&Columns>,
    ) -> Windows {
        let window = |(k, (array, operand)): (usize, (&Array, &Operand))| {
            if !array.is_unmade() {
                return None;
            }
            let (start, step) = *registers.prepared.delayed.get(&operand.reg)?;
            let read = columns.is_some_and(|columns| columns.reads(k));
            Some(Window { array: k, start, step, read, from: 0 })
        };
        let ranges = arrays.iter().zip(operands).enumerate().filter_map(window).collect();
        Windows { arrays, first, ranges }
    }

    /// Makes the rows from `from` on visible to columns; says up to where they are, at most `end`.
    pub(super) fn move_to(&mut self, memory: &Memory, from: i64, end: i64) -> Outcome<i64> {
        if self.ranges.is_empty() {
            return Ok(end);
        }
        let end = end.min(from + WINDOW);
        for window in &mut self.ranges {
            let array = &mut self.arrays[window.array];
            if array.block().is_empty() {
                *array.block_mut() = memory.block(WINDOW as usize * array.elem().bytes())?;
            }
            // Row `i` is element `i - from` of the block.
            array.move_origin(-from);
            window.from = from;
            if window.read {
                window.fill(array, from..end);
            }
        }
        Ok(end)
    }

    /// Makes rows, to which the windows were moved, visible to everybody.
    pub(super) fn show(&mut self, rows: Range<i64>) {
        for window in self.ranges.iter().filter(|window| !window.read) {
            window.fill(&mut self.arrays[window.array], rows.clone());
        }
    }
}

impl Window {
    fn fill(&self, array: &mut Array, rows: Range<i64>) {
        let width = array.elem().bytes();
        let target = array.block_mut().bytes_mut().expect("nobody else has seen a window");
        // The low bits of wrapping sums do not depend on the width.
        let mut value = self.start.wrapping_add(self.step.wrapping_mul(rows.start as Bits));
        let part = (rows.start - self.from) as usize * width..(rows.end - self.from) as usize * width;
        for place in target[part].chunks_exact_mut(width) {
            store(place, width, 0, value);
            value = value.wrapping_add(self.step);
        }
    }
}

impl<'a> Interpreter<'a> {
    /// Makes the ranges among operands that were not made yet.
    pub(super) fn make_delayed(
        &mut self,
        registers: &mut Registers<'a>,
        operands: &[Operand],
    ) -> Outcome<()> {
        for operand in operands {
            let array = registers.array(*operand);
            if array.is_unmade()
                && let Some((start, step)) = registers.prepared.delayed.get(&operand.reg).copied()
            {
                let (elem, count) = (array.elem(), array.elements());
                let made: Array = self.range(elem, count, start, step)?;
                registers.set_array(operand.reg, made);
            }
        }
        Ok(())
    }
}
