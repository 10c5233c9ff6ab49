//! Building the index table: one walk over the region, in program order.
//!
//! The value of every scalar is computed once, where it is bound. What a loop carries, what a reduction gives and
//! what is read is data, which may change with the variables that are free in the statement, and with those
//! alone: the result of a loop does not depend on its counter.

use super::path::Paths;
use super::table::{ArrayInfo, Axis, DimIndex, Kind, Role, Row, Table};
use super::value::{self, Value};
use crate::interval::Interval;
use crate::numbers::Numbers;
use crate::work::ASSUMED_TRIPS;
use galopvm_base::{ElemType, TypedId};
use galopvm_kir::view::Place;
use galopvm_kir::{ArrayOp, Body, CheckedRegion, Exp, Index, Observed, Read, Rhs, Stm, VarId};
use galopvm_lmad::Lmad;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The index table of a region for what was observed of its parameters.
pub fn table(region: &CheckedRegion, observed: &Observed) -> Table {
    let count = region.region().vars.len();
    let mut walk = Walk {
        region,
        numbers: Numbers::new(region, observed),
        values: Vec::with_capacity(count),
        paths: Paths::new(region.region()),
        counts: vec![0; count],
        table: Table {
            rows: Vec::new(),
            slices: Vec::new(),
            axes: vec![None; count],
            arrays: vec![None; count],
            levels: vec![None; count],
        },
        results: 0,
        level: 0,
        nest: Vec::new(),
        branches: Vec::new(),
        marks: vec![0; count],
        mark: 0,
    };
    for (var, _) in region.region().vars.iter_ids() {
        let elem = region.type_of(var).elem;
        walk.values.push(match walk.numbers.integer(var) {
            Some(number) => Value::constant(elem, number),
            None => Value::within(elem, Interval::of_type(elem)),
        });
    }
    for param in &region.region().params {
        let lmad = walk.numbers.lmad(*param).cloned();
        walk.array(*param, lmad, false, false);
    }
    walk.body(&region.region().body, &[]);
    walk.table
}

/// Who the reads of an expression are named after.
#[derive(Clone, Copy)]
struct Owner {
    statement: Option<VarId>,
    /// The expression is the whole right side.
    whole: bool,
}

struct Walk<'a> {
    region: &'a CheckedRegion,
    numbers: Numbers<'a>,
    /// By variable.
    values: Vec<Value>,
    paths: Paths<'a>,
    /// By variable: reads named after it so far.
    counts: Vec<u32>,
    table: Table,
    /// Reads among the results of the region so far.
    results: u32,
    level: u32,
    nest: Vec<VarId>,
    branches: Vec<(VarId, bool)>,
    /// By variable: marks of those that were met when something was looked for the last time.
    marks: Vec<u32>,
    mark: u32,
}

