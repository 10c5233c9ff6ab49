//! The order in which reductions combine.
//!
//! In the order of the rows, that is; but sums, products, least and greatest values of floats over many rows are kept in
//! strands: row `i` goes to strand `i` modulo [`STRANDS`], and at the end the strands are combined in order. Strand 0 starts with the
//! neutral value that the program gives, the others with a value that changes nothing. Every way to execute an operator
//! follows this order, which is a matter of the code and of the number of rows alone.

use super::Columns;
use galopvm_base::scalar::{ScalarTrap, eval2};
use galopvm_base::{Bits, ElemType, ScalarOp};
use galopvm_vector::loops::{self, Fold, FoldStrands, MANY_ROWS, STRANDS, start_of_strand};
use smallvec::{SmallVec, smallvec};

/// The accumulators of a reduction at work: for each one a value, or as many as there are strands.
pub(in crate::interpret) struct Accumulators {
    strands: SmallVec<[SmallVec<[Bits; 1]>; 4]>,
}

impl Accumulators {
    /// The accumulators at the beginning. `columns` is the form of the operator, if it has one.
    pub(in crate::interpret) fn new(
        columns: Option<&Columns>,
        rows: i64,
        neutral: impl Iterator<Item = Bits>,
    ) -> Accumulators {
        let start = |k: usize| {
            let (op, ty) = *columns.filter(|_| rows >= MANY_ROWS)?.combine.get(k)?;
            start_of_strand(op, ty)
        };
        let strand = |(k, first): (usize, Bits)| {
            let mut strands: SmallVec<[Bits; 1]> = match start(k) {
                Some(other) => smallvec![other; STRANDS],
                None => smallvec![first],
            };
            strands[0] = first;
            strands
        };
        Accumulators { strands: neutral.enumerate().map(strand).collect() }
    }

    /// What row `row` is combined with, for each accumulator.
    pub(in crate::interpret) fn of_row(&self, row: i64) -> impl Iterator<Item = Bits> {
        self.strands.iter().map(move |strands| strands[row as usize % strands.len()])
    }

    /// What came out of row `row`.
    pub(in crate::interpret) fn put(&mut self, row: i64, values: impl Iterator<Item = Bits>) {
        for (strands, value) in self.strands.iter_mut().zip(values) {
            let strand = row as usize % strands.len();
            strands[strand] = value;
        }
    }

    /// The results.
    pub(in crate::interpret) fn finish(self, columns: Option<&Columns>) -> SmallVec<[Bits; 4]> {
        let combined = |(k, strands): (usize, SmallVec<[Bits; 1]>)| match (columns, &strands[..]) {
            (Some(columns), [first, others @ ..]) if !others.is_empty() => {
                let (op, ty) = columns.combine[k];
                others.iter().fold(*first, |a, b| eval2(op, ty, a, *b).unwrap_or(a))
            }
            _ => strands[0],
        };
        self.strands.into_iter().enumerate().map(combined).collect()
    }
}

/// The loops that combine columns with accumulators.
pub(super) struct Folds(SmallVec<[(Fold, Option<FoldStrands>); 4]>);

impl Folds {
    /// The loops of these operations, if all have one.
    pub(super) fn of(combine: &[(ScalarOp, ElemType)]) -> Option<Folds> {
        let loops =
            |(op, ty): &(ScalarOp, ElemType)| Some((loops::fold(*op, *ty)?, loops::fold_strands(*op, *ty)));
        combine.iter().map(loops).collect::<Option<_>>().map(Folds)
    }

    /// Combines rows, the first of which goes to strand 0, with accumulators, unless something has no value.
    pub(super) fn apply<'c>(
        &self,
        accumulators: &mut Accumulators,
        column: impl Fn(usize) -> &'c [u8],
    ) -> Result<(), ScalarTrap> {
        // What can fail comes first.
        let in_order =
            |(k, ((fold, _), strands)): (usize, (&(Fold, _), &SmallVec<[Bits; 1]>))| match strands[..] {
                [value] => fold(value, column(k)).map(Some),
                _ => Ok(None),
            };
        let in_order = self.0.iter().zip(&accumulators.strands).enumerate().map(in_order);
        let next: SmallVec<[Option<Bits>; 4]> = in_order.collect::<Result<_, _>>()?;
        for (k, (value, strands)) in next.into_iter().zip(&mut accumulators.strands).enumerate() {
            match (value, self.0[k].1, strands.as_mut_array::<STRANDS>()) {
                (Some(value), ..) => strands[0] = value,
                (None, Some(fold_strands), Some(strands)) => fold_strands(strands, column(k)),
                _ => {}
            }
        }
        Ok(())
    }
}
