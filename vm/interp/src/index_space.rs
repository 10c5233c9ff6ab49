//! Writing at computed indices: `scatter`, `hist`, `acc_write`, and `stream`, which passes accumulators along.
//!
//! The arrays that are written lie in blocks of their own before the first write (a copy is made unless the operand
//! was the last holder), so nothing that is read meanwhile can change. Operands are taken in the order of the fields:
//! only the last of several uses of a register may be marked.

use crate::arrays::mismatch;
use crate::machine::Entry;
use crate::soac::{Arrays, inputs, set_rows};
use crate::{Adviser, Interpreter, Outcome, Registers, scalar};
use galopvm_base::{Bits, ElemType, ScalarOp};
use galopvm_bytecode::{BlockId, CodeBlock, Def, Instr, Operand, RegId};
use galopvm_lmad::Lmad;
use galopvm_store::array::{Array, copy_elements, load, store};
use galopvm_store::error::{Trap, in_row};
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

/// A destination with scalar elements, and the place that is looked at now.
struct Bucket<'d> {
    view: Lmad,
    width: usize,
    bytes: &'d mut [u8],
    place: i64,
}

impl Bucket<'_> {
    fn of(dest: &mut Array) -> Bucket<'_> {
        let (view, width) = (dest.lmad().clone(), dest.elem().bytes());
        Bucket {
            view,
            width,
            bytes: dest.block_mut().bytes_mut().expect("destinations are writable"),
            place: 0,
        }
    }

    #[inline]
    fn load(&self) -> Bits {
        load(self.bytes, self.width, self.place)
    }

    #[inline]
    fn store(&mut self, bits: Bits) {
        store(self.bytes, self.width, self.place, bits);
    }
}

/// A binary operation that makes a result of an operator block from the old and the new value.
struct PlainOperator {
    op: ScalarOp,
    ty: ElemType,
    /// Whether the new value is the first operand.
    is_flipped: bool,
}

/// The operations of a block that is one for each result, as those of most histograms are.
fn plain_operators(block: &CodeBlock) -> Option<SmallVec<[PlainOperator; 4]>> {
    let (old, new) = block.params.split_at(block.params.len() / 2);
    if block.code.len() != block.results.len() {
        return None;
    }
    let operator = |k: usize| {
        let result = block.results[k].reg;
        let made = block.code.iter().find_map(|instr| match instr {
            Instr::Op2 { dst, op, ty, a, b } if dst.0 == result => Some((*op, *ty, a.reg, b.reg)),
            _ => None,
        });
        let (op, ty, a, b) = made?;
        let is_flipped = (a, b) == (new[k], old[k]);
        (is_flipped || (a, b) == (old[k], new[k])).then_some(PlainOperator { op, ty, is_flipped })
    };
    (0..block.results.len()).map(operator).collect()
}

