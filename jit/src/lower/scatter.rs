//! Writes at computed places, one after the other: scatters and histograms.
//!
//! The results hold what they begin as when the code starts. Iterations come in order, in one piece: the last write of a
//! place stays, and operators are applied in the order of the iterations. Of a histogram whose order does not show several
//! iterations are written at a time, each to a copy of the arrays, if the launch has copies. There, and where an operator is short
//! and places lie side by side, a vector of places is first compared with the extents: mostly all lie inside, and no iteration
//! has to ask; or none does, and there is nothing to do.
//!
//! Where the plan says so, the lanes go across the innermost axis for the body. A scatter stores its lanes, the first one first; for
//! a histogram places and values of a few vectors are noted in the launch record, and then taken from there one by one. Nothing
//! that the body reads is written.

use super::access::{View, ViewDim};
use super::control::Span;
use super::form::Form;
use super::primitive::Raw;
use super::scan::{Onward, Prefixes};
use super::value::{Factor, Parts, Rep, Value};
use super::{Lanes, Lower};
use crate::lir::build::Scope;
use crate::lir::{Bin, Cond, Lane, Op, Reg, Width};
use crate::record;
use galopvm_base::ElemType;
use galopvm_kir::kernel::{Feed, is_scalar_code, is_straight};
use galopvm_kir::linear::{Definitions, reads_neighbours};
use galopvm_kir::{Axis, Body, Combine, Exp, Refusal};

/// Operations of a histogram, its operator included, up to which there is code for each lane.
const SHORT: usize = 12;

/// What is written, and how.
pub struct Writes<'a> {
    body: &'a Body,
    combine: Option<&'a Combine>,
    /// Where, one for each array; so many times as iterations are written at a time, each to its copy.
    copies: Vec<Vec<View>>,
}

