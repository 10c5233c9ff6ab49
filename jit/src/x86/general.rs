//! Instructions on general registers, and moves between them and scalar floats.

// The assembler macro converts register numbers to the type they have already.
#![allow(clippy::useless_conversion)]

use super::emitter::Emitter;
use super::encode::{Length, Place};
use super::rows;
use crate::lir::{Addr, Bin, Cond, Lane, Mem, Op, Width};
use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, dynasm};

/// What the flags say, as the lowest bits of jump and set instructions have it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Condition {
    Below = 2,
    AboveEqual = 3,
    Equal = 4,
    NotEqual = 5,
    BelowEqual = 6,
    Above = 7,
    Less = 12,
    GreaterEqual = 13,
    LessEqual = 14,
    Greater = 15,
}

impl Condition {
    /// The condition that holds where this one does not.
    pub fn negated(self) -> Condition {
        match self {
            Condition::Below => Condition::AboveEqual,
            Condition::AboveEqual => Condition::Below,
            Condition::Equal => Condition::NotEqual,
            Condition::NotEqual => Condition::Equal,
            Condition::BelowEqual => Condition::Above,
            Condition::Above => Condition::BelowEqual,
            Condition::Less => Condition::GreaterEqual,
            Condition::GreaterEqual => Condition::Less,
            Condition::LessEqual => Condition::Greater,
            Condition::Greater => Condition::LessEqual,
        }
    }
}

/// The condition of a comparison of integers.
pub fn condition(cond: Cond) -> Condition {
    match cond {
        Cond::Eq => Condition::Equal,
        Cond::Ne => Condition::NotEqual,
        Cond::Lt => Condition::Less,
        Cond::Le => Condition::LessEqual,
        Cond::Below => Condition::Below,
        Cond::BelowEq => Condition::BelowEqual,
    }
}

impl Emitter {
    pub fn extend(&mut self, mem: Mem, out: u8, a: u8) {
        match mem {
            Mem::S8 => dynasm!(self.asm ; .arch x64 ; movsx Rq(out), Rb(a)),
            Mem::U8 => dynasm!(self.asm ; .arch x64 ; movzx Rd(out), Rb(a)),
            Mem::S16 => dynasm!(self.asm ; .arch x64 ; movsx Rq(out), Rw(a)),
            Mem::U16 => dynasm!(self.asm ; .arch x64 ; movzx Rd(out), Rw(a)),
            Mem::B32 => dynasm!(self.asm ; .arch x64 ; movsxd Rq(out), Rd(a)),
            Mem::B64 => dynasm!(self.asm ; .arch x64 ; mov Rd(out), Rd(a)),
        }
    }

    pub fn multiply_high(&mut self, signed: bool, width: Width, out: u8, a: u8, b: u8) {
        self.move_int(0, a);
        match (signed, width) {
            (true, Width::W32) => dynasm!(self.asm ; .arch x64 ; imul Rd(b)),
            (true, Width::W64) => dynasm!(self.asm ; .arch x64 ; imul Rq(b)),
            (false, Width::W32) => dynasm!(self.asm ; .arch x64 ; mul Rd(b)),
            (false, Width::W64) => dynasm!(self.asm ; .arch x64 ; mul Rq(b)),
        }
        self.move_int(out, 2);
    }

    pub fn choose(&mut self, out: u8, test: u8, set: u8, clear: u8) {
        dynasm!(self.asm ; .arch x64 ; test Rd(test), Rd(test));
        self.choose_by(Condition::NotEqual, out, set, clear);
    }

    /// By what the flags say.
    pub fn choose_by(&mut self, condition: Condition, out: u8, set: u8, clear: u8) {
        if out == set {
            self.move_if(condition.negated(), out, clear);
        } else {
            // A move leaves the flags as they are.
            self.move_int(out, clear);
            self.move_if(condition, out, set);
        }
    }

