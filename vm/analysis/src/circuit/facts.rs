//! What a region does with arrays: where each comes from, what each statement reads and writes of which, and where
//! one is only made to be copied into another.

use super::moving::Along;
use super::position::{Frame, Inside, Position, at, body_of};
use super::verdict::Place;
use crate::affine::{Form, Range, Scope};
use galopvm_kir::{
    ArrayArg, ArrayOp, Body, DimIndex, Exp, Index, Observed, ObservedParam, Read, Region, Rhs, Stm, VarId,
};
use std::collections::BTreeMap;

/// A change of layout that copies nothing.
#[derive(Clone, PartialEq, Debug)]
pub enum Change {
    /// Another name.
    Same,
    /// A part.
    Part(Part),
    /// Axis `k` is axis `perm[k]` of the other.
    Permute(Vec<usize>),
    /// The first axis backwards.
    Reverse,
    /// Another shape: the old one, and the new one.
    Reshape(Vec<i64>, Vec<i64>),
}

/// A part of an array.
#[derive(Clone, PartialEq, Debug)]
pub enum Part {
    /// All of it.
    Whole,
    /// Under an index; one of several.
    Index(Vec<Vec<Along>>),
    /// Under an LMAD slice.
    Flat(Form, Vec<(Form, Form)>),
    /// It depends on this name, or on memory.
    Unknown(Option<VarId>),
}

/// Where an array comes from.
#[derive(Clone, PartialEq, Debug)]
pub enum Source {
    /// From outside the region.
    Param,
    /// Made by its statement.
    Fresh,
    /// Made by a kernel: its axes.
    Kernel(Vec<VarId>),
    /// Made by a copy into a layout that was chosen: its dimensions, outermost in memory first.
    Manifest(Vec<usize>),
    /// Another array seen differently.
    View(VarId, Change),
    /// An array with a part replaced.
    Update(VarId),
    /// A scratch array that an unknown function fills.
    Filled(VarId),
    /// A side of an `if`: what each side gives.
    Branches(Option<VarId>, Option<VarId>),
    /// The name that a loop carries: its first value, and what the body gives.
    Carried(Option<VarId>, Option<VarId>),
    /// The result of a loop: the name that it carries.
    LoopResult(VarId),
    /// Something else.
    Unknown,
}

/// An array.
#[derive(Clone, PartialEq, Debug)]
pub struct Array {
    /// Where it comes from.
    pub source: Source,
    /// Where it is defined.
    pub position: Position,
    /// Its extents, if they are affine.
    pub shape: Option<Vec<Form>>,
}

/// A read or write of a part of an array by a statement.
#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    /// The array.
    pub array: VarId,
    /// Where.
    pub position: Position,
    /// What of it.
    pub part: Part,
    /// It is written, not read.
    pub write: bool,
}

/// A statement that copies whole arrays into a part of another.
#[derive(Clone, PartialEq, Debug)]
pub struct Point {
    /// The array that the copies go to.
    pub target: VarId,
    /// Where.
    pub position: Position,
    /// The kind of point.
    pub kind: PointKind,
    /// What is copied, in order; nothing where it is not a name.
    pub operands: Vec<Option<VarId>>,
}

/// Kinds of points.
#[derive(Clone, PartialEq, Debug)]
pub enum PointKind {
    /// `y = concat a b ..`
    Concat,
    /// `y = x with [..] = b`, with the part.
    Update(Part),
    /// `y = copy b`
    Copy,
    /// `y = manifest((1, 0), b)`
    Manifest,
    /// The end of a kernel's body: the array becomes row `axes` of the result.
    Row(Vec<VarId>),
}

/// All of it.
pub struct Facts<'a> {
    /// The region.
    pub region: &'a Region,
    /// Every array.
    pub arrays: BTreeMap<VarId, Array>,
    /// In program order.
    pub events: Vec<Event>,
    /// In program order.
    pub points: Vec<Point>,
    /// Every iteration variable with its values.
    pub ranges: Vec<Range>,
    /// By array: the names that its memory flows to, and whether that takes another round of a loop.
    flows: BTreeMap<VarId, Vec<(VarId, bool)>>,
    observed: &'a Observed,
    scope: Scope<'a>,
    scratch: Vec<VarId>,
}

