//! A part of an array that is made anew in its place: a kernel, and the update that puts what it makes into the array.
//!
//! Elements go straight to their places, without an array between, where the kernel reads the array nowhere but at the element's own
//! place, and nobody else wants what it makes (`owners.rs` decides).
//!
//! Where an element is computed by a sequential loop over scalars, several rows and several vectors of them are computed together, as
//! in a reduction (`tile.rs`): what the rounds read along the lanes is read once for all rows, what they read along the rows
//! once for all vectors, and the values stay in registers from round to round. Each element has its operations in order.

use super::access::View;
use super::control::Span;
use super::poll::is_few;
use super::value::Value;
use super::{Lanes, Lower};
use crate::lir::{Bin, Op, Reg, Width};
use galopvm_base::ElemType;
use galopvm_kir::algebra::add;
use galopvm_kir::{Axis, Body, DimIndex, Exp, Index, Read, ReadId, Refusal, Rhs, Stm, VarId};

/// Rows and vectors that may be computed together, best first.
const TILES: [(usize, usize); 4] = [(4, 4), (4, 2), (2, 2), (2, 1)];

/// Vector registers besides those of values and of what is read along the lanes.
const SPARE: usize = 3;

/// A kernel and the update behind it.
pub struct Sweep<'s> {
    /// What the kernel makes.
    pub made: VarId,
    /// The changed array.
    pub changed: VarId,
    /// The array as it was.
    pub array: VarId,
    axes: &'s [Axis],
    body: &'s Body,
    index: &'s Index,
}

/// The body of a kernel that is one sequential loop over scalars, and expressions.
struct Rounds<'s> {
    before: &'s [Stm],
    pat: &'s [VarId],
    carried: &'s [VarId],
    init: &'s [Exp],
    axis: &'s Axis,
    body: &'s Body,
    after: &'s [Stm],
}

/// Rows that are computed together, at the current lanes.
struct Rows<'t> {
    sweep: &'t Sweep<'t>,
    rounds: &'t Rounds<'t>,
    place: &'t View,
    /// The index in the dimensions in front of the rows'.
    outer: Vec<Value>,
    lane: Value,
}

impl<'s> Sweep<'s> {
    /// The sweep that statements begin with, if they do.
    pub fn of(stms: &'s [Stm]) -> Option<Sweep<'s>> {
        let [kernel, update, ..] = stms else { return None };
        let Rhs::Kernel { axes, body } = &kernel.rhs else { return None };
        let Rhs::Update { array, index, value } = &update.rhs else { return None };
        let ([made], [changed], [_]) = (&kernel.pat[..], &update.pat[..], &body.results[..]) else {
            return None;
        };
        let is_put = *value == Exp::Var(*made);
        is_put.then_some(Sweep { made: *made, changed: *changed, array: *array, axes, body, index })
    }

    /// The reads of the array, if all of them are at the element's own place. `meets` is true for arrays that share memory with it,
    /// `is_it` for those that are it.
    pub fn own_reads(
        &self,
        meets: &dyn Fn(VarId) -> bool,
        is_it: &dyn Fn(VarId) -> bool,
    ) -> Option<Vec<ReadId>> {
        let own = self.own_index()?;
        let (mut own_reads, mut others) = (Vec::new(), 0usize);
        self.body.visit_reads(&mut |read: &Read| {
            let is_own = is_it(read.array) && read.index == own;
            own_reads.extend(is_own.then_some(read.id));
            others += usize::from(!is_own && meets(read.array));
        });
        // Reads are uses; nothing else may be one.
        let mut uses = 0usize;
        self.body.each_use(&mut |var| uses += usize::from(meets(var)));
        (others == 0 && uses == own_reads.len()).then_some(own_reads)
    }

    /// The index of an element in the array.
    fn own_index(&self) -> Option<Index> {
        let Index::Dims(dims) = self.index else { return None };
        let mut axes = self.axes.iter();
        let mut own = Vec::with_capacity(dims.len());
        for dim in dims {
            own.push(DimIndex::At(match dim {
                DimIndex::At(at) => at.clone(),
                DimIndex::Slice { start, step, .. } if *step == Exp::int(1) => {
                    add(start.clone(), Exp::Var(axes.next()?.var))
                }
                DimIndex::Slice { .. } => return None,
            }));
        }
        axes.next().is_none().then_some(Index::Dims(own))
    }
}

impl<'s> Rounds<'s> {
    /// The rounds of a kernel over two axes or more that read something for all rows.
    fn of(lower: &Lower<'_>, sweep: &Sweep<'s>) -> Option<Rounds<'s>> {
        let [.., row, lane] = sweep.axes else { return None };
        let body = sweep.body;
        let at = body.stms.iter().position(|stm| matches!(stm.rhs, Rhs::For { .. }))?;
        let (before, [Stm { pat, rhs: Rhs::For { carried, init, axis, body } }, after @ ..]) =
            body.stms.split_at(at)
        else {
            return None;
        };
        let is_number = |var: &VarId| {
            let ty = lower.region.type_of(*var);
            ty.is_scalar() && ty.elem != ElemType::Bool
        };
        let is_plain = |stm: &Stm| {
            matches!(stm.rhs, Rhs::Exps(_))
                && stm.pat.iter().all(|var| lower.region.type_of(*var).is_scalar())
        };
        let stms = before.iter().chain(after).chain(&body.stms);
        if !stms.into_iter().all(is_plain) || !carried.iter().all(is_number) {
            return None;
        }
        let mut varying: Vec<VarId> = before.iter().flat_map(|stm| stm.pat.iter().copied()).collect();
        varying.extend([row.var, lane.var]);
        let mut is_fixed = true;
        axis.bound.each_use(&mut |var| is_fixed &= !varying.contains(&var));
        let mut is_shared = false;
        body.visit_reads(&mut |read| {
            let (mut by_row, mut by_lane) = (false, false);
            read.index.each_exp(&mut |exp| {
                exp.each_use(&mut |var| {
                    by_row |= var != lane.var && varying.contains(&var);
                    by_lane |= var == lane.var;
                });
            });
            is_shared |= by_lane && !by_row;
        });
        let rounds = Rounds { before, pat, carried, init, axis, body, after };
        (is_fixed && is_shared).then_some(rounds)
    }
}