impl Lower<'_> {
    /// The loops of a scatter, over a range of its first axis.
    pub fn scatter(
        &mut self,
        form: &Form<'_>,
        (body, combine): (&Body, Option<&Combine>),
        (views, copies): (Vec<View>, usize),
        range: (Reg, Reg),
    ) -> Result<(), Refusal> {
        let mut arrays = Vec::new();
        for number in 0..views.len() {
            let at = form.results.iter().position(|result| *result == number).unwrap_or(number);
            let word = self.layout.result_copy(at, views[at].dims.len());
            arrays.push((views[at].clone(), self.b.op(Op::Word(word), &[])));
        }
        let mut of_copy = |copy: usize| -> Vec<View> {
            let place = |(view, distance): &(View, Reg)| {
                let distance = self.times(*distance, Factor::Const(copy as i64));
                let base = self.b.op(Op::Alu(Bin::Add, Width::W64), &[view.base, distance]);
                View { base, ..view.clone() }
            };
            arrays.iter().map(place).collect()
        };
        let copies = match copies {
            1 => vec![arrays.iter().map(|(view, _)| view.clone()).collect()],
            _ => (0..copies).map(&mut of_copy).collect(),
        };
        let writes = Writes { body, combine, copies };
        let (Some(feed), [axis]) = (form.feed, form.axes) else {
            return self.scatter_axes(form, 0, range, &writes);
        };
        let start = self.exps(&feed.combine.neutral)?;
        let onward = Onward::Scattered(feed.names, axis, &writes);
        let Feed { axis, body, combine, .. } = feed;
        self.scan(&Prefixes { axis, body, combine, onward, is_one_run: false }, range, &start)?;
        Ok(())
    }

    fn scatter_axes(
        &mut self,
        form: &Form<'_>,
        at: usize,
        (low, high): (Reg, Reg),
        writes: &Writes<'_>,
    ) -> Result<(), Refusal> {
        let axis = &form.axes[at];
        let Some(inner) = form.axes.get(at + 1) else { return self.scatter_last(form, (low, high), writes) };
        self.counted(Span { low, high, step: 1, few: false }, &[], &[], &mut |l, counter, _| {
            l.bind_scalar(axis.var, Value::uniform(ElemType::I64, counter));
            let bound = l.exp(&inner.bound)?;
            let range = (l.b.int(0), l.uniform(&bound));
            l.scatter_axes(form, at + 1, range, writes)?;
            Ok(Vec::new())
        })?;
        Ok(())
    }

    /// The innermost axis.
    fn scatter_last(
        &mut self,
        form: &Form<'_>,
        (mut low, high): (Reg, Reg),
        writes: &Writes<'_>,
    ) -> Result<(), Refusal> {
        let Some(axis) = form.axes.last() else { return Err(Refusal::new("a scatter without an axis")) };
        let groups = self.plan.groups(axis.var);
        if let Some(groups) = groups {
            self.lanes = Some(Lanes { groups });
            let step = self.lane_count() as i64;
            if step as usize > record::NOTE {
                return Err(Refusal::new(format!(
                    "{step} places of a scatter at a time: more than there is room for"
                )));
            }
            (low, _) =
                self.counted(Span { low, high, step, few: false }, &[], &[], &mut |l, counter, _| {
                    l.bind_lane_axis(axis.var, counter);
                    match writes.combine {
                        Some(_) => l.scatter_noted(writes)?,
                        None => l.scatter_here(writes)?,
                    }
                    Ok(Vec::new())
                })?;
            self.lanes = None;
        }
        let copies = writes.copies.len();
        let lanes = self.target.lanes() as i64;
        // A body that is worth lanes is not computed twice.
        let suits_vectors = copies > 1 || self.is_short(writes, axis);
        if suits_vectors && lanes > 1 && groups.is_none() && is_straight(writes.body) {
            let span = Span { low, high, step: lanes, few: false };
            (low, _) = self.counted(span, &[], &[], &mut |l, counter, _| {
                l.scatter_vector(axis, counter, writes)?;
                Ok(Vec::new())
            })?;
        } else if copies > 1 {
            let span = Span { low, high, step: copies as i64, few: false };
            (low, _) = self.counted(span, &[], &[], &mut |l, counter, _| {
                for copy in 0..copies {
                    let at = l.b.op(Op::AluImm(Bin::Add, Width::W64, copy as i32), &[counter]);
                    l.scatter_one(axis, at, writes, copy)?;
                }
                Ok(Vec::new())
            })?;
        }
        self.counted(Span { low, high, step: 1, few: false }, &[], &[], &mut |l, counter, _| {
            l.scatter_one(axis, counter, writes, 0)?;
            Ok(Vec::new())
        })?;
        Ok(())
    }

    /// Whether a histogram's code may be there once for each lane, and its places are found by vectors as they lie.
    fn is_short(&self, writes: &Writes<'_>, axis: &Axis) -> bool {
        let Some(combine) = writes.combine.filter(|combine| is_straight(&combine.body)) else { return false };
        let definitions = Definitions::of(&self.region.region().body);
        let (mut operations, mut lie_side_by_side) = (0, true);
        let mut count = |whole: &Exp| {
            whole.visit(&mut |exp| match exp {
                Exp::Op(..) | Exp::Convert(..) => operations += 1,
                Exp::Read(read) => lie_side_by_side &= reads_neighbours(read, axis.var, &definitions),
                _ => {}
            });
        };
        writes.body.visit_exps(&mut count);
        combine.body.visit_exps(&mut count);
        lie_side_by_side && operations <= SHORT
    }

    /// One iteration.
    fn scatter_one(&mut self, axis: &Axis, at: Reg, writes: &Writes<'_>, copy: usize) -> Result<(), Refusal> {
        self.bind_scalar(axis.var, Value::uniform(ElemType::I64, at));
        let values = self.body(writes.body)?;
        self.put_values(writes, values, copy)
    }

    /// Whether the lanes can store what they give, in their order.
    pub fn stores_lanes(&self, writes: &Writes<'_>) -> bool {
        writes.combine.is_none() && is_scalar_code(self.region.region(), writes.body)
    }

    /// The iteration whose index is bound, or those of all lanes, where there are no copies.
    pub fn scatter_here(&mut self, writes: &Writes<'_>) -> Result<(), Refusal> {
        let mut values = self.body(writes.body)?;
        if self.lanes.is_none() {
            return self.put_values(writes, values, 0);
        }
        let arrays = &writes.copies[0];
        let items = values.split_off(arrays.first().map_or(0, |array| array.dims.len()));
        let outer = self.mask.clone();
        let inside = self.inside_lanes(writes, &values);
        self.mask = Some(inside);
        for (array, item) in arrays.iter().zip(&items) {
            self.store(&array.row(&values), item);
        }
        self.mask = outer;
        Ok(())
    }

    /// The active lanes whose place lies inside.
    fn inside_lanes(&mut self, writes: &Writes<'_>, index: &[Value]) -> Parts {
        let dims = writes.copies[0].first().map_or(&[][..], |array| &array.dims);
        let mut inside = self.mask_or_all();
        for (index, dim) in index.iter().zip(dims) {
            let (index, extent) = (self.raw(index, true), self.raw(&dim.extent, true));
            if let Raw::Many(fit) = self.cmp(Cond::Below, Lane::I64, &index, &extent) {
                for (mask, fit) in inside.iter_mut().zip(fit) {
                    *mask = self.b.op(Op::MaskLogic(Bin::And), &[*mask, fit]);
                }
            }
        }
        inside
    }

    /// As many iterations as there are lanes, one after the other to each copy, without a question if no place lies outside.
    fn scatter_vector(&mut self, axis: &Axis, first: Reg, writes: &Writes<'_>) -> Result<(), Refusal> {
        self.lanes = Some(Lanes { groups: 1 });
        self.bind_lane_axis(axis.var, first);
        let values = self.body(writes.body)?;
        let beyond = self.beyond(writes, &values);
        let in_lanes = self.lanes.take();
        let lanes = self.target.lanes();
        let (all, asking, done) = (self.b.block(), self.b.block(), self.b.block());
        let (some, none) = (self.b.block(), self.b.block());
        let before = self.b.current();
        self.b.open_from(Scope::Branch, before);
        self.b.start(all);
        for lane in 0..lanes {
            // What was read for another iteration may have been written since.
            self.b.open_from(Scope::Branch, self.b.current());
            let at = self.b.op(Op::AluImm(Bin::Add, Width::W64, lane as i32), &[first]);
            self.bind_scalar(axis.var, Value::uniform(ElemType::I64, at));
            let mut index = self.body(writes.body)?;
            let arrays = &writes.copies[lane % writes.copies.len()];
            let items = index.split_off(arrays.first().map_or(0, |array| array.dims.len()));
            self.put_inside(arrays, writes.combine, &index, items)?;
            self.b.close();
        }
        self.b.close();
        self.b.end(Op::Jump(done), &[]);
        self.b.open_from(Scope::Branch, before);
        self.b.start(asking);
        self.lanes = in_lanes;
        let inside = self.inside_lanes(writes, &values);
        let inside = self.any_of(&inside);
        self.lanes = None;
        self.b.end(Op::BranchAny(some, none), &[inside]);
        self.b.open_from(Scope::Branch, asking);
        self.b.start(some);
        let end = self.b.op(Op::AluImm(Bin::Add, Width::W64, lanes as i32), &[first]);
        let span = Span { low: first, high: end, step: 1, few: true };
        self.counted(span, &[], &[], &mut |l, counter, _| {
            l.scatter_one(axis, counter, writes, 0)?;
            Ok(Vec::new())
        })?;
        self.b.close();
        self.b.close();
        self.b.end(Op::Jump(done), &[]);
        self.b.start(none);
        self.b.end(Op::Jump(done), &[]);
        self.b.end_of(before, Op::BranchAny(asking, all), &[beyond]);
        self.b.start(done);
        Ok(())
    }

    /// The lanes whose place lies outside.
    fn beyond(&mut self, writes: &Writes<'_>, values: &[Value]) -> Reg {
        let dims = writes.copies[0].first().map_or(&[][..], |array| &array.dims);
        let mut masks = Vec::new();
        for (index, dim) in values.iter().zip(dims) {
            let (index, extent) = (self.raw(index, true), self.raw(&dim.extent, true));
            if let Raw::Many(outside) = self.cmp(Cond::BelowEq, Lane::I64, &extent, &index) {
                masks.extend(outside);
            }
        }
        self.any_of(&masks)
    }

    /// All lanes: what the body gives is noted, and then written lane by lane.
    fn scatter_noted(&mut self, writes: &Writes<'_>) -> Result<(), Refusal> {
        let values = self.body(writes.body)?;
        let base = self.b.op(Op::Word(record::NOTES), &[]);
        let mut notes: Vec<View> = Vec::new();
        let first = self.b.int(0);
        let lane = Value { ty: ElemType::I64, rep: Rep::Linear { start: first, step: Factor::Const(1) } };
        for (k, value) in values.iter().enumerate() {
            let offset = (k * record::NOTE * 8) as i32;
            let base = self.b.op(Op::AluImm(Bin::Add, Width::W64, offset), &[base]);
            let dims = vec![ViewDim { extent: Value::int(record::NOTE as i64), stride: Factor::Const(1) }];
            let note = View { elem: value.ty, base, fixed: Vec::new(), dims, made: None };
            self.store(&note.row(std::slice::from_ref(&lane)), value);
            notes.push(note);
        }
        let lanes = self.lanes.take();
        let count = self.b.int((lanes.map_or(1, |lanes| lanes.groups) * self.target.lanes()) as i64);
        let span = Span { low: first, high: count, step: 1, few: true };
        self.counted(span, &[], &[], &mut |l, counter, _| {
            let at = Value::uniform(ElemType::I64, counter);
            let values =
                notes.iter().map(|note| l.load(&note.row(std::slice::from_ref(&at)), true)).collect();
            l.put_values(writes, values, 0)?;
            Ok(Vec::new())
        })?;
        self.lanes = lanes;
        Ok(())
    }

    /// Writes what a body gives, in the arrays' copies of this number.
    fn put_values(&mut self, writes: &Writes<'_>, mut index: Vec<Value>, copy: usize) -> Result<(), Refusal> {
        let arrays = &writes.copies[copy];
        let items = index.split_off(arrays.first().map_or(0, |array| array.dims.len()));
        self.put(arrays, writes.combine, &index, items)
    }

    /// Writes values at an index, unless that lies outside.
    pub fn put(
        &mut self,
        arrays: &[View],
        combine: Option<&Combine>,
        index: &[Value],
        items: Vec<Value>,
    ) -> Result<(), Refusal> {
        let Some(first) = arrays.first() else { return Ok(()) };
        let mut inside: Vec<(Reg, Reg)> = Vec::new();
        for (at, dim) in index.iter().zip(&first.dims) {
            inside.push((self.uniform(at), self.uniform(&dim.extent)));
        }
        let (write, pass, done) = (self.b.block(), self.b.block(), self.b.block());
        let (branch, operands) = match inside[..] {
            [] => return Err(Refusal::new("a scatter into a scalar")),
            [(at, extent)] => (Op::BranchIf(Cond::Below, Width::W64, write, pass), vec![at, extent]),
            [first, ref rest @ ..] => {
                let fits = |l: &mut Self, (at, extent): (Reg, Reg)| {
                    l.b.op(Op::Set(Cond::Below, Width::W64), &[at, extent])
                };
                let mut all = fits(self, first);
                for pair in rest {
                    let other = fits(self, *pair);
                    all = self.b.op(Op::Alu(Bin::And, Width::W64), &[all, other]);
                }
                (Op::BranchBool(write, pass), vec![all])
            }
        };
        let outside = self.b.current();
        self.b.open_from(Scope::Branch, outside);
        self.b.start(write);
        self.put_inside(arrays, combine, index, items)?;
        self.b.close();
        self.b.end(Op::Jump(done), &[]);
        self.b.start(pass);
        self.b.end(Op::Jump(done), &[]);
        self.b.end_of(outside, branch, &operands);
        self.b.start(done);
        Ok(())
    }

    /// Writes values at an index that lies inside.
    fn put_inside(
        &mut self,
        arrays: &[View],
        combine: Option<&Combine>,
        index: &[Value],
        items: Vec<Value>,
    ) -> Result<(), Refusal> {
        let places: Vec<View> = arrays.iter().map(|array| array.row(index)).collect();
        let values = self.combined_with_old(&places, combine, items)?;
        for (place, value) in places.iter().zip(&values) {
            self.store(place, value);
        }
        Ok(())
    }

    /// What is written at places: the values, or with an operator what it makes of them and of what is there.
    pub fn combined_with_old(
        &mut self,
        places: &[View],
        combine: Option<&Combine>,
        items: Vec<Value>,
    ) -> Result<Vec<Value>, Refusal> {
        let Some(combine) = combine else { return Ok(items) };
        let old: Vec<Value> = places.iter().map(|place| self.load_again(place)).collect();
        self.bind_all(&combine.acc, &old);
        self.bind_all(&combine.item, &items);
        self.body(&combine.body)
    }
}
