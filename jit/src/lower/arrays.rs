//! Arrays that the code makes: room for them, copies, and changes.
//!
//! Where lanes are in use each lane has an array of its own, and equal places of neighbouring lanes are neighbours in memory: an
//! index that is the same in all lanes is a vector load or store. Otherwise an array is row-major.
//!
//! Each statement that makes an array has a room of its own (`crate::rooms`), whose array is used up when the statement is
//! executed again: loops copy what they carry on. Whether an array is changed in its place says `owners.rs`. What is read
//! through an address and what was written there before are kept in order by versions of the address: a changed array has
//! a new one.

use super::Lanes;
use super::Lower;
use super::access::{Made, View, ViewDim};
use super::control::Span;
use super::value::{Factor, Rep, Value};
use crate::lir::{Bin, Cond, Op, Reg, Width};
use galopvm_base::{ElemType, ScalarOp};
use galopvm_kir::{ArrayOp, Exp, Index, Read, Refusal, Stm, VarId, ViewChange};

/// What is done at an index.
type AtIndex<'f, 'a> = &'f mut dyn FnMut(&mut Lower<'a>, &[Value]) -> Result<(), Refusal>;

impl<'a> Lower<'a> {
    /// A new array with unspecified elements; in lanes one for each of them. Traps if there is no room.
    pub fn fresh(&mut self, elem: ElemType, extents: &[Value]) -> Result<View, Refusal> {
        let (view, is_there) = self.fresh_if_there(elem, extents)?;
        self.trap_unless(is_there);
        Ok(view)
    }

    /// A new array, and whether there is room for it.
    pub fn fresh_if_there(&mut self, elem: ElemType, extents: &[Value]) -> Result<(View, Reg), Refusal> {
        if extents.iter().any(Value::varies) {
            return Err(Refusal::new("an array whose extents differ between lanes"));
        }
        let across = self.lanes.is_some();
        let lanes = if across { self.lane_count() as i64 } else { 1 };
        let mut stride = Factor::Const(lanes);
        let mut dims = Vec::with_capacity(extents.len());
        for extent in extents.iter().rev() {
            dims.push(ViewDim { extent: extent.clone(), stride });
            let extent = self.factor(extent);
            stride = self.factor_product(stride, extent);
        }
        dims.reverse();
        let bytes = self.bytes_of(extents, lanes * elem.bytes() as i64);
        let number = self.rooms;
        self.rooms += 1;
        let root = self.b.op(Op::Room(number), &[bytes]);
        let zero = self.b.int(0);
        let is_there = self.b.op(Op::Set(Cond::Ne, Width::W64), &[root, zero]);
        Ok((View { elem, base: root, fixed: Vec::new(), dims, made: Some(Made { root, across }) }, is_there))
    }

    /// The same as a multiplier.
    fn factor(&mut self, value: &Value) -> Factor {
        match value.rep {
            Rep::Const(bits) => Factor::Const(bits as i64),
            _ => Factor::Reg(self.uniform(value)),
        }
    }

    /// Bytes of an array with these extents: all of them, if there are more than numbers for them. An array with a negative
    /// extent has none.
    fn bytes_of(&mut self, extents: &[Value], each: i64) -> Reg {
        let known: Option<Vec<u64>> = extents.iter().map(Value::known).collect();
        if let Some(known) = known {
            let product =
                known.iter().try_fold(each, |product, extent| product.checked_mul((*extent as i64).max(0)));
            return self.b.int(product.unwrap_or(-1));
        }
        let (zero, all) = (self.b.int(0), self.b.int(-1));
        let mut bytes = self.b.int(each);
        for extent in extents {
            let extent = self.uniform(extent);
            let is_negative = self.b.op(Op::Set(Cond::Lt, Width::W64), &[extent, zero]);
            let extent = self.b.op(Op::Choose, &[is_negative, zero, extent]);
            let beyond = self.b.op(Op::MulHigh(false, Width::W64), &[bytes, extent]);
            let is_large = self.b.op(Op::Set(Cond::Ne, Width::W64), &[beyond, zero]);
            let product = self.b.op(Op::Alu(Bin::Mul, Width::W64), &[bytes, extent]);
            bytes = self.b.op(Op::Choose, &[is_large, all, product]);
        }
        bytes
    }

    /// An array after it was written: what is read from now on is what is there.
    pub fn written(&mut self, mut view: View) -> View {
        if let Some(made) = &view.made {
            view.base = self.b.op(Op::Version, &[made.root]);
        }
        view
    }

    /// The extents of a type.
    pub fn extents(&mut self, var: VarId) -> Result<Vec<Value>, Refusal> {
        let region = self.region;
        region.type_of(var).shape.iter().map(|extent| self.exp(extent)).collect()
    }

    /// The view that an expression is: a name or a part of one.
    pub fn array_exp(&mut self, exp: &Exp) -> Result<View, Refusal> {
        match exp {
            Exp::Var(array) => self.view(*array),
            Exp::Read(Read { id, array, index }) => {
                let checked = self.is_checked(*id);
                self.indexed(*array, index, checked)
            }
            _ => Err(Refusal::new("an array expression")),
        }
    }

