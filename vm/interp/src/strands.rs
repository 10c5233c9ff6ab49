//! The order in which reductions combine.
//!
//! In the order of the rows, that is; but sums, products, least and greatest values of floats over many rows are kept in
//! strands: row `i` goes to strand `i` modulo [`STRANDS`], and at the end the strands are combined in order. Strand 0 starts with the
//! neutral value that the program gives, the others with a value that changes nothing. Which order it is depends on the code and on
//! the number of rows alone. Reductions inside of operators have no strands.
//!
//! Where combining cannot fail, the items of some thousand rows are made first and then combined by loops over columns.

use crate::machine::{Entry, Forms, Unit};
use crate::refused::{Made, Refused};
use crate::soac::Arrays;
use crate::{Adviser, Interpreter, Outcome, Registers};
use galopvm_base::scalar::eval2;
use galopvm_base::{Bits, ElemType, ScalarOp};
use galopvm_bytecode::{BlockId, Function, Instr, Operator, RegId, Role};
use galopvm_store::array::Array;
use galopvm_store::error::in_rows_from;
use galopvm_vector::{Fold, FoldStrands, MANY_ROWS, STRANDS, fold, fold_strands, start_of_strand, strided};
use smallvec::{SmallVec, smallvec};

/// Rows whose items are made before they are combined.
const PIECE: i64 = 2048;

/// A reduction that combines many rows in strands.
#[derive(Debug)]
pub(crate) struct Strands {
    /// For each accumulator the operation that combines it with its item.
    combine: Vec<Combination>,
    /// Combining has a value for all items.
    is_total: bool,
}

/// An operation that combines, with its loops.
#[derive(Clone, Copy, Debug)]
struct Combination {
    op: ScalarOp,
    ty: ElemType,
    fold: Fold,
    strands: Option<FoldStrands>,
}

impl Strands {
    /// The strands of an instruction, if it has any.
    pub(super) fn of(function: &Function, instr: &Instr) -> Option<Strands> {
        let operator = instr.operator().filter(|operator| operator.gives == Role::Totals)?;
        let combine = combinations(function, operator.combine?)?;
        let is_total = combine.iter().all(|by| !by.op.can_trap(by.ty));
        let in_strands = |by: &Combination| start_of_strand(by.op, by.ty).is_some();
        combine.iter().any(in_strands).then_some(Strands { combine, is_total })
    }
}

/// A block that combines each accumulator with its item by one operation.
fn combinations(function: &Function, block: BlockId) -> Option<Vec<Combination>> {
    let code = &function.blocks[block];
    let (accumulators, items) = code.params.split_at(code.results.len());
    let combination = |(k, result): (usize, RegId)| {
        let (op, ty) = code.code.iter().find_map(|instr| match instr {
            Instr::Op2 { dst, op, ty, a, b }
                if dst.0 == result && a.reg == accumulators[k] && b.reg == items[k] =>
            {
                Some((*op, *ty))
            }
            _ => None,
        })?;
        Some(Combination { op, ty, fold: fold(op, ty)?, strands: fold_strands(op, ty) })
    };
    let found: Option<Vec<_>> = code.results.iter().map(|o| o.reg).enumerate().map(combination).collect();
    // Anything else in the block could trap.
    found.filter(|found| found.len() == code.code.len())
}

/// The accumulators of a reduction at work: for each one a value, or as many as there are strands.
pub(super) struct Accumulators {
    values: SmallVec<[SmallVec<[Bits; 1]>; 4]>,
}

impl Accumulators {
    /// The accumulators at the beginning.
    pub(super) fn new(strands: Option<&Strands>, neutral: impl Iterator<Item = Bits>) -> Accumulators {
        let start = |k: usize| {
            let Combination { op, ty, .. } = *strands?.combine.get(k)?;
            start_of_strand(op, ty)
        };
        let values = |(k, first): (usize, Bits)| {
            let mut values: SmallVec<[Bits; 1]> = match start(k) {
                Some(other) => smallvec![other; STRANDS],
                None => smallvec![first],
            };
            values[0] = first;
            values
        };
        Accumulators { values: neutral.enumerate().map(values).collect() }
    }

    /// What row `row` is combined with, for each accumulator.
    pub(super) fn of_row(&self, row: i64) -> impl Iterator<Item = Bits> {
        self.values.iter().map(move |values| values[row as usize % values.len()])
    }

