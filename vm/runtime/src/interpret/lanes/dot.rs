//! Reductions of what one operation makes of two rows, as a loop of their own: matrix products are made of them.
//!
//! The loops are those of galopvm-vector.

use super::program::{Across, Lane, Number, Step, View};
use super::run::Running;
use galopvm_base::{ElemType, ScalarOp};
use galopvm_bytecode::{BlockId, Function, Instr, Operator, RegId};
use galopvm_vector::loops::dot::{Run, Runs, Source, runs};

/// A reduction.
#[derive(Debug)]
pub(super) struct Dot {
    runs: Runs,
    accumulator: Lane,
    pub(super) width: Number,
    a: View,
    b: View,
    /// What a turn costs.
    pub(super) cost: u64,
    /// The same as a loop of steps, for rows that lie in another way.
    pub(super) turns: Step,
}

/// The operation that a block with one instruction does on its two parameters; whether it takes them in order.
fn operation(function: &Function, block: BlockId) -> Option<(ScalarOp, ElemType, bool)> {
    let block = &function.blocks[block];
    let ([a, b], [result]) = (&block.params[..], &block.results[..]) else { return None };
    match &block.code[..] {
        [Instr::Op2 { dst, op, ty, a: x, b: y }] if dst.0 == result.reg => {
            let operands: [RegId; 2] = [x.reg, y.reg];
            let in_order = operands == [*a, *b];
            (in_order || operands == [*b, *a]).then_some((*op, *ty, in_order))
        }
        _ => None,
    }
}

/// The loops of an operator, and whether the rows are its operands in order.
pub(super) fn loops(function: &Function, operator: &Operator<'_>) -> Option<(Runs, bool)> {
    let (map, ty, in_order) = operation(function, operator.items?)?;
    let (op, other, true) = operation(function, operator.combine?)? else { return None };
    (ty == other).then_some((runs(map, op, ty)?, in_order))
}

impl Dot {
    /// The reduction of two rows of vectors.
    pub(super) fn new(
        (runs, in_order): (Runs, bool),
        [first, second]: [&View; 2],
        accumulator: Lane,
        width: Number,
        cost: u64,
        turns: Step,
    ) -> Dot {
        let (a, b) = if in_order { (first, second) } else { (second, first) };
        Dot { runs, accumulator, width, a: a.clone(), b: b.clone(), cost, turns }
    }

    fn source<'r>(&self, run: &'r Running<'_>, view: &View) -> Source<'r> {
        Source {
            bytes: run.bases.bytes(run.base(view)),
            at: run.int(view.offset),
            step: run.int(view.dims[0].1),
        }
    }

    /// Whether a row differs from lane to lane; nothing if lanes do not lie side by side.
    fn is_many(run: &Running<'_>, view: &View) -> Option<bool> {
        match view.across {
            Across::Same => Some(false),
            Across::Stride(stride) => match run.int(stride) {
                0 => Some(false),
                1 => Some(true),
                _ => None,
            },
            Across::Each(_) => None,
        }
    }

    fn choose(&self, run: &Running<'_>) -> Option<Run> {
        match (Self::is_many(run, &self.a)?, Self::is_many(run, &self.b)?) {
            (true, false) => Some(self.runs[0]),
            (false, true) => Some(self.runs[1]),
            (true, true) => Some(self.runs[2]),
            (false, false) => None,
        }
    }

    /// Whether the rows lie so that the loop is for them.
    pub(super) fn fits(&self, run: &Running<'_>) -> bool {
        self.choose(run).is_some()
    }

    /// Combines so many elements from the row's element `from` on.
    pub(super) fn execute(&self, run: &mut Running<'_>, from: i64, count: i64) {
        let Some(function) = self.choose(run) else { return };
        let mut sums = std::mem::take(&mut run.lanes[self.accumulator as usize]);
        let bytes = run.len * self.a.width();
        let at = |source: Source<'_>| source.at.wrapping_add(from.wrapping_mul(source.step));
        let (mut a, mut b) = (self.source(run, &self.a), self.source(run, &self.b));
        (a.at, b.at) = (at(a), at(b));
        function(&mut sums[..bytes], count, a, b);
        run.lanes[self.accumulator as usize] = sums;
    }
}
