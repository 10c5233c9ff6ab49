//! Arrays that show, change or join others: their adjoints are shown, cut and put together the other way round.

use super::super::super::ir::*;
use super::super::code::zero;
use super::super::{Derive, Derived};
use super::adjoint::Part;
use galopvm_base::{ElemType, Scalar, ScalarOp};
use galopvm_bytecode::ValueType;

impl Derive<'_> {
    /// A statement that makes an array, or takes an element out of one.
    pub(super) fn back_array(&mut self, stm: &Stm, adjoint: Atom) -> Derived<()> {
        match &stm.op {
            Op::Index { array, index } => {
                let index = self.all_values(index);
                self.contribute_part(*array, Part::at(index, adjoint));
            }
            Op::Slice { array, dims } => self.back_slice(*array, dims, adjoint),
            Op::Copy { array } | Op::Manifest { array } => self.contribute(Atom::Var(*array), adjoint),
            Op::Permute { array, perm } => {
                let mut inverse = vec![0; perm.len()];
                perm.iter().enumerate().for_each(|(k, d)| inverse[*d as usize] = k as u32);
                let back = self.fun.permuted(adjoint, inverse);
                self.contribute(Atom::Var(*array), back);
            }
            Op::Reverse { array, dim } => {
                let back = self.like(adjoint, |array| Op::Reverse { array, dim: *dim });
                self.contribute(Atom::Var(*array), back);
            }
            Op::Rotate { array, dim, amount } => {
                let amount = self.value(*amount);
                let amount = self.fun.size_op(ScalarOp::Sub, Atom::i64(0), amount);
                let back = self.like(adjoint, |array| Op::Rotate { array, dim: *dim, amount });
                self.contribute(Atom::Var(*array), back);
            }
            Op::Reshape { array, .. } => {
                let old = self.value(Atom::Var(*array));
                let shape = self.fun.shape(old);
                let back = self.fun.reshaped(adjoint, &shape);
                self.contribute(Atom::Var(*array), back);
            }
            Op::FlatIndex { array, offset, sizes, strides } => {
                let [sizes, strides] = [sizes, strides].map(|atoms| self.all_values(atoms));
                let offset = self.value(*offset);
                let index = self.places(offset, &sizes, &strides);
                let part = Part { index: vec![index], value: adjoint, extents: sizes, may_miss: false };
                self.contribute_part(*array, part);
            }
            Op::Replicate { value, .. } => {
                let sum = self.fun.sum_rows(adjoint);
                self.contribute(*value, sum);
            }
            Op::Concat { arrays, dim } => self.back_concat(arrays, *dim, adjoint),
            Op::Array { rows, .. } => {
                for (k, row) in rows.iter().enumerate().filter(|(_, row)| row.var().is_some()) {
                    let part = self.fun.row_at(adjoint, &[Atom::i64(k as i64)]);
                    self.contribute(*row, part);
                }
            }
            Op::Iota { ty, count, start, step } => {
                let sum = self.fun.sum_rows(adjoint);
                self.contribute(*start, sum);
                let each = self.fun.convert(*ty, ElemType::I64, sum);
                self.contribute(*count, each);
                if self.activity.atom(*step) {
                    self.back_step(*ty, *step, adjoint);
                }
            }
            Op::Update { array, dims, value } => self.back_update(*array, dims, *value, adjoint),
            Op::FlatUpdate { array, offset, strides, value } => {
                self.back_flat_update((*array, *value), *offset, strides, adjoint);
            }
            _ => return self.refuse(stm, "this operation"),
        }
        Ok(())
    }

    /// Another array with the extents of an adjoint.
    fn like(&mut self, adjoint: Atom, op: impl Fn(Var) -> Op) -> Atom {
        let Atom::Var(array) = adjoint else { return adjoint };
        let shape = self.fun.shape(adjoint);
        let atom = self.fun.emit(op(array), self.fun.type_of(adjoint));
        self.fun.know_shape(atom, &shape);
        atom
    }

    fn dims(&self, dims: &[SliceDim]) -> Vec<SliceDim> {
        let mut dims = dims.to_vec();
        for dim in &mut dims {
            match dim {
                SliceDim::At(at) => *at = self.value(*at),
                SliceDim::Range(start, end, step) => {
                    [start, end, step].into_iter().flatten().for_each(|at| *at = self.value(*at));
                }
            }
        }
        dims
    }

    /// The part of an array that a slice shows.
    fn slice(&mut self, array: Atom, dims: &[SliceDim]) -> Atom {
        let Atom::Var(var) = array else { return array };
        let index: Option<Vec<Atom>> = dims.iter().map(|dim| index_of(*dim)).collect();
        if let Some(index) = index {
            return self.fun.row_at(array, &index);
        }
        let fixed = dims.iter().filter(|d| matches!(d, SliceDim::At(_))).count() as u8;
        let ty = self.fun.type_of(array);
        let ty = ValueType { rank: ty.rank.saturating_sub(fixed), ..ty };
        self.fun.emit(Op::Slice { array: var, dims: dims.to_vec() }, ty)
    }

    fn back_slice(&mut self, array: Var, dims: &[SliceDim], adjoint: Atom) {
        if !self.activity.var(array) {
            return;
        }
        let dims = self.dims(dims);
        if let Some(index) = dims.iter().map(|dim| index_of(*dim)).collect() {
            return self.contribute_part(array, Part::at(index, adjoint));
        }
        let whole = self.take_or_zeros(array);
        let before = self.slice(whole, &dims);
        let shape = self.fun.shape(adjoint);
        self.fun.know_shape(before, &shape);
        let sum = self.fun.plus(before, adjoint);
        let whole = self.fun.with(whole, &dims, sum);
        self.contribute(Atom::Var(array), whole);
    }

    fn back_update(&mut self, array: Var, dims: &[SliceDim], value: Atom, adjoint: Atom) {
        let dims = self.dims(dims);
        let new = self.value(value);
        if self.activity.atom(value) {
            let part = self.slice(adjoint, &dims);
            let part = self.own(part, new);
            self.contribute(value, part);
        }
        if self.activity.var(array) {
            let none = self.fun.zeros_like(new);
            let rest = self.fun.with(adjoint, &dims, none);
            self.contribute(Atom::Var(array), rest);
        }
    }

    /// A part of an adjoint with memory of its own: the rest is changed in place.
    fn own(&mut self, part: Atom, like: Atom) -> Atom {
        let Atom::Var(array) = part else { return part };
        let ty = self.fun.type_of(part);
        if ty.is_scalar() {
            return part;
        }
        let shape = self.fun.shape(like);
        let copy = self.fun.emit(Op::Copy { array }, ty);
        self.fun.know_shape(copy, &shape);
        copy
    }

    fn back_flat_update(
        &mut self,
        (array, value): (Var, Var),
        offset: Atom,
        strides: &[Atom],
        adjoint: Atom,
    ) {
        let (offset, strides) = (self.value(offset), self.all_values(strides));
        let new = self.value(Atom::Var(value));
        let (Atom::Var(whole), ty) = (adjoint, self.fun.type_of(new)) else { return };
        let shape = self.fun.shape(new);
        if self.activity.var(value) {
            let sizes = shape[..strides.len().min(shape.len())].to_vec();
            let view = Op::FlatIndex { array: whole, offset, sizes, strides: strides.clone() };
            let part = self.fun.emit(view, ty);
            let part = self.own(part, new);
            self.contribute(Atom::Var(value), part);
        }
        if self.activity.var(array) {
            let none = self.fun.zeros_like(new);
            let Atom::Var(value) = none else { return };
            let rest =
                self.like(adjoint, |array| Op::FlatUpdate { array, offset, strides: strides.clone(), value });
            self.contribute(Atom::Var(array), rest);
        }
    }

    fn back_concat(&mut self, arrays: &[Var], dim: u32, adjoint: Atom) {
        let mut from = Atom::i64(0);
        for var in arrays {
            let value = self.value(Atom::Var(*var));
            let extent = self.fun.dim(value, dim);
            let to = self.fun.size_op(ScalarOp::Add, from, extent);
            if self.activity.var(*var) {
                let mut dims = vec![SliceDim::Range(None, None, None); dim as usize];
                dims.push(SliceDim::Range(Some(from), Some(to), None));
                let part = self.slice(adjoint, &dims);
                self.know_as(part, *var);
                self.contribute(Atom::Var(*var), part);
            }
            from = to;
        }
    }

    /// The step of a range: each number moves by as many of it as are before it.
    fn back_step(&mut self, ty: ElemType, step: Atom, adjoint: Atom) {
        let width = self.fun.dim(adjoint, 0);
        let op = Op::Iota { ty, count: width, start: zero(ty), step: one(ty) };
        let numbers = self.fun.emit(op, self.fun.type_of(adjoint));
        self.fun.know(numbers, 0, width);
        let products = self
            .fun
            .map_rows(width, &[numbers, adjoint], &mut |fun, rows| fun.scalar(ScalarOp::Mul, ty, rows));
        let sum = self.fun.sum_rows(products);
        self.contribute(step, sum);
    }

    /// The indices that a flat index means.
    fn places(&mut self, offset: Atom, sizes: &[Atom], strides: &[Atom]) -> Atom {
        let ([size, sizes @ ..], [stride, strides @ ..]) = (sizes, strides) else { return offset };
        let numbers = self.fun.numbers(*size);
        let params = self.fun.begin_rows(&[numbers]);
        let step = self.fun.size_op(ScalarOp::Mul, params[0], *stride);
        let place = self.fun.size_op(ScalarOp::Add, offset, step);
        let row = self.places(place, sizes, strides);
        self.fun.end_rows(*size, &[numbers], &params, vec![row]).pop().unwrap_or(row)
    }
}

fn index_of(dim: SliceDim) -> Option<Atom> {
    match dim {
        SliceDim::At(at) => Some(at),
        SliceDim::Range(..) => None,
    }
}

fn one(ty: ElemType) -> Atom {
    Atom::Const(Scalar::from_int(ty, 1))
}