    /// What came out of row `row`.
    pub(super) fn put(&mut self, row: i64, values: impl Iterator<Item = Bits>) {
        for (strands, value) in self.values.iter_mut().zip(values) {
            let strand = row as usize % strands.len();
            strands[strand] = value;
        }
    }

    /// Combines the items of rows, the first of which goes to strand 0, with an accumulator.
    fn take(&mut self, k: usize, by: &Combination, column: &[u8]) {
        let values = &mut self.values[k];
        match (values.as_mut_array::<STRANDS>(), by.strands) {
            (Some(strands), Some(fold)) => fold(strands, column),
            _ => values[0] = (by.fold)(values[0], column).unwrap_or(values[0]),
        }
    }

    /// The results.
    pub(super) fn finish(self, strands: Option<&Strands>) -> SmallVec<[Bits; 4]> {
        let combined = |(k, values): (usize, SmallVec<[Bits; 1]>)| match (strands, &values[..]) {
            (Some(strands), [first, others @ ..]) if !others.is_empty() => {
                let Combination { op, ty, .. } = strands.combine[k];
                others.iter().fold(*first, |a, b| eval2(op, ty, a, *b).unwrap_or(a))
            }
            _ => values[0],
        };
        self.values.into_iter().enumerate().map(combined).collect()
    }
}

/// The strands in which an operator combines so many rows, if it does.
pub(crate) fn strands<'a>(
    registers: &Registers<'a>,
    (block, index): (BlockId, usize),
    width: i64,
) -> Option<&'a Strands> {
    let prepared = &registers.prepared.blocks[block];
    if width < MANY_ROWS || prepared.in_operator {
        return None;
    }
    let instr = &registers.code.blocks[block].code[index];
    let make = || Strands::of(registers.code, instr).map(Box::new);
    prepared.translated(index)?.strands.get_or_init(make).as_deref()
}

/// What makes the items of a reduction in strands: nothing if they are rows as they are.
pub(crate) fn items_in_strands<'a>(
    forms: Forms,
    registers: &Registers<'a>,
    (block, index): (BlockId, usize),
    strands: &Strands,
) -> Made<Option<&'a Unit>> {
    if !strands.is_total {
        return Err(Refused::Because("combining can fail"));
    }
    match registers.code.blocks[block].code[index].operator().and_then(|operator| operator.items) {
        Some(_) => forms.unit_of_items(registers, block, index).map(Some),
        None => Ok(None),
    }
}

impl<'a, A: Adviser<'a>> Interpreter<'a, A> {
    /// Reduces rows in strands, by loops over the items of some thousand rows; says whether it did.
    pub(super) fn reduce_in_strands(
        &mut self,
        registers: &mut Registers<'a>,
        at: (BlockId, usize),
        width: i64,
        operator: &Operator<'_>,
        inputs: &[Array],
        strands: &Strands,
    ) -> Outcome<bool> {
        let Ok(items) = items_in_strands(self.forms, registers, at, strands) else { return Ok(false) };
        let neutral = operator.neutral.iter().map(|operand| registers.bits(*operand));
        let mut accumulators = Accumulators::new(Some(strands), neutral);
        let mut column = Vec::new();
        let mut from = 0;
        while from < width {
            let count = PIECE.min(width - from);
            let part = |array: &Array| array.with_view(array.lmad().triplet(0, from, count, 1));
            let mut rows: Arrays = inputs.iter().map(part).collect();
            if let Some(unit) = items {
                let made = self.unit_rows(registers, unit, &Entry::of_rows(count, &rows));
                match made.map_err(|error| in_rows_from(error, from))? {
                    Some(made) => rows = made,
                    None => return Ok(false),
                }
            }
            for (k, (by, items)) in strands.combine.iter().zip(&rows).enumerate() {
                let (view, width) = (items.lmad(), items.elem().bytes());
                column.resize(count as usize * width, 0);
                strided(&mut column, width, items.block().bytes(), view.offset, view.dims[0].stride);
                accumulators.take(k, by, &column);
            }
            self.pay(count.unsigned_abs())?;
            from += count;
        }
        let values = accumulators.finish(Some(strands));
        operator.dsts.iter().zip(values).for_each(|(dst, bits)| registers.set_bits(dst.0, bits));
        Ok(true)
    }
}
