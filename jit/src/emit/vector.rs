//! Arithmetic, conversions and rearrangements of vector registers and scalar floats.

use super::encode::{Instr, Length, Place};
use super::{Emitter, rows};
use crate::lir::{Bin, Change, Extent, Lane, Op, Width};
use dynasmrt::{DynasmApi, dynasm};

/// Tables of lane numbers that `Iota` and `Reverse` load from.
static COUNT_NARROW: [i32; 256] = counting();
static COUNT_WIDE: [i64; 256] = counting_wide();
static DOWN_NARROW: [i32; 16] = [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0];
static DOWN_WIDE: [i64; 8] = [7, 6, 5, 4, 3, 2, 1, 0];

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

impl Emitter<'_> {
    pub(super) fn vector_op(&mut self, op: Op, out: u8, a: &[u8; 8]) {
        let full = self.full();
        let length = |extent| if extent == Extent::One { Length::L128 } else { full };
        match op {
            // What the instruction set does not have is asked for by nobody; an encoding would mean something else.
            Op::V(bin, lane, Extent::All) if !self.isa.has_bin(bin, lane) => self.lacks(op),
            Op::Convert(change, from, to) | Op::Widen(change, from, to, _) | Op::Narrow(change, from, to)
                if !self.isa.has_change(change, from, to) =>
            {
                self.lacks(op);
            }
            Op::V(bin, lane, extent) => self.bin(bin, lane, extent, out, a[0], a[1]),
            Op::Sqrt(lane, Extent::One) => {
                self.one_source(rows::scalar(rows::sqrt(lane), lane), out, Place::Reg(a[0]), None);
            }
            Op::Sqrt(lane, Extent::All) => self.v2(rows::sqrt(lane), full, out, Place::Reg(a[0])),
            Op::Round(round, lane, Extent::One) => {
                self.one_source(rows::round(lane, true), out, Place::Reg(a[0]), Some(round as u8));
            }
            Op::Round(round, lane, Extent::All) => {
                self.v2_imm(rows::round(lane, false), full, out, Place::Reg(a[0]), round as u8);
            }
            // The result took the addend's register.
            Op::Fma(lane, extent) => {
                let row = rows::fma(lane, extent == Extent::One);
                self.simd(Instr::new(row, length(extent), out, a[0], Place::Reg(a[1])));
            }
            Op::Splat(lane) => self.splat(lane, out, a[0]),
            Op::SplatFloat(lane) => {
                let row = if lane.is_wide() { rows::SPLAT_SD } else { rows::SPLAT_SS };
                self.v2(row, full, out, Place::Reg(a[0]));
            }
            Op::Iota(lane, start) => {
                let at = if lane.is_wide() {
                    COUNT_WIDE[start as usize..].as_ptr() as i64
                } else {
                    COUNT_NARROW[start as usize..].as_ptr() as i64
                };
                self.load_static(out, at);
            }
            Op::VShiftImm(bin, lane, count) => {
                let (row, extension) = rows::shift_imm(bin, lane);
                // The destination stands in the extra operand, the source in rm.
                self.simd(Instr {
                    imm: Some(count),
                    ..Instr::new(row, full, extension, out, Place::Reg(a[0]))
                });
            }
            Op::Convert(change, from, to) => match rows::convert(change, from, to) {
                Some(row) => self.v2(row, full, out, Place::Reg(a[0])),
                None => self.lacks(op),
            },
            Op::Widen(change, from, to, upper) => self.widen(change, from, to, upper, out, a[0]),
            Op::Narrow(change, from, to) => self.narrow(change, from, to, out, a[0], a[1]),
            Op::ConvertFloat(from, _) => {
                self.one_source(rows::convert_float(from), out, Place::Reg(a[0]), None);
            }
            Op::ToFloat(lane) => {
                let row = if lane.is_wide() { rows::FROM_GPR64 } else { rows::FROM_GPR32 };
                self.v2(row, Length::L128, out, Place::Reg(a[0]));
            }
            Op::FromFloat(lane) => {
                let row = if lane.is_wide() { rows::TO_GPR64 } else { rows::TO_GPR32 };
                self.v2(row, Length::L128, a[0], Place::Reg(out));
            }
            Op::IntToFloat(width, lane) => {
                // The instruction keeps the upper lanes of its first operand: clear them, so as not to wait for them.
                self.bin(Bin::Xor, Lane::I32, Extent::One, out, out, out);
                self.one_source(rows::int_to_float(width == Width::W64, lane), out, Place::Reg(a[0]), None);
            }
            Op::FloatToInt(lane, width) => {
                let row = rows::float_to_int(lane, width == Width::W64);
                self.v2(row, Length::L128, out, Place::Reg(a[0]));
            }
            Op::MoveDown(bytes) => self.move_down(bytes, out, a[0]),
            Op::Reverse(lane) => self.reverse(lane, out, a[0]),
            _ => self.lacks(op),
        }
    }

    /// A scalar instruction that merges into the upper lanes of an extra operand: the destination itself.
    fn one_source(&mut self, row: super::Row, out: u8, place: Place, imm: Option<u8>) {
        self.simd(Instr { imm, ..Instr::new(row, Length::L128, out, out, place) });
    }

    fn load_static(&mut self, out: u8, at: i64) {
        dynasm!(self.asm ; .arch x64 ; mov rax, QWORD at);
        self.v2(rows::MOV_LOAD, self.full(), out, Place::Base { base: 0, disp: 0 });
    }

    pub(super) fn bin(&mut self, bin: Bin, lane: Lane, extent: Extent, out: u8, a: u8, b: u8) {
        let Some(row) = rows::bin(bin, lane) else { return self.lacks(Op::V(bin, lane, extent)) };
        if extent == Extent::One {
            let row = match bin {
                Bin::And | Bin::Or | Bin::Xor | Bin::AndNot => row,
                _ => rows::scalar(row, lane),
            };
            self.v3(row, Length::L128, out, a, b);
            return;
        }
        if !self.isa.is_512() && lane == Lane::I64 {
            match bin {
                Bin::Mul => return self.multiply_wide(out, a, b),
                Bin::MinS | Bin::MaxS => return self.extreme_wide(bin == Bin::MinS, out, a, b),
                _ => {}
            }
        }
        self.v3(row, self.full(), out, a, b);
    }

    /// 64-bit products out of 32-bit ones: low*low + ((low*high + high*low) << 32).
    fn multiply_wide(&mut self, out: u8, a: u8, b: u8) {
        let (full, [s0, s1, _]) = (self.full(), self.scratch());
        let (shift, extension) = rows::shift_imm(Bin::Shr, Lane::I64);
        let shift_by_32 = |e: &mut Self, to: u8, from: u8, extension: u8| {
            e.simd(Instr { imm: Some(32), ..Instr::new(shift, full, extension, to, Place::Reg(from)) });
        };
        shift_by_32(self, s0, a, extension);
        self.v3(rows::MULTIPLY_DQ, full, s0, s0, b);
        shift_by_32(self, s1, b, extension);
        self.v3(rows::MULTIPLY_DQ, full, s1, s1, a);
        self.bin(Bin::Add, Lane::I64, Extent::All, s0, s0, s1);
        let (left, left_extension) = rows::shift_imm(Bin::Shl, Lane::I64);
        self.simd(Instr { imm: Some(32), ..Instr::new(left, full, left_extension, s0, Place::Reg(s0)) });
        self.v3(rows::MULTIPLY_DQ, full, out, a, b);
        self.bin(Bin::Add, Lane::I64, Extent::All, out, out, s0);
    }

    fn extreme_wide(&mut self, least: bool, out: u8, a: u8, b: u8) {
        let (full, s0) = (self.full(), self.scratch()[0]);
        self.v3(rows::GREATER_Q, full, s0, a, b);
        let (clear, set) = if least { (a, b) } else { (b, a) };
        self.v3_imm(rows::BLEND_PD, full, out, clear, set, s0 << 4);
    }

    fn splat(&mut self, lane: Lane, out: u8, from: u8) {
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
    pub(super) fn upper_half(&mut self, out: u8, from: u8) {
        let (row, length) = if self.isa.is_512() {
            (rows::EXTRACT_HALF_512, Length::L512)
        } else {
            (rows::EXTRACT_HALF_256, Length::L256)
        };
        self.v2_imm(row, length, from, Place::Reg(out), 1);
    }

    fn widen(&mut self, change: Change, from: Lane, to: Lane, upper: bool, out: u8, a: u8) {
        let Some(row) = rows::convert(change, from, to) else {
            return self.lacks(Op::Widen(change, from, to, upper));
        };
        let mut source = a;
        if upper {
            source = self.scratch()[0];
            self.upper_half(source, a);
        }
        self.v2(row, self.full(), out, Place::Reg(source));
    }

    fn narrow(&mut self, change: Change, from: Lane, to: Lane, out: u8, low: u8, high: u8) {
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

    fn move_down(&mut self, bytes: u8, out: u8, a: u8) {
        match bytes {
            32 => self.v2_imm(rows::EXTRACT_HALF_512, Length::L512, a, Place::Reg(out), 1),
            16 => self.v2_imm(rows::EXTRACT_HALF_256, Length::L256, a, Place::Reg(out), 1),
            8 => self.v2_imm(rows::SHUFFLE_D, Length::L128, out, Place::Reg(a), 0x4e),
            4 => self.v2_imm(rows::SHUFFLE_D, Length::L128, out, Place::Reg(a), 0xb1),
            _ => self.lacks(Op::MoveDown(bytes)),
        }
    }

    pub(super) fn reverse(&mut self, lane: Lane, out: u8, a: u8) {
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
