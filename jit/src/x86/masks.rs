//! Masks: mask registers in AVX-512, vectors of all-ones and all-zeros lanes in AVX2.

use super::emitter::Emitter;
use super::encode::{Form, Instr, Length, Place, Row};
use super::rows;
use crate::lir::{Bin, Change, Cond, Lane, Op};

impl Emitter {
    /// An instruction on mask registers with two operands.
    pub fn k2(&mut self, row: Row, reg: u8, place: Place) {
        if !self.isa.is_512() {
            return self.lacks(row);
        }
        self.asm.extend(Instr::new(row, Length::L128, reg, 0, place).bytes(Form::Vex));
    }

    fn k3(&mut self, row: Row, out: u8, a: u8, b: u8) {
        self.asm.extend(Instr::new(row, Length::L256, out, a, Place::Reg(b)).bytes(Form::Vex));
    }

    /// Sets the zero flag if no lane is set.
    pub fn test_mask(&mut self, mask: u8) {
        if self.isa.is_512() {
            self.k2(rows::K_TEST, mask, Place::Reg(mask));
        } else {
            self.v2_full(rows::TEST, mask, Place::Reg(mask));
        }
    }

    /// One bit for each narrow lane into a general register.
    pub fn mask_bits(&mut self, general: u8, mask: u8) {
        if self.isa.is_512() {
            self.k2(rows::K_TO_GPR, general, Place::Reg(mask));
        } else {
            self.v2_full(rows::MASK_BITS, general, Place::Reg(mask));
        }
    }

    pub fn mask_all(&mut self, out: u8) {
        match self.isa.is_512() {
            true => self.k3(rows::K_XNOR, out, out, out),
            false => self.v3_full(rows::EQUAL_D, out, out, out),
        }
    }

    pub fn mask_logic(&mut self, bin: Bin, out: u8, a: u8, b: u8) {
        let row = match bin {
            Bin::And => rows::K_AND,
            Bin::AndNot => rows::K_AND_NOT,
            Bin::Or => rows::K_OR,
            Bin::Xor => rows::K_XOR,
            _ => return self.lacks(Op::MaskLogic(bin)),
        };
        match self.isa.is_512() {
            true => self.k3(row, out, a, b),
            false => self.bin(bin, Lane::I32, out, a, b),
        }
    }

    pub fn mask_half(&mut self, upper: bool, out: u8, a: u8) {
        if !self.isa.is_512() {
            return self.widen(Change::Extend, Lane::I32, Lane::I64, upper, out, a);
        }
        let instr = Instr {
            imm: Some(if upper { 8 } else { 0 }),
            ..Instr::new(rows::K_SHIFT_RIGHT, Length::L128, out, 0, Place::Reg(a))
        };
        self.asm.extend(instr.bytes(Form::Vex));
    }

    pub fn mask_join(&mut self, out: u8, low: u8, high: u8) {
        match self.isa.is_512() {
            true => self.k3(rows::K_UNPACK, out, high, low),
            false => self.narrow(Change::Extend, Lane::I64, Lane::I32, out, low, high),
        }
    }

    /// Arithmetic that replaces the lanes of a mask.
    pub fn bin_masked(&mut self, bin: Bin, lane: Lane, out: u8, mask: u8, by: u8) {
        match rows::bin(bin, lane) {
            Some(row) if self.isa.is_512() => {
                self.simd(Instr { mask, ..Instr::new(row, Length::L512, out, out, Place::Reg(by)) });
            }
            _ => self.lacks(Op::VMasked(bin, lane)),
        }
    }

    pub fn test_lanes(&mut self, cond: Cond, lane: Lane, out: u8, a: u8, b: u8) {
        match rows::test_int(cond, lane) {
            Some(row) if self.isa.is_512() => self.v3(row, Length::L512, out, a, b),
            _ => self.lacks(Op::Test(cond, lane)),
        }
    }

    pub fn blend(&mut self, lane: Lane, out: u8, mask: u8, set: u8, clear: u8) {
        let full = self.full();
        if self.isa.is_512() {
            let row = if lane.is_wide() { rows::BLEND_Q_MASK } else { rows::BLEND_D_MASK };
            self.simd(Instr { mask, ..Instr::new(row, full, out, clear, Place::Reg(set)) });
        } else {
            let row = if lane.is_wide() { rows::BLEND_PD } else { rows::BLEND_PS };
            self.v3_imm(row, full, out, clear, set, mask << 4);
        }
    }

    pub fn compare_lanes(&mut self, cond: Cond, lane: Lane, out: u8, a: u8, b: u8) {
        match (self.isa.is_512(), lane.is_float()) {
            (true, _) => self.compare_512(cond, lane, out, a, b),
            (false, true) => {
                let full = self.full();
                self.v3_imm(rows::compare_float(lane), full, out, a, b, float_predicate(cond));
            }
            (false, false) => self.compare_256(cond, lane, out, a, b),
        }
    }

    fn compare_512(&mut self, cond: Cond, lane: Lane, out: u8, a: u8, b: u8) {
        let (row, predicate) = if lane.is_float() {
            (rows::compare_float(lane), float_predicate(cond))
        } else {
            let predicate = match cond {
                Cond::Eq => 0,
                Cond::Lt | Cond::Below => 1,
                Cond::Le | Cond::BelowEq => 2,
                Cond::Ne => 4,
            };
            (rows::compare_int(lane, matches!(cond, Cond::Below | Cond::BelowEq)), predicate)
        };
        self.v3_imm(row, Length::L512, out, a, b, predicate);
    }

    /// AVX2 has "equal" and "greater, signed" only.
    fn compare_256(&mut self, cond: Cond, lane: Lane, out: u8, a: u8, b: u8) {
        let (full, [s0, s1, s2]) = (self.full(), self.scratch());
        let wide = lane.is_wide();
        let equal = if wide { rows::EQUAL_Q } else { rows::EQUAL_D };
        let greater = if wide { rows::GREATER_Q } else { rows::GREATER_D };
        let (mut a, mut b) = (a, b);
        if let Cond::Below | Cond::BelowEq = cond {
            // Unsigned order is signed order with the sign bits flipped.
            self.v3(rows::EQUAL_D, full, s0, s0, s0);
            self.shift(Bin::Shl, lane, if wide { 63 } else { 31 }, s0, s0);
            self.bin(Bin::Xor, lane, s1, a, s0);
            self.bin(Bin::Xor, lane, s2, b, s0);
            (a, b) = (s1, s2);
        }
        match cond {
            Cond::Eq => return self.v3(equal, full, out, a, b),
            Cond::Lt | Cond::Below => return self.v3(greater, full, out, b, a),
            Cond::Ne => self.v3(equal, full, out, a, b),
            Cond::Le | Cond::BelowEq => self.v3(greater, full, out, a, b),
        }
        self.v3(rows::EQUAL_D, full, s0, s0, s0);
        self.bin(Bin::Xor, Lane::I32, out, out, s0);
    }
}

/// Ordered quiet predicates; "not equal" is true for unordered operands.
fn float_predicate(cond: Cond) -> u8 {
    match cond {
        Cond::Eq => 0x00,
        Cond::Ne => 0x04,
        Cond::Lt | Cond::Below => 0x11,
        Cond::Le | Cond::BelowEq => 0x12,
    }
}