    /// Executes `work` for each index below the extents. Where no lanes are in use they go across the innermost dimension.
    pub fn each_index(&mut self, extents: &[Value], work: AtIndex<'_, 'a>) -> Result<(), Refusal> {
        self.each_inner(extents, &mut Vec::new(), work)
    }

    fn each_inner(
        &mut self,
        extents: &[Value],
        index: &mut Vec<Value>,
        work: AtIndex<'_, 'a>,
    ) -> Result<(), Refusal> {
        let Some((extent, inner)) = extents.split_first() else { return work(self, index) };
        if extent.varies() {
            return Err(Refusal::new("an array whose extents differ between lanes"));
        }
        let (low, high) = (self.b.int(0), self.uniform(extent));
        let few = super::poll::is_few(extent.known());
        if inner.is_empty() && self.lanes.is_none() && self.target.lanes() > 1 {
            return self.across(low, high, few, &mut |l, at| {
                index.push(at);
                let done = work(l, index);
                index.pop();
                done
            });
        }
        self.counted(Span { low, high, step: 1, few }, &[], &[], &mut |l, counter, _| {
            index.push(Value::uniform(ElemType::I64, counter));
            let done = l.each_inner(inner, index, work);
            index.pop();
            done.map(|()| Vec::new())
        })?;
        Ok(())
    }

