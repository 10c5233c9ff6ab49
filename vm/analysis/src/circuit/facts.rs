//! What a region does with arrays: where each comes from, what each statement reads and writes of which, and where
//! one is only made to be copied into another.

use super::arrays::{Arrays, Names};
use super::part::{Indices, Part, Touched, part_of};
use super::place::Places;
use super::position::{Axes, Bodies, BodyId, Inside, OUTERMOST, Position};
use crate::affine::{Form, Range, Scope};
use galopvm_base::TypedId;
use galopvm_kir::{
    ArrayOp, Body, Exp, Index, Observed, ObservedParam, Read, Region, Rhs, Stm, VarId, ViewChange,
};
use smallvec::SmallVec;

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

/// Where an array comes from.
#[derive(Clone, PartialEq, Debug)]
pub enum Source {
    /// From outside the region.
    Param,
    /// Made by its statement.
    Fresh,
    /// Made by a kernel: its axes.
    Kernel(Axes),
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
    pub shape: Option<SmallVec<[Form; 2]>>,
}

/// A read or write of a part of an array by a statement.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Event {
    /// The array.
    pub array: VarId,
    /// Where.
    pub position: Position,
    /// What of it.
    pub part: Touched,
    /// It is written, not read.
    pub write: bool,
    /// The number of the array.
    of: u32,
    /// Its own number, and that of the event of the same array before it, if there is one.
    at: (u32, u32),
}

impl Event {
    /// Its number among all.
    pub(super) fn number(&self) -> usize {
        self.at.0 as usize
    }
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
    pub operands: SmallVec<[Option<VarId>; 2]>,
}

/// Kinds of points.
#[derive(Clone, PartialEq, Debug)]
pub enum PointKind {
    /// `y = concat a b ..`
    Concat,
    /// `y = x with [..] = b`, with the part.
    Update(Touched),
    /// `y = copy b`
    Copy,
    /// `y = manifest((1, 0), b)`
    Manifest,
    /// The end of a kernel's body: the array becomes row `axes` of the result.
    Row(Axes),
}

/// No event, no flow.
const NONE: u32 = u32::MAX;

/// All of it.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Every array.
    pub arrays: Arrays,
    /// In program order.
    pub events: Vec<Event>,
    /// In program order.
    pub points: Vec<Point>,
    /// Every iteration variable with its values.
    pub ranges: Vec<Range>,
    /// The last value of each of them, where it depends on others.
    lasts: Vec<Option<Form>>,
    /// Every body.
    pub bodies: Bodies,
    /// By number of an array: its last event, and the first of the names that its memory flows to.
    heads: Vec<(u32, u32)>,
    flows: Vec<Flow>,
    /// By variable: which of the ranges is its own.
    counters: Vec<u32>,
    /// Array parameters that were observed: the number of the block, and how many hold that.
    held: Vec<(VarId, u32, u32)>,
}

/// A name that the memory of another one flows to.
#[derive(Clone, Debug)]
struct Flow {
    to: u32,
    /// It takes another round of a loop.
    again: bool,
    next: u32,
}

impl Facts {
    /// Reads a region.
    pub fn of(region: &Region, observed: &Observed) -> Facts {
        Facts::with_indices(region, observed).0
    }

