//! Reductions in stretches: some iterations for many places, then the next ones, with the results waiting in memory.
//!
//! What waits are the rows that are computed together, or else the lanes of a kernel:
//! - *Rows* (`kernel i, j do .. red k do f(A[i, k], B[k, j])`, the lanes across `j`). For the lanes of a few vectors all rows
//!   read the same elements of `B`. A stretch of `k` is as long as these stay in the caches, and where the plan says so they
//!   are copied first: what lay pages apart, or in another order, then lies in a row.
//! - *Lanes* (`kernel j do .. red k do A[k, j]`). A stretch is a few rows of `A`, which are read from one end to the other.
//!
//! Every result is folded in the order of the iterations, so that nobody can tell stretches from one loop. Elements are
//! copied only where there are rows that read them: a read that traps would do so anyway.

use super::access::View;
use super::control::Span;
use super::form::{Form, Shape};
use super::tile::{RowAt, Tile};
use super::value::Value;
use super::{InLanes, Lower};
use crate::lir::{Bin, Cond, Op, Reg, Width};
use galopvm_base::ElemType;
use galopvm_kir::kernel::Rows;
use galopvm_kir::plan::Stretch;
use galopvm_kir::{Plan, Read, Refusal, Region, VarId};

/// The stretches of a kernel's reduction.
pub struct Stretches<'a> {
    plan: Stretch,
    /// The kernel's body.
    pub body: Rows<'a>,
    /// Reads whose elements are copied.
    packed: Vec<&'a Read>,
}

/// What is done with a part of a range.
type WithPart<'f, 'a> = &'f mut dyn FnMut(&mut Lower<'a>, (Reg, Reg)) -> Result<(), Refusal>;

impl<'a> Stretches<'a> {
    /// The stretches that the plan has for a form whose lanes go across `lane`, if it has such.
    pub fn of(
        region: &Region,
        form: &Form<'a>,
        lane: usize,
        plan: &Plan,
    ) -> Result<Option<Stretches<'a>>, Refusal> {
        let (&Shape::Map(body), Some(stretch)) = (&form.shape, plan.stretch()) else { return Ok(None) };
        let refused = |why: &str| Refusal::new(format!("stretches of the plan cannot be computed: {why}"));
        if !form.axes.iter().any(|axis| axis.var == stretch.waiting) {
            return Err(refused("results wait along no axis of the kernel with the lanes"));
        }
        let (lane, row) = (form.axes[lane].var, plan.tile().map(|(row, _)| row));
        let body = Rows::of(body, row, lane).map_err(refused)?;
        let shared = row.map_or_else(Vec::new, |row| body.shared_reads(region, row, lane));
        let is_packed = |read: &&Read| plan.packed().any(|packed| packed == read.id);
        let packed = shared.into_iter().filter(is_packed).collect();
        Ok(Some(Stretches { plan: stretch, body, packed }))
    }
}

impl<'a> Lower<'a> {
    /// All rows of a range at the current lanes.
    pub fn rows_in_stretches(
        &mut self,
        stretches: &Stretches<'_>,
        tile: &Tile<'_>,
        form: &Form<'_>,
        range: (Reg, Reg),
        results: &[View],
    ) -> Result<(), Refusal> {
        let row = form.axes[tile.row].var;
        let at = |row: &Reg| Value::uniform(ElemType::I64, *row);
        self.in_parts(range, stretches.plan.places, &mut |l, rows| {
            let waiting = l.waiting(stretches, rows.0)?;
            l.in_tiles(rows, 1, &mut |l, rows| l.begin(stretches, &waiting, &at(&rows[0])))?;
            l.each_stretch(stretches, &mut |l, stretch| {
                let waiting = l.now(&waiting);
                l.pack(stretches, stretch)?;
                l.in_tiles(rows, tile.count, &mut |l, rows| {
                    let start: Vec<Value> =
                        rows.iter().flat_map(|row| l.loaded(&waiting, &at(row))).collect();
                    let places: Vec<RowAt> = rows.iter().map(|reg| Some((row, *reg))).collect();
                    let folded = l.fold_rows(&stretches.body, &places, Some(stretch), &start)?;
                    for (row, folded) in rows.iter().zip(folded.chunks(waiting.len())) {
                        l.wait(&waiting, &at(row), folded);
                    }
                    Ok(())
                })?;
                l.packed.clear();
                Ok(())
            })?;
            let waiting = l.now(&waiting);
            l.in_tiles(rows, 1, &mut |l, rows| {
                let folded = l.loaded(&waiting, &at(&rows[0]));
                l.finish_row(&stretches.body, Some((row, rows[0])), form, &folded, results)
            })
        })
    }