impl<'a> Facts<'a> {
    /// Reads a region.
    pub fn of(region: &'a Region, observed: &'a Observed) -> Facts<'a> {
        let mut facts = Facts {
            region,
            arrays: BTreeMap::new(),
            events: Vec::new(),
            points: Vec::new(),
            ranges: Vec::new(),
            flows: BTreeMap::new(),
            observed,
            scope: Scope::new(region, observed),
            scratch: Vec::new(),
        };
        for (param, seen) in region.params.iter().zip(&observed.params) {
            if let ObservedParam::Array { lmad, .. } = seen {
                let shape = lmad.shape().iter().map(|size| Form::constant(*size)).collect();
                facts.arrays.insert(
                    *param,
                    Array { source: Source::Param, position: at(&[], 0), shape: Some(shape) },
                );
            }
        }
        for param in &region.params {
            if facts.is_array(*param) && !facts.arrays.contains_key(param) {
                facts.define(*param, Source::Param, &at(&[], 0));
            }
        }
        facts.body(&region.body, &[], true);
        facts.follow();
        facts
    }

    /// The names that an array's memory flows to, and whether that takes another round of a loop.
    pub fn flows(&self, from: VarId) -> &[(VarId, bool)] {
        self.flows.get(&from).map_or(&[], Vec::as_slice)
    }

    /// Notes where the memory of each array flows to.
    fn follow(&mut self) {
        let mut flows: BTreeMap<VarId, Vec<(VarId, bool)>> = BTreeMap::new();
        let mut add = |from: &Option<VarId>, to: VarId, again: bool| {
            if let Some(from) = from {
                let all = flows.entry(*from).or_default();
                if !all.contains(&(to, again)) {
                    all.push((to, again));
                }
            }
        };
        for (var, array) in &self.arrays {
            match &array.source {
                Source::View(of, _) | Source::Update(of) | Source::Filled(of) => {
                    add(&Some(*of), *var, false);
                }
                Source::Branches(a, b) => [a, b].iter().for_each(|of| add(of, *var, false)),
                Source::Carried(init, next) => {
                    add(init, *var, false);
                    add(next, *var, true);
                }
                Source::LoopResult(carried) => {
                    if let Some(Array { source: Source::Carried(init, next), .. }) = self.arrays.get(carried)
                    {
                        [init, next].iter().for_each(|of| add(of, *var, false));
                    }
                }
                Source::Param | Source::Fresh | Source::Kernel(_) | Source::Manifest(_) | Source::Unknown => {
                }
            }
        }
        self.flows = flows;
    }

    /// Takes notice of what copies although it need not: updates and fillings of what is used later, and changes of
    /// shape that no view expresses. These make arrays of their own. `places` says which.
    pub(super) fn settle(&mut self, places: &BTreeMap<VarId, Place>) {
        let (mut read, mut written) = (Vec::new(), Vec::new());
        for (var, array) in &mut self.arrays {
            if places.get(var).is_none_or(|place| place.block != *var) {
                continue;
            }
            match array.source {
                Source::Update(of) => read.push((of, array.position.clone())),
                Source::Filled(_) => {}
                Source::View(of, Change::Reshape(..)) => {
                    read.push((of, array.position.clone()));
                    written.push((*var, array.position.clone()));
                }
                _ => continue,
            }
            array.source = Source::Fresh;
            for event in self.events.iter_mut().filter(|event| event.array == *var && event.write) {
                event.part = Part::Whole;
            }
        }
        for (array, position) in read {
            self.event(array, &position, Part::Whole, false);
        }
        for (array, position) in written {
            self.event(array, &position, Part::Whole, true);
        }
        self.follow();
    }

    /// What was observed of an array parameter: its view, the number of its block, and who holds that.
    pub fn observed(&self, var: VarId) -> Option<(&'a galopvm_lmad::Lmad, u32, u32)> {
        let at = self.region.params.iter().position(|param| *param == var)?;
        match self.observed.params.get(at)? {
            ObservedParam::Array { lmad, block, references, .. } => Some((lmad, *block, *references)),
            ObservedParam::Scalar(_) => None,
        }
    }

    fn is_array(&self, var: VarId) -> bool {
        self.region.vars.get(var).and_then(|v| v.ty.as_ref()).is_some_and(|ty| !ty.is_scalar())
    }

    /// The array that an expression names.
    fn named(&self, exp: &Exp) -> Option<VarId> {
        match exp {
            Exp::Var(var) if self.is_array(*var) => Some(*var),
            _ => None,
        }
    }

    fn define(&mut self, var: VarId, source: Source, position: &[Frame]) {
        if !self.is_array(var) {
            return;
        }
        let shape = self.region.vars[var].ty.as_ref().and_then(|ty| {
            ty.shape.iter().map(|extent| self.scope.form(extent)).collect::<Option<Vec<Form>>>()
        });
        self.arrays.insert(var, Array { source, position: position.to_vec(), shape });
    }

    /// A new array that its statement writes.
    fn made(&mut self, var: VarId, position: &[Frame]) {
        self.define(var, Source::Fresh, position);
        self.event(var, position, Part::Whole, true);
    }

    fn event(&mut self, array: VarId, position: &[Frame], part: Part, write: bool) {
        if !self.is_array(array) {
            return;
        }
        self.events.push(Event { array, position: position.to_vec(), part, write });
    }

    /// Every statement of a body, then what it reads for its results. Arrays among the results are read only if
    /// `copies` says that whoever takes them copies.
    fn body(&mut self, body: &'a Body, way: &[Frame], copies: bool) {
        for (k, stm) in body.stms.iter().enumerate() {
            self.statement(stm, &at(way, k));
        }
        let end = at(way, body.stms.len());
        for exp in &body.results {
            match self.named(exp) {
                Some(array) if copies => self.event(array, &end, Part::Whole, false),
                Some(_) => {}
                None => self.reads(exp, &end),
            }
        }
    }

    /// The reads of an expression.
    fn reads(&mut self, exp: &Exp, position: &[Frame]) {
        let mut found = Vec::new();
        exp.visit(&mut |part| match part {
            Exp::Read(read) => found.push((read.array, self.part(&read.index))),
            Exp::Var(var) if self.is_array(*var) => found.push((*var, Part::Whole)),
            _ => {}
        });
        for (array, part) in found {
            self.event(array, position, part, false);
        }
    }

    /// The reads in the index expressions of an index.
    fn index_reads(&mut self, index: &Index, position: &[Frame]) {
        let mut exps = Vec::new();
        index.each_exp(&mut |exp| exps.push(exp.clone()));
        exps.iter().for_each(|exp| self.reads(exp, position));
    }

    /// The part that an index stands for.
    fn part(&self, index: &Index) -> Part {
        let unknown = |exp: &Exp| {
            Part::Unknown(match exp {
                Exp::Var(var) => Some(*var),
                _ => None,
            })
        };
        match index {
            Index::Lmad { offset, dims } => {
                let Some(offset) = self.scope.form(offset) else { return unknown(offset) };
                let mut forms = Vec::new();
                for (count, stride) in dims {
                    match (self.scope.form(count), self.scope.form(stride)) {
                        (Some(count), Some(stride)) => forms.push((count, stride)),
                        (None, _) => return unknown(count),
                        _ => return unknown(stride),
                    }
                }
                Part::Flat(offset, forms)
            }
            Index::Dims(dims) => {
                let mut ways: Vec<Vec<Along>> = vec![Vec::new()];
                for dim in dims {
                    let along: Vec<Along> = match dim {
                        DimIndex::At(exp) => match self.scope.pieces(exp) {
                            Some(pieces) => pieces.into_iter().map(|(_, form)| Along::At(form)).collect(),
                            None => return unknown(exp),
                        },
                        DimIndex::Slice { start, count, step } => {
                            let form = |exp| self.scope.form(exp).ok_or(exp);
                            match (form(start), form(count), form(step)) {
                                (Ok(start), Ok(count), Ok(step)) => {
                                    vec![Along::Slice { start, count, step }]
                                }
                                (Err(exp), _, _) | (_, Err(exp), _) | (_, _, Err(exp)) => {
                                    return unknown(exp);
                                }
                            }
                        }
                    };
                    ways = ways
                        .iter()
                        .flat_map(|way| {
                            along.iter().map(move |dim| [way.as_slice(), std::slice::from_ref(dim)].concat())
                        })
                        .collect();
                    if ways.len() > crate::affine::MOST_PIECES {
                        return Part::Unknown(None);
                    }
                }
                Part::Index(ways)
            }
        }
    }

    fn sizes(&self, var: VarId) -> Option<Vec<i64>> {
        let ty = self.region.vars[var].ty.as_ref()?;
        ty.shape.iter().map(|extent| self.scope.size(extent)).collect()
    }

    fn statement(&mut self, stm: &'a Stm, position: &[Frame]) {
        match &stm.rhs {
            Rhs::Exps(exps) => {
                for (var, exp) in stm.pat.iter().zip(exps) {
                    self.plain(*var, exp, position);
                }
            }
            Rhs::Kernel { axes, body } => {
                let vars: Vec<VarId> = axes.iter().map(|axis| axis.var).collect();
                self.inside(&stm.rhs, Inside::Kernel(vars.clone()), position, |facts, inner| {
                    facts.body(body, inner, true);
                    for (var, exp) in stm.pat.iter().zip(&body.results) {
                        if let Some(row) = facts.named(exp) {
                            facts.points.push(Point {
                                target: *var,
                                position: at(inner, body.stms.len()),
                                kind: PointKind::Row(vars.clone()),
                                operands: vec![Some(row)],
                            });
                        }
                    }
                });
                let end = at(&enter(position, Inside::Kernel(vars.clone())), body.stms.len() + 1);
                for var in &stm.pat {
                    self.define(*var, Source::Kernel(vars.clone()), position);
                    let own = vars.iter().map(|axis| Along::At(Form::variable(*axis))).collect();
                    self.event(*var, &end, Part::Index(vec![own]), true);
                }
            }
            Rhs::Reduce { axes, body, combine } => {
                let vars = axes.iter().map(|axis| axis.var).collect();
                self.inside(&stm.rhs, Inside::Kernel(vars), position, |facts, inner| {
                    facts.body(body, inner, true);
                });
                self.combine(combine, position);
                stm.pat.iter().for_each(|var| self.made(*var, position));
            }
            Rhs::Scan { axis, body, combine } => {
                self.inside(&stm.rhs, Inside::Kernel(vec![axis.var]), position, |facts, inner| {
                    facts.body(body, inner, true);
                });
                self.combine(combine, position);
                stm.pat.iter().for_each(|var| self.made(*var, position));
            }
            Rhs::For { carried, init, axis, body } => {
                let inside = Inside::Loop(Some(axis.var));
                self.sequential(stm, (carried, init, body), inside, position);
            }
            Rhs::While { carried, init, cond, body } => {
                self.sequential(stm, (carried, init, body), Inside::Loop(None), position);
                let inner = enter(position, Inside::Loop(None));
                self.reads(cond, &at(&inner, 0));
            }
            Rhs::If { cond, then, otherwise } => {
                self.reads(cond, position);
                for (side, body) in [(true, then), (false, otherwise)] {
                    self.body(body, &enter(position, Inside::Branch(side)), false);
                }
                for (k, var) in stm.pat.iter().enumerate() {
                    let side = |body: &Body| body.results.get(k).and_then(|exp| self.named(exp));
                    let source = Source::Branches(side(then), side(otherwise));
                    self.define(*var, source, position);
                }
            }
            Rhs::Update { array, index, value } => {
                self.index_reads(index, position);
                let part = self.part(index);
                let operand = self.named(value);
                match operand {
                    Some(value) => self.event(value, position, Part::Whole, false),
                    None => self.reads(value, position),
                }
                for var in &stm.pat {
                    self.define(*var, Source::Update(*array), position);
                    self.event(*var, position, part.clone(), true);
                    if operand.is_some() {
                        self.points.push(Point {
                            target: *var,
                            position: position.to_vec(),
                            kind: PointKind::Update(part.clone()),
                            operands: vec![operand],
                        });
                    }
                }
            }
            Rhs::Scatter { arrays, axes, body, combine } => {
                let vars = axes.iter().map(|axis| axis.var).collect();
                self.inside(&stm.rhs, Inside::Kernel(vars), position, |facts, inner| {
                    facts.body(body, inner, true);
                });
                if let Some(combine) = combine {
                    self.combine(combine, position);
                }
                for (var, array) in stm.pat.iter().zip(arrays) {
                    self.define(*var, Source::Update(*array), position);
                    self.event(*var, position, Part::Unknown(None), false);
                    self.event(*var, position, Part::Unknown(None), true);
                }
            }
            Rhs::Manifest { perm, array } => {
                self.event(*array, position, Part::Whole, false);
                self.copying(stm, PointKind::Manifest, vec![Some(*array)], position);
                for var in &stm.pat {
                    self.define(*var, Source::Manifest(perm.clone()), position);
                }
            }
            Rhs::Array { op, args } => self.array_op(stm, *op, args, position),
        }
    }

    fn copying(&mut self, stm: &Stm, kind: PointKind, operands: Vec<Option<VarId>>, position: &[Frame]) {
        for var in &stm.pat {
            self.made(*var, position);
            let point = Point {
                target: *var,
                position: position.to_vec(),
                kind: kind.clone(),
                operands: operands.clone(),
            };
            self.points.push(point);
        }
    }

    fn plain(&mut self, var: VarId, exp: &Exp, position: &[Frame]) {
        match exp {
            Exp::Var(of) if self.is_array(var) => {
                self.define(var, Source::View(*of, Change::Same), position);
            }
            Exp::Read(Read { array, index, .. }) if self.is_array(var) => {
                self.index_reads(index, position);
                let part = self.part(index);
                self.define(var, Source::View(*array, Change::Part(part)), position);
            }
            other => {
                self.reads(other, position);
                self.define(var, Source::Unknown, position);
            }
        }
    }

    /// The inside of a parallel operator.
    fn inside(
        &mut self,
        rhs: &'a Rhs,
        inside: Inside,
        position: &[Frame],
        walk: impl FnOnce(&mut Self, &[Frame]),
    ) {
        let axes = rhs.axes();
        for axis in axes {
            self.reads(&axis.bound, position);
        }
        for axis in axes {
            let trips = self.trips(&axis.bound);
            self.scope.open(axis.var, trips);
            self.ranges.extend(self.scope.ranges().last());
        }
        walk(self, &enter(position, inside));
        self.scope.close(axes.len());
    }

    /// The greatest number of rounds.
    fn trips(&self, bound: &Exp) -> i64 {
        let greatest = self.scope.form(bound).and_then(|form| form.interval(self.scope.ranges()));
        greatest.and_then(|(_, high)| i64::try_from(high).ok()).unwrap_or(i64::MAX)
    }

    fn combine(&mut self, combine: &'a galopvm_kir::Combine, position: &[Frame]) {
        combine.neutral.iter().for_each(|exp| self.reads(exp, position));
        let inner = enter(position, Inside::Operator);
        for var in combine.acc.iter().chain(&combine.item) {
            self.define(*var, Source::Unknown, &at(&inner, 0));
        }
        self.body(&combine.body, &inner, true);
    }

    fn sequential(
        &mut self,
        stm: &'a Stm,
        (carried, init, body): (&'a [VarId], &'a [Exp], &'a Body),
        inside: Inside,
        position: &[Frame],
    ) {
        for exp in init {
            if self.named(exp).is_none() {
                self.reads(exp, position);
            }
        }
        let axes = stm.rhs.axes();
        for axis in axes {
            self.reads(&axis.bound, position);
            let trips = self.trips(&axis.bound);
            self.scope.open(axis.var, trips);
            self.ranges.extend(self.scope.ranges().last());
        }
        let inner = enter(position, inside);
        for (k, var) in carried.iter().enumerate() {
            let first = init.get(k).and_then(|exp| self.named(exp));
            let next = body.results.get(k).and_then(|exp| self.named(exp));
            self.define(*var, Source::Carried(first, next), &at(&inner, 0));
        }
        self.body(body, &inner, false);
        self.scope.close(axes.len());
        for (k, var) in stm.pat.iter().enumerate() {
            let source = carried.get(k).map_or(Source::Unknown, |carried| Source::LoopResult(*carried));
            self.define(*var, source, position);
        }
    }

    fn array_op(&mut self, stm: &'a Stm, op: ArrayOp, args: &'a [ArrayArg], position: &[Frame]) {
        let Some(&var) = stm.pat.first() else { return };
        let operand = |arg: &ArrayArg| match arg {
            ArrayArg::Exp(exp) => Some(exp.clone()),
            _ => None,
        };
        let operands: Vec<Exp> = args.iter().filter_map(operand).collect();
        let named: Vec<Option<VarId>> = operands.iter().map(|exp| self.named(exp)).collect();
        let change = match (op, args) {
            (ArrayOp::Transpose, _) => {
                let rank = self.region.vars[var].ty.as_ref().map_or(0, |ty| ty.rank());
                let mut perm: Vec<usize> = (0..rank).collect();
                if rank >= 2 {
                    perm.swap(0, 1);
                }
                Some(Change::Permute(perm))
            }
            (ArrayOp::Rearrange, [ArrayArg::Perm(perm), _]) => Some(Change::Permute(perm.clone())),
            (ArrayOp::Reverse, _) => Some(Change::Reverse),
            (ArrayOp::Reshape | ArrayOp::Flatten, _) => match named[..] {
                [Some(of)] => self.sizes(of).zip(self.sizes(var)).map(|(old, new)| Change::Reshape(old, new)),
                _ => None,
            },
            _ => None,
        };
        if let (Some(change), [Some(of)]) = (change, &named[..]) {
            self.define(var, Source::View(*of, change), position);
            return;
        }
        for exp in &operands {
            self.reads(exp, position);
        }
        match op {
            ArrayOp::Concat => self.copying(stm, PointKind::Concat, named, position),
            ArrayOp::Copy => self.copying(stm, PointKind::Copy, named, position),
            ArrayOp::Call => {
                // An unknown function that is given a scratch array and gives one of that shape fills it.
                let filled = operands.iter().find_map(|exp| match exp {
                    Exp::Opaque(_, args) => args.iter().find_map(|arg| {
                        let here = |array: &VarId| {
                            let defined = self.arrays.get(array).map(|array| body_of(&array.position));
                            self.scratch.contains(array) && defined == Some(body_of(position))
                        };
                        let array = self.named(arg).filter(here)?;
                        (self.sizes(array)? == self.sizes(var)?).then_some(array)
                    }),
                    _ => None,
                });
                self.define(var, filled.map_or(Source::Fresh, Source::Filled), position);
                self.event(var, position, Part::Whole, true);
            }
            ArrayOp::Scratch => {
                self.scratch.push(var);
                self.define(var, Source::Fresh, position);
            }
            ArrayOp::Reshape
            | ArrayOp::Flatten
            | ArrayOp::Transpose
            | ArrayOp::Rearrange
            | ArrayOp::Reverse => self.define(var, Source::Unknown, position),
            ArrayOp::Iota | ArrayOp::Replicate | ArrayOp::Reduce => self.made(var, position),
        }
    }
}

/// The way into the construct of a statement.
fn enter(position: &[Frame], inside: Inside) -> Vec<Frame> {
    let mut way = position.to_vec();
    if let Some(last) = way.last_mut() {
        last.inside = Some(inside);
    }
    way
}