    /// Moves 64 bits if a condition holds.
    fn move_if(&mut self, condition: Condition, to: u8, from: u8) {
        // cmovcc: REX.W 0F 40+cc, with the target in the first of the two register fields.
        let rex = 0x48 | (to >> 3) << 2 | from >> 3;
        self.asm.extend([rex, 0x0f, 0x40 | condition as u8, 0xc0 | (to & 7) << 3 | from & 7]);
    }

    pub fn choose_float(&mut self, out: u8, test: u8, set: u8, clear: u8) {
        let scratch = self.scratch()[1];
        let over = self.asm.new_dynamic_label();
        self.v_move(scratch, clear);
        dynasm!(self.asm ; .arch x64 ; test Rd(test), Rd(test) ; je =>over);
        self.v_move(scratch, set);
        dynasm!(self.asm ; .arch x64 ; =>over);
        self.v_move(out, scratch);
    }

    pub fn move_int(&mut self, to: u8, from: u8) {
        if to != from {
            dynasm!(self.asm ; .arch x64 ; mov Rq(to), Rq(from));
        }
    }

    pub fn constant(&mut self, out: u8, value: i64) {
        match (i32::try_from(value), u32::try_from(value)) {
            (Ok(0), _) => dynasm!(self.asm ; .arch x64 ; xor Rd(out), Rd(out)),
            (_, Ok(small)) => dynasm!(self.asm ; .arch x64 ; mov Rd(out), small as i32),
            (Ok(small), _) => dynasm!(self.asm ; .arch x64 ; mov Rq(out), small),
            _ => dynasm!(self.asm ; .arch x64 ; mov Rq(out), QWORD value),
        }
    }

    pub fn compare(&mut self, width: Width, a: u8, b: u8) {
        match width {
            Width::W32 => dynasm!(self.asm ; .arch x64 ; cmp Rd(a), Rd(b)),
            Width::W64 => dynasm!(self.asm ; .arch x64 ; cmp Rq(a), Rq(b)),
        }
    }

    pub fn compare_imm(&mut self, width: Width, a: u8, value: i32) {
        match width {
            Width::W32 => dynasm!(self.asm ; .arch x64 ; cmp Rd(a), value),
            Width::W64 => dynasm!(self.asm ; .arch x64 ; cmp Rq(a), value),
        }
    }

    pub fn set(&mut self, condition: Condition, out: u8) {
        // setcc al: 0F 90+cc C0.
        self.asm.extend([0x0f, 0x90 | condition as u8, 0xc0]);
        dynasm!(self.asm ; .arch x64 ; movzx Rd(out), al);
    }

    pub fn jump_if(&mut self, condition: Condition, label: DynamicLabel) {
        match condition {
            Condition::Below => dynasm!(self.asm ; .arch x64 ; jb =>label),
            Condition::AboveEqual => dynasm!(self.asm ; .arch x64 ; jae =>label),
            Condition::Equal => dynasm!(self.asm ; .arch x64 ; je =>label),
            Condition::NotEqual => dynasm!(self.asm ; .arch x64 ; jne =>label),
            Condition::BelowEqual => dynasm!(self.asm ; .arch x64 ; jbe =>label),
            Condition::Above => dynasm!(self.asm ; .arch x64 ; ja =>label),
            Condition::Less => dynasm!(self.asm ; .arch x64 ; jl =>label),
            Condition::GreaterEqual => dynasm!(self.asm ; .arch x64 ; jge =>label),
            Condition::LessEqual => dynasm!(self.asm ; .arch x64 ; jle =>label),
            Condition::Greater => dynasm!(self.asm ; .arch x64 ; jg =>label),
        }
    }

