//! Writing at computed indices: `scatter`, `hist`, `acc_write`, and `stream`, which passes accumulators along.
//!
//! The arrays that are written lie in blocks of their own before the first write (a copy is made unless the operand
//! was the last holder), so nothing that is read meanwhile can change.

use super::arrays::mismatch;
use super::soac::{Arrays, inputs, set_rows};
use super::{Interpreter, Outcome, Registers};
use crate::array::{Array, copy_elements, load, store};
use crate::error::Trap;
use galopvm_bytecode::{BlockId, CodeBlock, Def, Operand, RegId};
use galopvm_lmad::Lmad;
use smallvec::SmallVec;

/// Iterations between two payments.
const CHUNK: i64 = 1 << 14;

/// The place of a view's element (or of the first element of a sub-array) at indices of its first dimensions;
/// nothing outside.
#[inline]
fn place(view: &Lmad, index: impl Iterator<Item = i64>) -> Option<i64> {
    let mut place = view.offset;
    for (dim, i) in view.dims.iter().zip(index) {
        if i < 0 || i >= dim.size {
            return None;
        }
        place = place.wrapping_add(i.wrapping_mul(dim.stride));
    }
    Some(place)
}

/// Element `i` of an `i64` array of one dimension.
#[inline]
fn number(array: &Array, i: i64) -> i64 {
    let view = array.lmad();
    array.load(view.offset + i * view.dims[0].stride) as i64
}

/// Whether a block combines values by forgetting the old ones.
fn replaces(block: &CodeBlock) -> bool {
    let new = &block.params[block.params.len() / 2..];
    block.code.is_empty() && block.results.iter().map(|o| o.reg).eq(new.iter().copied())
}

impl<'a> Interpreter<'a> {
    pub(super) fn scatter(
        &mut self,
        registers: &mut Registers<'a>,
        dsts: &[Def],
        width: Operand,
        operands: [&[Operand]; 3],
    ) -> Outcome<()> {
        let [dests, index, values] = operands;
        let width = registers.int(width);
        let index = inputs(registers, width, index)?;
        let values = inputs(registers, width, values)?;
        let mut dests = self.destinations(registers, dests, index.len())?;
        for (dest, values) in dests.iter_mut().zip(&values) {
            let row: SmallVec<[i64; 4]> = dest.shape()[index.len()..].into();
            if values.shape()[1..] != row[..] {
                return Err(Trap::new(mismatch("Rows of a scatter", &row, &values.shape()[1..])).into());
            }
            for from in (0..width).step_by(CHUNK as usize) {
                let chunk = from..width.min(from.saturating_add(CHUNK));
                let count = chunk.end - chunk.start;
                if row.is_empty() {
                    self.pay_elements(count)?;
                    put_scalars(dest, &index, values, chunk);
                } else {
                    self.pay_elements(count.saturating_mul(Lmad::row_major(&row).elements()))?;
                    self.put_rows(dest, &index, values, chunk);
                }
            }
        }
        put(registers, dsts, dests);
        Ok(())
    }

    /// Writes row `i` of `values`, which have the shape of what they replace, for each `i`.
    fn put_rows(&self, dest: &mut Array, index: &[Array], values: &Array, rows: std::ops::Range<i64>) {
        let (view, width) = (dest.lmad().clone(), dest.elem().bytes());
        let target = dest.block_mut().bytes_mut().expect("destinations are writable");
        for i in rows {
            if let Some(offset) = place(&view, index.iter().map(|array| number(array, i))) {
                let part = Lmad { offset, dims: view.dims[index.len()..].into() };
                let row = values.lmad().fix(0, i);
                copy_elements(self.memory, target, &part, values.block().bytes(), &row, width);
            }
        }
    }

    pub(super) fn hist(
        &mut self,
        registers: &mut Registers<'a>,
        dsts: &[Def],
        width: Operand,
        operands: [&[Operand]; 4],
        op: BlockId,
    ) -> Outcome<()> {
        let [dests, neutral, index, values] = operands;
        let width = registers.int(width);
        let index = inputs(registers, width, index)?;
        let values = inputs(registers, width, values)?;
        for operand in neutral {
            if registers.is_array(operand.reg) {
                registers.drop_last(*operand);
            }
        }
        let mut dests = self.destinations(registers, dests, index.len())?;
        let block = &registers.code.blocks[op];
        let items = &block.params[dests.len()..];
        for i in 0..width {
            let at = index.iter().map(|array| number(array, i));
            set_rows(registers, items, &values, i);
            self.combine(registers, &mut dests, at, op)?;
        }
        put(registers, dsts, dests);
        Ok(())
    }

    pub(super) fn acc_write(
        &mut self,
        registers: &mut Registers<'a>,
        dsts: &[Def],
        operands: [&[Operand]; 3],
        op: BlockId,
    ) -> Outcome<()> {
        let [accs, index, values] = operands;
        let index: SmallVec<[i64; 4]> = index.iter().map(|i| registers.int(*i)).collect();
        let values = registers.take_all(values);
        let items = &registers.code.blocks[op].params[accs.len()..];
        registers.put_all(items.iter().copied(), values);
        let mut accs = self.destinations(registers, accs, index.len())?;
        self.combine(registers, &mut accs, index.into_iter(), op)?;
        put(registers, dsts, accs);
        Ok(())
    }

