//! Arrays made of others or of single values: `concat`, literals, `replicate`, `copy`. They are made in their place, if
//! there is one, and what lies there already is not copied.

use crate::arrays::{Indices, range_message};
use crate::{Adviser, Interpreter, Outcome, Registers};
use galopvm_base::{Bits, ElemType};
use galopvm_bytecode::{Operand, RegId};
use galopvm_lmad::Lmad;
use galopvm_store::array::view::{shape_text, too_large};
use galopvm_store::array::{Array, Granted};
use galopvm_store::error::Trap;
use galopvm_store::memory::Memory;
use smallvec::SmallVec;

/// Bytes of the pieces in which places are filled.
const PIECE: i64 = 1 << 16;

impl<'a, A: Adviser<'a>> Interpreter<'a, A> {
    pub(super) fn concat(
        &mut self,
        registers: &mut Registers<'a>,
        dst: RegId,
        operands: &[Operand],
        dim: usize,
    ) -> Outcome<Array> {
        let place = self.adviser.place(registers, dst)?;
        let arrays: SmallVec<[Array; 4]> = operands.iter().map(|o| registers.take(*o)).collect();
        let mut shape = arrays[0].shape();
        let mut total = 0i64;
        for array in &arrays {
            let other = array.shape();
            if other.iter().zip(&shape).enumerate().any(|(d, (a, b))| d != dim && a != b) {
                let (first, other) = (shape_text(&shape), shape_text(&other));
                let message =
                    format!("Cannot concatenate arrays of shapes {first} and {other} along dimension {dim}.");
                return Err(Trap::new(message).into());
            }
            total = total.checked_add(other[dim]).ok_or_else(|| {
                let (first, other) = (shape_text(&shape), shape_text(&other));
                let what = format!("concatenate arrays of shapes {first} and {other} along dimension {dim}");
                Trap::new(too_large(&what))
            })?;
        }
        shape[dim] = total;
        self.pay_elements(Lmad::row_major(&shape).elements())?;
        if place.is_none() {
            // What is added to nothing stays where it is.
            let mut filled = (0..arrays.len()).filter(|k| arrays[*k].shape()[dim] != 0);
            if let (first, None) = (filled.next(), filled.next()) {
                return Ok(arrays[first.unwrap_or(0)].clone());
            }
        }
        let whole = self.room(place, arrays[0].elem(), &shape)?;
        let mut at = 0;
        for array in &arrays {
            let count = array.shape()[dim];
            let part = whole.array().lmad().triplet(dim, at, count, 1);
            copy_to(self.memory, whole.with_view(part), array)?;
            at += count;
        }
        Ok(whole.into_array())
    }

    pub(super) fn replicate(
        &mut self,
        registers: &mut Registers<'a>,
        dst: RegId,
        count: Operand,
        value: Operand,
    ) -> Outcome<Array> {
        let count = registers.int(count);
        if count < 0 {
            // As of the range that `replicate` maps over in Futhark.
            return Err(Trap::new(range_message(ElemType::I64, count, 0, 1)).into());
        }
        let place = self.adviser.place(registers, dst)?;
        if !registers.is_array(value.reg) {
            self.pay_elements(count)?;
            let (elem, bits) = (registers.elem(value.reg), registers.bits(value));
            let Some(place) = place.filter(|place| place.array().shape()[..] == [count]) else {
                return match self.may_wait(registers, dst, elem, count) {
                    true => Ok(Array::unmade(self.memory, elem, &[count])),
                    false => self.filled(elem, count, bits),
                };
            };
            let piece = self.filled(elem, count.min(PIECE), bits)?;
            for from in (0..count).step_by(PIECE as usize) {
                let many = PIECE.min(count - from);
                let part = place.array().lmad().triplet(0, from, many, 1);
                let piece = piece.with_view(piece.lmad().triplet(0, 0, many, 1));
                place.with_view(part).store_all(self.memory, &piece)?;
            }
            return Ok(place.into_array());
        }
        let row = registers.take(value);
        let view = row.lmad().expand(0, count);
        self.pay_elements(view.elements())?;
        let mut whole = self.room(place, row.elem(), &view.shape())?;
        whole.store_all(self.memory, &row.with_view(view))?;
        Ok(whole.into_array())
    }

    pub(super) fn literal(
        &mut self,
        registers: &mut Registers<'a>,
        dst: RegId,
        elem: ElemType,
        rank: usize,
        rows: &[Operand],
    ) -> Outcome<Array> {
        let count = rows.len() as i64;
        let place = self.adviser.place(registers, dst)?;
        if rank == 1 {
            let mut whole = self.room(place, elem, &[count])?;
            for (i, row) in rows.iter().enumerate() {
                let at = whole.array().lmad().fix(0, i as i64).offset;
                whole.store(at, registers.bits(*row));
            }
            return Ok(whole.into_array());
        }
        let rows: SmallVec<[Array; 4]> = rows.iter().map(|row| registers.take(*row)).collect();
        let mut shape: Indices = std::iter::once(count).collect();
        match rows.first() {
            Some(first) => shape.extend(first.shape()),
            None => shape.resize(rank, 0),
        }
        if rows.iter().any(|row| row.shape()[..] != shape[1..]) {
            return Err(Trap::new("shape of element differs from shape of first element").into());
        }
        if let [row] = &rows[..]
            && let Some(view) = row.lmad().reshape(&shape)
        {
            return Ok(row.with_view(view));
        }
        self.pay_elements(Lmad::row_major(&shape).elements())?;
        let whole = self.room(place, elem, &shape)?;
        for (i, row) in rows.iter().enumerate() {
            let part = whole.array().lmad().fix(0, i as i64);
            copy_to(self.memory, whole.with_view(part), row)?;
        }
        Ok(whole.into_array())
    }

    pub(super) fn copy(
        &mut self,
        registers: &mut Registers<'a>,
        dst: RegId,
        operand: Operand,
    ) -> Outcome<Array> {
        let place = self.adviser.place(registers, dst)?;
        let array = registers.take(operand);
        // Nobody else will ever see it: it is as good as a copy.
        if place.is_none() && array.lmad().is_row_major() && array.is_writable() {
            return Ok(array);
        }
        self.pay_elements(array.elements())?;
        let whole = self.room(place, array.elem(), &array.shape())?;
        copy_to(self.memory, whole.clone(), &array)?;
        Ok(whole.into_array())
    }

    /// A place of this shape, or a new array.
    fn room(&self, place: Option<Granted>, elem: ElemType, shape: &[i64]) -> Outcome<Granted> {
        match place.filter(|place| place.array().shape()[..] == *shape) {
            Some(place) => Ok(place),
            None => Ok(Granted::fresh(self.memory, elem, shape)?),
        }
    }

    /// An array of one value.
    pub(super) fn filled(&mut self, elem: ElemType, count: i64, bits: Bits) -> Outcome<Array> {
        let mut array = Array::fresh(self.memory, elem, &[count])?;
        let target = array.block_mut().bytes_mut().expect("nobody else has seen a fresh block");
        let mut pace = self.stop.pace();
        for piece in target.chunks_mut(galopvm_store::stop::Pace::STRETCH) {
            pace.go(piece.len())?;
            fill(piece, elem.bytes(), bits);
        }
        Ok(array)
    }
}

/// Makes every element the low bytes of a value.
fn fill(bytes: &mut [u8], width: usize, bits: Bits) {
    /// The same for a number of bytes that is known when this is compiled, so that it is done in vectors.
    fn each<const W: usize>(bytes: &mut [u8], bits: Bits) {
        let pattern = bits.to_le_bytes();
        let [pattern, ..] = pattern.as_chunks::<W>().0 else { return };
        bytes.as_chunks_mut::<W>().0.fill(*pattern);
    }
    match width {
        1 => each::<1>(bytes, bits),
        2 => each::<2>(bytes, bits),
        4 => each::<4>(bytes, bits),
        _ => each::<8>(bytes, bits),
    }
}

/// Copies an array to a place of its shape, unless it lies there.
pub fn copy_to(memory: &Memory, mut place: Granted, array: &Array) -> Outcome<()> {
    if let Some(kind) = place.store_all(memory, array)? {
        memory.count_copy(kind, array.elements() as u64 * array.elem().bytes() as u64);
    }
    Ok(())
}
