//! Choosing rows: `filter` and `partition`.
//!
//! The class of every row is found first, so that the results take exactly the memory they need and rows are
//! copied once.

use super::soac::{AllRows, inputs};
use super::{Interpreter, Outcome, Registers};
use galopvm_base::ElemType;
use galopvm_bytecode::{BlockId, Def, Operand};
use galopvm_lmad::Lmad;
use galopvm_store::array::{Array, copy_elements, load, store};
use smallvec::SmallVec;

/// The class of each row.
struct Classes {
    of_row: Array,
    /// Rows of each class.
    counts: Vec<i64>,
}

/// The class of rows that a filter leaves out.
const OUT: u64 = 1;

/// What it costs to look at a row, in bytes moved.
const ROW_COST: usize = 16;

impl<'a> Interpreter<'a> {
    pub(super) fn filter(
        &mut self,
        registers: &mut Registers<'a>,
        at: (BlockId, usize),
        dsts: &[Def],
        width: Operand,
        arrays: &[Operand],
        body: BlockId,
    ) -> Outcome<()> {
        let width = registers.int(width);
        let inputs = inputs(registers, width, arrays)?;
        let rows = AllRows { width, operands: arrays, inputs: inputs.clone(), first: 0 };
        let classes = self.classes(registers, at, body, rows, 2, |answer| answer ^ OUT)?;
        let kept = classes.counts[0];
        registers.set_bits(dsts[0].0, kept as u64);
        for (dst, input) in dsts[1..].iter().zip(&inputs) {
            let result = self.gather(input, &classes, &mut [0, kept], kept)?;
            registers.set_array(dst.0, result);
        }
        Ok(())
    }

    pub(super) fn partition(
        &mut self,
        registers: &mut Registers<'a>,
        at: (BlockId, usize),
        dsts: &[Def],
        width: Operand,
        arrays: &[Operand],
        body: BlockId,
    ) -> Outcome<()> {
        let width = registers.int(width);
        let inputs = inputs(registers, width, arrays)?;
        let count = dsts.len() - inputs.len();
        let last = count as u64 - 1;
        let rows = AllRows { width, operands: arrays, inputs: inputs.clone(), first: 0 };
        let classes = self.classes(registers, at, body, rows, count, |answer| answer.min(last))?;
        let (counts, results) = dsts.split_at(count);
        let mut starts = Vec::with_capacity(count);
        let mut start = 0;
        for (dst, rows) in counts.iter().zip(&classes.counts) {
            registers.set_bits(dst.0, *rows as u64);
            starts.push(start);
            start += rows;
        }
        for (dst, input) in results.iter().zip(&inputs) {
            let result = self.gather(input, &classes, &mut starts.clone(), width)?;
            registers.set_array(dst.0, result);
        }
        Ok(())
    }

    /// Executes the block for each row; `class` makes a class of its answer.
    fn classes(
        &mut self,
        registers: &mut Registers<'a>,
        at: (BlockId, usize),
        body: BlockId,
        rows: AllRows<'_>,
        count: usize,
        class: impl Fn(u64) -> u64,
    ) -> Outcome<Classes> {
        let answers = self.all_rows(registers, at, body, rows)?;
        let (from, width) = (answers[0].block().bytes(), answers[0].elem().bytes());
        let rows = answers[0].elements();
        let elem = if count <= 256 { ElemType::U8 } else { ElemType::U32 };
        let mut of_row = Array::fresh(self.memory, elem, &[rows])?;
        let mut counts = vec![0; count];
        let target = of_row.block_mut().bytes_mut().expect("nobody else has seen a fresh block");
        for i in 0..rows {
            let class = class(load(from, width, i));
            store(target, elem.bytes(), i, class);
            counts[class as usize] += 1;
        }
        Ok(Classes { of_row, counts })
    }

    /// An array of `rows` rows: each row of the source goes to the next place of its class, if there is one.
    fn gather(&mut self, source: &Array, classes: &Classes, next: &mut [i64], rows: i64) -> Outcome<Array> {
        let mut shape: SmallVec<[i64; 4]> = source.shape();
        shape[0] = rows;
        self.pay_elements(Lmad::row_major(&shape).elements())?;
        let mut result = Array::fresh(self.memory, source.elem(), &shape)?;
        let (view, width) = (result.lmad().clone(), source.elem().bytes());
        let target = result.block_mut().bytes_mut().expect("nobody else has seen a fresh block");
        let (bytes, from) = (source.block().bytes(), source.lmad());
        let (class_bytes, class_width) = (classes.of_row.block().bytes(), classes.of_row.elem().bytes());
        let mut pace = self.stop.pace();
        for i in 0..classes.of_row.elements() {
            pace.go(ROW_COST)?;
            let place = &mut next[load(class_bytes, class_width, i) as usize];
            let to = *place;
            if to >= rows {
                continue;
            }
            *place += 1;
            if shape.len() == 1 {
                store(target, width, to, load(bytes, width, from.offset + i * from.dims[0].stride));
            } else {
                copy_elements(self.memory, target, &view.fix(0, to), bytes, &from.fix(0, i), width)?;
            }
        }
        Ok(result)
    }
}