    /// Lanes across a range: whole vectors, then the rest under a mask.
    fn across(
        &mut self,
        low: Reg,
        high: Reg,
        few: bool,
        work: &mut dyn FnMut(&mut Lower<'a>, Value) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let at = |start| Value { ty: ElemType::I64, rep: Rep::Linear { start, step: Factor::Const(1) } };
        self.lanes = Some(Lanes { groups: 1 });
        let step = self.lane_count() as i64;
        let (rest, _) = self.counted(Span { low, high, step, few }, &[], &[], &mut |l, counter, _| {
            work(l, at(counter))?;
            Ok(Vec::new())
        })?;
        let end = self.end_of_rest(high);
        self.counted(Span { low: rest, high: end, step, few: true }, &[], &[], &mut |l, counter, _| {
            l.enter_rest(counter, high);
            work(l, at(counter))?;
            l.mask = None;
            Ok(Vec::new())
        })?;
        self.lanes = None;
        Ok(())
    }

    /// Copies the elements of an array to one of the same shape that it does not meet.
    pub fn copy_array(&mut self, to: &View, from: &View) -> Result<(), Refusal> {
        let extents: Vec<Value> = from.dims.iter().map(|dim| dim.extent.clone()).collect();
        self.each_index(&extents, &mut |l, index| {
            let value = l.load(&from.row(index), false);
            l.store(&to.row(index), &value);
            Ok(())
        })
    }

    /// A new array with the elements of another one.
    pub fn copied(&mut self, from: &View) -> Result<View, Refusal> {
        let extents: Vec<Value> = from.dims.iter().map(|dim| dim.extent.clone()).collect();
        let to = self.fresh(from.elem, &extents)?;
        self.copy_array(&to, from)?;
        Ok(self.written(to))
    }

    /// `A with [index] = value`.
    pub fn lower_update(
        &mut self,
        stm: &Stm,
        array: VarId,
        index: &Index,
        value: &Exp,
    ) -> Result<(), Refusal> {
        let Some(&made) = stm.pat.first() else { return Err(Refusal::new("an update without a result")) };
        let old = self.view(array)?;
        // Everything is read before anything is written.
        let is_array = self.region.rank(value).is_some_and(|rank| rank > 0);
        let new = match is_array {
            false => Err(self.exp(value)?),
            true => {
                let view = self.array_exp(value)?;
                let meets = Lower::named(value).is_none_or(|name| self.owners.may_meet(name, array));
                Ok(if meets { self.copied(&view)? } else { view })
            }
        };
        let changed = match self.owners.is_kept(made) {
            true => old,
            false => self.copied(&old)?,
        };
        let place = self.part_of(changed.clone(), index, !self.plan.is_contained(made))?;
        match new {
            Err(value) if place.dims.is_empty() => self.store(&place, &value),
            Ok(view) if place.dims.len() == view.dims.len() => self.copy_array(&place, &view)?,
            _ => return Err(Refusal::new("internal: an update of another shape")),
        }
        let view = self.written(changed);
        self.views.insert(made, view);
        Ok(())
    }

    /// The array that an expression is a part of.
    pub fn named(exp: &Exp) -> Option<VarId> {
        match exp {
            Exp::Var(var) => Some(*var),
            Exp::Read(read) => Some(read.array),
            _ => None,
        }
    }

    /// An operation on whole arrays.
    pub fn lower_whole(&mut self, stm: &Stm, op: &ArrayOp) -> Result<(), Refusal> {
        let Some(&made) = stm.pat.first() else { return Err(Refusal::new("an operation without a result")) };
        let elem = self.region.type_of(made).elem;
        let view = match op {
            ArrayOp::Copy(from) => {
                let from = self.array_exp(from)?;
                if self.owners.is_kept(made) { from } else { self.copied(&from)? }
            }
            ArrayOp::Scratch { .. } => {
                let extents = self.extents(made)?;
                self.fresh(elem, &extents)?
            }
            ArrayOp::Iota(_) => {
                let extents = self.extents(made)?;
                let to = self.fresh(elem, &extents)?;
                self.each_index(&extents, &mut |l, index| {
                    l.store(&to.row(index), &index[0]);
                    Ok(())
                })?;
                self.written(to)
            }
            ArrayOp::Replicate { value, .. } => self.replicated(made, value)?,
            ArrayOp::Concat { first, rest } => self.concatenated(made, first, rest)?,
            ArrayOp::View { change, array } => {
                let array = self.array_exp(array)?;
                self.changed_view(made, change, array)?
            }
            ArrayOp::Call { .. } => return Err(Refusal::new("a function that nothing is known of")),
            ArrayOp::Reduce { .. } => return Err(Refusal::new("a reduction of a whole array")),
        };
        self.views.insert(made, view);
        Ok(())
    }

    fn replicated(&mut self, made: VarId, value: &Exp) -> Result<View, Refusal> {
        let extents = self.extents(made)?;
        let to = self.fresh(self.region.type_of(made).elem, &extents)?;
        if self.region.rank(value) == Some(0) {
            let value = self.exp(value)?;
            self.each_index(&extents, &mut |l, index| {
                l.store(&to.row(index), &value);
                Ok(())
            })?;
        } else {
            let from = self.array_exp(value)?;
            let outer = extents.len() - from.dims.len();
            self.each_index(&extents, &mut |l, index| {
                let value = l.load(&from.row(&index[outer..]), false);
                l.store(&to.row(index), &value);
                Ok(())
            })?;
        }
        Ok(self.written(to))
    }

    fn concatenated(&mut self, made: VarId, first: &Exp, rest: &[Exp]) -> Result<View, Refusal> {
        let extents = self.extents(made)?;
        let to = self.fresh(self.region.type_of(made).elem, &extents)?;
        let mut begin = Value::int(0);
        for part in std::iter::once(first).chain(rest) {
            let from = self.array_exp(part)?;
            let Some(dim) = from.dims.first() else { return Err(Refusal::new("a scalar is concatenated")) };
            let extent = dim.extent.clone();
            let mut place = to.clone();
            place.fixed.push((begin.clone(), to.dims[0].stride));
            self.copy_array(&place, &from)?;
            begin = self.scalar_op(ScalarOp::Add, ElemType::I64, &[begin, extent])?;
        }
        Ok(self.written(to))
    }

    /// An array seen otherwise; where no view does that, a copy.
    fn changed_view(&mut self, made: VarId, change: &ViewChange, mut array: View) -> Result<View, Refusal> {
        if let Some(perm) = change.permutation(array.dims.len()) {
            array.dims = perm.iter().map(|dim| array.dims[*dim].clone()).collect();
            return Ok(array);
        }
        if let ViewChange::Reverse = change {
            let Some(dim) = array.dims.first_mut() else { return Err(Refusal::new("a scalar is reversed")) };
            let (extent, stride) = (dim.extent.clone(), dim.stride);
            dim.stride = self.factor_product(Factor::Const(-1), stride);
            let last = self.scalar_op(ScalarOp::Sub, ElemType::I64, &[extent, Value::int(1)])?;
            array.fixed.push((last, stride));
            return Ok(array);
        }
        self.reshaped(made, array)
    }

    /// The elements in row-major order under other extents.
    fn reshaped(&mut self, made: VarId, from: View) -> Result<View, Refusal> {
        let extents = self.extents(made)?;
        let to = self.fresh(from.elem, &extents)?;
        let old: Vec<Value> = from.dims.iter().map(|dim| dim.extent.clone()).collect();
        let (before, after) = (self.product(&old)?, self.product(&extents)?);
        let differ = self.scalar_op(ScalarOp::Ne, ElemType::I64, &[before, after])?;
        if differ.known() != Some(0) {
            let raw = self.raw(&differ, differ.varies());
            self.trap_where(&raw);
        }
        let each = to.dims.last().map_or(Factor::Const(1), |dim| dim.stride);
        let flat = View { dims: vec![ViewDim { extent: Value::int(i64::MAX), stride: each }], ..to.clone() };
        self.each_index(&old, &mut |l, index| {
            let mut at = Value::int(0);
            for (at_dim, extent) in index.iter().zip(&old) {
                at = l.scalar_op(ScalarOp::Mul, ElemType::I64, &[at, extent.clone()])?;
                at = l.scalar_op(ScalarOp::Add, ElemType::I64, &[at, at_dim.clone()])?;
            }
            let value = l.load(&from.row(index), false);
            l.store(&flat.row(&[at]), &value);
            Ok(())
        })?;
        Ok(self.written(to))
    }

    fn product(&mut self, extents: &[Value]) -> Result<Value, Refusal> {
        extents.iter().try_fold(Value::int(1), |product, extent| {
            self.scalar_op(ScalarOp::Mul, ElemType::I64, &[product, extent.clone()])
        })
    }
}
