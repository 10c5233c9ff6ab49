//! Views of device buffers inside a shader: numbers that are values, and what indexing does to them.
//!
//! Indices and extents are 64-bit, as the IR has them, and so are checks. Places are computed modulo 2^32, which is
//! exact for every place inside a buffer. Where an index or extent is a zero-extended 32-bit number, checks are
//! 32-bit too.

use super::body::Lower;
use crate::shader::{BinOp, Binding, Ty, UnOp, Val};
use galopvm_base::ElemType;
use galopvm_kir::backend::StrideClass;
use galopvm_kir::{Axis, Body, DimIndex, Exp, Index, Read, Refusal, VarId, ViewChange};
use std::rc::Rc;

/// The distance of neighbours along a dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stride {
    /// A class whose number is known.
    Class(StrideClass),
    /// A number, a `B32`.
    Number(Val),
}

/// One dimension.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dim {
    /// Number of places, a `B64`.
    pub extent: Val,
    /// Their distance.
    pub stride: Stride,
}

/// A view of a buffer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct View {
    /// The buffer.
    pub buffer: Binding,
    /// Element type.
    pub elem: ElemType,
    /// Place of the first element, a `B32`.
    pub offset: Val,
    /// Outermost first.
    pub dims: Vec<Dim>,
}

/// A value of the IR inside a shader.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// A scalar in register form.
    Scalar(ElemType, Val),
    /// An array.
    View(View),
    /// Result number so and so of a kernel inside a kernel: not an array yet, but written where it belongs when the
    /// kernel around it ends.
    Made(Rc<(Vec<Axis>, Body)>, usize),
}

impl Lower<'_, '_> {
    fn i64(&mut self, value: i64) -> Val {
        self.c.constant(Ty::B64, value as u64)
    }

    fn b32(&mut self, value: i32) -> Val {
        self.c.constant(Ty::B32, u64::from(value as u32))
    }

    /// A 64-bit number modulo 2^32.
    fn low(&mut self, wide: Val) -> Val {
        self.c.un(UnOp::Narrow, wide)
    }

    /// `index * stride`, of a 64-bit index.
    fn step(&mut self, index: Val, stride: Stride) -> Val {
        let index = self.low(index);
        match stride {
            Stride::Class(StrideClass::Same) => self.b32(0),
            Stride::Class(StrideClass::Reversed) => {
                let zero = self.b32(0);
                self.c.bin(BinOp::Sub, zero, index)
            }
            Stride::Class(_) => index,
            Stride::Number(stride) => self.c.bin(BinOp::Mul, index, stride),
        }
    }

    fn number(&mut self, stride: Stride) -> Val {
        match stride {
            Stride::Number(val) => val,
            Stride::Class(StrideClass::Same) => self.b32(0),
            Stride::Class(StrideClass::Reversed) => self.b32(-1),
            Stride::Class(_) => self.b32(1),
        }
    }

    /// The element at these 64-bit indices, which are inside.
    pub fn element(&mut self, view: &View, indices: &[Val]) -> Val {
        let mut place = view.offset;
        for (index, dim) in indices.iter().zip(&view.dims) {
            let step = self.step(*index, dim.stride);
            place = self.c.bin(BinOp::Add, place, step);
        }
        self.load(view, place)
    }

    fn load(&mut self, view: &View, place: Val) -> Val {
        let bits = self.c.load(view.buffer, place);
        super::scalar::from_bits(&mut self.c, view.elem, bits)
    }

    /// A read access.
    pub fn read(&mut self, read: &Read) -> Result<Value, Refusal> {
        let view = self.array(read.array)?;
        let checked = !self.table.unit.plan.plan().is_unchecked(read.id);
        let (view, inside) = match &read.index {
            Index::Dims(dims) => self.read_dims(view, dims, checked)?,
            Index::Lmad { offset, dims } => self.read_lmad(view, offset, dims, checked)?,
        };
        if checked {
            let outside = self.c.un(UnOp::Not, inside);
            self.trap.when(&mut self.c, outside);
        }
        if !view.dims.is_empty() {
            return Ok(Value::View(view));
        }
        // After a trap the invocation goes on: it reads the buffer's first element, which is always there.
        let zero = self.b32(0);
        let place = if checked { self.c.select(inside, view.offset, zero) } else { view.offset };
        let value = self.load(&view, place);
        Ok(Value::Scalar(view.elem, value))
    }

    /// `0 <= index < extent`
    fn inside(&mut self, index: Val, extent: Val) -> Val {
        if let (Some(index), Some(extent)) = (self.c.low_half(index), self.c.low_half(extent)) {
            return self.c.bin(BinOp::Ult, index, extent);
        }
        self.c.bin(BinOp::Ult, index, extent)
    }

    fn read_dims(&mut self, view: View, index: &[DimIndex], checked: bool) -> Result<(View, Val), Refusal> {
        let mut inside = self.c.truth(true);
        let View { buffer, elem, mut offset, dims } = view;
        let mut left = Vec::new();
        for (k, dim) in dims.into_iter().enumerate() {
            match index.get(k) {
                None => left.push(dim),
                Some(DimIndex::At(at)) => {
                    let at = self.i64_value(at)?;
                    if checked {
                        let fits = self.inside(at, dim.extent);
                        inside = self.c.bin(BinOp::LAnd, inside, fits);
                    }
                    let step = self.step(at, dim.stride);
                    offset = self.c.bin(BinOp::Add, offset, step);
                }
                Some(DimIndex::Slice { start, count, step }) => {
                    let (start, count, step) =
                        (self.i64_value(start)?, self.i64_value(count)?, self.i64_value(step)?);
                    if checked {
                        let fits = self.slice_inside(start, count, step, dim.extent);
                        inside = self.c.bin(BinOp::LAnd, inside, fits);
                    }
                    let moved = self.step(start, dim.stride);
                    offset = self.c.bin(BinOp::Add, offset, moved);
                    let (stride, step) = (self.number(dim.stride), self.low(step));
                    let stride = self.c.bin(BinOp::Mul, stride, step);
                    left.push(Dim { extent: count, stride: Stride::Number(stride) });
                }
            }
        }
        Ok((View { buffer, elem, offset, dims: left }, inside))
    }

