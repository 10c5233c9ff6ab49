//! Choosing rows: `filter` and `partition`.
//!
//! The class of every row is found first, so that the results take exactly the memory they need and rows are
//! copied once.

use crate::soac::inputs;
use crate::{Adviser, Interpreter, Outcome, Registers};
use galopvm_base::ElemType;
use galopvm_bytecode::{BlockId, Operator};
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

/// Rows between two looks at whether the call is to end.
const ROWS_AT_ONCE: usize = 1 << 14;

impl<'a, A: Adviser<'a>> Interpreter<'a, A> {
    /// The results of a `filter` or `partition`; `answers` is what its block answers for each row, if that is known.
    pub fn choose_rows(
        &mut self,
        registers: &mut Registers<'a>,
        at: (BlockId, usize),
        width: i64,
        operator: &Operator<'a>,
        answers: Option<Array>,
    ) -> Outcome<()> {
        let inputs = inputs(registers, width, operator.arrays)?;
        let answers = match answers {
            Some(answers) => answers,
            None => {
                let body = operator.last_block();
                let mut made = self.all_rows(registers, at, width, body, &inputs)?;
                made.swap_remove(0)
            }
        };
        let (counts, results) = operator.dsts.split_at(operator.dsts.len() - inputs.len());
        // A filter tells the number of those that it keeps, a partition that of each class.
        let classes = match counts.len() {
            1 if answers.elem() == ElemType::Bool => self.classes(&answers, 2, |answer| answer ^ OUT)?,
            count => self.classes(&answers, count, |answer| answer.min(count as u64 - 1))?,
        };
        let mut starts = Vec::with_capacity(counts.len());
        let mut rows = 0;
        for (dst, count) in counts.iter().zip(&classes.counts) {
            registers.set_bits(dst.0, *count as u64);
            starts.push(rows);
            rows += count;
        }
        starts.resize(classes.counts.len(), rows);
        for (dst, input) in results.iter().zip(&inputs) {
            let result = self.gather(input, &classes, &mut starts.clone(), rows)?;
            registers.set_array(dst.0, result);
        }
        Ok(())
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
        let (start, stride) = (*offset, dims[0].stride);
        if width == 1 && stride == 1 && elem == ElemType::U8 {
            let answers = &from[start as usize..][..rows as usize];
            target.iter_mut().zip(answers).for_each(|(to, answer)| *to = class((*answer).into()) as u8);
            count_classes(target, &mut counts);
            return Ok(Classes { of_row, counts });
        }
        for i in 0..rows {
            let class = class(load(from, width, start + i * stride));
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
        if shape.len() == 1 && classes.of_row.elem() == ElemType::U8 {
            match width {
                1 => self.gather_elements::<1>(source, classes, next, target)?,
                2 => self.gather_elements::<2>(source, classes, next, target)?,
                4 => self.gather_elements::<4>(source, classes, next, target)?,
                _ => self.gather_elements::<8>(source, classes, next, target)?,
            }
            return Ok(result);
        }
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

    /// [`Self::gather`] of elements that have `W` bytes and few classes.
    fn gather_elements<const W: usize>(
        &self,
        source: &Array,
        classes: &Classes,
        next: &mut [i64],
        target: &mut [u8],
    ) -> Outcome<()> {
        let Lmad { offset, dims } = source.lmad();
        let stride = dims[0].stride;
        let (from, to) = (source.block().bytes().as_chunks::<W>().0, target.as_chunks_mut::<W>().0);
        let classes = &classes.of_row.block().bytes()[..classes.of_row.elements() as usize];
        let mut pace = self.stop.pace();
        for (k, classes) in classes.chunks(ROWS_AT_ONCE).enumerate() {
            pace.go(ROW_COST * classes.len())?;
            let first = offset + (k * ROWS_AT_ONCE) as i64 * stride;
            match stride {
                1 => spread(from[first as usize..].iter().copied(), classes, next, to),
                _ => {
                    let rows = 0..classes.len() as i64;
                    spread(rows.map(|i| from[(first + i * stride) as usize]), classes, next, to);
                }
            }
        }
        Ok(())
    }
}

/// How many rows have each class.
fn count_classes(of_row: &[u8], counts: &mut [i64]) {
    match counts {
        // Sums of what a comparison says need no turns that wait for each other.
        [kept, others] => {
            *kept = of_row.iter().filter(|class| **class == 0).count() as i64;
            *others = of_row.len() as i64 - *kept;
        }
        _ => of_row.iter().for_each(|class| counts[usize::from(*class)] += 1),
    }
}

/// Puts values to the next places of their classes, if there are any.
fn spread<T: Copy>(values: impl Iterator<Item = T>, classes: &[u8], next: &mut [i64], to: &mut [T]) {
    match next {
        // All that has no place is of one class: where it would go, the next value of the other one goes.
        [next, others] if *others == to.len() as i64 => {
            for (value, class) in values.zip(classes) {
                let Some(place) = to.get_mut(*next as usize) else { return };
                *place = value;
                *next += i64::from(*class == 0);
            }
        }
        _ => {
            for (value, class) in values.zip(classes) {
                let next = &mut next[usize::from(*class)];
                if let Some(place) = to.get_mut(*next as usize) {
                    *place = value;
                    *next += 1;
                }
            }
        }
    }
}