/// Combines the elements looked at with row `i` of each array; nothing happens, and false is the answer, if an
/// operation traps.
#[inline]
fn apply(operators: &[PlainOperator], buckets: &mut [Bucket<'_>], values: &[Array], i: i64) -> bool {
    let mut results: SmallVec<[Bits; 4]> = SmallVec::new();
    for ((operator, bucket), values) in operators.iter().zip(buckets.iter()).zip(values) {
        let view = values.lmad();
        let (old, new) = (bucket.load(), values.load(view.offset + i * view.dims[0].stride));
        let (a, b) = if operator.is_flipped { (new, old) } else { (old, new) };
        match scalar::op2(operator.op, operator.ty, a, b) {
            Ok(bits) => results.push(bits),
            Err(_) => return false,
        }
    }
    buckets.iter_mut().zip(results).for_each(|(bucket, bits)| bucket.store(bits));
    true
}

/// Whether a block combines values by forgetting the old ones.
fn replaces(block: &CodeBlock) -> bool {
    let new = &block.params[block.params.len() / 2..];
    block.code.is_empty() && block.results.iter().map(|o| o.reg).eq(new.iter().copied())
}

impl<'a, A: Adviser<'a>> Interpreter<'a, A> {
    /// Interprets a scatter or histogram.
    pub fn interpret_write(
        &mut self,
        registers: &mut Registers<'a>,
        at: (BlockId, usize),
        instr: &'a Instr,
    ) -> Outcome<()> {
        match instr {
            Instr::Scatter { dsts, width, dests, index, values } => {
                self.scatter(registers, dsts, *width, [dests, index, values])
            }
            Instr::Hist { dsts, width, dests, neutral, index, values, op } => {
                self.hist(registers, at, dsts, *width, [dests, neutral, index, values], *op)
            }
            _ => unreachable!("only scatters and histograms come here"),
        }
    }

    fn scatter(
        &mut self,
        registers: &mut Registers<'a>,
        dsts: &[Def],
        width: Operand,
        operands: [&[Operand]; 3],
    ) -> Outcome<()> {
        let [dests, index, values] = operands;
        let width = registers.int(width);
        let mut dests = self.destinations(registers, dests, index.len())?;
        let index = inputs(registers, width, index)?;
        let values = inputs(registers, width, values)?;
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
                    self.put_rows(dest, &index, values, chunk)?;
                }
            }
        }
        put(registers, dsts, dests);
        Ok(())
    }

    /// Writes row `i` of `values`, which have the shape of what they replace, for each `i`.
    fn put_rows(
        &self,
        dest: &mut Array,
        index: &[Array],
        values: &Array,
        rows: std::ops::Range<i64>,
    ) -> Outcome<()> {
        let (view, width) = (dest.lmad().clone(), dest.elem().bytes());
        let target = dest.block_mut().bytes_mut().expect("destinations are writable");
        for i in rows {
            if let Some(offset) = place(&view, index.iter().map(|array| number(array, i))) {
                let part = Lmad { offset, dims: view.dims[index.len()..].into() };
                let row = values.lmad().fix(0, i);
                copy_elements(self.memory, target, &part, values.block().bytes(), &row, width)?;
            }
        }
        Ok(())
    }

    fn hist(
        &mut self,
        registers: &mut Registers<'a>,
        (block, at): (BlockId, usize),
        dsts: &[Def],
        width: Operand,
        operands: [&[Operand]; 4],
        op: BlockId,
    ) -> Outcome<()> {
        let [dests, neutral, index, values] = operands;
        let width = registers.int(width);
        let mut dests = self.destinations(registers, dests, index.len())?;
        for operand in neutral {
            if registers.is_array(operand.reg) {
                registers.drop_last(*operand);
            }
        }
        let mut rows = inputs(registers, width, index)?;
        rows.extend(inputs(registers, width, values)?);
        let is_plain = plain_operators(&registers.code.blocks[op]).is_some();
        if !is_plain && let Some(unit) = self.forms.unit(registers, block, at) {
            let entry = Entry { given: dests.into(), ..Entry::of_rows(width, &rows) };
            if self.enter_unit(registers, unit, dsts, &entry)? {
                return Ok(());
            }
            dests = entry.given.take();
        }
        let (index, values) = rows.split_at(index.len());
        if registers.prepared.blocks[op].scalar_results {
            self.hist_scalars(registers, width, &mut dests, index, values, op)?;
        } else {
            let items = &registers.code.blocks[op].params[dests.len()..];
            for i in 0..width {
                let at = index.iter().map(|array| number(array, i));
                set_rows(registers, items, values, i);
                self.combine(registers, &mut dests, at, op).map_err(|error| in_row(error, i))?;
            }
        }
        put(registers, dsts, dests);
        Ok(())
    }

    /// A histogram whose elements are scalars.
    fn hist_scalars(
        &mut self,
        registers: &mut Registers<'a>,
        width: i64,
        dests: &mut [Array],
        index: &[Array],
        values: &[Array],
        op: BlockId,
    ) -> Outcome<()> {
        let block = &registers.code.blocks[op];
        let scope = &registers.prepared.blocks[op].arrays;
        let (elements, items) = block.params.split_at(dests.len());
        let operators = plain_operators(block);
        // Executing the block pays for itself.
        let each = if operators.is_some() { block.code.len() as u64 + 1 } else { 1 };
        let mut buckets: SmallVec<[Bucket<'_>; 4]> = dests.iter_mut().map(Bucket::of).collect();
        for i in 0..width {
            if i % CHUNK == 0 {
                self.pay((width - i).min(CHUNK) as u64 * each)?;
            }
            let at = index.iter().map(|array| number(array, i));
            let mut is_inside = true;
            for bucket in &mut buckets {
                match place(&bucket.view, at.clone()) {
                    Some(place) => bucket.place = place,
                    None => is_inside = false,
                }
            }
            if !is_inside {
                continue;
            }
            if let Some(operators) = &operators
                && apply(operators, &mut buckets, values, i)
            {
                continue;
            }
            for (bucket, element) in buckets.iter().zip(elements) {
                registers.set_bits(*element, bucket.load());
            }
            set_rows(registers, items, values, i);
            self.block(registers, op).map_err(|error| in_row(error, i))?;
            for (bucket, result) in buckets.iter_mut().zip(&block.results) {
                bucket.store(registers.bits(*result));
            }
            registers.release(scope);
        }
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
        let items = &registers.code.blocks[op].params[accs.len()..];
        let mut accs = self.destinations(registers, accs, index.len())?;
        let values = registers.take_all(values);
        registers.put_all(items.iter().copied(), values);
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
            copy_elements(self.memory, target, &part, row.block().bytes(), row.lmad(), width)?;
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
        let mut values = registers.take_all(accs);
        let inputs = inputs(registers, width, arrays)?;
        let block = &registers.code.blocks[body];
        let (params, items) = block.params.split_at(accs.len());
        for i in 0..width {
            registers.put_all(params.iter().copied(), values);
            set_rows(registers, items, &inputs, i);
            self.block(registers, body).map_err(|error| in_row(error, i))?;
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
