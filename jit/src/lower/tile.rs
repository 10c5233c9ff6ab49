//! Register tiles: several rows of a kernel at once, so that what a reduction reads for one row serves all of them.
//!
//! `kernel i, j do .. red k do f(A[i, k], B[k, j]) ..` with the lanes across `j` reads `B` once for each `i`. With
//! a tile of rows, which the plan decides, the reduction folds the partial results of all rows in one loop; reads that do
//! not depend on the row are the same computation and are made once (see `lir::build`). The row loop stands inside the lane
//! loop, so that the columns of one vector stay in the caches.

use super::Lower;
use super::access::View;
use super::form::{Form, Shape};
use super::value::Value;
use crate::lir::{Bin, Op, Reg, Width};
use galopvm_base::ElemType;
use galopvm_kir::kernel::Rows;
use galopvm_kir::{Plan, Refusal};

/// The rows of a kernel that are computed together.
pub struct Tile<'a> {
    /// The axis of the rows.
    pub row: usize,
    /// How many at a time.
    pub count: usize,
    body: Rows<'a>,
}

impl<'a> Tile<'a> {
    /// The tile that the plan has for a form whose lanes go across `lane`, if it has one.
    pub fn of(form: &Form<'a>, lane: usize, plan: &Plan) -> Result<Option<Tile<'a>>, Refusal> {
        let (&Shape::Map(body), Some((axis, count))) = (&form.shape, plan.tile()) else { return Ok(None) };
        let refused =
            |why: &str| Refusal::new(format!("rows of the plan cannot be computed together: {why}"));
        let row = form.axes.iter().position(|known| known.var == axis);
        let row = row.ok_or_else(|| refused("they are no axis of the kernel with the lanes"))?;
        let body = Rows::of(body, axis, form.axes[lane].var).map_err(refused)?;
        Ok(Some(Tile { row, count, body }))
    }
}

impl<'a> Lower<'a> {
    /// The rows from `first` on, at the current lanes.
    pub fn tile_rows(
        &mut self,
        tile: &Tile<'_>,
        form: &Form<'_>,
        first: Reg,
        results: &[View],
    ) -> Result<(), Refusal> {
        let row_var = form.axes[tile.row].var;
        let rows: Vec<Reg> = (0..tile.count)
            .map(|r| match r {
                0 => first,
                _ => self.b.op(Op::AluImm(Bin::Add, Width::W64, r as i32), &[first]),
            })
            .collect();
        let enter = |l: &mut Self, row: Reg| -> Result<(), Refusal> {
            l.bind_scalar(row_var, Value::uniform(ElemType::I64, row));
            tile.body.before.iter().try_for_each(|stm| l.stm(stm))
        };
        let neutral = self.exps(&tile.body.combine.neutral)?;
        let count = neutral.len();
        let shapes: Vec<(ElemType, bool)> =
            (0..tile.count).flat_map(|_| neutral.iter().map(|n| (n.ty, true))).collect();
        let start: Vec<Value> = (0..tile.count).flat_map(|_| neutral.iter().cloned()).collect();
        let folded = self.fold_axes(tile.body.axes, None, &start, &shapes, &mut |l, accs| {
            let mut next = Vec::with_capacity(accs.len());
            for (row, accs) in rows.iter().zip(accs.chunks(count)) {
                enter(l, *row)?;
                let items = l.body(tile.body.items)?;
                next.extend(l.combined(tile.body.items, tile.body.combine, accs, &items)?);
            }
            Ok(next)
        })?;
        for (row, folded) in rows.iter().zip(folded.chunks(count)) {
            enter(self, *row)?;
            self.bind_all(tile.body.pat, folded);
            tile.body.after.iter().try_for_each(|stm| self.stm(stm))?;
            let values = self.exps(&form.body().results)?;
            self.store_element(form, results, &values)?;
        }
        Ok(())
    }
}
