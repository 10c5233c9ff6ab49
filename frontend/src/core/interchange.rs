//! Interchange: a `reduce` or `scan` whose operator is one `map` over two rows becomes a `map` over columns, with a `reduce` or
//! `scan` of their elements inside. Rows that are combined as a whole are arrays as values of an operator, which no back end
//! takes; elements are numbers.
//!
//! ```text
//! reduce n (zeros) (xss) (a, b) { map m (a, b) (x, y) { x + y } }
//!   becomes   map m (zeros, permute xss (1, 0)) (z, xs) { reduce n (z) (xs) (x, y) { x + y } }
//! ```
//!
//! Invariants:
//! - Each element is combined with the same ones in the same order.
//! - What the operator does cannot end the program: another element would be the first one that does.
//! - Rows of rows are interchanged once more, inside.

use super::ir::*;
use super::simplify::simplify;
use super::substitute::{Items, substitute};
use galopvm_base::IdVec;
use galopvm_bytecode::ValueType;
use std::collections::HashMap;

/// Interchanges wherever it can be done.
pub(super) fn interchange(program: &mut Program) {
    for fun in program.funs.iter_mut() {
        let mut interchange = Interchange { vars: &mut fun.vars, filled: HashMap::new() };
        if interchange.block(&mut fun.body) {
            simplify(fun);
        }
    }
}

struct Interchange<'f> {
    vars: &'f mut IdVec<Var, ValueType>,
    /// What arrays that are one value over and over again are filled with.
    filled: HashMap<Var, Atom>,
}

/// A `reduce` or `scan` of rows that can be interchanged.
struct Rows {
    is_scan: bool,
    /// How many rows.
    count: Atom,
    neutral: Vec<Var>,
    arrays: Vec<Var>,
    /// Elements of a row.
    width: Atom,
    /// What the operator's `map` goes over, and what it does with elements.
    sources: Vec<Source>,
    inner: Block,
}

/// An array that the `map` of an operator goes over.
#[derive(Clone, Copy)]
enum Source {
    /// The row that was combined so far, or the next one: the number of the array, and which.
    Row(usize, bool),
    /// An array from outside.
    Outside(Var),
}

