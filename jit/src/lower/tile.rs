//! Register tiles: several rows of a kernel at once, so that what a reduction reads for one row serves all of them.
//!
//! `kernel i, j do .. red k do f(A[i, k], B[k, j]) ..` with the lanes across `j` reads `B` once for each `i`. With
//! a tile of rows the reduction folds the partial results of all rows in one loop; reads that do not depend on
//! the row are the same computation and are made once (see `lir::build`). The row loop stands inside the lane loop,
//! so that the columns of one vector stay in the caches.

use super::access::View;
use super::form::{Form, Shape};
use super::value::Value;
use super::{Lanes, Lower};
use crate::lir::{Op, Reg, Width};
use galopvm_base::ElemType;
use galopvm_kir::{Axis, Body, Combine, Refusal, Rhs, Stm, VarId};
use std::collections::HashSet;

/// Rows of a tile.
pub const ROWS: usize = 4;

/// The body of a kernel that can be tiled.
pub struct Tile<'a> {
    /// The axis of the rows.
    pub row: usize,
    before: &'a [Stm],
    pat: &'a [VarId],
    axes: &'a [Axis],
    items: &'a Body,
    combine: &'a Combine,
    after: &'a [Stm],
}

impl<'a> Tile<'a> {
    /// The tile of a form whose lanes go across `lane`, if tiling pays: exactly one reduction, over bounds from
    /// outside, with some read that is the same for all rows but not for all lanes.
    pub fn of(form: &Form<'a>, lane: usize) -> Option<Tile<'a>> {
        let Shape::Map(body) = form.shape else { return None };
        let row = (0..form.axes.len()).rev().find(|k| *k != lane)?;
        let at = body.stms.iter().position(|s| matches!(s.rhs, Rhs::Reduce { .. }))?;
        let (before, rest) = body.stms.split_at(at);
        let (red, after) = rest.split_first()?;
        let Rhs::Reduce { axes, body: items, combine } = &red.rhs else { return None };
        let plain = |stms: &[Stm]| stms.iter().all(|s| matches!(s.rhs, Rhs::Exps(_)));
        combine.scalar_ops()?;
        if !plain(before) || !plain(after) || !plain(&items.stms) {
            return None;
        }
        let (row_var, lane_var) = (form.axes[row].var, form.axes[lane].var);
        let inner: HashSet<VarId> =
            before.iter().flat_map(|s| s.pat.iter().copied()).chain([row_var, lane_var]).collect();
        let mut fixed = true;
        for exp in axes.iter().map(|a| &a.bound).chain(&combine.neutral) {
            exp.each_use(&mut |var| fixed &= !inner.contains(&var));
        }
        let mut shared = false;
        items.visit_reads(&mut |read| {
            let (mut by_row, mut by_lane) = (false, false);
            read.index.each_exp(&mut |e| {
                e.each_use(&mut |var| {
                    by_row |= var != lane_var && inner.contains(&var);
                    by_lane |= var == lane_var;
                });
            });
            shared |= by_lane && !by_row;
        });
        (fixed && shared).then_some(Tile { row, before, pat: &red.pat, axes, items, combine, after })
    }

    /// Registers of one row's partial results in one group of lanes.
    pub fn results_per_group(&self, lower: &Lower<'_>) -> usize {
        let wide = |v: &VarId| 1 + usize::from(lower.region.type_of(*v).elem.bytes() == 8);
        self.pat.iter().map(wide).sum()
    }
}

impl<'a> Lower<'a> {
    /// `ROWS` rows from `first` on, at the current lanes.
    pub fn tile_rows(
        &mut self,
        tile: &Tile<'_>,
        form: &Form<'_>,
        first: Reg,
        results: &[View],
    ) -> Result<(), Refusal> {
        let row_var = form.axes[tile.row].var;
        let rows: Vec<Reg> = (0..ROWS)
            .map(|r| match r {
                0 => first,
                _ => self.b.op(Op::AluImm(crate::lir::Bin::Add, Width::W64, r as i32), &[first]),
            })
            .collect();
        let enter = |l: &mut Self, row: Reg| -> Result<(), Refusal> {
            l.bind_scalar(row_var, Value::uniform(ElemType::I64, row));
            tile.before.iter().try_for_each(|stm| l.stm(stm))
        };
        let neutral = self.exps(&tile.combine.neutral)?;
        let count = neutral.len();
        let shapes: Vec<(ElemType, bool)> =
            (0..ROWS).flat_map(|_| neutral.iter().map(|n| (n.ty, true))).collect();
        let start: Vec<Value> = (0..ROWS).flat_map(|_| neutral.iter().cloned()).collect();
        let folded = self.fold_axes(tile.axes, None, &start, &shapes, &mut |l, accs| {
            let mut next = Vec::with_capacity(accs.len());
            for (row, accs) in rows.iter().zip(accs.chunks(count)) {
                enter(l, *row)?;
                let items = l.body(tile.items)?;
                next.extend(l.combined(tile.items, tile.combine, accs, &items)?);
            }
            Ok(next)
        })?;
        for (row, folded) in rows.iter().zip(folded.chunks(count)) {
            enter(self, *row)?;
            self.bind_all(tile.pat, folded);
            tile.after.iter().try_for_each(|stm| self.stm(stm))?;
            let values = self.exps(&form.body().results)?;
            self.store_element(form, results, &values)?;
        }
        Ok(())
    }

    /// Groups of lanes for a tile: its partial results and one row of operands in registers, with some to spare.
    pub fn tile_groups(&self, tile: &Tile<'_>) -> Lanes {
        let registers = self.target.vectors().registers;
        let per_group = (ROWS + 1) * tile.results_per_group(self).max(1);
        Lanes { groups: ((registers - 2) / per_group).clamp(1, 4) }
    }
}