impl<'a> Lower<'a> {
    /// A kernel and the update behind it.
    pub fn lower_sweep(&mut self, sweep: &Sweep<'_>) -> Result<(), Refusal> {
        let old = self.view(sweep.array)?;
        let place = self.part_of(old.clone(), sweep.index, !self.plan.is_contained(sweep.changed))?;
        let bounds = sweep.axes.iter().map(|axis| self.exp(&axis.bound)).collect::<Result<Vec<_>, _>>()?;
        let free = self.lanes.is_none() && self.target.lanes() > 1;
        let rounds = if free { Rounds::of(self, sweep) } else { None };
        match rounds.as_ref().and_then(|rounds| Some((rounds, self.tile_of(rounds)?))) {
            Some((rounds, tile)) => {
                self.sweep_tiles(sweep, (rounds, tile), &place, &bounds, &mut Vec::new())?;
            }
            None => self.each_index(&bounds, &mut |l, index| {
                for (axis, at) in sweep.axes.iter().zip(index) {
                    l.bind_scalar(axis.var, at.clone());
                }
                l.statements(sweep.body)?;
                l.store_results(&[&sweep.body.results[0]], std::slice::from_ref(&place), index)
            })?,
        }
        let view = self.written(old);
        self.views.insert(sweep.changed, view);
        Ok(())
    }

    /// How many rows and vectors have room in registers.
    fn tile_of(&self, rounds: &Rounds<'_>) -> Option<(usize, usize)> {
        let registers = |var: &VarId| if self.region.type_of(*var).elem.bytes() == 8 { 2 } else { 1 };
        let element: usize = rounds.carried.iter().map(registers).sum();
        let widest = rounds.carried.iter().map(registers).max()?;
        let has_room = |&&(rows, groups): &&(usize, usize)| {
            rows * groups * element + groups * widest + SPARE <= self.target.vectors().registers
        };
        TILES.iter().find(has_room).copied()
    }