    pub fn set_float(&mut self, cond: Cond, lane: Lane, out: u8, a: u8, b: u8) {
        let row = rows::compare_flags(lane);
        match cond {
            // Equal and ordered; different or unordered.
            Cond::Eq | Cond::Ne => {
                self.v2(row, Length::L128, a, Place::Reg(b));
                if cond == Cond::Eq {
                    dynasm!(self.asm ; .arch x64 ; setnp al ; sete cl ; and al, cl);
                } else {
                    dynasm!(self.asm ; .arch x64 ; setp al ; setne cl ; or al, cl);
                }
                dynasm!(self.asm ; .arch x64 ; movzx Rd(out), al);
            }
            // The flags of `b ? a` say "above" for ordered operands only.
            Cond::Lt | Cond::Below => {
                self.v2(row, Length::L128, b, Place::Reg(a));
                self.set(Condition::Above, out);
            }
            Cond::Le | Cond::BelowEq => {
                self.v2(row, Length::L128, b, Place::Reg(a));
                self.set(Condition::AboveEqual, out);
            }
        }
    }

    pub fn divide(&mut self, signed: bool, width: Width, a: u8, b: u8) {
        self.move_int(0, a);
        match (signed, width) {
            (true, Width::W32) => dynasm!(self.asm ; .arch x64 ; cdq ; idiv Rd(b)),
            (true, Width::W64) => dynasm!(self.asm ; .arch x64 ; cqo ; idiv Rq(b)),
            (false, Width::W32) => dynasm!(self.asm ; .arch x64 ; xor edx, edx ; div Rd(b)),
            (false, Width::W64) => dynasm!(self.asm ; .arch x64 ; xor edx, edx ; div Rq(b)),
        }
    }

    pub fn alu(&mut self, bin: Bin, width: Width, out: u8, a: u8, b: u8) {
        if let Bin::Shl | Bin::Shr | Bin::Sar = bin {
            self.move_int(1, b);
            self.move_int(0, a);
            match (bin, width) {
                (Bin::Shl, Width::W32) => dynasm!(self.asm ; .arch x64 ; shl eax, cl),
                (Bin::Shl, Width::W64) => dynasm!(self.asm ; .arch x64 ; shl rax, cl),
                (Bin::Shr, Width::W32) => dynasm!(self.asm ; .arch x64 ; shr eax, cl),
                (Bin::Shr, Width::W64) => dynasm!(self.asm ; .arch x64 ; shr rax, cl),
                (_, Width::W32) => dynasm!(self.asm ; .arch x64 ; sar eax, cl),
                (_, Width::W64) => dynasm!(self.asm ; .arch x64 ; sar rax, cl),
            }
            self.move_int(out, 0);
            return;
        }
        match (bin, width) {
            (Bin::Add, Width::W32) if out != a && out != b => {
                dynasm!(self.asm ; .arch x64 ; lea Rd(out), [Rq(a) + Rq(b)]);
                return;
            }
            (Bin::Add, Width::W64) if out != a && out != b => {
                dynasm!(self.asm ; .arch x64 ; lea Rq(out), [Rq(a) + Rq(b)]);
                return;
            }
            _ => {}
        }
        // The first operand is replaced: bring it to the result, or to rax if the result is the second operand.
        let commutes = bin != Bin::Sub;
        let (into, b) = match () {
            () if out == a => (out, b),
            () if out == b && commutes => (out, a),
            () => {
                let into = if out == b { 0 } else { out };
                self.move_int(into, a);
                (into, b)
            }
        };
        match (bin, width) {
            (Bin::Add, Width::W32) => dynasm!(self.asm ; .arch x64 ; add Rd(into), Rd(b)),
            (Bin::Add, Width::W64) => dynasm!(self.asm ; .arch x64 ; add Rq(into), Rq(b)),
            (Bin::Sub, Width::W32) => dynasm!(self.asm ; .arch x64 ; sub Rd(into), Rd(b)),
            (Bin::Sub, Width::W64) => dynasm!(self.asm ; .arch x64 ; sub Rq(into), Rq(b)),
            (Bin::Mul, Width::W32) => dynasm!(self.asm ; .arch x64 ; imul Rd(into), Rd(b)),
            (Bin::Mul, Width::W64) => dynasm!(self.asm ; .arch x64 ; imul Rq(into), Rq(b)),
            (Bin::And, _) => dynasm!(self.asm ; .arch x64 ; and Rq(into), Rq(b)),
            (Bin::Or, _) => dynasm!(self.asm ; .arch x64 ; or Rq(into), Rq(b)),
            (Bin::Xor, _) => dynasm!(self.asm ; .arch x64 ; xor Rq(into), Rq(b)),
            _ => self.lacks(Op::Alu(bin, width)),
        }
        self.move_int(out, into);
    }

