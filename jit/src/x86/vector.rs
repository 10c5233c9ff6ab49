//! Arithmetic, conversions and rearrangements of vector registers and scalar floats.

use super::emitter::Emitter;
use super::encode::{Instr, Length, Place};
use super::rows;
use crate::lir::{Bin, Change, Extent, Lane, Op};
use crate::target::Target;
use dynasmrt::{DynasmApi, dynasm};

/// Tables of lane numbers that `Iota`, `Reverse` and `SplatLast` load from.
static COUNT_NARROW: [i32; 256] = counting();
static COUNT_WIDE: [i64; 256] = counting_wide();
static DOWN_NARROW: [i32; 16] = [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0];
static DOWN_WIDE: [i64; 8] = [7, 6, 5, 4, 3, 2, 1, 0];
/// The even lanes of one register and the odd ones of the one behind it.
static ALTERNATE_NARROW: [i32; 16] = [0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31];
static ALTERNATE_WIDE: [i64; 8] = [0, 2, 4, 6, 9, 11, 13, 15];
/// Of a number as many bits count as the lanes have.
static LAST_NARROW: [i32; 16] = [15; 16];
static LAST_WIDE: [i64; 8] = [7; 8];

const fn counting() -> [i32; 256] {
    let mut table = [0; 256];
    let mut k = 0;
    while k < 256 {
        table[k] = k as i32;
        k += 1;
    }
    table
}

const fn counting_wide() -> [i64; 256] {
    let mut table = [0; 256];
    let mut k = 0;
    while k < 256 {
        table[k] = k as i64;
        k += 1;
    }
    table
}

impl Emitter {
    pub fn iota(&mut self, lane: Lane, start: u32, out: u8) {
        let start = start as usize;
        if start + self.isa.lanes() > COUNT_NARROW.len() {
            return self.lacks(Op::Iota(lane, start as u32));
        }
        let at = if lane.is_wide() {
            COUNT_WIDE[start..].as_ptr() as i64
        } else {
            COUNT_NARROW[start..].as_ptr() as i64
        };
        self.load_static(out, at);
    }

    fn load_static(&mut self, out: u8, at: i64) {
        dynasm!(self.asm ; .arch x64 ; mov rax, QWORD at);
        self.v2_full(rows::MOV_LOAD, out, Place::Base { base: 0, disp: 0 });
    }

    /// Arithmetic on scalar floats, and on the bits of the lowest lane.
    pub fn bin_scalar(&mut self, bin: Bin, lane: Lane, out: u8, a: u8, b: u8) {
        let is_bitwise = matches!(bin, Bin::And | Bin::Or | Bin::Xor | Bin::AndNot);
        match rows::bin(bin, lane) {
            Some(row) if is_bitwise => self.v3(row, Length::L128, out, a, b),
            Some(row) if lane.is_float() => self.v3(rows::scalar(row, lane), Length::L128, out, a, b),
            _ => self.lacks(Op::V(bin, lane, Extent::One)),
        }
    }

    /// Arithmetic on all lanes.
    pub fn bin(&mut self, bin: Bin, lane: Lane, out: u8, a: u8, b: u8) {
        let Some(row) = rows::bin(bin, lane) else { return self.lacks(Op::V(bin, lane, Extent::All)) };
        match (bin, lane) {
            (Bin::Mul, Lane::I64) if !self.isa.is_512() => self.multiply_wide(out, a, b),
            (Bin::MinS | Bin::MaxS, Lane::I64) if !self.isa.is_512() => {
                self.extreme_wide(bin == Bin::MinS, out, a, b);
            }
            _ => self.v3_full(row, out, a, b),
        }
    }

    /// A shift of all lanes by an immediate: the destination stands in the extra operand, the source in rm.
    pub fn shift(&mut self, bin: Bin, lane: Lane, count: u8, out: u8, from: u8) {
        let Some((row, extension)) = rows::shift_imm(bin, lane) else {
            return self.lacks(Op::VShiftImm(bin, lane, count));
        };
        let full = self.full();
        let instr = Instr::new(row, full, extension, out, Place::Reg(from));
        self.simd(Instr { imm: Some(count), ..instr });
    }

