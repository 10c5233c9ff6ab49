//! The registers of one call.
//!
//! Scalars and arrays live apart, so that scalar code touches plain numbers only. Verified code uses a register only
//! after its definition and never after its last use; that is what the `expect`s here rely on.

use crate::prepare::PreparedFunction;
use galopvm_base::{Bits, ElemType, Scalar, TypedId};
use galopvm_bytecode::{FuncId, Operand, RegId, ValueType};
use galopvm_data::Value;
use galopvm_store::array::Array;
use smallvec::SmallVec;

/// Values of registers.
#[derive(Debug, Default)]
pub(crate) struct Frame {
    /// By register number; places of array registers are not used.
    scalars: Vec<Bits>,
    /// By slot.
    arrays: Vec<Option<Array>>,
}

/// Values on their way from operands to registers.
#[derive(Default)]
pub(crate) struct Moved {
    scalars: SmallVec<[Bits; 4]>,
    /// On the heap, so that moving scalars stays cheap.
    arrays: Vec<Array>,
}

/// A frame together with its layout.
pub struct Registers<'a> {
    /// The function that is called.
    pub function: FuncId,
    /// Its code.
    pub code: &'a galopvm_bytecode::Function,
    /// What is known of its code.
    pub prepared: &'a PreparedFunction,
    /// How deep calls are nested.
    pub depth: usize,
    pub(crate) frame: Frame,
}

const DEFINED: &str = "verified code defines registers before their uses";
const TYPED: &str = "verified code uses scalars as scalars and arrays as arrays";

impl Frame {
    /// Makes room for a function's registers.
    pub(crate) fn resize(&mut self, function: &PreparedFunction) {
        self.scalars.clear();
        self.scalars.resize(function.slots.len(), 0);
        self.arrays.clear();
        self.arrays.resize_with(function.arrays, || None);
    }

    /// Gives up all arrays.
    pub(crate) fn clear(&mut self) {
        self.arrays.clear();
    }
}

impl<'a> Registers<'a> {
    #[inline]
    fn array_slot(&self, reg: RegId) -> usize {
        self.prepared.slots[reg].expect(TYPED) as usize
    }

    /// The type of a register.
    #[inline]
    pub fn ty(&self, reg: RegId) -> ValueType {
        self.code.regs[reg]
    }

    /// The element type of a register.
    #[inline]
    pub fn elem(&self, reg: RegId) -> ElemType {
        self.code.regs[reg].elem
    }

    /// True for a register that holds an array.
    #[inline]
    pub fn is_array(&self, reg: RegId) -> bool {
        self.prepared.slots[reg].is_some()
    }

    /// The bits of a scalar register.
    #[inline]
    pub fn bits(&self, operand: Operand) -> Bits {
        self.frame.scalars[operand.reg.index()]
    }

    /// An `i64` register.
    #[inline]
    pub fn int(&self, operand: Operand) -> i64 {
        self.bits(operand) as i64
    }

    /// A scalar register with its type.
    pub fn scalar(&self, reg: RegId) -> Scalar {
        Scalar::new(self.elem(reg), self.frame.scalars[reg.index()])
    }

    /// Defines a scalar register.
    #[inline]
    pub fn set_bits(&mut self, reg: RegId, bits: Bits) {
        self.frame.scalars[reg.index()] = bits;
    }

    /// Defines an array register.
    #[inline]
    pub fn set_array(&mut self, reg: RegId, array: Array) {
        let slot = self.array_slot(reg);
        self.frame.arrays[slot] = Some(array);
    }

    /// An array register, looked at.
    #[inline]
    pub fn array(&self, operand: Operand) -> &Array {
        self.array_of(operand.reg).expect(DEFINED)
    }

    /// An array register, if it has a value now.
    pub fn array_of(&self, reg: RegId) -> Option<&Array> {
        self.frame.arrays[self.array_slot(reg)].as_ref()
    }

    /// An array operand: taken out of its register if this is the last use, else shared.
    #[inline]
    pub fn take(&mut self, operand: Operand) -> Array {
        let slot = self.array_slot(operand.reg);
        let register = &mut self.frame.arrays[slot];
        if operand.last { register.take().expect(DEFINED) } else { register.clone().expect(DEFINED) }
    }

    /// Gives up an array that was only looked at, if that was the last use.
    #[inline]
    pub fn drop_last(&mut self, operand: Operand) {
        if operand.last {
            let slot = self.array_slot(operand.reg);
            self.frame.arrays[slot] = None;
        }
    }

    /// Gives up the arrays among operands of which this was the last use.
    pub fn drop_all<'o>(&mut self, operands: impl IntoIterator<Item = &'o Operand>) {
        for operand in operands {
            if self.is_array(operand.reg) {
                self.drop_last(*operand);
            }
        }
    }

    /// Takes the value of a register back.
    pub fn forget(&mut self, reg: RegId) {
        if self.is_array(reg) {
            let slot = self.array_slot(reg);
            self.frame.arrays[slot] = None;
        }
    }

    /// Gives up arrays whose scope ends.
    #[inline]
    pub fn release(&mut self, slots: &[u32]) {
        for slot in slots {
            self.frame.arrays[*slot as usize] = None;
        }
    }

    /// Moves scalars from operands to registers, as if all at once.
    #[inline]
    pub(crate) fn move_scalars(&mut self, operands: &[Operand], regs: impl ExactSizeIterator<Item = RegId>) {
        match operands {
            [a] => {
                let a = self.bits(*a);
                regs.for_each(|reg| self.set_bits(reg, a));
            }
            _ => {
                let values: SmallVec<[Bits; 4]> =
                    operands.iter().map(|operand| self.bits(*operand)).collect();
                regs.zip(values).for_each(|(reg, value)| self.set_bits(reg, value));
            }
        }
    }

    /// Takes operands, to be put into other registers.
    pub(crate) fn take_all(&mut self, operands: &[Operand]) -> Moved {
        let mut moved = Moved::default();
        for operand in operands {
            if self.is_array(operand.reg) {
                let array = self.take(*operand);
                moved.arrays.push(array);
            } else {
                moved.scalars.push(self.bits(*operand));
            }
        }
        moved
    }

    /// Puts what was taken into registers of the same types.
    pub(crate) fn put_all(&mut self, regs: impl IntoIterator<Item = RegId>, moved: Moved) {
        let (mut scalars, mut arrays) = (moved.scalars.into_iter(), moved.arrays.into_iter());
        for reg in regs {
            if self.is_array(reg) {
                self.set_array(reg, arrays.next().expect(TYPED));
            } else {
                self.set_bits(reg, scalars.next().expect(TYPED));
            }
        }
    }

    /// Puts a value into a register of its type.
    pub fn set_value(&mut self, reg: RegId, value: Value) {
        match value {
            Value::Scalar(scalar) => self.set_bits(reg, scalar.bits),
            Value::Array(array) => self.set_array(reg, array),
        }
    }

    /// The value of an operand, taken if this is the last use.
    pub(crate) fn value(&mut self, operand: Operand) -> Value {
        if self.is_array(operand.reg) {
            Value::Array(self.take(operand))
        } else {
            Value::Scalar(self.scalar(operand.reg))
        }
    }
}