    /// Reads a region, and gives its indices as well.
    pub(super) fn with_indices<'a>(region: &'a Region, observed: &'a Observed) -> (Facts, Indices<'a>) {
        let is_array = |var: VarId| {
            let ty = region.vars.get(var).and_then(|v| v.ty.as_ref());
            ty.is_some_and(|ty| !ty.is_scalar())
        };
        let mut held = Vec::new();
        for (param, seen) in region.params.iter().zip(&observed.params) {
            if let ObservedParam::Array { block, references, .. } = seen {
                held.push((*param, *block, *references));
            }
        }
        let is_held = |var: VarId| held.iter().any(|(param, ..)| *param == var);
        let arrays = Arrays::new(region.vars.len(), |var| is_array(var) || is_held(var));
        let facts = Facts {
            heads: vec![(NONE, NONE); arrays.count()],
            arrays,
            events: Vec::new(),
            points: Vec::new(),
            ranges: Vec::new(),
            lasts: Vec::new(),
            bodies: Bodies::new(region.body.stms.len()),
            flows: Vec::new(),
            counters: vec![NONE; region.vars.len()],
            held,
        };
        let scope = Scope::new(region, observed);
        let mut walk = Walk { region, facts, scope, scratch: Vec::new(), indices: Vec::new() };
        walk.region(observed);
        let Walk { facts, scope, indices, .. } = walk;
        let indices = Indices::new(scope, indices, &facts.ranges, &facts.bodies);
        (facts, indices)
    }

    /// The numbers of the names that an array's memory flows to, and whether that takes another round of a loop.
    pub(super) fn flows(&self, from: usize) -> impl Iterator<Item = (usize, bool)> {
        let at = |at: u32| self.flows.get(at as usize);
        let all = std::iter::successors(at(self.heads[from].1), move |flow| at(flow.next));
        all.map(|flow| (flow.to as usize, flow.again))
    }

    /// The events of an array by its number, the last one first.
    pub(crate) fn events_of(&self, array: usize) -> impl Iterator<Item = &Event> {
        let at = |at: u32| self.events.get(at as usize);
        std::iter::successors(at(self.heads[array].0), move |event| at(event.at.1))
    }

    /// The events of some arrays in program order.
    pub(super) fn events_of_all(&self, arrays: Names) -> impl Iterator<Item = &Event> + use<'_> {
        self.events.iter().filter(move |event| arrays.contains(event.of as usize))
    }

    /// Notes where the memory of each array flows to.
    fn follow(&mut self) {
        self.flows.clear();
        self.heads.iter_mut().for_each(|(_, flow)| *flow = NONE);
        let Facts { arrays, flows, heads, .. } = self;
        for (var, array) in arrays.iter() {
            let Some(to) = arrays.number(*var) else { continue };
            let mut add = |from: Option<VarId>, again: bool| {
                if let Some(from) = from.and_then(|from| arrays.number(from)) {
                    let next = std::mem::replace(&mut heads[from].1, flows.len() as u32);
                    flows.push(Flow { to: to as u32, again, next });
                }
            };
            match &array.source {
                Source::View(of, _) | Source::Update(of) | Source::Filled(of) => add(Some(*of), false),
                Source::Branches(a, b) => {
                    add(*a, false);
                    add(*b, false);
                }
                Source::Carried(init, next) => {
                    add(*init, false);
                    add(*next, true);
                }
                Source::LoopResult(carried) => {
                    if let Some(Array { source: Source::Carried(init, next), .. }) = arrays.get(carried) {
                        add(*init, false);
                        add(*next, false);
                    }
                }
                Source::Param | Source::Fresh | Source::Kernel(_) | Source::Manifest(_) | Source::Unknown => {
                }
            }
        }
    }

    /// Takes notice of what copies although it need not: updates and fillings of what is used later, and changes of
    /// shape that no view expresses. These make arrays of their own. `places` says which.
    pub(super) fn settle(&mut self, places: &Places) {
        let (mut read, mut written, mut copying) = (Vec::new(), Vec::new(), Vec::new());
        for (var, array) in self.arrays.iter_mut() {
            if places.get(&var).is_none_or(|place| place.block != var) {
                continue;
            }
            match array.source {
                Source::Update(of) => read.push((of, array.position)),
                Source::Filled(_) => {}
                Source::View(of, Change::Reshape(..)) => {
                    read.push((of, array.position));
                    written.push((var, array.position));
                }
                _ => continue,
            }
            array.source = Source::Fresh;
            copying.push(var);
        }
        if copying.is_empty() {
            return;
        }
        for event in self.events.iter_mut().filter(|event| event.write && copying.contains(&event.array)) {
            event.part = Touched::Whole;
        }
        for (array, position) in read {
            self.event(array, position, Touched::Whole, false);
        }
        for (array, position) in written {
            self.event(array, position, Touched::Whole, true);
        }
        self.follow();
    }

    /// What was observed of an array parameter: the number of its block, and how many hold that.
    pub(super) fn observed(&self, var: VarId) -> Option<(u32, u32)> {
        let held = self.held.iter().find(|(param, ..)| *param == var)?;
        Some((held.1, held.2))
    }

    /// The values of an iteration variable.
    pub(super) fn range(&self, var: VarId) -> Option<&Range> {
        self.ranges.get(self.depth(var)?)
    }

    /// The last value of an iteration variable over those further out, if it depends on them.
    pub(super) fn last(&self, var: VarId) -> Option<&Form> {
        self.lasts.get(self.depth(var)?)?.as_ref()
    }

    /// The number of an iteration variable: greater than that of any around it.
    pub(super) fn depth(&self, var: VarId) -> Option<usize> {
        self.counters.get(var.index()).filter(|at| **at != NONE).map(|at| *at as usize)
    }

    /// The first parameter that lies in a block.
    pub(super) fn first_in(&self, block: u32) -> Option<VarId> {
        self.held.iter().find(|(_, other, _)| *other == block).map(|(param, ..)| *param)
    }

    fn event(&mut self, array: VarId, position: Position, part: Touched, write: bool) {
        let Some(number) = self.arrays.number(array) else { return };
        let own = self.events.len() as u32;
        let before = std::mem::replace(&mut self.heads[number].0, own);
        self.events.push(Event { array, position, part, write, of: number as u32, at: (own, before) });
    }
}

