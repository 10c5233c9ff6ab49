//! What a histogram's destination is worth whose elements the neutral element changes.
//!
//! A destination stands before all rows, as if it had been combined with the neutral element. By the contract of
//! `reduce_by_index` that changes nothing; where it does, the derivative is that of what the operator makes of the two, which is
//! what a histogram of its own, combined with the destination, would have. The value stays what executing says.
//!
//! Invariant: an element that is not changed has the adjoint that it would have without all this, bit for bit, also where the
//! operator has no derivative.

use super::super::super::ir::*;
use super::super::super::substitute::substitute;
use super::super::{Derive, Derived, activity};
use super::combine::{Kind, kind};
use super::index_space::Hist;
use super::map::Rows;
use galopvm_base::{ElemType, ScalarOp};
use galopvm_bytecode::ValueType;

impl Derive<'_> {
    /// The adjoints of the destinations, given those of what is combined with the rows.
    pub(super) fn back_to_dests(
        &mut self,
        hist: &Hist<'_>,
        adjoints: Vec<Option<Atom>>,
    ) -> Derived<Vec<Option<Atom>>> {
        let is_simple = self.free(&[hist.op]).is_empty() && !self.activity.any(hist.neutral);
        let Some(block) = is_simple.then(|| self.settled_rows(hist)).flatten() else { return Ok(adjoints) };
        for (param, dest) in block.params.iter().zip(hist.dests) {
            if self.activity.var(*dest) {
                self.activity.mark(*param);
            }
        }
        self.activity.block(&block);
        let arrays = self.all_values(&activity::vars(hist.dests));
        let width = self.fun.dim(arrays[0], 0);
        let wanted = hist.dests.iter().map(|dest| self.activity.var(*dest)).collect();
        let (given, free) = (Vec::new(), Vec::new());
        self.back_rows(Rows { width, body: &block, arrays, adjoints, wanted, given, free })
    }

    /// A block that takes a row of each destination and settles its elements. Nothing where the operator is known to change
    /// none, or is not one on numbers.
    fn settled_rows(&mut self, hist: &Hist<'_>) -> Option<Block> {
        let mut block = match (kind(hist.op), &hist.op.stms[..]) {
            (Kind::Columns, [Stm { op: Op::Map { width, arrays, body, .. }, .. }]) => {
                // The operator's parameters in the order of its own.
                let order: Vec<usize> = (hist.op.params.iter())
                    .filter_map(|param| arrays.iter().position(|array| array == param))
                    .collect();
                let params = order.iter().map(|at| body.params[*at]).collect();
                let inner = Block { params, ..body.clone() };
                let neutral: Vec<Var> = hist.neutral.iter().filter_map(|atom| atom.var()).collect();
                let element = self.settled(&inner, None)?;
                self.over_rows(element, Some(*width), &neutral)
            }
            (Kind::Other, _) => self.settled(hist.op, Some(hist.neutral))?,
            _ => return None,
        };
        for _ in 1..hist.index.len() {
            block = self.over_rows(block, None, &[]);
        }
        Some(block)
    }

    /// A block from elements, and neutral elements where none are given, to what the operator makes of both: the elements
    /// themselves where that is the same.
    fn settled(&mut self, op: &Block, neutral: Option<&[Atom]>) -> Option<Block> {
        if !op.params.iter().all(|param| self.fun.vars[*param].is_scalar()) {
            return None;
        }
        let types = self.types(&op.params);
        let mut params: Vec<Var> = types.into_iter().map(|ty| self.fun.var(ty)).collect();
        let own = activity::vars(&params[..params.len() / 2]);
        if neutral.is_some() {
            params.truncate(own.len());
        }
        let given = [&activity::vars(&params)[..], neutral.unwrap_or(&[])].concat();
        let Block { mut stms, results, .. } = self.applied(op, &given);
        let mut is_same = Atom::bool(true);
        for (element, result) in own.iter().zip(&results) {
            let ty = element.var().map(|var| self.fun.vars[var].elem)?;
            let same = self.scalar_in(&mut stms, ScalarOp::Eq, ty, [*element, *result]);
            is_same = self.scalar_in(&mut stms, ScalarOp::And, ElemType::Bool, [is_same, same]);
        }
        // The way back through the operator is inside of the branch, where no element comes that is not changed: a zero that
        // went through it would not stay one where there is no derivative.
        let otherwise = self.applied(op, &given);
        let defs: Vec<Var> =
            params[..own.len()].iter().map(|param| self.fun.var(self.fun.vars[*param])).collect();
        let op = Op::If { cond: is_same, then: Block { results: own, ..Block::default() }, otherwise };
        let results = activity::vars(&defs);
        stms.push(Stm::new(defs, op, Origin::default()));
        Some(Block { params, stms, results })
    }

    /// A copy of a block, with atoms for its parameters.
    fn applied(&mut self, op: &Block, given: &[Atom]) -> Block {
        let Block { params, stms, results } = self.renamed(op);
        let put = params.into_iter().zip(given.iter().copied()).collect();
        let mut block = Block { params: Vec::new(), stms, results };
        substitute(&mut block, &put);
        block
    }

    /// A statement that says whether something holds of two numbers.
    fn scalar_in(&mut self, stms: &mut Vec<Stm>, op: ScalarOp, ty: ElemType, [a, b]: [Atom; 2]) -> Atom {
        let holds = self.fun.var(ValueType::scalar(ElemType::Bool));
        stms.push(Stm::new(vec![holds], Op::Op2 { op, ty, a, b }, Origin::default()));
        Atom::Var(holds)
    }

    /// A block from arrays to arrays by one on their rows; its last parameters take the rows of arrays from outside. Where no
    /// width is given, the first array tells it.
    fn over_rows(&mut self, rows: Block, width: Option<Atom>, outside: &[Var]) -> Block {
        let own = rows.params.len() - outside.len();
        let types = self.types(&rows.params[..own]);
        let params: Vec<Var> = types.into_iter().map(|ty| self.fun.var(ty.array_of())).collect();
        let mut stms = Vec::new();
        let width = width.unwrap_or_else(|| {
            let width = self.fun.var(ValueType::scalar(ElemType::I64));
            let op = Op::Dim { array: params[0], dim: 0 };
            stms.push(Stm::new(vec![width], op, Origin::default()));
            Atom::Var(width)
        });
        let defs: Vec<Var> = params.iter().map(|param| self.fun.var(self.fun.vars[*param])).collect();
        let op = Op::Map { width, arrays: [&params[..], outside].concat(), body: rows };
        stms.push(Stm::new(defs.clone(), op, Origin::default()));
        Block { params, stms, results: activity::vars(&defs) }
    }
}