    /// Combines the elements at an index with the new values, which are in the block's registers.
    fn combine(
        &mut self,
        registers: &mut Registers<'a>,
        dests: &mut [Array],
        index: impl ExactSizeIterator<Item = i64> + Clone,
        op: BlockId,
    ) -> Outcome<()> {
        let block = &registers.code.blocks[op];
        let scope = &registers.prepared.blocks[op].arrays;
        let depth = index.len();
        if place(dests[0].lmad(), index.clone()).is_none() {
            registers.release(scope);
            return self.pay(1);
        }
        let offset = |dest: &Array| place(dest.lmad(), index.clone()).expect("destinations agree in extents");
        if !replaces(block) {
            for (param, dest) in block.params.iter().zip(dests.iter()) {
                if registers.is_array(*param) {
                    let part = Lmad { offset: offset(dest), dims: dest.lmad().dims[depth..].into() };
                    registers.set_array(*param, dest.with_view(part));
                } else {
                    registers.set_bits(*param, dest.load(offset(dest)));
                }
            }
        }
        self.block(registers, op)?;
        if registers.prepared.blocks[op].scalar_results {
            for (dest, result) in dests.iter_mut().zip(&block.results) {
                let (offset, width) = (offset(dest), dest.elem().bytes());
                let target = dest.block_mut().bytes_mut().expect("destinations are writable");
                store(target, width, offset, registers.bits(*result));
            }
            registers.release(scope);
            return Ok(());
        }
        self.combine_arrays(registers, dests, offset, depth, op)
    }

    /// Writes results of the operator block of which some are arrays.
    fn combine_arrays(
        &mut self,
        registers: &mut Registers<'a>,
        dests: &mut [Array],
        offset: impl Fn(&Array) -> i64,
        depth: usize,
        op: BlockId,
    ) -> Outcome<()> {
        let block = &registers.code.blocks[op];
        let mut rows: Arrays = SmallVec::new();
        for result in &block.results {
            if !registers.is_array(result.reg) {
                continue;
            }
            let row = registers.take(*result);
            // What shares a destination's block would change while it is written.
            let shared = dests.iter().any(|dest| dest.block().same(row.block()));
            rows.push(if shared { row.copy(self.memory)? } else { row });
        }
        registers.release(&registers.prepared.blocks[op].arrays);
        let mut rows = rows.into_iter();
        for (dest, result) in dests.iter_mut().zip(&block.results) {
            let (offset, width) = (offset(dest), dest.elem().bytes());
            let part = Lmad { offset, dims: dest.lmad().dims[depth..].into() };
            let target = dest.block_mut().bytes_mut().expect("destinations are writable");
            if !registers.is_array(result.reg) {
                store(target, width, offset, registers.bits(*result));
                continue;
            }
            let row = rows.next().expect("a row for each array result");
            if row.shape() != part.shape() {
                let message = mismatch("Elements of an operator", &part.shape(), &row.shape());
                return Err(Trap::new(message).into());
            }
            self.pay_elements(row.elements())?;
            copy_elements(self.memory, target, &part, row.block().bytes(), row.lmad(), width);
        }
        Ok(())
    }

    pub(super) fn stream(
        &mut self,
        registers: &mut Registers<'a>,
        dsts: &[Def],
        width: Operand,
        operands: [&[Operand]; 2],
        body: BlockId,
    ) -> Outcome<()> {
        let [accs, arrays] = operands;
        let width = registers.int(width);
        let inputs = inputs(registers, width, arrays)?;
        let block = &registers.code.blocks[body];
        let (params, items) = block.params.split_at(accs.len());
        let mut values = registers.take_all(accs);
        for i in 0..width {
            registers.put_all(params.iter().copied(), values);
            set_rows(registers, items, &inputs, i);
            self.block(registers, body)?;
            values = registers.take_all(&block.results);
            registers.release(&registers.prepared.blocks[body].arrays);
        }
        registers.put_all(dsts.iter().map(|d| d.0), values);
        Ok(())
    }

    /// The arrays to write to, each in a block of its own; their first `depth` extents must agree.
    fn destinations(
        &mut self,
        registers: &mut Registers<'a>,
        operands: &[Operand],
        depth: usize,
    ) -> Outcome<Arrays> {
        let space: SmallVec<[i64; 4]> = registers.array(operands[0]).shape()[..depth].into();
        for operand in operands {
            let shape = registers.array(*operand).shape();
            if shape[..depth] != space[..] {
                return Err(Trap::new(mismatch("Destinations", &space, &shape[..depth])).into());
            }
        }
        let mut dests: Arrays = operands.iter().map(|operand| registers.take(*operand)).collect();
        for dest in &mut dests {
            if !dest.is_writable() {
                self.pay_elements(dest.elements())?;
                dest.make_writable(self.memory)?;
            }
        }
        Ok(dests)
    }
}

/// Writes element `i` of `values`, for each `i`.
fn put_scalars(dest: &mut Array, index: &[Array], values: &Array, elements: std::ops::Range<i64>) {
    let (view, width) = (dest.lmad().clone(), dest.elem().bytes());
    let target = dest.block_mut().bytes_mut().expect("destinations are writable");
    match width {
        1 => put_elements::<1>(target, &view, index, values, elements),
        2 => put_elements::<2>(target, &view, index, values, elements),
        4 => put_elements::<4>(target, &view, index, values, elements),
        _ => put_elements::<8>(target, &view, index, values, elements),
    }
}

fn put_elements<const W: usize>(
    target: &mut [u8],
    view: &Lmad,
    index: &[Array],
    values: &Array,
    elements: std::ops::Range<i64>,
) {
    let (source, from) = (values.block().bytes(), values.lmad());
    for i in elements {
        if let Some(place) = place(view, index.iter().map(|array| number(array, i))) {
            let bits = load(source, W, from.offset + i * from.dims[0].stride);
            store(target, W, place, bits);
        }
    }
}

fn put(registers: &mut Registers<'_>, dsts: &[Def], arrays: Arrays) {
    let regs = dsts.iter().map(|d: &Def| -> RegId { d.0 });
    regs.zip(arrays).for_each(|(reg, array)| registers.set_array(reg, array));
}