/// A walk over a region.
struct Walk<'a> {
    region: &'a Region,
    facts: Facts,
    scope: Scope<'a>,
    scratch: Vec<VarId>,
    indices: Vec<&'a Index>,
}

impl<'a> Walk<'a> {
    fn region(&mut self, observed: &Observed) {
        let region = self.region;
        let entry = Position::new(OUTERMOST, 0);
        for (param, seen) in region.params.iter().zip(&observed.params) {
            if let ObservedParam::Array { lmad, .. } = seen {
                let shape = lmad.shape().iter().map(|size| Form::constant(*size)).collect();
                let array = Array { source: Source::Param, position: entry, shape: Some(shape) };
                self.facts.arrays.define(*param, array);
            }
        }
        for param in &region.params {
            if self.is_array(*param) && self.facts.arrays.get(param).is_none() {
                self.define(*param, Source::Param, entry);
            }
        }
        self.body(&region.body, OUTERMOST, true);
        self.facts.bodies.leave(OUTERMOST);
        self.facts.follow();
    }

    fn is_array(&self, var: VarId) -> bool {
        self.facts.arrays.number(var).is_some()
    }

    /// The array that an expression names.
    fn named(&self, exp: &Exp) -> Option<VarId> {
        match exp {
            Exp::Var(var) if self.is_array(*var) => Some(*var),
            _ => None,
        }
    }

    fn define(&mut self, var: VarId, source: Source, position: Position) {
        if !self.is_array(var) {
            return;
        }
        let shape = self.region.vars[var].ty.as_ref().and_then(|ty| {
            let mut shape = SmallVec::new();
            for extent in &ty.shape {
                shape.push(self.scope.form(extent)?);
            }
            Some(shape)
        });
        self.facts.arrays.define(var, Array { source, position, shape });
    }

    /// A new array that its statement writes.
    fn made(&mut self, var: VarId, position: Position) {
        self.define(var, Source::Fresh, position);
        self.facts.event(var, position, Touched::Whole, true);
    }

    fn point(&mut self, target: VarId, position: Position, kind: PointKind, operands: &[Option<VarId>]) {
        let operands = SmallVec::from_slice(operands);
        self.facts.points.push(Point { target, position, kind, operands });
    }

