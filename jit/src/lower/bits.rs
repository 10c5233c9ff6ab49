//! Counting bits in lanes: how many are set, how many zeros are in front of the first and behind the last.

use super::Lower;
use super::primitive::Raw;
use super::value::lane_of;
use crate::lir::{Bin, Change, Cond, Lane};
use galopvm_base::{ElemType, ScalarOp};

/// The exponent of 2^31 as it stands in a double. Each zero in front takes one away from it.
const FIRST_BIT: u64 = 1023 + 31;

impl Lower<'_> {
    /// The count for each lane, as an `i32`; nothing for another operation.
    pub fn count_bits(&mut self, op: ScalarOp, ty: ElemType, raw: &Raw) -> Option<Raw> {
        let bits = ty.bits() as u64;
        let raw = match ty.bits() {
            // What is in front of a narrow number in its lane is none of its bits.
            8 | 16 => {
                let mask = self.raw_const(Lane::I32, ty.mask(), true);
                self.bin(Bin::And, Lane::I32, raw, &mask)
            }
            _ => raw.clone(),
        };
        let wide = match lane_of(ty).is_wide() {
            true => raw,
            false => self.change(Change::ExtendZero, Lane::I32, Lane::I64, &raw),
        };
        let count = match op {
            ScalarOp::Popc => self.set_bits(&wide),
            ScalarOp::Clz => {
                let zeros = self.zeros_in_front(&wide);
                let more = self.raw_const(Lane::I64, 64 - bits, true);
                self.bin(Bin::Sub, Lane::I64, &zeros, &more)
            }
            ScalarOp::Ctz => self.zeros_behind(&wide, bits),
            _ => return None,
        };
        Some(self.change(Change::Extend, Lane::I64, Lane::I32, &count))
    }

    /// Zeros in front of the first set bit of 64, 64 for 0. A double knows where the first bit of its number is.
    fn zeros_in_front(&mut self, raw: &Raw) -> Raw {
        let zero = self.raw_const(Lane::I64, 0, true);
        let half = self.raw_const(Lane::I64, 32, true);
        let upper = self.shift(Bin::Shr, Lane::I64, raw, 32);
        let is_lower = self.cmp(Cond::Eq, Lane::I64, &upper, &zero);
        let part = self.select(&is_lower, Lane::I64, raw, &upper);
        let double = self.half_to_double(&part);
        let exponent = self.shift(Bin::Shr, Lane::I64, &double, 52);
        let first = self.raw_const(Lane::I64, FIRST_BIT, true);
        let zeros = self.bin(Bin::Sub, Lane::I64, &first, &exponent);
        let is_nothing = self.cmp(Cond::Eq, Lane::I64, &part, &zero);
        let zeros = self.select(&is_nothing, Lane::I64, &half, &zeros);
        let more = self.select(&is_lower, Lane::I64, &half, &zero);
        self.bin(Bin::Add, Lane::I64, &zeros, &more)
    }

    /// Zeros behind the last set bit, all bits for 0.
    fn zeros_behind(&mut self, raw: &Raw, bits: u64) -> Raw {
        let zero = self.raw_const(Lane::I64, 0, true);
        let minus = self.bin(Bin::Sub, Lane::I64, &zero, raw);
        let last = self.bin(Bin::And, Lane::I64, raw, &minus);
        let in_front = self.zeros_in_front(&last);
        let most = self.raw_const(Lane::I64, 63, true);
        let behind = self.bin(Bin::Sub, Lane::I64, &most, &in_front);
        let is_nothing = self.cmp(Cond::Eq, Lane::I64, raw, &zero);
        let all = self.raw_const(Lane::I64, bits, true);
        self.select(&is_nothing, Lane::I64, &all, &behind)
    }

    /// Set bits of 64: counts of neighbouring parts are added until there is one.
    fn set_bits(&mut self, raw: &Raw) -> Raw {
        let mut counts = raw.clone();
        for (part, mask) in [
            (1, 0x5555_5555_5555_5555),
            (2, 0x3333_3333_3333_3333),
            (4, 0x0f0f_0f0f_0f0f_0f0f),
            (8, 0x00ff_00ff_00ff_00ff),
            (16, 0x0000_ffff_0000_ffff),
            (32, 0x0000_0000_ffff_ffff),
        ] {
            let mask = self.raw_const(Lane::I64, mask, true);
            let upper = self.shift(Bin::Shr, Lane::I64, &counts, part);
            let [lower, upper] = [&counts, &upper].map(|half| self.bin(Bin::And, Lane::I64, half, &mask));
            counts = self.bin(Bin::Add, Lane::I64, &lower, &upper);
        }
        counts
    }
}