    /// All lanes of a range.
    pub fn lanes_in_stretches(
        &mut self,
        stretches: &Stretches<'_>,
        lane: VarId,
        range: (Reg, Reg),
        form: &Form<'_>,
        results: &[View],
    ) -> Result<(), Refusal> {
        self.in_parts(range, stretches.plan.places, &mut |l, lanes| {
            let waiting = l.waiting(stretches, lanes.0)?;
            let across = |l: &mut Self, work: InLanes<'_, 'a>| {
                let groups = l.planned_groups(lane);
                let rest = l.whole_lanes(Some(lane), groups, lanes, work)?;
                l.rest_lanes(Some(lane), (rest, lanes.1), work)
            };
            across(l, &mut |l| {
                let at = l.scalar_var(lane)?;
                l.begin(stretches, &waiting, &at)
            })?;
            l.each_stretch(stretches, &mut |l, stretch| {
                let waiting = l.now(&waiting);
                across(l, &mut |l| {
                    let at = l.scalar_var(lane)?;
                    let start = l.loaded(&waiting, &at);
                    let folded = l.fold_rows(&stretches.body, &[None], Some(stretch), &start)?;
                    l.wait(&waiting, &at, &folded);
                    Ok(())
                })
            })?;
            let waiting = l.now(&waiting);
            across(l, &mut |l| {
                let at = l.scalar_var(lane)?;
                let folded = l.loaded(&waiting, &at);
                l.finish_row(&stretches.body, None, form, &folded, results)
            })
        })
    }

    fn each_stretch(&mut self, stretches: &Stretches<'_>, work: WithPart<'_, 'a>) -> Result<(), Refusal> {
        let [axis] = stretches.body.axes else {
            return Err(Refusal::new("internal: stretches of several axes"));
        };
        let bound = self.exp(&axis.bound)?;
        let range = (self.b.int(0), self.uniform(&bound));
        self.in_parts(range, stretches.plan.count, work)
    }

    /// Executes `work` for the parts of a range, of so many iterations each but for the last one.
    fn in_parts(
        &mut self,
        (low, high): (Reg, Reg),
        count: u32,
        work: WithPart<'_, 'a>,
    ) -> Result<(), Refusal> {
        let count = count as i32;
        let end = self.b.op(Op::AluImm(Bin::Add, Width::W64, count - 1), &[high]);
        let span = Span { low, high: end, step: count.into(), few: false };
        self.counted(span, &[], &[], &mut |l, first, _| {
            let next = l.b.op(Op::AluImm(Bin::Add, Width::W64, count), &[first]);
            let is_whole = l.b.op(Op::Set(Cond::Lt, Width::W64), &[next, high]);
            let last = l.b.op(Op::Choose, &[is_whole, next, high]);
            work(l, (first, last))?;
            Ok(Vec::new())
        })?;
        Ok(())
    }

    /// Room for the results of places from `first` on, an array for each.
    fn waiting(&mut self, stretches: &Stretches<'_>, first: Reg) -> Result<Vec<View>, Refusal> {
        let mut views = Vec::with_capacity(stretches.body.pat.len());
        for var in stretches.body.pat {
            let elem = self.region.type_of(*var).elem;
            views.push(self.room_from(elem, stretches.plan.places, first)?);
        }
        Ok(views)
    }

    /// A new array whose first index is `first`.
    fn room_from(&mut self, elem: ElemType, count: u32, first: Reg) -> Result<View, Refusal> {
        let mut view = self.fresh(elem, &[Value::int(count.into())])?;
        let zero = self.b.int(0);
        let back = self.b.op(Op::Alu(Bin::Sub, Width::W64), &[zero, first]);
        view.fixed.push((Value::uniform(ElemType::I64, back), view.dims[0].stride));
        Ok(view)
    }

    /// Arrays as they are now, whatever was read of them before.
    fn now(&mut self, views: &[View]) -> Vec<View> {
        views.iter().map(|view| self.written(view.clone())).collect()
    }

    /// A place waits with the neutral elements.
    fn begin(&mut self, stretches: &Stretches<'_>, waiting: &[View], at: &Value) -> Result<(), Refusal> {
        let neutral = self.exps(&stretches.body.combine.neutral)?;
        self.wait(waiting, at, &neutral);
        Ok(())
    }

    fn wait(&mut self, waiting: &[View], at: &Value, values: &[Value]) {
        for (view, value) in waiting.iter().zip(values) {
            self.store(&view.row(std::slice::from_ref(at)), value);
        }
    }

    fn loaded(&mut self, waiting: &[View], at: &Value) -> Vec<Value> {
        let load = |view: &View| {
            let value = self.load(&view.row(std::slice::from_ref(at)), false);
            self.shaped(&value, true)
        };
        waiting.iter().map(load).collect()
    }

    /// Copies what a stretch of the reduction reads for all rows; reads find it there until `packed` is emptied.
    fn pack(&mut self, stretches: &Stretches<'_>, (low, high): (Reg, Reg)) -> Result<(), Refusal> {
        let axis = stretches.plan.axis;
        for read in &stretches.packed {
            let elem = self.region.type_of(read.array).elem;
            let to = self.room_from(elem, stretches.plan.count, low)?;
            self.counted(Span { low, high, step: 1, few: false }, &[], &[], &mut |l, counter, _| {
                let at = Value::uniform(ElemType::I64, counter);
                l.bind_scalar(axis, at.clone());
                let value = l.read(read)?;
                l.wait(std::slice::from_ref(&to), &at, &[value]);
                Ok(Vec::new())
            })?;
            let to = self.written(to);
            self.packed.insert(read.id, (axis, to));
        }
        Ok(())
    }
}