    /// Every statement of a body, then what it reads for its results. Arrays among the results are read only if
    /// `copies` says that whoever takes them copies.
    fn body(&mut self, body: &'a Body, way: BodyId, copies: bool) {
        for (k, stm) in body.stms.iter().enumerate() {
            self.statement(stm, Position::new(way, k));
        }
        let end = Position::new(way, body.stms.len());
        for exp in &body.results {
            match self.named(exp) {
                Some(array) if copies => self.facts.event(array, end, Touched::Whole, false),
                Some(_) => {}
                None => self.reads(exp, end),
            }
        }
    }

    /// The reads of an expression, outer ones first.
    fn reads(&mut self, exp: &'a Exp, position: Position) {
        match exp {
            Exp::Const(_) => {}
            Exp::Var(var) => self.facts.event(*var, position, Touched::Whole, false),
            Exp::Op(_, _, args) | Exp::Opaque(_, args) => {
                args.iter().for_each(|arg| self.reads(arg, position))
            }
            Exp::Convert(_, arg) => self.reads(arg, position),
            Exp::Read(read) => {
                let part = self.index(&read.index);
                self.facts.event(read.array, position, part, false);
                self.index_reads(&read.index, position);
            }
        }
    }

    /// The reads in the index expressions of an index.
    fn index_reads(&mut self, index: &'a Index, position: Position) {
        index.each_exp(&mut |exp| self.reads(exp, position));
    }

    /// An index to ask about later.
    fn index(&mut self, index: &'a Index) -> Touched {
        self.indices.push(index);
        Touched::Index(self.indices.len() as u32 - 1)
    }

    fn sizes(&self, var: VarId) -> Option<Vec<i64>> {
        let ty = self.region.vars[var].ty.as_ref()?;
        ty.shape.iter().map(|extent| self.scope.size(extent)).collect()
    }

    fn statement(&mut self, stm: &'a Stm, position: Position) {
        match &stm.rhs {
            Rhs::Exps(exps) => {
                for (var, exp) in stm.pat.iter().zip(exps) {
                    self.plain(*var, exp, position);
                }
            }
            Rhs::Kernel { axes, body } => {
                let vars: Axes = axes.iter().map(|axis| axis.var).collect();
                let inner = self.open(&stm.rhs, Inside::Kernel(vars.clone()), body, position);
                self.body(body, inner, true);
                let end = Position::new(inner, body.stms.len());
                for (var, exp) in stm.pat.iter().zip(&body.results) {
                    if let Some(row) = self.named(exp) {
                        self.point(*var, end, PointKind::Row(vars.clone()), &[Some(row)]);
                    }
                }
                self.close(&stm.rhs, inner);
                let end = Position::new(inner, body.stms.len() + 1);
                for var in &stm.pat {
                    self.define(*var, Source::Kernel(vars.clone()), position);
                    self.facts.event(*var, end, Touched::Own(inner), true);
                }
            }
            Rhs::Reduce { body, combine, .. } | Rhs::Scan { body, combine, .. } => {
                let vars = stm.rhs.axes().iter().map(|axis| axis.var).collect();
                let inner = self.open(&stm.rhs, Inside::Kernel(vars), body, position);
                self.body(body, inner, true);
                self.close(&stm.rhs, inner);
                self.combine(combine, position);
                stm.pat.iter().for_each(|var| self.made(*var, position));
            }
            Rhs::For { carried, init, axis, body } => {
                let inside = Inside::Loop(Some(axis.var));
                self.sequential(stm, (carried, init, body), inside, position);
            }
            Rhs::While { carried, init, cond, body } => {
                let inner = self.sequential(stm, (carried, init, body), Inside::Loop(None), position);
                self.reads(cond, Position::new(inner, 0));
            }
            Rhs::If { cond, then, otherwise } => {
                self.reads(cond, position);
                for (side, body) in [(true, then), (false, otherwise)] {
                    let inner = self.facts.bodies.enter(position, Inside::Branch(side), body.stms.len());
                    self.body(body, inner, false);
                    self.facts.bodies.leave(inner);
                }
                for (k, var) in stm.pat.iter().enumerate() {
                    let side = |body: &Body| body.results.get(k).and_then(|exp| self.named(exp));
                    let source = Source::Branches(side(then), side(otherwise));
                    self.define(*var, source, position);
                }
            }
            Rhs::Update { array, index, value } => {
                self.index_reads(index, position);
                let part = self.index(index);
                let operand = self.named(value);
                match operand {
                    Some(value) => self.facts.event(value, position, Touched::Whole, false),
                    None => self.reads(value, position),
                }
                for var in &stm.pat {
                    self.define(*var, Source::Update(*array), position);
                    self.facts.event(*var, position, part, true);
                    if operand.is_some() {
                        self.point(*var, position, PointKind::Update(part), &[operand]);
                    }
                }
            }
            Rhs::Scatter { arrays, axes, body, combine } => {
                let vars = axes.iter().map(|axis| axis.var).collect();
                let inner = self.open(&stm.rhs, Inside::Kernel(vars), body, position);
                self.body(body, inner, true);
                self.close(&stm.rhs, inner);
                if let Some(combine) = combine {
                    self.combine(combine, position);
                }
                // Any of its places.
                for (var, array) in stm.pat.iter().zip(arrays) {
                    self.define(*var, Source::Update(*array), position);
                    self.facts.event(*var, position, Touched::Whole, false);
                    self.facts.event(*var, position, Touched::Whole, true);
                }
            }
            Rhs::Manifest { perm, array } => {
                self.facts.event(*array, position, Touched::Whole, false);
                self.copying(stm, PointKind::Manifest, &[Some(*array)], position);
                for var in &stm.pat {
                    self.define(*var, Source::Manifest(perm.clone()), position);
                }
            }
            Rhs::Array(op) => self.array_op(stm, op, position),
        }
    }

