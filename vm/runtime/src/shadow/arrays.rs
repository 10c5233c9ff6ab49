//! Instructions on arrays, as the shadow executes them: views, and elements that are moved.

use super::evaluate::Evaluator;
use super::plain::Plain;
use super::{Halt, Step};
use galopvm_base::ScalarOp;
use galopvm_base::scalar::{convert, eval2};
use galopvm_base::{Bits, ElemType};
use galopvm_bytecode::{Instr, Operand, SliceDim, not_on_arrays};
use galopvm_lmad::Lmad;
use galopvm_store::array::SliceIndex;
use galopvm_store::array::view;

/// The number of elements of a shape that can be in memory.
pub(super) fn elements(shape: &[i64]) -> Step<i64> {
    let count = shape.iter().try_fold(1i64, |count, extent| count.checked_mul(*extent));
    count.filter(|_| shape.iter().all(|extent| *extent >= 0)).ok_or(Halt::Unknown)
}

fn or_trap<T, E>(result: Result<T, E>) -> Step<T> {
    result.map_err(|_| Halt::Trap)
}

impl Evaluator<'_> {
    pub(super) fn on_arrays(&mut self, instr: &Instr) -> Step<()> {
        let (dst, array) = match instr {
            Instr::Dim { dst, array, dim } => {
                let extent = self.array(*array)?.view.dims[*dim as usize].size;
                self.set_bits(dst.0, extent as Bits);
                return Ok(());
            }
            Instr::Index { dst, array, index } => {
                let (array, index) = (self.array(*array)?, self.ints(index)?);
                let view = or_trap(view::index(&array.view, index.iter().copied()))?;
                if view.rank() == 0 {
                    let bits = self.load(&array, view.offset)?;
                    self.set_bits(dst.0, bits);
                    return Ok(());
                }
                (dst, array.seen(view))
            }
            Instr::Slice { dst, array, dims } => {
                let (array, dims) = (self.array(*array)?, self.slice(dims)?);
                let view = or_trap(view::slice(&array.view, &dims))?;
                if view.rank() == 0 {
                    // A single element is a scalar.
                    let bits = self.load(&array, view.offset)?;
                    self.set_bits(dst.0, bits);
                    return Ok(());
                }
                (dst, array.seen(view))
            }
            Instr::Permute { dst, array, perm } => {
                let array = self.array(*array)?;
                let perm: Vec<usize> = perm.iter().map(|dim| *dim as usize).collect();
                (dst, array.seen(array.view.permute(&perm)))
            }
            Instr::Reverse { dst, array, dim } => {
                let array = self.array(*array)?;
                (dst, array.seen(array.view.reverse(*dim as usize)))
            }
            Instr::FlatIndex { dst, array, offset, sizes, strides } => {
                let (array, offset) = (self.array(*array)?, self.int(*offset)?);
                let (sizes, strides) = (self.ints(sizes)?, self.ints(strides)?);
                (dst, array.seen(or_trap(view::flat(&array.view, offset, &sizes, &strides))?))
            }
            Instr::Reshape { dst, array, shape } => {
                let (array, shape) = (self.array(*array)?, self.ints(shape)?);
                if shape.iter().any(|extent| *extent < 0) || elements(&shape)? != elements(&array.shape())? {
                    return Err(Halt::Trap);
                }
                (dst, self.reshaped(&array, &shape)?)
            }
            Instr::Update { dst, array, dims, value } => {
                let dims = self.slice(dims)?;
                let part = |view: &Lmad| view::slice(view, &dims);
                (dst, self.updated(*array, *value, part)?)
            }
            Instr::FlatUpdate { dst, array, offset, strides, value } => {
                let (offset, strides) = (self.int(*offset)?, self.ints(strides)?);
                let shape = self.array(*value)?.shape();
                let sizes = &shape[..strides.len()];
                let part = |view: &Lmad| view::flat(view, offset, sizes, &strides);
                let is_injective = view::flat_is_injective(sizes, &strides);
                let written = self.array(*value)?;
                let updated = self.updated(*array, *value, part)?;
                // The last write of each element stays: the others must have been the same.
                if !is_injective && !updated.seen(or_trap(part(&updated.view))?).moved().eq(written.moved()) {
                    return Err(Halt::Trap);
                }
                (dst, updated)
            }
            Instr::Concat { dst, arrays, dim } => (dst, self.joined(arrays, *dim as usize)?),
            Instr::Replicate { dst, count, value } => {
                let count = self.int(*count)?;
                if count < 0 {
                    return Err(Halt::Trap);
                }
                if self.is_array(value.reg) {
                    let row = self.array(*value)?;
                    let view = row.view.expand(0, count);
                    (dst, self.moved(&row.seen(view))?)
                } else {
                    self.pay(count)?;
                    let (elem, bits) = (self.elem(value.reg), self.bits(*value)?);
                    (dst, Plain::new(elem, &[count], vec![bits; count as usize]))
                }
            }
            Instr::Iota { dst, ty, count, start, step } => {
                let (count, start, step) = (self.int(*count)?, self.bits(*start)?, self.bits(*step)?);
                (dst, self.range(*ty, count, start, step)?)
            }
            Instr::Array { dst, ty, rank, rows } => (dst, self.literal(*ty, *rank as usize, rows)?),
            Instr::Copy { dst, array } | Instr::Manifest { dst, array } => {
                let array = self.take_array(*array)?;
                (dst, array.into_changing())
            }
            Instr::Rotate { dst, array, dim, amount } => {
                let (array, amount) = (self.array(*array)?, self.int(*amount)?);
                let (dim, view) = (*dim as usize, &array.view);
                let extent = view.dims[dim].size;
                let first = if extent > 0 { amount.rem_euclid(extent) } else { 0 };
                let parts = [(first, extent - first), (0, first)];
                let parts = parts.map(|(from, count)| array.seen(view.triplet(dim, from, count, 1)));
                (dst, self.joined_arrays(&parts, dim)?)
            }
            Instr::Equal { dst, a, b } => {
                let (a, b) = (self.array(*a)?, self.array(*b)?);
                let mut equal = a.shape() == b.shape();
                for (p, q) in a.view.places().zip(b.view.places()) {
                    if !equal {
                        break;
                    }
                    let (x, y) = (self.load(&a, p)?, self.load(&b, q)?);
                    equal = eval2(ScalarOp::Eq, a.elem, x, y) == Ok(1);
                }
                self.set_bits(dst.0, Bits::from(equal));
                return Ok(());
            }
            not_on_arrays!() => return Err(Halt::Unknown),
        };
        self.set_array(dst.0, array);
        Ok(())
    }

    fn slice(&self, dims: &[SliceDim]) -> Step<Vec<SliceIndex>> {
        let bound = |operand: &Option<Operand>| operand.map(|operand| self.int(operand)).transpose();
        let one = |dim: &SliceDim| {
            Ok(match dim {
                SliceDim::At(index) => SliceIndex::At(self.int(*index)?),
                SliceDim::Range { start, end, step } => {
                    SliceIndex::Range { start: bound(start)?, end: bound(end)?, step: bound(step)? }
                }
            })
        };
        dims.iter().map(one).collect()
    }

    /// Its elements as an array of their own.
    pub(super) fn moved(&mut self, array: &Plain) -> Step<Plain> {
        self.pay(array.view.elements())?;
        Ok(Plain::new(array.elem, &array.shape(), array.moved().collect()))
    }

    fn reshaped(&mut self, array: &Plain, shape: &[i64]) -> Step<Plain> {
        match array.view.reshape(shape) {
            Some(view) => Ok(array.seen(view)),
            None => {
                let moved = self.moved(array)?;
                Ok(moved.seen(Lmad::row_major(shape)))
            }
        }
    }

    fn updated(
        &mut self,
        array: Operand,
        value: Operand,
        part: impl Fn(&Lmad) -> Result<Lmad, String>,
    ) -> Step<Plain> {
        let values: Vec<Bits> = match self.is_array(value.reg) {
            true => {
                let (value, array) = (self.array(value)?, self.array(array)?);
                let part = or_trap(part(&array.view))?;
                if value.shape() != part.shape() {
                    return Err(Halt::Trap);
                }
                self.pay(value.view.elements())?;
                value.moved().collect()
            }
            false => vec![self.bits(value)?],
        };
        let mut array = self.take_array(array)?.into_changing();
        let places = or_trap(part(&array.view))?.places();
        let elements = array.elements_mut();
        places.zip(values).for_each(|(place, bits)| elements[place as usize] = bits);
        Ok(array)
    }

    fn joined(&mut self, operands: &[Operand], dim: usize) -> Step<Plain> {
        let arrays = self.arrays(operands)?;
        self.joined_arrays(&arrays, dim)
    }

    fn joined_arrays(&mut self, arrays: &[Plain], dim: usize) -> Step<Plain> {
        let first = arrays.first().ok_or(Halt::Unknown)?;
        let mut shape = first.shape();
        shape[dim] = 0;
        for array in arrays {
            let other = array.shape();
            if other.iter().zip(&shape).enumerate().any(|(d, (a, b))| d != dim && a != b) {
                return Err(Halt::Trap);
            }
            shape[dim] = shape[dim].checked_add(other[dim]).ok_or(Halt::Unknown)?;
        }
        let count = elements(&shape)?;
        self.pay(count)?;
        let (view, mut at, mut joined) = (Lmad::row_major(&shape), 0, vec![0; count as usize]);
        for array in arrays {
            let rows = array.view.dims[dim].size;
            let places = view.triplet(dim, at, rows, 1).places();
            places.zip(array.moved()).for_each(|(place, bits)| joined[place as usize] = bits);
            at += rows;
        }
        Ok(Plain::new(first.elem, &shape, joined))
    }

    fn range(&mut self, ty: ElemType, count: i64, start: Bits, step: Bits) -> Step<Plain> {
        if count < 0 {
            return Err(Halt::Trap);
        }
        self.pay(count)?;
        let mut value = start;
        let mut elements = Vec::with_capacity(count as usize);
        for _ in 0..count {
            // As an element of the type, whatever the sum was.
            elements.push(convert(ty, ty, value & ty.mask()));
            value = value.wrapping_add(step);
        }
        Ok(Plain::new(ty, &[count], elements))
    }

    fn literal(&mut self, elem: ElemType, rank: usize, rows: &[Operand]) -> Step<Plain> {
        let count = rows.len() as i64;
        if rank == 1 {
            let elements = rows.iter().map(|row| self.bits(*row)).collect::<Step<Vec<Bits>>>()?;
            return Ok(Plain::new(elem, &[count], elements));
        }
        let rows = self.arrays(rows)?;
        let mut shape = vec![count];
        match rows.first() {
            Some(first) => shape.extend(first.shape()),
            None => shape.resize(rank, 0),
        }
        if rows.iter().any(|row| row.shape()[..] != shape[1..]) {
            return Err(Halt::Trap);
        }
        self.pay(elements(&shape)?)?;
        Ok(Plain::new(elem, &shape, rows.iter().flat_map(Plain::moved).collect()))
    }
}