    /// 64-bit products out of 32-bit ones: low*low + ((low*high + high*low) << 32).
    fn multiply_wide(&mut self, out: u8, a: u8, b: u8) {
        let (full, [s0, s1, _]) = (self.full(), self.scratch());
        self.shift(Bin::Shr, Lane::I64, 32, s0, a);
        self.v3(rows::MULTIPLY_DQ, full, s0, s0, b);
        self.shift(Bin::Shr, Lane::I64, 32, s1, b);
        self.v3(rows::MULTIPLY_DQ, full, s1, s1, a);
        self.bin(Bin::Add, Lane::I64, s0, s0, s1);
        self.shift(Bin::Shl, Lane::I64, 32, s0, s0);
        self.v3(rows::MULTIPLY_DQ, full, out, a, b);
        self.bin(Bin::Add, Lane::I64, out, out, s0);
    }

    /// High halves of 32-bit products: those of every other lane, and those of the lanes between them.
    pub fn multiply_high_lanes(&mut self, signed: bool, out: u8, a: u8, b: u8) {
        let (full, [s0, s1, _]) = (self.full(), self.scratch());
        let row = if signed { rows::MULTIPLY_DQ_SIGNED } else { rows::MULTIPLY_DQ };
        self.shift(Bin::Shr, Lane::I64, 32, s0, a);
        self.shift(Bin::Shr, Lane::I64, 32, s1, b);
        self.v3(row, full, s0, s0, s1);
        self.v3(row, full, s1, a, b);
        self.shift(Bin::Shr, Lane::I64, 32, s1, s1);
        if self.isa.is_512() {
            self.shift(Bin::Shr, Lane::I64, 32, s0, s0);
            self.shift(Bin::Shl, Lane::I64, 32, s0, s0);
            self.bin(Bin::Or, Lane::I64, out, s0, s1);
        } else {
            self.v3_imm(rows::BLEND_D, full, out, s1, s0, 0b1010_1010);
        }
    }

    fn extreme_wide(&mut self, least: bool, out: u8, a: u8, b: u8) {
        let (full, s0) = (self.full(), self.scratch()[0]);
        self.v3(rows::GREATER_Q, full, s0, a, b);
        let (clear, set) = if least { (a, b) } else { (b, a) };
        self.v3_imm(rows::BLEND_PD, full, out, clear, set, s0 << 4);
    }

    pub fn splat(&mut self, lane: Lane, out: u8, from: u8) {
        let full = self.full();
        if self.isa.is_512() {
            let row = if lane.is_wide() { rows::SPLAT_GPR64 } else { rows::SPLAT_GPR32 };
            self.v2(row, full, out, Place::Reg(from));
        } else {
            let (row, splat) = if lane.is_wide() {
                (rows::FROM_GPR64, rows::SPLAT_Q)
            } else {
                (rows::FROM_GPR32, rows::SPLAT_D)
            };
            self.v2(row, Length::L128, out, Place::Reg(from));
            self.v2(splat, full, out, Place::Reg(out));
        }
    }

    /// The upper half of a register into the lower half of another.
    pub fn upper_half(&mut self, out: u8, from: u8) {
        let (row, length) = if self.isa.is_512() {
            (rows::EXTRACT_HALF_512, Length::L512)
        } else {
            (rows::EXTRACT_HALF_256, Length::L256)
        };
        self.v2_imm(row, length, from, Place::Reg(out), 1);
    }

    pub fn widen(&mut self, change: Change, from: Lane, to: Lane, upper: bool, out: u8, a: u8) {
        let Some(row) = rows::convert(change, from, to) else {
            return self.lacks(Op::Widen(change, from, to, upper));
        };
        let mut source = a;
        if upper {
            source = self.scratch()[0];
            self.upper_half(source, a);
        }
        self.v2_full(row, out, Place::Reg(source));
    }

    pub fn narrow(&mut self, change: Change, from: Lane, to: Lane, out: u8, low: u8, high: u8) {
        let (full, [s0, s1, _]) = (self.full(), self.scratch());
        if change == Change::Extend && !self.isa.is_512() {
            // Even 32-bit lanes of both, then the quarters into order.
            self.v3_imm(rows::SHUFFLE_PS, full, s0, low, high, 0x88);
            self.v2_imm(rows::PERMUTE_Q_IMM, full, out, Place::Reg(s0), 0xd8);
            return;
        }
        let insert = if self.isa.is_512() { rows::INSERT_HALF_512 } else { rows::INSERT_HALF_256 };
        for (to_reg, source) in [(s0, low), (s1, high)] {
            if change == Change::Extend {
                // Truncation has the source in ModRM.reg.
                self.v2(rows::TRUNCATE_Q, full, source, Place::Reg(to_reg));
            } else {
                match rows::convert(change, from, to) {
                    Some(row) => self.v2(row, full, to_reg, Place::Reg(source)),
                    None => self.lacks(Op::Narrow(change, from, to)),
                }
            }
        }
        self.v3_imm(insert, full, out, s0, s1, 1);
    }

