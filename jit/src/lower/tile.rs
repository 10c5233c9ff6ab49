//! Register tiles: several rows of a kernel at once, so that what a reduction reads for one row serves all of them.
//!
//! `kernel i, j do .. red k do f(A[i, k], B[k, j]) ..` with the lanes across `j` reads `B` once for each `i`. With
//! a tile of rows, which the plan decides, the reduction folds the partial results of all rows in one loop; reads that do
//! not depend on the row are the same computation and are made once (see `lir::build`). The row loop stands inside the lane
//! loop, so that the columns of one vector stay in the caches. Rows that are left over make half a tile, and then come one by
//! one.

use super::Lower;
use super::access::View;
use super::control::Span;
use super::form::{Form, Shape};
use super::reduce::Range;
use super::value::Value;
use crate::lir::{Bin, Op, Reg, Width};
use galopvm_base::ElemType;
use galopvm_kir::kernel::Rows;
use galopvm_kir::{Plan, Refusal, VarId};

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
        let body = Rows::of(body, Some(axis), form.axes[lane].var).map_err(refused)?;
        Ok(Some(Tile { row, count, body }))
    }
}

/// A row by its axis; none where lanes alone are computed together.
pub type RowAt = Option<(VarId, Reg)>;

/// What is done with rows that are computed together.
type WithRows<'f, 'a> = &'f mut dyn FnMut(&mut Lower<'a>, &[Reg]) -> Result<(), Refusal>;

impl<'a> Lower<'a> {
    /// Executes `work` for all rows of a range, a tile of them at a time.
    pub fn in_tiles(
        &mut self,
        (mut low, high): (Reg, Reg),
        count: usize,
        work: WithRows<'_, 'a>,
    ) -> Result<(), Refusal> {
        let mut sizes = vec![count, count / 2, 1];
        sizes.retain(|size| *size > 0);
        sizes.dedup();
        for size in sizes {
            let span = Span { low, high, step: size as i64, few: false };
            (low, _) = self.counted(span, &[], &[], &mut |l, first, _| {
                let add = |r: usize| l.b.op(Op::AluImm(Bin::Add, Width::W64, r as i32), &[first]);
                let rows: Vec<Reg> = std::iter::once(first).chain((1..size).map(add)).collect();
                work(l, &rows)?;
                Ok(Vec::new())
            })?;
        }
        Ok(())
    }

    /// The elements of these rows at the current lanes.
    pub fn tile_rows(
        &mut self,
        tile: &Tile<'_>,
        form: &Form<'_>,
        rows: &[Reg],
        results: &[View],
    ) -> Result<(), Refusal> {
        let row = form.axes[tile.row].var;
        let rows: Vec<RowAt> = rows.iter().map(|reg| Some((row, *reg))).collect();
        let neutral = self.exps(&tile.body.combine.neutral)?;
        let start: Vec<Value> = rows.iter().flat_map(|_| neutral.iter().cloned()).collect();
        let folded = self.fold_rows(&tile.body, &rows, None, &start)?;
        for (row, folded) in rows.iter().zip(folded.chunks(neutral.len())) {
            self.finish_row(&tile.body, *row, form, folded, results)?;
        }
        Ok(())
    }

    /// The reduction for these rows, from the values of each of them on.
    pub fn fold_rows(
        &mut self,
        body: &Rows<'_>,
        rows: &[RowAt],
        range: Range,
        start: &[Value],
    ) -> Result<Vec<Value>, Refusal> {
        let count = body.pat.len();
        let shapes: Vec<(ElemType, bool)> = start.iter().map(|value| (value.ty, true)).collect();
        self.fold_axes(body.axes, range, start, &shapes, &mut |l, accs| {
            let mut next = Vec::with_capacity(accs.len());
            for (row, accs) in rows.iter().zip(accs.chunks(count)) {
                l.enter_row(body, *row)?;
                let items = l.body(body.items)?;
                next.extend(l.combined(body.items, body.combine, accs, &items)?);
            }
            Ok(next)
        })
    }

    /// The results of a row, given those of its reduction.
    pub fn finish_row(
        &mut self,
        body: &Rows<'_>,
        row: RowAt,
        form: &Form<'_>,
        folded: &[Value],
        results: &[View],
    ) -> Result<(), Refusal> {
        self.enter_row(body, row)?;
        self.bind_all(body.pat, folded);
        body.after.iter().try_for_each(|stm| self.stm(stm))?;
        let values = self.exps(&form.body().results)?;
        self.store_element(form, results, &values)
    }

    fn enter_row(&mut self, body: &Rows<'_>, row: RowAt) -> Result<(), Refusal> {
        if let Some((var, reg)) = row {
            self.bind_scalar(var, Value::uniform(ElemType::I64, reg));
        }
        body.before.iter().try_for_each(|stm| self.stm(stm))
    }
}
