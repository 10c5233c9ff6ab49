//! What an operation comes to, given the operations that made its operands: a constant, a register that is there, or another
//! operation that takes less.
//!
//! - Of constants, a constant; a constant second operand becomes part of the instruction.
//! - A number that is added to a base or an index becomes part of the address.
//! - Arithmetic whose result is taken for some lanes only, and comparisons of what two vectors have in common with zero, are
//!   one operation each where masks have registers of their own.
//! - What chooses by a comparison compares itself.
//! - Half of a mask that was joined of two is one of these; what chooses between equal things, or by a constant, is one of them.
//!
//! Only operations that are made of registers alone are looked through, never what reads memory: so it does not matter
//! where the new operation stands, if its operands are there.

use super::{Addr, Bin, Class, Cond, Extent, Lane, Mem, Op, Reg, Width};
use galopvm_base::TypedId;
use smallvec::{SmallVec, smallvec};

/// An operation with its operands.
pub type Made = (Op, SmallVec<[Reg; 4]>);

/// What an operation comes to.
pub enum Folded {
    /// What a register holds.
    Reg(Reg),
    /// Another operation.
    Op(Op, SmallVec<[Reg; 4]>),
}

/// How registers were made.
pub struct Origins<'a> {
    /// By register; nothing for parameters, and for what may not be looked through.
    pub made: &'a [Option<Made>],
    /// The class of masks.
    pub masks: Class,
}