    pub fn move_down(&mut self, bytes: u8, out: u8, a: u8) {
        match bytes {
            32 if self.isa.is_512() => {
                self.v2_imm(rows::EXTRACT_HALF_512, Length::L512, a, Place::Reg(out), 1)
            }
            16 => self.v2_imm(rows::EXTRACT_HALF_256, Length::L256, a, Place::Reg(out), 1),
            8 => self.v2_imm(rows::SHUFFLE_D, Length::L128, out, Place::Reg(a), 0x4e),
            4 => self.v2_imm(rows::SHUFFLE_D, Length::L128, out, Place::Reg(a), 0xb1),
            _ => self.lacks(Op::MoveDown(bytes)),
        }
    }

    pub fn move_up(&mut self, bytes: u8, out: u8, fill: u8, a: u8) {
        let full = self.full();
        let is_less = bytes.is_multiple_of(4) && usize::from(bytes) < full.bytes();
        match bytes {
            0 => self.lacks(Op::MoveUp(bytes)),
            _ if is_less && self.isa.is_512() => {
                self.v3_imm(rows::ALIGN_D, full, out, a, fill, 16 - bytes / 4);
            }
            // Each half of the result is made of two halves of the fill and the operand, which are neighbours there.
            16 => self.v3_imm(rows::PERMUTE_HALVES, full, out, fill, a, 0x21),
            _ if is_less && bytes < 16 => {
                let s0 = self.scratch()[0];
                self.v3_imm(rows::PERMUTE_HALVES, full, s0, fill, a, 0x21);
                self.v3_imm(rows::ALIGN_BYTES, full, out, a, s0, 16 - bytes);
            }
            _ => self.lacks(Op::MoveUp(bytes)),
        }
    }

    pub fn splat_last(&mut self, lane: Lane, out: u8, a: u8) {
        let (full, s0) = (self.full(), self.scratch()[0]);
        if lane.is_wide() && !self.isa.is_512() {
            self.v2_imm(rows::PERMUTE_Q_IMM, full, out, Place::Reg(a), 0xff);
            return;
        }
        let (table, row) = match lane.is_wide() {
            true => (LAST_WIDE.as_ptr() as i64, rows::PERMUTE_Q),
            false => (LAST_NARROW.as_ptr() as i64, rows::PERMUTE_D),
        };
        self.load_static(s0, table);
        self.v3(row, full, out, s0, a);
    }

    pub fn alternate(&mut self, lane: Lane, out: u8, a: u8, b: u8) {
        let (full, s0) = (self.full(), self.scratch()[0]);
        if self.isa.is_512() {
            let (table, row) = match lane.is_wide() {
                true => (ALTERNATE_WIDE.as_ptr() as i64, rows::PICK_Q),
                false => (ALTERNATE_NARROW.as_ptr() as i64, rows::PICK_D),
            };
            self.load_static(s0, table);
            self.v3(row, full, s0, a, b);
            self.v_move(out, s0);
            return;
        }
        // Within each half, then the quarters into order.
        match lane.is_wide() {
            true => self.v3_imm(rows::SHUFFLE_PD, full, s0, a, b, 0xa),
            false => self.v3_imm(rows::SHUFFLE_PS, full, s0, a, b, 0xd8),
        }
        self.v2_imm(rows::PERMUTE_Q_IMM, full, out, Place::Reg(s0), 0xd8);
    }

    pub fn reverse(&mut self, lane: Lane, out: u8, a: u8) {
        let (full, s0) = (self.full(), self.scratch()[0]);
        if lane.is_wide() && !self.isa.is_512() {
            self.v2_imm(rows::PERMUTE_Q_IMM, full, out, Place::Reg(a), 0x1b);
            return;
        }
        if lane.is_wide() {
            self.load_static(s0, DOWN_WIDE.as_ptr() as i64);
            self.v3(rows::PERMUTE_Q, full, out, s0, a);
        } else {
            // A shorter register reverses with the end of the table.
            let at = DOWN_NARROW[16 - self.isa.lanes()..].as_ptr() as i64;
            self.load_static(s0, at);
            self.v3(rows::PERMUTE_D, full, out, s0, a);
        }
    }
}