    /// The loops around the rows.
    fn sweep_tiles(
        &mut self,
        sweep: &Sweep<'_>,
        (rounds, tile): (&Rounds<'_>, (usize, usize)),
        place: &View,
        bounds: &[Value],
        outer: &mut Vec<Value>,
    ) -> Result<(), Refusal> {
        let (low, high) = (self.b.int(0), self.uniform(&bounds[outer.len()]));
        let few = is_few(bounds[outer.len()].known());
        let axis = sweep.axes[outer.len()].var;
        if outer.len() + 2 < bounds.len() {
            self.counted(Span { low, high, step: 1, few }, &[], &[], &mut |l, counter, _| {
                let at = Value::uniform(ElemType::I64, counter);
                l.bind_scalar(axis, at.clone());
                outer.push(at);
                let done = l.sweep_tiles(sweep, (rounds, tile), place, bounds, outer);
                outer.pop();
                done.map(|()| Vec::new())
            })?;
            return Ok(());
        }
        let columns = self.uniform(&bounds[outer.len() + 1]);
        let span = Span { low, high, step: tile.0 as i64, few };
        let lane = sweep.axes[outer.len() + 1].var;
        let work = |l: &mut Self, counter: Reg| {
            l.bind_lane_axis(lane, counter);
            let lane = l.scalar_var(lane)?;
            l.sweep_rows(&Rows { sweep, rounds, place, outer: outer.clone(), lane }, span)
        };
        self.lanes = Some(Lanes { groups: tile.1 });
        let step = self.lane_count() as i64;
        let main = Span { low, high: columns, step, few: false };
        let (rest, _) = self.counted(main, &[], &[], &mut |l, counter, _| {
            work(l, counter)?;
            Ok(Vec::new())
        })?;
        self.lanes = Some(Lanes { groups: 1 });
        let end = self.end_of_rest(columns);
        let step = self.target.lanes() as i64;
        self.counted(Span { low: rest, high: end, step, few: true }, &[], &[], &mut |l, counter, _| {
            l.enter_rest(counter, columns);
            work(l, counter)?;
            l.mask = None;
            Ok(Vec::new())
        })?;
        self.lanes = None;
        Ok(())
    }

    /// All rows, several at a time, then one by one.
    fn sweep_rows(&mut self, rows: &Rows<'_>, span: Span) -> Result<(), Refusal> {
        let (rest, _) = self.counted(span, &[], &[], &mut |l, counter, _| {
            l.rows_together(rows, counter, span.step as usize)?;
            Ok(Vec::new())
        })?;
        self.counted(Span { low: rest, step: 1, ..span }, &[], &[], &mut |l, counter, _| {
            l.rows_together(rows, counter, 1)?;
            Ok(Vec::new())
        })?;
        Ok(())
    }

    /// So many rows from `first` on.
    fn rows_together(&mut self, rows: &Rows<'_>, first: Reg, count: usize) -> Result<(), Refusal> {
        let Rows { sweep, rounds, place, outer, lane } = rows;
        let row = sweep.axes[outer.len()].var;
        let names = || rounds.before.iter().flat_map(|stm| stm.pat.iter().copied());
        // For each row, what its names are.
        let mut known: Vec<Vec<(VarId, Value)>> = Vec::with_capacity(count);
        let mut start = Vec::new();
        for number in 0..count {
            let at = match number {
                0 => first,
                _ => self.b.op(Op::AluImm(Bin::Add, Width::W64, number as i32), &[first]),
            };
            self.bind_scalar(row, Value::uniform(ElemType::I64, at));
            rounds.before.iter().try_for_each(|stm| self.stm(stm))?;
            start.extend(self.exps(rounds.init)?);
            let values = names().chain([row]).map(|var| Ok((var, self.scalar_var(var)?)));
            known.push(values.collect::<Result<_, Refusal>>()?);
        }
        let enter = |l: &mut Self, number: usize| {
            known[number].iter().for_each(|(var, value)| l.bind_scalar(*var, value.clone()));
        };
        let shapes: Vec<(ElemType, bool)> = start.iter().map(|value| (value.ty, true)).collect();
        let bound = self.exp(&rounds.axis.bound)?;
        let (low, high) = (self.b.int(0), self.uniform(&bound));
        let span = Span { low, high, step: 1, few: is_few(bound.known()) };
        let each = rounds.carried.len();
        let (_, done) = self.counted(span, &start, &shapes, &mut |l, counter, now| {
            l.bind_scalar(rounds.axis.var, Value::uniform(ElemType::I64, counter));
            let mut next = Vec::with_capacity(now.len());
            for number in 0..count {
                enter(l, number);
                l.bind_all(rounds.carried, &now[number * each..][..each]);
                next.extend(l.body(rounds.body)?);
            }
            Ok(next)
        })?;
        for number in 0..count {
            enter(self, number);
            self.bind_all(rounds.pat, &done[number * each..][..each]);
            rounds.after.iter().try_for_each(|stm| self.stm(stm))?;
            let mut index = outer.clone();
            index.extend([self.scalar_var(row)?, lane.clone()]);
            let value = self.exp(&sweep.body.results[0])?;
            self.store(&place.row(&index), &value);
        }
        Ok(())
    }
}