impl Origins<'_> {
    /// How a register was made.
    pub fn of(&self, reg: Reg) -> Option<&Made> {
        self.made.get(reg.index())?.as_ref()
    }

    fn constant(&self, reg: Reg) -> Option<i64> {
        match self.of(reg)? {
            (Op::Int(value), _) => Some(*value),
            _ => None,
        }
    }

    /// A register to which a number is added, and that number.
    fn sum(&self, reg: Reg) -> Option<(Reg, i32)> {
        match self.of(reg)? {
            (Op::AluImm(Bin::Add, Width::W64, value), args) => Some((args[0], *value)),
            _ => None,
        }
    }

    /// What an operation comes to, if that is not itself. Whoever asks asks again for what it comes to.
    pub fn folded(&self, op: Op, args: &[Reg]) -> Option<Folded> {
        match (op, args) {
            (Op::Alu(bin, width), &[a, b]) => self.alu(bin, width, a, b),
            (Op::AluImm(bin, width, value), &[a]) => self.alu_imm(bin, width, a, value),
            (Op::Extend(mem), &[a]) => Some(int(extended(mem, self.constant(a)?))),
            (Op::Set(cond, width), &[a, b]) => {
                Some(int(holds(cond, width, self.constant(a)?, self.constant(b)?).into()))
            }
            (Op::BranchIf(cond, width, yes, no), &[a, b]) => {
                let number = self.constant(b)?;
                let immediate = match width {
                    Width::W32 => number as i32,
                    Width::W64 => i32::try_from(number).ok()?,
                };
                Some(Folded::Op(Op::BranchIfImm(cond, width, immediate, yes, no), smallvec![a]))
            }
            (Op::Choose | Op::Blend(_), &[_, yes, no]) if yes == no => Some(Folded::Reg(yes)),
            (Op::Choose, &[test, yes, no]) => match self.of(test)? {
                (Op::Set(cond, width), compared) => Some(Folded::Op(
                    Op::ChooseIf(*cond, *width),
                    smallvec![compared[0], compared[1], yes, no],
                )),
                _ => Some(Folded::Reg(if self.constant(test)? as u32 != 0 { yes } else { no })),
            },
            (Op::MaskHalf(upper), &[mask]) => match self.of(mask) {
                Some((Op::MaskJoin, halves)) => Some(Folded::Reg(halves[usize::from(upper)])),
                // The low bits of a mask register serve the lower half as they are.
                _ => (self.masks == Class::Mask && !upper).then_some(Folded::Reg(mask)),
            },
            (Op::Blend(lane), &[mask, yes, no]) => self.masked(lane, mask, yes, no),
            (Op::Cmp(cond @ (Cond::Eq | Cond::Ne), lane), &[a, b]) => {
                self.test(cond, lane, a, b).or_else(|| self.test(cond, lane, b, a))
            }
            (Op::V(bin @ (Bin::Shl | Bin::Shr | Bin::Sar), lane, Extent::All), &[a, b]) => {
                let count = self.constant_of_lanes(b)?;
                let is_within = (0..8 * lane.bytes() as i64).contains(&count);
                is_within.then(|| Folded::Op(Op::VShiftImm(bin, lane, count as u8), smallvec![a]))
            }
            _ => self.address(op, args),
        }
    }

    /// The number that is in every lane.
    fn constant_of_lanes(&self, reg: Reg) -> Option<i64> {
        match self.of(reg)? {
            (Op::Splat(_), number) => self.constant(number[0]),
            _ => None,
        }
    }

    /// A choice between what arithmetic made of lanes, and these lanes.
    fn masked(&self, lane: Lane, mask: Reg, yes: Reg, no: Reg) -> Option<Folded> {
        let (Op::V(bin, of, Extent::All), operands) = self.of(yes)? else { return None };
        let fits = self.masks == Class::Mask && of.is_wide() == lane.is_wide() && operands[0] == no;
        fits.then(|| Folded::Op(Op::VMasked(*bin, *of), smallvec![mask, no, operands[1]]))
    }

    /// A comparison of the bits that two vectors have in common with zero, or with the only one that they can have.
    fn test(&self, cond: Cond, lane: Lane, common: Reg, with: Reg) -> Option<Folded> {
        let (Op::V(Bin::And, of, Extent::All), operands) = self.of(common)? else { return None };
        if self.masks != Class::Mask || lane.is_float() || of.is_float() || of.is_wide() != lane.is_wide() {
            return None;
        }
        let cond = match self.constant_of_lanes(with)? {
            0 => cond,
            bit if (bit as u64).is_power_of_two() && operands.contains(&with) => match cond {
                Cond::Eq => Cond::Ne,
                _ => Cond::Eq,
            },
            _ => return None,
        };
        Some(Folded::Op(Op::Test(cond, lane), operands.clone()))
    }

    fn alu(&self, bin: Bin, width: Width, a: Reg, b: Reg) -> Option<Folded> {
        if let (Some(x), Some(y)) = (self.constant(a), self.constant(b)) {
            return value(bin, width, x, y).map(int);
        }
        let commutes = matches!(bin, Bin::Add | Bin::Mul | Bin::And | Bin::Or | Bin::Xor);
        let (a, number) = match self.constant(b) {
            Some(number) => (a, number),
            None if commutes => (b, self.constant(a)?),
            None => return None,
        };
        let immediate = match (bin, width) {
            (Bin::Add | Bin::Sub | Bin::Mul | Bin::And | Bin::Or | Bin::Xor, Width::W32) => number as i32,
            (Bin::Add | Bin::Sub | Bin::Mul | Bin::And | Bin::Or | Bin::Xor, Width::W64) => {
                i32::try_from(number).ok()?
            }
            (Bin::Shl | Bin::Shr | Bin::Sar, _) => number as i32 & (bits(width) - 1),
            _ => return None,
        };
        Some(Folded::Op(Op::AluImm(bin, width, immediate), smallvec![a]))
    }

    fn alu_imm(&self, bin: Bin, width: Width, a: Reg, number: i32) -> Option<Folded> {
        if let Some(x) = self.constant(a) {
            return value(bin, width, x, number.into()).map(int);
        }
        let other = |bin, number| Some(Folded::Op(Op::AluImm(bin, width, number), smallvec![a]));
        match (bin, number) {
            (Bin::Add | Bin::Sub | Bin::Or | Bin::Xor | Bin::Shl | Bin::Shr | Bin::Sar, 0)
            | (Bin::Mul, 1)
            | (Bin::And, -1) => Some(Folded::Reg(a)),
            (Bin::Mul | Bin::And, 0) => Some(int(0)),
            (Bin::Mul, 2..) if (number as u32).is_power_of_two() => {
                other(Bin::Shl, number.trailing_zeros() as i32)
            }
            (Bin::Sub, _) => other(Bin::Add, number.checked_neg()?),
            (Bin::Add, _) if width == Width::W64 => {
                let (first, before) = self.sum(a)?;
                let number = number.checked_add(before)?;
                Some(Folded::Op(Op::AluImm(Bin::Add, width, number), smallvec![first]))
            }
            _ => None,
        }
    }

    /// Numbers that are added to base and index, as part of the address.
    fn address(&self, mut op: Op, args: &[Reg]) -> Option<Folded> {
        let addr = address_of(&mut op)?;
        let mut args = SmallVec::from_slice(args);
        let mut of_address = args.iter_mut().rev();
        let (index, base) = match addr.scale {
            0 => (None, of_address.next()?),
            _ => (of_address.next(), of_address.next()?),
        };
        let before = *addr;
        let scale = addr.scale.into();
        for (reg, scale) in [(Some(base), 1), (index, scale)] {
            if let Some(reg) = reg
                && let Some((first, number)) = self.sum(*reg)
                && let Some(disp) = number.checked_mul(scale).and_then(|bytes| addr.disp.checked_add(bytes))
            {
                addr.disp = disp;
                *reg = first;
            }
        }
        (*addr != before).then_some(Folded::Op(op, args))
    }
}

