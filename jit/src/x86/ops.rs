//! What each operation of the low IR becomes: a place for every row of its table.
//!
//! The registers are as many as the table says (`crate::allocate` sees to that); those beyond are never looked at.

// The assembler macro converts register numbers to the type they have already.
#![allow(clippy::useless_conversion)]

use super::emitter::Emitter;
use super::encode::{Instr, Length, Place};
use super::isa::RECORD;
use super::rows;
use crate::library::{Helper, OPERAND_BYTES};
use crate::lir::{Extent, Op, Width};
use crate::target::Target;
use dynasmrt::{DynasmApi, dynasm};

/// Where there is no register.
const NOWHERE: u8 = u8::MAX;

impl Emitter {
    /// Appends the instructions of an operation, or notes that there are none.
    pub fn emit(&mut self, op: Op, out: Option<u8>, args: &[u8]) {
        let [a, b, c, d, e] = std::array::from_fn(|k| args.get(k).copied().unwrap_or(NOWHERE));
        let out = out.unwrap_or(NOWHERE);
        match op {
            Op::Int(value) => self.constant(out, value),
            Op::Word(k) => dynasm!(self.asm ; .arch x64 ; mov Rq(out), [Rq(RECORD) + 8 * k as i32]),
            Op::Alu(bin, width) => self.alu(bin, width, out, a, b),
            Op::AluImm(bin, width, value) => self.alu_imm(bin, width, out, a, value),
            Op::Extend(mem) => self.extend(mem, out, a),
            Op::Quot(signed, width) => {
                self.divide(signed, width, a, b);
                self.move_int(out, 0);
            }
            Op::Rem(signed, width) => {
                self.divide(signed, width, a, b);
                self.move_int(out, 2);
            }
            Op::MulHigh(signed, width) => self.multiply_high(signed, width, out, a, b),
            Op::Set(cond, width) => {
                self.compare(width, a, b);
                self.set(super::general::condition(cond), out);
            }
            Op::SetFloat(cond, lane) => self.set_float(cond, lane, out, a, b),
            Op::Choose => self.choose(out, a, b, c),
            Op::ChooseIf(cond, width) => {
                self.compare(width, a, b);
                self.choose_by(super::general::condition(cond), out, c, d);
            }
            Op::ChooseFloat => self.choose_float(out, a, b, c),
            Op::Lea(addr) => self.lea(out, addr, a, b),

            Op::Load(mem, addr) => self.load_int(mem, out, addr, a, b),
            Op::LoadLong(addr) => self.load_long(out, addr, a, b),
            Op::UpdateImm(bin, width, value, addr) => self.update_imm(bin, width, value, addr, a, b),
            Op::Update(bin, width, addr) => self.update(bin, width, a, addr, b, c),
            Op::Store(mem, addr) => self.store_int(mem, a, addr, b, c),
            Op::LoadFloat(lane, addr) => {
                let row = if lane.is_wide() { rows::LOAD_F64 } else { rows::LOAD_F32 };
                self.v2(row, Length::L128, out, Place::of(addr, a, b));
            }
            Op::LoadSplat(lane, addr) => {
                let row = if lane.is_wide() { rows::SPLAT_SD } else { rows::SPLAT_SS };
                self.v2_full(row, out, Place::of(addr, a, b));
            }
            Op::StoreFloat(lane, addr) => {
                let row = if lane.is_wide() { rows::STORE_F64 } else { rows::STORE_F32 };
                self.v2(row, Length::L128, a, Place::of(addr, b, c));
            }
            Op::VLoad(mem, addr) => self.v2_full(rows::load(mem), out, Place::of(addr, a, b)),
            Op::Prefetch(addr) => self.prefetch(addr, a, b),
            Op::VLoadMask(mem, _) | Op::VStoreMask(mem, _) if !self.isa.has_masked(mem) => self.lacks(op),
            Op::VLoadMask(mem, addr) => self.load_masked(mem, out, a, Place::of(addr, b, c)),
            Op::VStore(mem, addr, past_caches) => {
                self.store_vector(mem, a, Place::of(addr, b, c), past_caches);
            }
            Op::VStoreMask(mem, addr) => self.store_masked(mem, a, b, Place::of(addr, c, d)),
            Op::Gather(mem) => self.gather(mem, out, a, b, [c, d]),
            Op::GatherEach(mem) => self.gather_each(mem, out, a, b, [c, d]),
            Op::ScatterEach(mem) => self.scatter_each(mem, a, b, c, [d, e]),
            Op::LoadSpaced(mem) => self.load_spaced(mem, out, a, b),
            Op::StoreSpaced(mem) => self.store_spaced(mem, a, b, c),

            Op::ToFloat(lane) => {
                let row = if lane.is_wide() { rows::FROM_GPR64 } else { rows::FROM_GPR32 };
                self.v2(row, Length::L128, out, Place::Reg(a));
            }
            Op::FromFloat(lane) => {
                let row = if lane.is_wide() { rows::TO_GPR64 } else { rows::TO_GPR32 };
                self.v2(row, Length::L128, a, Place::Reg(out));
            }
            Op::IntToFloat(width, lane) => {
                // The instruction keeps the upper lanes of its first operand: clear them, so as not to wait for them.
                self.clear(Length::L128, out);
                self.one_source(rows::int_to_float(width == Width::W64, lane), out, a, None);
            }
            Op::FloatToInt(lane, width) => {
                let row = rows::float_to_int(lane, width == Width::W64);
                self.v2(row, Length::L128, out, Place::Reg(a));
            }
            Op::ConvertFloat(from, _) => self.one_source(rows::convert_float(from), out, a, None),

            // An encoding of what the instruction set does not have would mean something else.
            Op::V(bin, lane, Extent::All)
            | Op::VConst(bin, lane, Extent::All, _)
            | Op::VMasked(bin, lane)
            | Op::VShiftImm(bin, lane, _)
                if !self.isa.has_bin(bin, lane) =>
            {
                self.lacks(op);
            }
            Op::Convert(change, from, to) | Op::Widen(change, from, to, _) | Op::Narrow(change, from, to)
                if !self.isa.has_change(change, from, to) =>
            {
                self.lacks(op);
            }
            Op::Constant(lane, extent, bits) => self.load_constant(lane, extent, bits, out),
            Op::VConst(bin, lane, extent, bits) => self.bin_constant(bin, lane, extent, bits, out, a),
            Op::V(bin, lane, Extent::One) => self.bin_scalar(bin, lane, out, a, b),
            Op::V(bin, lane, Extent::All) => self.bin(bin, lane, out, a, b),
            // The result took the first operand's register.
            Op::VMasked(bin, lane) => self.bin_masked(bin, lane, out, a, c),
            Op::Sqrt(lane, Extent::One) => {
                self.one_source(rows::scalar(rows::sqrt(lane), lane), out, a, None)
            }
            Op::Sqrt(lane, Extent::All) => self.v2_full(rows::sqrt(lane), out, Place::Reg(a)),
            Op::Round(round, lane, Extent::One) => {
                self.one_source(rows::round(lane, true), out, a, Some(rows::rounding(round)));
            }
            Op::Round(round, lane, Extent::All) => {
                let full = self.full();
                self.v2_imm(rows::round(lane, false), full, out, Place::Reg(a), rows::rounding(round));
            }
            // The result took the addend's register.
            Op::Fma(lane, Extent::One) => self.fma(rows::fma(lane, true), Length::L128, out, a, b),
            Op::Fma(lane, Extent::All) => {
                let full = self.full();
                self.fma(rows::fma(lane, false), full, out, a, b);
            }
            Op::Splat(lane) => self.splat(lane, out, a),
            Op::SplatFloat(lane) => {
                let row = if lane.is_wide() { rows::SPLAT_SD } else { rows::SPLAT_SS };
                self.v2_full(row, out, Place::Reg(a));
            }
            Op::Iota(lane, start) => self.iota(lane, start, out),
            Op::VShiftImm(bin, lane, count) => self.shift(bin, lane, count, out, a),
            Op::VMulHigh(signed) => self.multiply_high_lanes(signed, out, a, b),
            Op::Convert(change, from, to) => match rows::convert(change, from, to) {
                Some(row) => self.v2_full(row, out, Place::Reg(a)),
                None => self.lacks(op),
            },
            Op::Widen(change, from, to, upper) => self.widen(change, from, to, upper, out, a),
            Op::Narrow(change, from, to) => self.narrow(change, from, to, out, a, b),
            Op::MoveDown(bytes) => self.move_down(bytes, out, a),
            Op::MoveUp(bytes) => self.move_up(bytes, out, a, b),
            Op::SplatLast(lane) => self.splat_last(lane, out, a),
            Op::Alternate(lane) => self.alternate(lane, out, a, b),
            Op::Reverse(lane) => self.reverse(lane, out, a),

            Op::Cmp(cond, lane) => self.compare_lanes(cond, lane, out, a, b),
            Op::Test(cond, lane) => self.test_lanes(cond, lane, out, a, b),
            Op::Blend(lane) => self.blend(lane, out, a, b, c),
            Op::MaskAll => self.mask_all(out),
            Op::MaskLogic(bin) => self.mask_logic(bin, out, a, b),
            Op::MaskHalf(upper) => self.mask_half(upper, out, a),
            Op::MaskJoin => self.mask_join(out, a, b),

            Op::Poll(cost) => self.poll(cost),
            Op::PollAt(cost, bits) => self.poll_at(cost, bits, a),
            Op::Help(helper, extent) => {
                for (k, arg) in args.iter().enumerate() {
                    self.store_whole(*arg, (k * OPERAND_BYTES) as i32);
                }
                let lanes = self.lanes_of(helper, extent);
                self.call(helper.code(), lanes);
                self.load_whole(out, 0);
            }
            Op::Mend(helper, extent) => self.mend(helper, extent, out, b, &args[2..]),
            Op::HelpScalar(helper) => {
                for (k, arg) in args.iter().enumerate() {
                    let at = (k * OPERAND_BYTES) as i32;
                    dynasm!(self.asm ; .arch x64 ; mov [rsp + at], Rq(*arg));
                }
                self.call(helper.code(), 1);
                dynasm!(self.asm ; .arch x64 ; mov Rq(out), [rsp]);
            }
            Op::Room(number) => self.room(number, out, a),
            Op::Version => self.move_int(out, a),
            Op::Return => self.leave(0),
            Op::Trap => self.leave(1),
            // Jumps and branches have a way of their own into an assembler.
            Op::Jump(_) | Op::BranchIf(..) | Op::BranchIfImm(..) | Op::BranchBool(..) | Op::BranchAny(..) => {
                self.lacks(op)
            }
        }
    }

    /// A scalar instruction that merges into the upper lanes of an extra operand: the destination itself.
    fn one_source(&mut self, row: super::encode::Row, out: u8, from: u8, imm: Option<u8>) {
        self.simd(Instr { imm, ..Instr::new(row, Length::L128, out, out, Place::Reg(from)) });
    }

    /// The lanes that a helper works on.
    pub fn lanes_of(&mut self, helper: Helper, extent: Extent) -> i32 {
        match extent {
            Extent::One => 1,
            Extent::All => (self.full().bytes() / helper.lane_bytes()) as i32,
        }
    }

    fn fma(&mut self, row: super::encode::Row, length: Length, out: u8, a: u8, b: u8) {
        self.simd(Instr::new(row, length, out, a, Place::Reg(b)));
    }

    /// All bits zero.
    pub fn clear(&mut self, length: Length, out: u8) {
        self.v3(rows::XOR, length, out, out, out);
    }
}