    /// A slice is empty, or its first and last place are inside.
    fn slice_inside(&mut self, start: Val, count: Val, step: Val, extent: Val) -> Val {
        let (zero, one) = (self.i64(0), self.i64(1));
        let last = self.c.bin(BinOp::Sub, count, one);
        let last = self.c.bin(BinOp::Mul, last, step);
        let last = self.c.bin(BinOp::Add, start, last);
        let (first_in, last_in) = (self.inside(start, extent), self.inside(last, extent));
        let both = self.c.bin(BinOp::LAnd, first_in, last_in);
        let positive = self.c.bin(BinOp::Slt, zero, count);
        let both = self.c.bin(BinOp::LAnd, both, positive);
        let empty = self.c.bin(BinOp::Eq, count, zero);
        self.c.bin(BinOp::LOr, both, empty)
    }

    fn read_lmad(
        &mut self,
        view: View,
        offset: &galopvm_kir::Exp,
        index: &[(galopvm_kir::Exp, galopvm_kir::Exp)],
        checked: bool,
    ) -> Result<(View, Val), Refusal> {
        let mut dims = view.dims.into_iter();
        let flat = dims.next().ok_or_else(|| Refusal::new("an LMAD slice of a scalar"))?;
        let (zero, one) = (self.i64(0), self.i64(1));
        let offset = self.i64_value(offset)?;
        let (mut low, mut high, mut empty) = (offset, offset, self.c.truth(false));
        let mut sizes_fit = self.c.truth(true);
        let stride = self.number(flat.stride);
        let mut left = Vec::new();
        for (count, step) in index {
            let (count, step) = (self.i64_value(count)?, self.i64_value(step)?);
            if checked {
                let last = self.c.bin(BinOp::Sub, count, one);
                let reach = self.c.bin(BinOp::Mul, last, step);
                let down = self.c.bin(BinOp::Slt, reach, zero);
                let (below, above) = (self.c.select(down, reach, zero), self.c.select(down, zero, reach));
                low = self.c.bin(BinOp::Add, low, below);
                high = self.c.bin(BinOp::Add, high, above);
                let none = self.c.bin(BinOp::Eq, count, zero);
                empty = self.c.bin(BinOp::LOr, empty, none);
                let fits = self.c.bin(BinOp::Sle, zero, count);
                sizes_fit = self.c.bin(BinOp::LAnd, sizes_fit, fits);
            }
            let step = self.low(step);
            let stride = self.c.bin(BinOp::Mul, stride, step);
            left.push(Dim { extent: count, stride: Stride::Number(stride) });
        }
        let mut inside = self.c.truth(true);
        if checked {
            let (low_in, high_in) = (self.inside(low, flat.extent), self.inside(high, flat.extent));
            inside = self.c.bin(BinOp::LAnd, low_in, high_in);
            inside = self.c.bin(BinOp::LOr, inside, empty);
            inside = self.c.bin(BinOp::LAnd, inside, sizes_fit);
        }
        let moved = self.step(offset, flat.stride);
        let offset = self.c.bin(BinOp::Add, view.offset, moved);
        left.extend(dims);
        Ok((View { buffer: view.buffer, elem: view.elem, offset, dims: left }, inside))
    }

    /// An operation that only looks at its array differently.
    pub fn change(&mut self, change: &ViewChange, array: &Exp) -> Result<Value, Refusal> {
        let Value::View(mut view) = self.exp(array)? else {
            return Err(Refusal::new("an operation on an array made inside a kernel"));
        };
        match change {
            ViewChange::Transpose | ViewChange::Rearrange(_) => {
                let perm = change.permutation(view.dims.len());
                let dims: Option<Vec<Dim>> =
                    perm.and_then(|p| p.iter().map(|d| view.dims.get(*d).copied()).collect());
                view.dims = dims.ok_or_else(|| Refusal::new("not a permutation"))?;
            }
            ViewChange::Reverse if !view.dims.is_empty() => {
                let dim = view.dims[0];
                let (zero, one) = (self.b32(0), self.b32(1));
                let stride = self.number(dim.stride);
                let extent = self.low(dim.extent);
                let last = self.c.bin(BinOp::Sub, extent, one);
                let distance = self.c.bin(BinOp::Mul, last, stride);
                view.offset = self.c.bin(BinOp::Add, view.offset, distance);
                let stride = self.c.bin(BinOp::Sub, zero, stride);
                view.dims[0].stride = Stride::Number(stride);
            }
            _ => return Err(Refusal::new("an array operation that is not lowered")),
        }
        Ok(Value::View(view))
    }

    /// The view a name stands for.
    pub fn array(&mut self, var: VarId) -> Result<View, Refusal> {
        match self.var(var)? {
            Value::View(view) => Ok(view),
            Value::Scalar(..) => Err(Refusal::new("a scalar is indexed")),
            Value::Made(..) => Err(Refusal::new("an array made inside a kernel is read there")),
        }
    }
}
