//! Instructions on arrays: views where the algebra has them, copies otherwise.

use crate::join::copy_to;
use crate::{Adviser, Interpreter, Outcome, Registers};
use galopvm_base::{Bits, ElemType};
use galopvm_bytecode::{Def, Instr, Operand, RegId, SliceDim, not_on_arrays};
use galopvm_lmad::Lmad;
use galopvm_store::array::view::{self, shape_text};
use galopvm_store::array::{Array, Granted, SliceIndex, copy_elements, same_places, store};
use galopvm_store::error::Trap;
use galopvm_store::stop::Pace;
use smallvec::SmallVec;

pub(super) type Indices = SmallVec<[i64; 4]>;

/// Elements of bulk work that count as one operation.
const ELEMENTS_PER_OPERATION: u64 = 8;

/// `index`, which programs execute most of all.
#[inline]
pub(super) fn index(
    registers: &mut Registers<'_>,
    dst: Def,
    array: Operand,
    index: &[Operand],
) -> Outcome<()> {
    let source = registers.array(array);
    let numbers = index.iter().map(|i| registers.int(*i));
    if index.len() == source.rank() {
        let place = view::place(source.lmad(), numbers).map_err(Trap::new)?;
        let bits = source.load(place);
        registers.set_bits(dst.0, bits);
        registers.drop_last(array);
    } else {
        let view = view::index(source.lmad(), numbers).map_err(Trap::new)?;
        let part = registers.take(array).into_view(view);
        registers.set_array(dst.0, part);
    }
    Ok(())
}

impl<'a, A: Adviser<'a>> Interpreter<'a, A> {
    pub(super) fn array_instruction(&mut self, registers: &mut Registers<'a>, instr: &Instr) -> Outcome<()> {
        let (dst, array) = match instr {
            Instr::Slice { dst, array, dims } => {
                let view = view::slice(registers.array(*array).lmad(), &indices(registers, dims))
                    .map_err(Trap::new)?;
                if !registers.is_array(dst.0) {
                    let bits = registers.array(*array).load(view.offset);
                    registers.set_bits(dst.0, bits);
                    registers.drop_last(*array);
                    return Ok(());
                }
                (dst, registers.take(*array).into_view(view))
            }
            Instr::Update { dst, array, dims, value } => {
                let dims = indices(registers, dims);
                (dst, self.replace(registers, dst.0, *array, *value, |view| view::slice(view, &dims))?)
            }
            Instr::Permute { dst, array, perm } => {
                let perm: SmallVec<[usize; 4]> = perm.iter().map(|d| *d as usize).collect();
                (dst, registers.take(*array).permute(&perm)?)
            }
            Instr::Reverse { dst, array, dim } => (dst, registers.take(*array).reverse(*dim as usize)?),
            Instr::Reshape { dst, array, shape } => {
                let shape = ints(registers, shape);
                let array = registers.take(*array);
                let block = array.block().id();
                let reshaped = array.reshape(self.memory, &shape)?;
                if reshaped.block().id() != block {
                    self.pay_elements(reshaped.elements())?;
                }
                (dst, reshaped)
            }
            Instr::Concat { dst, arrays, dim } => {
                (dst, self.concat(registers, dst.0, arrays, *dim as usize)?)
            }
            Instr::Replicate { dst, count, value } => {
                (dst, self.replicate(registers, dst.0, *count, *value)?)
            }
            Instr::Iota { dst, ty, count, start, step } => {
                let (start, step) = (registers.bits(*start), registers.bits(*step));
                let count = registers.int(*count);
                if count < 0 {
                    return Err(Trap::new(range_message(*ty, count, start, step)).into());
                }
                self.pay_elements(count)?;
                if self.may_wait(registers, dst.0, *ty, count) {
                    (dst, Array::unmade(self.memory, *ty, &[count]))
                } else {
                    (dst, self.range(*ty, count, start, step)?)
                }
            }
            Instr::Array { dst, ty, rank, rows } => {
                (dst, self.literal(registers, dst.0, *ty, *rank as usize, rows)?)
            }
            Instr::Copy { dst, array } => (dst, self.copy(registers, dst.0, *array)?),
            Instr::Manifest { dst, array } => {
                let source = registers.array(*array);
                if !source.lmad().is_row_major() {
                    self.pay_elements(source.elements())?;
                }
                let manifest = registers.array(*array).to_row_major(self.memory)?;
                registers.drop_last(*array);
                (dst, manifest)
            }
            Instr::Rotate { dst, array, dim, amount } => {
                let source = registers.array(*array);
                self.pay_elements(source.elements())?;
                let amount = registers.int(*amount);
                let rotated = registers.array(*array).rotate(self.memory, *dim as usize, amount)?;
                registers.drop_last(*array);
                (dst, rotated)
            }
            Instr::Equal { dst, a, b } => {
                let elements = registers.array(*a).elements();
                self.pay_elements(elements)?;
                let equal = registers.array(*a).equals_until(registers.array(*b), &mut self.stop.pace())?;
                registers.set_bits(dst.0, u64::from(equal));
                registers.drop_last(*a);
                registers.drop_last(*b);
                return Ok(());
            }
            Instr::FlatIndex { dst, array, offset, sizes, strides } => {
                let (offset, sizes) = (registers.int(*offset), ints(registers, sizes));
                let strides = ints(registers, strides);
                let view = view::flat(registers.array(*array).lmad(), offset, &sizes, &strides)
                    .map_err(Trap::new)?;
                (dst, registers.take(*array).into_view(view))
            }
            Instr::FlatUpdate { dst, array, offset, strides, value } => {
                let (offset, strides) = (registers.int(*offset), ints(registers, strides));
                let sizes: Indices = registers.array(*value).shape()[..strides.len()].into();
                let part = |view: &Lmad| view::flat(view, offset, &sizes, &strides);
                if view::flat_is_injective(&sizes, &strides) {
                    (dst, self.replace(registers, dst.0, *array, *value, part)?)
                } else {
                    let written = registers.array(*value).clone();
                    let updated = self.replace(registers, dst.0, *array, *value, part)?;
                    let view = part(updated.lmad()).map_err(Trap::new)?;
                    // The last write of each element stays: the others must have been the same.
                    if updated.with_view(view) != written {
                        return Err(Trap::new(view::flat_conflict(offset, &sizes, &strides)).into());
                    }
                    (dst, updated)
                }
            }
            Instr::Dim { .. } | Instr::Index { .. } | not_on_arrays!() => {
                unreachable!("only array instructions come here")
            }
        };
        registers.set_array(dst.0, array);
        Ok(())
    }

    /// Pays for bulk work on so many elements.
    pub fn pay_elements(&mut self, elements: i64) -> Outcome<()> {
        self.pay(elements as u64 / ELEMENTS_PER_OPERATION)
    }

    /// The array with the part that a view of it means replaced by a value of that part's shape.
    fn replace(
        &mut self,
        registers: &mut Registers<'a>,
        dst: RegId,
        array: Operand,
        value: Operand,
        part_of: impl Fn(&Lmad) -> Result<Lmad, String>,
    ) -> Outcome<Array> {
        let mut part = part_of(registers.array(array).lmad()).map_err(Trap::new)?;
        if registers.is_array(value.reg) && registers.array(value).shape() != part.shape() {
            return Err(Trap::new("Shape of slice does not match shape of value.").into());
        }
        let allowed = match array.last {
            true => self.adviser.may_write(registers, dst, registers.array(array)),
            false => None,
        };
        let mut array = registers.take(array);
        if registers.is_array(value.reg) && lies_in(registers.array(value), &array, &part) {
            // The value was made where it goes.
            registers.drop_last(value);
            if allowed.is_none() && !array.is_writable() {
                self.pay_elements(array.elements())?;
                array.make_writable(self.memory)?;
            }
            return Ok(array);
        }
        if let Some(holders) = allowed
            && !array.is_writable()
            && let Some(whole) = Granted::new(array.clone(), holders + 1)
        {
            let mut place = whole.with_view(part);
            match registers.is_array(value.reg) {
                true => {
                    let source = registers.take(value);
                    self.pay_elements(source.elements())?;
                    copy_to(self.memory, place, &source)?;
                }
                false => place.store(place.array().lmad().offset, registers.bits(value)),
            }
            return Ok(array);
        }
        if !array.is_writable() {
            self.pay_elements(array.elements())?;
            array.make_writable(self.memory)?;
            part = part_of(array.lmad()).map_err(Trap::new)?;
        }
        let width = array.elem().bytes();
        let target = array.block_mut().bytes_mut().expect("the array is writable now");
        if registers.is_array(value.reg) {
            let source = registers.take(value);
            self.pay_elements(source.elements())?;
            copy_elements(self.memory, target, &part, source.block().bytes(), source.lmad(), width)?;
        } else {
            store(target, width, part.offset, registers.bits(value));
        }
        Ok(array)
    }

    /// `start`, `start + step`, .., wrapping.
    pub(super) fn range(&mut self, ty: ElemType, count: i64, start: Bits, step: Bits) -> Outcome<Array> {
        let mut array = Array::fresh(self.memory, ty, &[count])?;
        let target = array.block_mut().bytes_mut().expect("nobody else has seen a fresh block");
        let width = ty.bytes();
        let mut value = start;
        // The low bits of wrapping sums do not depend on the width.
        let mut pace = self.stop.pace();
        for piece in target.chunks_mut(Pace::STRETCH) {
            pace.go(piece.len())?;
            for place in piece.chunks_exact_mut(width) {
                store(place, width, 0, value);
                value = value.wrapping_add(step);
            }
        }
        Ok(array)
    }
}