/// The address that an operation has.
fn address_of(op: &mut Op) -> Option<&mut Addr> {
    match op {
        Op::Lea(addr)
        | Op::Load(_, addr)
        | Op::LoadLong(addr)
        | Op::Update(_, _, addr)
        | Op::UpdateImm(_, _, _, addr)
        | Op::Store(_, addr)
        | Op::LoadFloat(_, addr)
        | Op::StoreFloat(_, addr)
        | Op::LoadSplat(_, addr)
        | Op::VLoad(_, addr)
        | Op::Prefetch(addr)
        | Op::VLoadMask(_, addr)
        | Op::VStore(_, addr, _)
        | Op::VStoreMask(_, addr) => Some(addr),
        _ => None,
    }
}

fn int(value: i64) -> Folded {
    Folded::Op(Op::Int(value), smallvec![])
}

fn bits(width: Width) -> i32 {
    match width {
        Width::W32 => 32,
        Width::W64 => 64,
    }
}

/// What arithmetic on two numbers gives; of 32 bits only those count.
fn value(bin: Bin, width: Width, a: i64, b: i64) -> Option<i64> {
    let (count, is_wide) = (b as u32, width == Width::W64);
    let value = match bin {
        Bin::Add => a.wrapping_add(b),
        Bin::Sub => a.wrapping_sub(b),
        Bin::Mul => a.wrapping_mul(b),
        Bin::And => a & b,
        Bin::Or => a | b,
        Bin::Xor => a ^ b,
        Bin::Shl if is_wide => a.wrapping_shl(count),
        Bin::Shl => (a as i32).wrapping_shl(count).into(),
        Bin::Shr if is_wide => (a as u64).wrapping_shr(count) as i64,
        Bin::Shr => (a as u32).wrapping_shr(count).into(),
        Bin::Sar if is_wide => a.wrapping_shr(count),
        Bin::Sar => (a as i32).wrapping_shr(count).into(),
        _ => return None,
    };
    Some(if is_wide { value } else { (value as i32).into() })
}

fn holds(cond: Cond, width: Width, a: i64, b: i64) -> bool {
    let [a, b] = [a, b].map(|x| if width == Width::W64 { x } else { (x as i32).into() });
    match cond {
        Cond::Eq => a == b,
        Cond::Ne => a != b,
        Cond::Lt => a < b,
        Cond::Le => a <= b,
        // Numbers of 32 bits with their sign keep their order as numbers of 64 bits without.
        Cond::Below => (a as u64) < b as u64,
        Cond::BelowEq => a as u64 <= b as u64,
    }
}

fn extended(mem: Mem, value: i64) -> i64 {
    match mem {
        Mem::S8 => (value as i8).into(),
        Mem::U8 => (value as u8).into(),
        Mem::S16 => (value as i16).into(),
        Mem::U16 => (value as u16).into(),
        Mem::B32 => (value as i32).into(),
        Mem::B64 => (value as u32).into(),
    }
}

#[cfg(test)]
#[path = "fold_tests.rs"]
mod tests;