    fn copying(&mut self, stm: &Stm, kind: PointKind, operands: &[Option<VarId>], position: Position) {
        for var in &stm.pat {
            self.made(*var, position);
            self.point(*var, position, kind.clone(), operands);
        }
    }

    fn plain(&mut self, var: VarId, exp: &'a Exp, position: Position) {
        match exp {
            Exp::Var(of) if self.is_array(var) => {
                self.define(var, Source::View(*of, Change::Same), position);
            }
            Exp::Read(Read { array, index, .. }) if self.is_array(var) => {
                self.index_reads(index, position);
                let part = part_of(&self.scope, index);
                self.define(var, Source::View(*array, Change::Part(part)), position);
            }
            other => {
                self.reads(other, position);
                self.define(var, Source::Unknown, position);
            }
        }
    }

    /// Goes into a body of a statement with its axes.
    fn open(&mut self, rhs: &'a Rhs, inside: Inside, body: &Body, position: Position) -> BodyId {
        let axes = rhs.axes();
        for axis in axes {
            self.reads(&axis.bound, position);
        }
        for axis in axes {
            let bound = self.scope.form(&axis.bound);
            let trips = self.trips(bound.as_ref());
            self.scope.open(axis.var, trips);
            if let Some(own) = self.facts.counters.get_mut(axis.var.index()).filter(|own| **own == NONE) {
                *own = self.facts.ranges.len() as u32;
            }
            self.facts.ranges.extend(self.scope.ranges().last());
            let varies = |bound: &Form| bound.number().is_none();
            let last = bound.filter(varies).and_then(|bound| bound.minus(&Form::constant(1)));
            self.facts.lasts.push(last);
        }
        self.facts.bodies.enter(position, inside, body.stms.len())
    }

    fn close(&mut self, rhs: &Rhs, inner: BodyId) {
        self.facts.bodies.leave(inner);
        self.scope.close(rhs.axes().len());
    }

    /// The greatest number of rounds.
    fn trips(&self, bound: Option<&Form>) -> i64 {
        let greatest = bound.and_then(|form| form.interval(self.scope.ranges()));
        greatest.and_then(|(_, high)| i64::try_from(high).ok()).unwrap_or(i64::MAX)
    }