impl Walk<'_> {
    fn is_array(&self, var: VarId) -> bool {
        !self.region.type_of(var).is_scalar()
    }

    fn at_level(&mut self, vars: &[VarId], level: u32) {
        for var in vars {
            self.table.levels[var.index()] = Some(level);
        }
    }

    /// An array with a block of its own.
    fn array(&mut self, var: VarId, lmad: Option<Lmad>, carried: bool, fresh: bool) {
        let ty = self.region.type_of(var);
        if ty.is_scalar() {
            return;
        }
        // A view of another rank says nothing of this array.
        let lmad = lmad.filter(|lmad| lmad.rank() == ty.rank());
        let shape = match &lmad {
            Some(lmad) => Some(lmad.shape().to_vec()),
            None => {
                let extent = |exp: &Exp| value::known_number(&self.value(exp)).map(|size| size.max(0));
                ty.shape.iter().map(extent).collect()
            }
        };
        let info = ArrayInfo { elem: ty.elem, shape, lmad, nest: self.nest.clone(), carried, fresh };
        self.table.arrays[var.index()] = Some(info);
    }

    /// The array that a name stands for, through views of everything.
    fn lmad_of(&self, exp: &Exp) -> Option<Lmad> {
        match exp {
            Exp::Var(var) => self.table.array(*var)?.lmad.clone(),
            _ => None,
        }
    }

    fn body(&mut self, body: &Body, owners: &[VarId]) -> Vec<Value> {
        for stm in &body.stms {
            self.statement(stm);
        }
        let mut values = Vec::with_capacity(body.results.len());
        for (k, exp) in body.results.iter().enumerate() {
            let statement = owners.get(k).or(owners.first()).copied();
            self.reads(exp, Owner { statement, whole: false });
            values.push(self.value(exp).into_owned());
        }
        values
    }

    /// A body that sees some more iteration variables.
    fn inside(&mut self, axes: &[VarId], body: &Body, owners: &[VarId]) -> Vec<Value> {
        let (level, depth) = (self.level, self.nest.len());
        self.level += axes.len() as u32;
        self.nest.extend(axes);
        let values = self.body(body, owners);
        self.level = level;
        self.nest.truncate(depth);
        values
    }

    fn axis(&mut self, var: VarId, kind: Kind, bound: Option<&Exp>, level: u32, reassociable: bool) {
        let range = bound.map(|exp| self.value(exp).range);
        let range = range.filter(|range| *range != Interval::of_type(ElemType::I64));
        let trips = match range {
            Some(range) => u64::try_from((range.low.max(0) + range.high.max(0) + 1) / 2).unwrap_or(u64::MAX),
            None => ASSUMED_TRIPS,
        };
        let high = range.map_or(i128::from(i64::MAX), |range| range.high);
        self.values[var.index()] = Value::axis(var, Interval { low: 0, high: (high - 1).max(0) });
        self.table.axes[var.index()] = Some(Axis { kind, level, trips, reassociable });
        self.at_level(&[var], level);
    }

    fn axes(&mut self, rhs: &Rhs, kind: Kind, reassociable: bool) -> Vec<VarId> {
        for (k, axis) in rhs.axes().iter().enumerate() {
            self.axis(axis.var, kind, Some(&axis.bound), self.level + k as u32, reassociable);
        }
        rhs.axes().iter().map(|axis| axis.var).collect()
    }

    /// The variables that what a right side gives may change with.
    fn free_axes(&mut self, rhs: &Rhs) -> Vec<VarId> {
        self.mark += 1;
        let (mark, marks, values) = (self.mark, &mut self.marks, &self.values);
        rhs.each_bound(&mut |var| marks[var.index()] = mark);
        let mut axes: Vec<VarId> = Vec::new();
        rhs.each_use(&mut |var| {
            if std::mem::replace(&mut marks[var.index()], mark) != mark {
                axes.extend(values[var.index()].axes());
            }
        });
        axes.sort_unstable();
        axes.dedup();
        axes
    }

    fn statement(&mut self, stm: &Stm) {
        self.at_level(&stm.pat, self.level);
        let first = Owner { statement: stm.pat.first().copied(), whole: false };
        // Of expressions and branches everything is known.
        let free = match &stm.rhs {
            Rhs::Exps(_) | Rhs::If { .. } => Vec::new(),
            rhs => self.free_axes(rhs),
        };
        let mut values: Vec<Value> = stm
            .pat
            .iter()
            .map(|var| Value::data(self.region.type_of(*var).elem, free.iter().copied()))
            .collect();
        // How the arrays that it makes lie, if not row-major.
        let mut lmads: Vec<Option<Lmad>> = vec![None; stm.pat.len()];
        let mut known = false;
        match &stm.rhs {
            Rhs::Exps(exps) => {
                for (k, (var, exp)) in stm.pat.iter().zip(exps).enumerate() {
                    self.reads(exp, Owner { statement: Some(*var), whole: true });
                    values[k] = self.value(exp).into_owned();
                }
            }
            Rhs::Kernel { axes, body } => {
                let vars = self.axes(&stm.rhs, Kind::Parallel, false);
                self.inside(&vars, body, &stm.pat);
                for var in stm.pat.iter().filter(|var| self.region.type_of(**var).rank() == axes.len()) {
                    let index = |axis: &VarId| DimIndex {
                        source: Exp::Var(*axis),
                        value: self.values[axis.index()].clone(),
                    };
                    let row = Row {
                        array: *var,
                        role: Role::Fresh,
                        statement: None,
                        number: None,
                        dims: vars.iter().map(index).collect(),
                        nest: self.nest.iter().chain(&vars).copied().collect(),
                        branches: self.branches.clone(),
                        views: Vec::new(),
                    };
                    self.table.rows.push(row);
                }
            }
            Rhs::Reduce { body, combine, .. } | Rhs::Scan { body, combine, .. } => {
                let kind = match self.nest.iter().any(|var| self.table.is_parallel(*var)) {
                    true => Kind::Sequential,
                    false => Kind::Parallel,
                };
                let reassociable = matches!(stm.rhs, Rhs::Reduce { .. }) && combine.scalar_ops().is_some();
                let vars = self.axes(&stm.rhs, kind, reassociable);
                combine.neutral.iter().for_each(|exp| self.reads(exp, first));
                self.inside(&vars, body, &stm.pat);
                for var in combine.acc.iter().chain(&combine.item) {
                    let axes = free.iter().chain(&vars).copied();
                    self.values[var.index()] = Value::data(self.region.type_of(*var).elem, axes);
                }
                self.inside(&vars, &combine.body, &stm.pat);
            }
            Rhs::Scatter { arrays, body, combine, .. } => {
                let vars = self.axes(&stm.rhs, Kind::Sequential, false);
                self.inside(&vars, body, &stm.pat);
                if let Some(combine) = combine {
                    combine.neutral.iter().for_each(|exp| self.reads(exp, first));
                    for var in combine.acc.iter().chain(&combine.item) {
                        let axes = free.iter().chain(&vars).copied();
                        self.values[var.index()] = Value::data(self.region.type_of(*var).elem, axes);
                    }
                    self.inside(&vars, &combine.body, &stm.pat);
                }
                // In place, where it is.
                lmads = arrays.iter().map(|array| self.lmad_of(&Exp::Var(*array))).collect();
                known = true;
            }
            Rhs::For { carried, init, axis, body } => {
                init.iter().for_each(|exp| self.reads(exp, first));
                let vars = self.axes(&stm.rhs, Kind::Sequential, false);
                lmads = self.carried(carried, init, axis.var, &free, body, &stm.pat);
                known = true;
                debug_assert_eq!(vars.len(), 1);
            }
            Rhs::While { carried, init, cond, body } => {
                init.iter().for_each(|exp| self.reads(exp, first));
                if let Some(stand_in) = carried.first() {
                    self.axis(*stand_in, Kind::Sequential, None, self.level, false);
                    lmads = self.carried(carried, init, *stand_in, &free, body, &stm.pat);
                    known = true;
                }
                self.reads(cond, first);
            }
            Rhs::If { cond, then, otherwise } => {
                self.reads(cond, first);
                let cond = self.value(cond).into_owned();
                let mut sides = [true, false].into_iter().zip([then, otherwise]).map(|(side, body)| {
                    self.branches.extend(stm.pat.first().map(|var| (*var, side)));
                    let results = self.body(body, &stm.pat);
                    self.branches.truncate(self.branches.len() - usize::from(!stm.pat.is_empty()));
                    let lmads: Vec<_> = body.results.iter().map(|exp| self.lmad_of(exp)).collect();
                    (results, lmads)
                });
                let (Some(one), Some(other)) = (sides.next(), sides.next()) else { return };
                drop(sides);
                for (k, (a, b)) in one.0.iter().zip(&other.0).enumerate() {
                    if let Some(value) = values.get_mut(k) {
                        *value = value::select(&cond, a, b);
                    }
                }
                lmads = one
                    .1
                    .into_iter()
                    .zip(other.1)
                    .map(|(a, b)| a.filter(|a| Some(a) == b.as_ref()))
                    .collect();
                known = true;
            }
            Rhs::Update { array, index, value } => {
                self.index_reads(index, first);
                self.reads(value, first);
                self.update_row(*array, index, stm);
                lmads = vec![self.lmad_of(&Exp::Var(*array))];
                known = true;
            }
            Rhs::Manifest { perm, array } => {
                let shape = self.table.array(*array).and_then(|info| info.shape.clone());
                lmads = vec![shape.map(|shape| Lmad::manifest(&shape, perm))];
                known = true;
            }
            Rhs::Array(op) => {
                known = matches!(op, ArrayOp::Call { .. });
                let owner = Owner { whole: first.whole && !known, ..first };
                op.each_operand(&mut |exp| self.reads(exp, owner));
            }
        }
        for (k, var) in stm.pat.iter().enumerate() {
            if let Some(value) = values.get_mut(k) {
                let nothing = Value::within(value.elem, value.range);
                self.values[var.index()] = std::mem::replace(value, nothing);
            }
            if self.is_array(*var) && !self.paths.is_view(*var) {
                let lmad = lmads.get(k).cloned().flatten();
                let fresh = matches!(stm.rhs, Rhs::Kernel { .. });
                self.array(*var, lmad, false, fresh);
                if !known {
                    self.set_row_major(*var);
                }
            }
        }
    }

    fn set_row_major(&mut self, var: VarId) {
        if let Some(info) = &mut self.table.arrays[var.index()]
            && info.lmad.is_none()
        {
            info.lmad = info.shape.as_ref().map(|shape| Lmad::row_major(shape));
        }
    }

    /// The body of a loop that carries values; gives the layouts of the results.
    fn carried(
        &mut self,
        carried: &[VarId],
        init: &[Exp],
        axis: VarId,
        free: &[VarId],
        body: &Body,
        pat: &[VarId],
    ) -> Vec<Option<Lmad>> {
        let first: Vec<Option<Lmad>> = init.iter().map(|exp| self.lmad_of(exp)).collect();
        self.at_level(carried, self.level + 1);
        self.nest.push(axis);
        for (k, var) in carried.iter().enumerate() {
            let elem = self.region.type_of(*var).elem;
            self.values[var.index()] = Value::data(elem, free.iter().copied().chain([axis]));
            self.array(*var, first.get(k).cloned().flatten(), true, false);
        }
        self.nest.pop();
        self.inside(&[axis], body, pat);
        let mut lmads = Vec::with_capacity(carried.len());
        for (k, var) in carried.iter().enumerate() {
            let next = body.results.get(k).and_then(|exp| self.lmad_of(exp));
            let same = first.get(k).cloned().flatten().filter(|first| Some(first) == next.as_ref());
            if let Some(info) = &mut self.table.arrays[var.index()] {
                info.lmad = same.clone();
            }
            lmads.push(same);
        }
        lmads
    }

    fn update_row(&mut self, array: VarId, index: &Index, stm: &Stm) {
        let places = self.paths.own_places(array, index);
        if !places.iter().all(Place::is_complete) {
            return;
        }
        let dims = self.dims(places);
        self.table.rows.push(Row {
            array,
            role: Role::Update,
            statement: stm.pat.first().copied(),
            number: None,
            dims,
            nest: self.nest.clone(),
            branches: self.branches.clone(),
            views: Vec::new(),
        });
    }

    fn index_reads(&mut self, index: &Index, owner: Owner) {
        index.each_exp(&mut |exp| self.reads(exp, owner));
    }

    /// Adds the rows of an expression.
    fn reads(&mut self, exp: &Exp, owner: Owner) {
        let Exp::Read(read) = exp else {
            exp.each_part(&mut |part| self.reads(part, Owner { whole: false, ..owner }));
            return;
        };
        self.read_row(read, owner);
        self.index_reads(&read.index, Owner { whole: false, ..owner });
    }

    fn read_row(&mut self, read: &Read, owner: Owner) {
        let path = self.paths.read(read);
        let is_complete = path.places.iter().all(Place::is_complete);
        let dims = self.dims(path.places);
        let count = match owner.statement {
            Some(var) => &mut self.counts[var.index()],
            None => &mut self.results,
        };
        *count += u32::from(is_complete);
        let number = (!owner.whole && is_complete).then_some(*count);
        let rows = if is_complete { &mut self.table.rows } else { &mut self.table.slices };
        rows.push(Row {
            array: path.base,
            role: Role::Read(read.id),
            statement: owner.statement,
            number,
            dims,
            nest: self.nest.clone(),
            branches: self.branches.clone(),
            views: path.names,
        });
    }

    /// The indices of the first element.
    fn dims(&self, places: Vec<Place>) -> Vec<DimIndex> {
        let index = |place: Place| {
            let source = place.first();
            DimIndex { value: self.value(&source).into_owned(), source }
        };
        places.into_iter().map(index).collect()
    }

    /// What is known of an expression.
    fn value(&self, exp: &Exp) -> Cow<'_, Value> {
        Cow::Owned(match exp {
            Exp::Const(value) if value.ty.is_float() => Value::data(value.ty, []),
            Exp::Const(value) if value.ty == ElemType::U64 => Value::constant(value.ty, value.bits.into()),
            Exp::Const(value) => Value::constant(value.ty, value.as_i64().into()),
            Exp::Var(var) => return Cow::Borrowed(&self.values[var.index()]),
            Exp::Convert(to, arg) => value::convert(*to, &self.value(arg)),
            Exp::Op(op, _, args) => {
                let args: Vec<Cow<'_, Value>> = args.iter().map(|arg| self.value(arg)).collect();
                value::apply(*op, &args.iter().map(|arg| &**arg).collect::<Vec<_>>())
            }
            Exp::Read(read) => {
                let elem = self.region.type_of(read.array).elem;
                let mut axes: BTreeSet<VarId> = self.values[read.array.index()].axes().collect();
                read.index.each_exp(&mut |exp| axes.extend(self.value(exp).axes()));
                Value::data(elem, axes)
            }
            // Widening and narrowing that is written by name keeps an index as it is.
            Exp::Opaque(name, args)
                if matches!(name.as_str(), "sext" | "zext" | "trunc") && args.len() == 1 =>
            {
                return self.value(&args[0]);
            }
            Exp::Opaque(_, args) => {
                let args: Vec<Cow<'_, Value>> = args.iter().map(|arg| self.value(arg)).collect();
                value::unknown(&args.iter().map(|arg| &**arg).collect::<Vec<_>>(), ElemType::I64)
            }
        })
    }
}
