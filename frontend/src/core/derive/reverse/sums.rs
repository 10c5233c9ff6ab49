//! Sums over rows of what each row makes with a map: a map of sums instead, so that no row's array is made.
//!
//! Whatever the map takes from its row is kept for all rows, if that is less than what it makes.

use super::super::super::ir::*;
use super::super::Derive;
use galopvm_base::TypedId;
use std::collections::HashSet;

/// A map in a row's block whose result is to be summed up over all rows.
pub(super) struct Spread {
    width: Atom,
    arrays: Vec<Var>,
    body: Block,
    result: usize,
    /// What it takes from its row.
    pub taken: Vec<Var>,
}

impl Derive<'_> {
    /// The map that makes a value in the current block, if sums of it over rows can be made by a map.
    pub(super) fn spread(&self, value: Atom, params: &[Atom]) -> Option<Spread> {
        let Atom::Var(var) = value else { return None };
        let stm = self.fun.current().iter().rev().find(|stm| stm.defs.contains(&var))?;
        let Op::Map { width, arrays, body } = &stm.op else { return None };
        if !self.fun.is_outside(*width) {
            return None;
        }
        let mut found = Taken { inside: HashSet::new(), all: arrays.clone() };
        found.block(body);
        let mut taken: Vec<Var> = found.all.into_iter().filter(|var| !found.inside.contains(var)).collect();
        taken.retain(|var| !self.fun.is_outside(Atom::Var(*var)));
        taken.sort_by_key(|var| var.index());
        taken.dedup();
        let rank = self.fun.type_of(value).rank;
        let fits = |var: &Var| {
            let atom = Atom::Var(*var);
            let outside = |extent: &Option<Atom>| extent.is_some_and(|extent| self.fun.is_outside(extent));
            params.contains(&atom)
                || self.fun.vars[*var].rank < rank && self.fun.known_shape(atom).iter().all(outside)
        };
        let result = stm.defs.iter().position(|def| *def == var)?;
        let (width, arrays, body) = (*width, arrays.clone(), body.clone());
        taken.iter().all(fits).then_some(Spread { width, arrays, body, result, taken })
    }

    /// The sums, over so many rows, of what a map makes, with what it takes from each.
    pub(super) fn sum_spread(&mut self, count: Atom, spread: &Spread, taken: &[Atom]) -> Atom {
        let given = |var: Var| spread.taken.iter().position(|own| *own == var).map(|k| taken[k]);
        let mut inputs = Vec::new();
        let mut columns = Vec::new();
        for array in &spread.arrays {
            let rows = given(*array);
            columns.push(rows.is_some());
            inputs.push(match rows {
                Some(rows) => {
                    let mut perm: Vec<u32> = (0..self.fun.type_of(rows).rank as u32).collect();
                    perm.swap(0, 1);
                    self.fun.permuted(rows, perm)
                }
                None => Atom::Var(*array),
            });
        }
        let params = self.fun.begin_rows(&inputs);
        // What each row gives: elements of its arrays, and what the block takes besides.
        let (mut names, mut rows) = (Vec::new(), Vec::new());
        for ((own, param), is_column) in spread.body.params.iter().zip(&params).zip(columns) {
            if is_column {
                names.push(*own);
                rows.push(*param);
            } else {
                self.bind(&[*own], &[*param]);
            }
        }
        for (var, atom) in spread.taken.iter().zip(taken) {
            if !spread.arrays.contains(var) {
                names.push(*var);
                rows.push(*atom);
            }
        }
        let sum = self.sum_block(count, &spread.body, spread.body.results[spread.result], &names, &rows);
        self.fun.end_rows(spread.width, &inputs, &params, vec![sum]).pop().unwrap_or(sum)
    }

    /// The sum over rows of a block's result.
    fn sum_block(&mut self, count: Atom, block: &Block, result: Atom, names: &[Var], rows: &[Atom]) -> Atom {
        let params = self.fun.begin_rows(rows);
        self.bind(names, &params);
        self.copy_stms(&block.stms);
        let value = self.value(result);
        if let Some(spread) = self.spread(value, &params) {
            let kept = spread.taken.iter().map(|var| Atom::Var(*var)).collect();
            let taken = self.fun.end_rows(count, rows, &params, kept);
            return self.sum_spread(count, &spread, &taken);
        }
        let all = self.fun.end_rows(count, rows, &params, vec![value]).pop().unwrap_or(value);
        self.fun.sum_rows(all)
    }
}

/// The variables that a block takes from outside.
struct Taken {
    inside: HashSet<Var>,
    all: Vec<Var>,
}

impl Taken {
    fn block(&mut self, block: &Block) {
        self.inside.extend(&block.params);
        self.all.extend(block.results.iter().filter_map(|atom| atom.var()));
        for stm in &block.stms {
            stm.op.atoms(&mut |atom| self.all.extend(atom.var()));
            stm.op.blocks().into_iter().for_each(|inner| self.block(inner));
            self.inside.extend(&stm.defs);
        }
    }
}