/// Whether a value is a part of an array under this view.
fn lies_in(value: &Array, array: &Array, part: &Lmad) -> bool {
    value.block().same(array.block()) && same_places(value.lmad(), part)
}

fn ints(registers: &Registers<'_>, operands: &[Operand]) -> Indices {
    operands.iter().map(|operand| registers.int(*operand)).collect()
}

/// The dimensions of a slice as numbers.
fn indices(registers: &Registers<'_>, dims: &[SliceDim]) -> SmallVec<[SliceIndex; 4]> {
    let int = |operand: &Option<Operand>| operand.map(|o| registers.int(o));
    dims.iter()
        .map(|dim| match dim {
            SliceDim::At(index) => SliceIndex::At(registers.int(*index)),
            SliceDim::Range { start, end, step } => {
                SliceIndex::Range { start: int(start), end: int(end), step: int(step) }
            }
        })
        .collect()
}

/// Two shapes that should be equal.
pub fn mismatch(what: &str, expected: &[i64], found: &[i64]) -> String {
    format!("{what} differ in shape: {} and {}.", shape_text(expected), shape_text(found))
}

/// As Futhark says it of the range that an iota is.
pub(super) fn range_message(ty: ElemType, count: i64, start: Bits, step: Bits) -> String {
    let number = |bits: Bits| galopvm_base::Scalar::new(ty, bits).plain();
    let (second, end) = (start.wrapping_add(step), start.wrapping_add((count as u64).wrapping_mul(step)));
    let descending = ty.is_signed() && galopvm_base::Scalar::new(ty, step).as_i64() < 0;
    let order = if descending { '>' } else { '<' };
    format!("Range {}..{}..{order}{} is invalid.", number(start), number(second), number(end))
}
