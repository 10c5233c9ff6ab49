//! Instructions on general registers, and moves between them and scalar floats.

use super::encode::{Length, Place};
use super::{Emitter, rows};
use crate::allocate::RECORD;
use crate::lir::{Addr, Bin, Cond, Lane, Mem, Op, Width};
use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, dynasm};

/// The condition code of "not zero"; the lowest bit of a code negates it.
pub const NOT_ZERO: u8 = 5;

/// The condition code of a comparison of integers.
pub fn condition(cond: Cond) -> u8 {
    match cond {
        Cond::Eq => 4,
        Cond::Ne => 5,
        Cond::Lt => 12,
        Cond::Le => 14,
        Cond::Below => 2,
        Cond::BelowEq => 6,
    }
}

/// True for operations of this file.
pub fn handles(op: Op) -> bool {
    matches!(
        op,
        Op::Int(_)
            | Op::Word(_)
            | Op::Alu(..)
            | Op::AluImm(..)
            | Op::Extend(_)
            | Op::Quot(..)
            | Op::Rem(..)
            | Op::MulHigh(..)
            | Op::Set(..)
            | Op::SetFloat(..)
            | Op::Choose
            | Op::ChooseFloat
            | Op::Lea(_)
    )
}

impl Emitter<'_> {
    pub(super) fn general_op(&mut self, op: Op, out: u8, a: &[u8; 8]) {
        match op {
            Op::Int(value) => self.constant(out, value),
            Op::Word(k) => dynasm!(self.asm ; .arch x64 ; mov Rq(out), [Rq(RECORD) + 8 * k as i32]),
            Op::Alu(bin, width) => self.alu(bin, width, out, a[0], a[1]),
            Op::AluImm(bin, width, value) => self.alu_imm(bin, width, out, a[0], value),
            Op::Extend(mem) => match mem {
                Mem::S8 => dynasm!(self.asm ; .arch x64 ; movsx Rq(out), Rb(a[0])),
                Mem::U8 => dynasm!(self.asm ; .arch x64 ; movzx Rd(out), Rb(a[0])),
                Mem::S16 => dynasm!(self.asm ; .arch x64 ; movsx Rq(out), Rw(a[0])),
                Mem::U16 => dynasm!(self.asm ; .arch x64 ; movzx Rd(out), Rw(a[0])),
                Mem::B32 => dynasm!(self.asm ; .arch x64 ; movsxd Rq(out), Rd(a[0])),
                Mem::B64 => dynasm!(self.asm ; .arch x64 ; mov Rd(out), Rd(a[0])),
            },
            Op::Quot(signed, width) => {
                self.divide(signed, width, a[0], a[1]);
                self.copy(out, 0);
            }
            Op::Rem(signed, width) => {
                self.divide(signed, width, a[0], a[1]);
                self.copy(out, 2);
            }
            Op::MulHigh(signed, width) => {
                self.copy(0, a[0]);
                match (signed, width) {
                    (true, Width::W32) => dynasm!(self.asm ; .arch x64 ; imul Rd(a[1])),
                    (true, Width::W64) => dynasm!(self.asm ; .arch x64 ; imul Rq(a[1])),
                    (false, Width::W32) => dynasm!(self.asm ; .arch x64 ; mul Rd(a[1])),
                    (false, Width::W64) => dynasm!(self.asm ; .arch x64 ; mul Rq(a[1])),
                }
                self.copy(out, 2);
            }
            Op::Set(cond, width) => {
                self.compare(width, a[0], a[1]);
                self.set(condition(cond), out);
            }
            Op::SetFloat(cond, lane) => self.set_float(cond, lane, out, a[0], a[1]),
            Op::Choose => {
                self.copy(0, a[2]);
                dynasm!(self.asm
                    ; .arch x64
                    ; test Rd(a[0]), Rd(a[0])
                    ; cmovne rax, Rq(a[1])
                );
                self.copy(out, 0);
            }
            Op::ChooseFloat => {
                let scratch = self.scratch()[1];
                let over = self.asm.new_dynamic_label();
                self.v_move(scratch, a[2]);
                dynasm!(self.asm ; .arch x64 ; test Rd(a[0]), Rd(a[0]) ; je =>over);
                self.v_move(scratch, a[1]);
                dynasm!(self.asm ; .arch x64 ; =>over);
                self.v_move(out, scratch);
            }
            Op::Lea(addr) => self.lea(out, addr, a),
            _ => self.lacks(op),
        }
    }

    pub(super) fn copy(&mut self, to: u8, from: u8) {
        if to != from {
            dynasm!(self.asm ; .arch x64 ; mov Rq(to), Rq(from));
        }
    }

    pub(super) fn constant(&mut self, out: u8, value: i64) {
        match (i32::try_from(value), u32::try_from(value)) {
            (Ok(0), _) => dynasm!(self.asm ; .arch x64 ; xor Rd(out), Rd(out)),
            (_, Ok(small)) => dynasm!(self.asm ; .arch x64 ; mov Rd(out), small as i32),
            (Ok(small), _) => dynasm!(self.asm ; .arch x64 ; mov Rq(out), small),
            _ => dynasm!(self.asm ; .arch x64 ; mov Rq(out), QWORD value),
        }
    }

    pub(super) fn compare(&mut self, width: Width, a: u8, b: u8) {
        match width {
            Width::W32 => dynasm!(self.asm ; .arch x64 ; cmp Rd(a), Rd(b)),
            Width::W64 => dynasm!(self.asm ; .arch x64 ; cmp Rq(a), Rq(b)),
        }
    }

    fn set(&mut self, condition: u8, out: u8) {
        // setcc al: 0F 90+cc C0.
        self.asm.extend([0x0f, 0x90 | condition, 0xc0]);
        dynasm!(self.asm ; .arch x64 ; movzx Rd(out), al);
    }

    pub(super) fn jump_if(&mut self, condition: u8, label: DynamicLabel) {
        match condition {
            2 => dynasm!(self.asm ; .arch x64 ; jb =>label),
            3 => dynasm!(self.asm ; .arch x64 ; jae =>label),
            4 => dynasm!(self.asm ; .arch x64 ; je =>label),
            5 => dynasm!(self.asm ; .arch x64 ; jne =>label),
            6 => dynasm!(self.asm ; .arch x64 ; jbe =>label),
            7 => dynasm!(self.asm ; .arch x64 ; ja =>label),
            12 => dynasm!(self.asm ; .arch x64 ; jl =>label),
            13 => dynasm!(self.asm ; .arch x64 ; jge =>label),
            14 => dynasm!(self.asm ; .arch x64 ; jle =>label),
            _ => dynasm!(self.asm ; .arch x64 ; jg =>label),
        }
    }

    fn set_float(&mut self, cond: Cond, lane: Lane, out: u8, a: u8, b: u8) {
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
                self.set(7, out);
            }
            Cond::Le | Cond::BelowEq => {
                self.v2(row, Length::L128, b, Place::Reg(a));
                self.set(3, out);
            }
        }
    }

    fn divide(&mut self, signed: bool, width: Width, a: u8, b: u8) {
        self.copy(0, a);
        match (signed, width) {
            (true, Width::W32) => dynasm!(self.asm ; .arch x64 ; cdq ; idiv Rd(b)),
            (true, Width::W64) => dynasm!(self.asm ; .arch x64 ; cqo ; idiv Rq(b)),
            (false, Width::W32) => dynasm!(self.asm ; .arch x64 ; xor edx, edx ; div Rd(b)),
            (false, Width::W64) => dynasm!(self.asm ; .arch x64 ; xor edx, edx ; div Rq(b)),
        }
    }

    fn alu(&mut self, bin: Bin, width: Width, out: u8, a: u8, b: u8) {
        if let Bin::Shl | Bin::Shr | Bin::Sar = bin {
            self.copy(1, b);
            self.copy(0, a);
            match (bin, width) {
                (Bin::Shl, Width::W32) => dynasm!(self.asm ; .arch x64 ; shl eax, cl),
                (Bin::Shl, Width::W64) => dynasm!(self.asm ; .arch x64 ; shl rax, cl),
                (Bin::Shr, Width::W32) => dynasm!(self.asm ; .arch x64 ; shr eax, cl),
                (Bin::Shr, Width::W64) => dynasm!(self.asm ; .arch x64 ; shr rax, cl),
                (_, Width::W32) => dynasm!(self.asm ; .arch x64 ; sar eax, cl),
                (_, Width::W64) => dynasm!(self.asm ; .arch x64 ; sar rax, cl),
            }
            self.copy(out, 0);
            return;
        }
        // The first operand is replaced: bring it to the result, or to rax if the result is the second operand.
        let commutes = bin != Bin::Sub;
        let (into, b) = match () {
            () if out == a => (out, b),
            () if out == b && commutes => (out, a),
            () => {
                let into = if out == b { 0 } else { out };
                self.copy(into, a);
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
        self.copy(out, into);
    }

    fn alu_imm(&mut self, bin: Bin, width: Width, out: u8, a: u8, value: i32) {
        let count = value as i8;
        match (bin, width) {
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
            _ => self.copy(out, a),
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

    fn lea(&mut self, out: u8, addr: Addr, a: &[u8; 8]) {
        let disp = addr.disp;
        match addr.scale {
            0 => dynasm!(self.asm ; .arch x64 ; lea Rq(out), [Rq(a[0]) + disp]),
            1 => dynasm!(self.asm ; .arch x64 ; lea Rq(out), [Rq(a[0]) + Rq(a[1]) + disp]),
            2 => dynasm!(self.asm ; .arch x64 ; lea Rq(out), [Rq(a[0]) + 2 * Rq(a[1]) + disp]),
            4 => dynasm!(self.asm ; .arch x64 ; lea Rq(out), [Rq(a[0]) + 4 * Rq(a[1]) + disp]),
            _ => dynasm!(self.asm ; .arch x64 ; lea Rq(out), [Rq(a[0]) + 8 * Rq(a[1]) + disp]),
        }
    }
}