    fn combine(&mut self, combine: &'a galopvm_kir::Combine, position: Position) {
        combine.neutral.iter().for_each(|exp| self.reads(exp, position));
        let inner = self.facts.bodies.enter(position, Inside::Operator, combine.body.stms.len());
        for var in combine.acc.iter().chain(&combine.item) {
            self.define(*var, Source::Unknown, Position::new(inner, 0));
        }
        self.body(&combine.body, inner, true);
        self.facts.bodies.leave(inner);
    }

    fn sequential(
        &mut self,
        stm: &'a Stm,
        (carried, init, body): (&'a [VarId], &'a [Exp], &'a Body),
        inside: Inside,
        position: Position,
    ) -> BodyId {
        for exp in init {
            if self.named(exp).is_none() {
                self.reads(exp, position);
            }
        }
        let inner = self.open(&stm.rhs, inside, body, position);
        for (k, var) in carried.iter().enumerate() {
            let first = init.get(k).and_then(|exp| self.named(exp));
            let next = body.results.get(k).and_then(|exp| self.named(exp));
            self.define(*var, Source::Carried(first, next), Position::new(inner, 0));
        }
        self.body(body, inner, false);
        self.close(&stm.rhs, inner);
        for (k, var) in stm.pat.iter().enumerate() {
            let source = carried.get(k).map_or(Source::Unknown, |carried| Source::LoopResult(*carried));
            self.define(*var, source, position);
        }
        inner
    }

    fn array_op(&mut self, stm: &'a Stm, op: &'a ArrayOp, position: Position) {
        let Some(&var) = stm.pat.first() else { return };
        let mut named: SmallVec<[Option<VarId>; 4]> = SmallVec::new();
        op.each_operand(&mut |exp| named.push(self.named(exp)));
        if let (ArrayOp::View { change, .. }, [Some(of)]) = (op, &named[..])
            && let Some(change) = self.change(change, *of, var)
        {
            return self.define(var, Source::View(*of, change), position);
        }
        op.each_operand(&mut |exp| self.reads(exp, position));
        match op {
            ArrayOp::Concat { .. } => self.copying(stm, PointKind::Concat, &named, position),
            ArrayOp::Copy(_) => self.copying(stm, PointKind::Copy, &named, position),
            ArrayOp::Call { .. } => {
                // An unknown function that is given a scratch array and gives one of that shape fills it.
                let fills = |array: &VarId| {
                    let defined = self.facts.arrays.get(array).map(|array| array.position.body);
                    let here = self.scratch.contains(array) && defined == Some(position.body);
                    here && self.sizes(*array).zip(self.sizes(var)).is_some_and(|(a, b)| a == b)
                };
                let filled = named.iter().flatten().copied().find(fills);
                self.define(var, filled.map_or(Source::Fresh, Source::Filled), position);
                self.facts.event(var, position, Touched::Whole, true);
            }
            ArrayOp::Scratch { .. } => {
                self.scratch.push(var);
                self.define(var, Source::Fresh, position);
            }
            ArrayOp::View { .. } => self.define(var, Source::Unknown, position),
            ArrayOp::Iota(_) | ArrayOp::Replicate { .. } | ArrayOp::Reduce { .. } => self.made(var, position),
        }
    }

    /// How the array `var` is another one seen otherwise, if its sizes are known where that needs them.
    fn change(&self, change: &ViewChange, of: VarId, var: VarId) -> Option<Change> {
        match change {
            ViewChange::Transpose | ViewChange::Rearrange(_) => {
                let rank = self.region.vars[var].ty.as_ref().map_or(0, |ty| ty.rank());
                change.permutation(rank).map(Change::Permute)
            }
            ViewChange::Reverse => Some(Change::Reverse),
            ViewChange::Reshape(_) | ViewChange::Flatten => {
                self.sizes(of).zip(self.sizes(var)).map(|(old, new)| Change::Reshape(old, new))
            }
        }
    }
}