    pub fn alu_imm(&mut self, bin: Bin, width: Width, out: u8, a: u8, value: i32) {
        let count = value as i8;
        match (bin, width) {
            (Bin::Add, Width::W32) if out != a => {
                dynasm!(self.asm ; .arch x64 ; lea Rd(out), [Rq(a) + value]);
                return;
            }
            (Bin::Add, Width::W64) if out != a => {
                dynasm!(self.asm ; .arch x64 ; lea Rq(out), [Rq(a) + value]);
                return;
            }
            (Bin::Mul, Width::W32) => {
                dynasm!(self.asm ; .arch x64 ; imul Rd(out), Rd(a), value);
                return;
            }
            (Bin::Mul, Width::W64) => {
                dynasm!(self.asm ; .arch x64 ; imul Rq(out), Rq(a), value);
                return;
            }
            _ => self.move_int(out, a),
        }
        match (bin, width) {
            (Bin::Add, Width::W32) => dynasm!(self.asm ; .arch x64 ; add Rd(out), value),
            (Bin::Add, Width::W64) => dynasm!(self.asm ; .arch x64 ; add Rq(out), value),
            (Bin::Sub, Width::W32) => dynasm!(self.asm ; .arch x64 ; sub Rd(out), value),
            (Bin::Sub, Width::W64) => dynasm!(self.asm ; .arch x64 ; sub Rq(out), value),
            (Bin::And, Width::W32) => dynasm!(self.asm ; .arch x64 ; and Rd(out), value),
            (Bin::And, Width::W64) => dynasm!(self.asm ; .arch x64 ; and Rq(out), value),
            (Bin::Or, _) => dynasm!(self.asm ; .arch x64 ; or Rq(out), value),
            (Bin::Xor, Width::W32) => dynasm!(self.asm ; .arch x64 ; xor Rd(out), value),
            (Bin::Xor, Width::W64) => dynasm!(self.asm ; .arch x64 ; xor Rq(out), value),
            (Bin::Shl, Width::W32) => dynasm!(self.asm ; .arch x64 ; shl Rd(out), count),
            (Bin::Shl, Width::W64) => dynasm!(self.asm ; .arch x64 ; shl Rq(out), count),
            (Bin::Shr, Width::W32) => dynasm!(self.asm ; .arch x64 ; shr Rd(out), count),
            (Bin::Shr, Width::W64) => dynasm!(self.asm ; .arch x64 ; shr Rq(out), count),
            (Bin::Sar, Width::W32) => dynasm!(self.asm ; .arch x64 ; sar Rd(out), count),
            (Bin::Sar, Width::W64) => dynasm!(self.asm ; .arch x64 ; sar Rq(out), count),
            _ => self.lacks(Op::AluImm(bin, width, value)),
        }
    }

    pub fn lea(&mut self, out: u8, addr: Addr, base: u8, index: u8) {
        let disp = addr.disp;
        match addr.scale {
            0 => dynasm!(self.asm ; .arch x64 ; lea Rq(out), [Rq(base) + disp]),
            1 => dynasm!(self.asm ; .arch x64 ; lea Rq(out), [Rq(base) + Rq(index) + disp]),
            2 => dynasm!(self.asm ; .arch x64 ; lea Rq(out), [Rq(base) + 2 * Rq(index) + disp]),
            4 => dynasm!(self.asm ; .arch x64 ; lea Rq(out), [Rq(base) + 4 * Rq(index) + disp]),
            8 => dynasm!(self.asm ; .arch x64 ; lea Rq(out), [Rq(base) + 8 * Rq(index) + disp]),
            _ => self.lacks(Op::Lea(addr)),
        }
    }
}