impl Interchange<'_> {
    /// Interchanges in a block and the blocks below it; true if something changed.
    fn block(&mut self, block: &mut Block) -> bool {
        let mut changed = false;
        let mut at = 0;
        while at < block.stms.len() {
            let stm = &block.stms[at];
            if let (Op::Replicate { value, .. }, [def]) = (&stm.op, stm.defs.as_slice()) {
                self.filled.insert(*def, *value);
            }
            if let Some(rows) = self.rows(&stm.op) {
                let stms = self.columns(&block.stms[at], rows);
                // Rows of rows are met again, inside.
                block.stms.splice(at..=at, stms);
                changed = true;
                continue;
            }
            for inner in block.stms[at].op.blocks_mut() {
                changed |= self.block(inner);
            }
            at += 1;
        }
        changed
    }

    fn rows(&self, op: &Op) -> Option<Rows> {
        let (is_scan, width, neutral, arrays, body) = match op {
            Op::Reduce { width, neutral, arrays, body } => (false, width, neutral, arrays, body),
            Op::Scan { width, neutral, arrays, body } => (true, width, neutral, arrays, body),
            _ => return None,
        };
        let [stm] = body.stms.as_slice() else { return None };
        let Op::Map { width: row, arrays: over, body: inner } = &stm.op else { return None };
        let gives_rows = body.results.len() == stm.defs.len()
            && body.results.iter().zip(&stm.defs).all(|(result, def)| *result == Atom::Var(*def));
        let (sums, items) = body.params.split_at_checked(arrays.len())?;
        let source = |array: &Var| {
            let row = |params: &[Var]| params.iter().position(|param| param == array);
            match (row(sums), row(items)) {
                (Some(k), _) => Source::Row(k, false),
                (None, Some(k)) => Source::Row(k, true),
                (None, None) => Source::Outside(*array),
            }
        };
        let mut is_row_used = row.var().is_some_and(|var| body.params.contains(&var));
        visit(inner, &mut |atom| is_row_used |= atom.var().is_some_and(|var| body.params.contains(&var)));
        let neutral: Option<Vec<Var>> = neutral.iter().map(|atom| atom.var()).collect();
        if !gives_rows || is_row_used || !stm.is_pure() || items.len() != arrays.len() {
            return None;
        }
        Some(Rows {
            is_scan,
            count: *width,
            neutral: neutral?,
            arrays: arrays.clone(),
            width: *row,
            sources: over.iter().map(source).collect(),
            inner: inner.clone(),
        })
    }

    /// The statements in the place of the one that combines rows.
    fn columns(&mut self, stm: &Stm, rows: Rows) -> Vec<Stm> {
        let Rows { is_scan, count, neutral, arrays, width, sources, mut inner } = rows;
        let origin = stm.origin;
        let mut stms = Vec::new();
        let mut columns = Block::default();
        let mut over = Vec::new();
        let mut each = |this: &mut Self, array: Var, columns: &mut Block| {
            let row = ValueType { rank: this.vars[array].rank - 1, ..this.vars[array] };
            let param = this.vars.push(row);
            over.push(array);
            columns.params.push(param);
            param
        };
        let mut starts = Vec::new();
        for array in &neutral {
            starts.push(match self.filled.get(array) {
                Some(value) => *value,
                None => Atom::Var(each(self, *array, &mut columns)),
            });
        }
        let mut lines = Vec::new();
        for array in &arrays {
            let ty = self.vars[*array];
            let turned = self.vars.push(ty);
            stms.push(Stm::new(vec![turned], turn(*array, ty), origin));
            lines.push(each(self, turned, &mut columns));
        }
        // The elements of rows come in the order of the operator's parameters, each once.
        let mut given: Vec<Option<Var>> = vec![None; 2 * arrays.len()];
        let mut same = Items::new();
        for (source, param) in sources.iter().zip(std::mem::take(&mut inner.params)) {
            match *source {
                Source::Outside(array) => {
                    let element = each(self, array, &mut columns);
                    same.insert(param, Atom::Var(element));
                }
                Source::Row(k, is_item) => match &mut given[k + usize::from(is_item) * arrays.len()] {
                    Some(first) => drop(same.insert(param, Atom::Var(*first))),
                    none => *none = Some(param),
                },
            }
        }
        substitute(&mut inner, &same);
        for (k, param) in given.into_iter().enumerate() {
            let line = self.vars[lines[k % arrays.len()]];
            let element = ValueType { rank: line.rank - 1, ..line };
            inner.params.push(param.unwrap_or_else(|| self.vars.push(element)));
        }
        let (neutral, arrays) = (starts, lines.clone());
        let results: Vec<Var> = lines
            .iter()
            .map(|line| {
                let ty = self.vars[*line];
                let rank = if is_scan { ty.rank } else { ty.rank - 1 };
                self.vars.push(ValueType { rank, ..ty })
            })
            .collect();
        let op = match is_scan {
            true => Op::Scan { width: count, neutral, arrays, body: inner },
            false => Op::Reduce { width: count, neutral, arrays, body: inner },
        };
        columns.results = results.iter().map(|var| Atom::Var(*var)).collect();
        columns.stms.push(Stm::new(results, op, origin));
        if !is_scan {
            stms.push(Stm::new(stm.defs.clone(), Op::Map { width, arrays: over, body: columns }, origin));
            return stms;
        }
        let turned: Vec<Var> = stm.defs.iter().map(|def| self.vars.push(self.vars[*def])).collect();
        stms.push(Stm::new(turned.clone(), Op::Map { width, arrays: over, body: columns }, origin));
        for (def, turned) in stm.defs.iter().zip(turned) {
            stms.push(Stm::new(vec![*def], turn(turned, self.vars[*def]), origin));
        }
        stms
    }
}

/// The first two dimensions exchanged.
fn turn(array: Var, ty: ValueType) -> Op {
    let rank = u32::from(ty.rank);
    Op::Permute { array, perm: [1, 0].into_iter().chain(2..rank).collect() }
}

/// Every operand of a block and the blocks below it.
fn visit(block: &Block, see: &mut dyn FnMut(Atom)) {
    block.results.iter().for_each(|atom| see(*atom));
    for stm in &block.stms {
        stm.op.atoms(see);
        stm.op.blocks().into_iter().for_each(|inner| visit(inner, see));
    }
}
