//! Choosing rows: `filter` and `partition`.
//!
//! The class of every row is found first, so that the results take exactly the memory they need and rows are
//! copied once.

use super::shape::Amount;
use super::soac::inputs;
use super::{Interpreter, Outcome, Registers, shape};
use crate::tier::{Interpreted, Run, Wish};
use galopvm_base::ElemType;
use galopvm_bytecode::{BlockId, Def, Operand};
use galopvm_data::Value;
use galopvm_lmad::Lmad;
use galopvm_store::array::{Array, copy_elements, load, store};
use smallvec::SmallVec;

/// The class of each row.
struct Classes {
    of_row: Array,
    /// Rows of each class.
    counts: Vec<i64>,
}

/// What a block answers for rows.
enum Answers {
    /// One for each row.
    Known(Array),
    /// The interpreter has to find out.
    Interpret,
    /// The interpreter has to, since compiled code of the site trapped.
    Trapped(u32),
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
        let answers = self.answers(registers, at, width, body)?;
        let inputs = inputs(registers, width, arrays)?;
        let answers = self.answers_of(registers, at, width, body, answers, &inputs)?;
        let classes = self.classes(&answers, 2, |answer| answer ^ OUT)?;
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
        let answers = self.answers(registers, at, width, body)?;
        let inputs = inputs(registers, width, arrays)?;
        let answers = self.answers_of(registers, at, width, body, answers, &inputs)?;
        let count = dsts.len() - inputs.len();
        let last = count as u64 - 1;
        let classes = self.classes(&answers, count, |answer| answer.min(last))?;
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

    /// What the block answers for each row, if compiled code says so.
    fn answers(
        &mut self,
        registers: &mut Registers<'a>,
        (block, index): (BlockId, usize),
        width: i64,
        body: BlockId,
    ) -> Outcome<Answers> {
        let Some(site) = registers.prepared.blocks[block].site(index).filter(|_| width > 0) else {
            return Ok(Answers::Interpret);
        };
        let work = self.tiers.estimate(site, width, || shape::work(registers, [body].into_iter(), width));
        let amount = Amount { width, work };
        if self.tiers.explainer.is_some() {
            let form = self.form_of(registers, (block, index), width);
            self.tiers.tell_operator(site, registers, amount, form);
        }
        let wish = Wish::default();
        Ok(match self.tiers.run(site, registers, self.memory, amount, Interpreted::Rows, wish)? {
            Run::Done(values) => {
                self.pay(work)?;
                match values.into_iter().next() {
                    Some(Value::Array(array)) => Answers::Known(array),
                    _ => Answers::Interpret,
                }
            }
            Run::Interpret => Answers::Interpret,
            Run::Trapped => Answers::Trapped(site),
        })
    }

    /// The same, from rows if compiled code did not say so.
    fn answers_of(
        &mut self,
        registers: &mut Registers<'a>,
        at: (BlockId, usize),
        width: i64,
        body: BlockId,
        answers: Answers,
        inputs: &[Array],
    ) -> Outcome<Array> {
        if let Answers::Known(array) = answers {
            return Ok(array);
        }
        let mut made = self.all_rows(registers, at, width, body, inputs)?;
        if let Answers::Trapped(site) = answers {
            self.tiers.false_trap(site);
        }
        Ok(made.swap_remove(0))
    }

    /// The classes of rows; `class` makes one of the block's answer.
    fn classes(&mut self, answers: &Array, count: usize, class: impl Fn(u64) -> u64) -> Outcome<Classes> {
        let (from, width) = (answers.block().bytes(), answers.elem().bytes());
        let rows = answers.elements();
        let Lmad { offset, dims } = answers.lmad();
        let elem = if count <= 256 { ElemType::U8 } else { ElemType::U32 };
        let mut of_row = Array::fresh(self.memory, elem, &[rows])?;
        let mut counts = vec![0; count];
        let target = of_row.block_mut().bytes_mut().expect("nobody else has seen a fresh block");
        for i in 0..rows {
            let class = class(load(from, width, offset + i * dims[0].stride));
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
