//! Steps that every scalar operation is made of, each written once for values that are uniform and values that vary.

use super::Lower;
use super::value::{Parts, Rep, Value, lane_of, width_of};
use crate::library::Helper;
use crate::lir::{Bin, Change, Class, Cond, Extent, Lane, Mem, Op, Reg, Round, Width};
use galopvm_base::{ElemType, Scalar, ScalarOp};
use smallvec::smallvec;

/// A value without its program type: what the steps work on. Never `Const` or `Linear`.
#[derive(Clone, PartialEq, Debug)]
pub enum Raw {
    /// One register.
    One(Reg),
    /// One for each lane.
    Many(Parts),
}

impl Raw {
    /// True for one number for each lane.
    pub fn is_many(&self) -> bool {
        matches!(self, Raw::Many(_))
    }

    /// As a value of the program.
    pub fn typed(self, ty: ElemType) -> Value {
        let rep = match self {
            Raw::One(reg) => Rep::Uniform(reg),
            Raw::Many(parts) => Rep::Lanes(parts),
        };
        Value { ty, rep }
    }

    /// The register for part `k`.
    pub fn part(&self, k: usize) -> Reg {
        match self {
            Raw::One(reg) => *reg,
            Raw::Many(parts) => parts[k.min(parts.len() - 1)],
        }
    }
}

impl Lower<'_> {
    /// A value as registers, all of the shape asked for.
    pub fn raw(&mut self, value: &Value, many: bool) -> Raw {
        if many { Raw::Many(self.parts(value)) } else { Raw::One(self.uniform(value)) }
    }

    /// A constant of the shape asked for; `bits` as they stand in a register.
    pub fn raw_const(&mut self, lane: Lane, bits: u64, many: bool) -> Raw {
        if !many {
            return Raw::One(self.constant(lane, bits));
        }
        let int = self.b.int(bits as i64);
        let reg = self.b.op(Op::Splat(lane.as_int()), &[int]);
        let count = self.groups() * if lane.is_wide() { 2 } else { 1 };
        Raw::Many(smallvec![reg; count])
    }

    /// A float constant of the shape asked for.
    pub fn raw_float(&mut self, lane: Lane, value: f64, many: bool) -> Raw {
        let bits = if lane.is_wide() { value.to_bits() } else { u64::from((value as f32).to_bits()) };
        self.raw_const(lane, bits, many)
    }

    /// An operation on each register of values that vary, or on a register that serves all.
    pub fn each(&mut self, op: Op, args: &[&Raw]) -> Raw {
        let count = args.iter().map(|a| if let Raw::Many(p) = a { p.len() } else { 1 }).max().unwrap_or(1);
        let parts = (0..count)
            .map(|k| {
                let regs: Parts = args.iter().map(|a| a.part(k)).collect();
                self.b.op(op, &regs)
            })
            .collect();
        Raw::Many(parts)
    }

    /// True if there is an instruction for this on values of this shape.
    pub fn has(&self, bin: Bin, lane: Lane, many: bool) -> bool {
        !many || self.target.has_bin(bin, lane)
    }

    /// Two-operand arithmetic.
    pub fn bin(&mut self, bin: Bin, lane: Lane, a: &Raw, b: &Raw) -> Raw {
        if a.is_many() {
            return self.each(Op::V(bin, lane, Extent::All), &[a, b]);
        }
        let (x, y) = (a.part(0), b.part(0));
        if lane.is_float() {
            return Raw::One(self.b.op(Op::V(bin, lane, Extent::One), &[x, y]));
        }
        let width = width_of(lane);
        let cond = match bin {
            Bin::MinS => Cond::Lt,
            Bin::MaxS => Cond::Le,
            Bin::MinU => Cond::Below,
            Bin::MaxU => Cond::BelowEq,
            _ => return Raw::One(self.b.op(Op::Alu(bin, width), &[x, y])),
        };
        let is_less = self.b.op(Op::Set(cond, width), &[x, y]);
        let least = matches!(bin, Bin::MinS | Bin::MinU);
        let (yes, no) = if least { (x, y) } else { (y, x) };
        Raw::One(self.b.op(Op::Choose, &[is_less, yes, no]))
    }

    /// Shift by a constant below the width.
    pub fn shift(&mut self, bin: Bin, lane: Lane, a: &Raw, count: u8) -> Raw {
        match a {
            Raw::Many(_) if bin == Bin::Sar && !self.target.has_bin(bin, lane) => {
                let count = self.raw_const(lane, u64::from(count), true);
                self.sar_wide(a, &count)
            }
            Raw::Many(_) => self.each(Op::VShiftImm(bin, lane, count), &[a]),
            Raw::One(x) => Raw::One(self.b.op(Op::AluImm(bin, width_of(lane), i32::from(count)), &[*x])),
        }
    }

    /// 64-bit arithmetic shift without an instruction: logical shift of the magnitude pattern, `((a ^ s) >> n) ^ s`
    /// where `s` is all ones for negative numbers.
    pub fn sar_wide(&mut self, a: &Raw, count: &Raw) -> Raw {
        let zero = self.raw_const(Lane::I64, 0, true);
        let ones = self.raw_const(Lane::I64, u64::MAX, true);
        let negative = self.cmp(Cond::Lt, Lane::I64, a, &zero);
        let sign = self.select(&negative, Lane::I64, &ones, &zero);
        let flipped = self.bin(Bin::Xor, Lane::I64, a, &sign);
        let shifted = self.bin(Bin::Shr, Lane::I64, &flipped, count);
        self.bin(Bin::Xor, Lane::I64, &shifted, &sign)
    }

    /// Comparison; a bool.
    pub fn cmp(&mut self, cond: Cond, lane: Lane, a: &Raw, b: &Raw) -> Raw {
        if a.is_many() {
            let masks = self.each(Op::Cmp(cond, lane), &[a, b]);
            return if lane.is_wide() { self.join_masks(masks) } else { masks };
        }
        let op = if lane.is_float() { Op::SetFloat(cond, lane) } else { Op::Set(cond, width_of(lane)) };
        Raw::One(self.b.op(op, &[a.part(0), b.part(0)]))
    }

    /// Masks of wide lanes as a bool.
    pub fn join_masks(&mut self, masks: Raw) -> Raw {
        let Raw::Many(halves) = masks else { return masks };
        Raw::Many(halves.chunks(2).map(|pair| self.b.op(Op::MaskJoin, pair)).collect())
    }

    /// The mask for part `k` of a value with these lanes.
    pub fn part_mask(&mut self, masks: &[Reg], lane: Lane, k: usize) -> Reg {
        if !lane.is_wide() {
            return masks[k];
        }
        self.b.op(Op::MaskHalf(k % 2 == 1), &[masks[k / 2]])
    }

    /// `condition ? a : b`; bools are masks or 0 and 1.
    pub fn select(&mut self, condition: &Raw, lane: Lane, a: &Raw, b: &Raw) -> Raw {
        match condition {
            Raw::One(c) => {
                let choose = |l: &mut Self, x: Reg, y: Reg| {
                    let class = l.b.class(x);
                    l.b.op(if class == Class::Vec { Op::ChooseFloat } else { Op::Choose }, &[*c, x, y])
                };
                Raw::One(choose(self, a.part(0), b.part(0)))
            }
            Raw::Many(masks) => {
                let count = masks.len() * if lane.is_wide() { 2 } else { 1 };
                let parts = (0..count)
                    .map(|k| {
                        let mask = self.part_mask(masks, lane, k);
                        self.b.op(Op::Blend(lane), &[mask, a.part(k), b.part(k)])
                    })
                    .collect();
                Raw::Many(parts)
            }
        }
    }

    /// `And`, `Or`, `Xor`, `AndNot` of bools.
    pub fn logic(&mut self, bin: Bin, a: &Raw, b: &Raw) -> Raw {
        if a.is_many() {
            return self.each(Op::MaskLogic(bin), &[a, b]);
        }
        let (x, y) = (a.part(0), b.part(0));
        if bin == Bin::AndNot {
            let not = self.b.op(Op::AluImm(Bin::Xor, Width::W32, 1), &[x]);
            return Raw::One(self.b.op(Op::Alu(Bin::And, Width::W32), &[not, y]));
        }
        Raw::One(self.b.op(Op::Alu(bin, Width::W32), &[x, y]))
    }

    /// Logical not.
    pub fn not(&mut self, a: &Raw) -> Raw {
        match a {
            Raw::One(x) => Raw::One(self.b.op(Op::AluImm(Bin::Xor, Width::W32, 1), &[*x])),
            Raw::Many(_) => {
                let all = Raw::One(self.b.op(Op::MaskAll, &[]));
                self.each(Op::MaskLogic(Bin::Xor), &[a, &all])
            }
        }
    }

    /// Cuts narrow integers to their type after arithmetic in 32 bits.
    pub fn normal(&mut self, ty: ElemType, a: Raw) -> Raw {
        let mem = match ty {
            ElemType::I8 => Mem::S8,
            ElemType::U8 => Mem::U8,
            ElemType::I16 => Mem::S16,
            ElemType::U16 => Mem::U16,
            _ => return a,
        };
        match a {
            Raw::One(x) => Raw::One(self.b.op(Op::Extend(mem), &[x])),
            Raw::Many(_) => {
                if ty.is_unsigned() {
                    let low = self.raw_const(Lane::I32, ty.mask(), true);
                    return self.bin(Bin::And, Lane::I32, &a, &low);
                }
                let bits = (32 - ty.bits()) as u8;
                let up = self.shift(Bin::Shl, Lane::I32, &a, bits);
                self.shift(Bin::Sar, Lane::I32, &up, bits)
            }
        }
    }

    /// Square root.
    pub fn sqrt(&mut self, lane: Lane, a: &Raw) -> Raw {
        match a {
            Raw::One(x) => Raw::One(self.b.op(Op::Sqrt(lane, Extent::One), &[*x])),
            Raw::Many(_) => self.each(Op::Sqrt(lane, Extent::All), &[a]),
        }
    }

    /// Rounding to a whole number.
    pub fn round(&mut self, round: Round, lane: Lane, a: &Raw) -> Raw {
        match a {
            Raw::One(x) => Raw::One(self.b.op(Op::Round(round, lane, Extent::One), &[*x])),
            Raw::Many(_) => self.each(Op::Round(round, lane, Extent::All), &[a]),
        }
    }

    /// `a * b + c`, rounded once.
    pub fn fma(&mut self, lane: Lane, a: &Raw, b: &Raw, c: &Raw) -> Raw {
        if a.is_many() {
            return self.each(Op::Fma(lane, Extent::All), &[a, b, c]);
        }
        Raw::One(self.b.op(Op::Fma(lane, Extent::One), &[a.part(0), b.part(0), c.part(0)]))
    }

    /// Conversion of varying lanes by instructions, whatever the widths.
    pub fn change(&mut self, change: Change, from: Lane, to: Lane, a: &Raw) -> Raw {
        let Raw::Many(parts) = a else { return a.clone() };
        Raw::Many(match (from.is_wide(), to.is_wide()) {
            (false, true) => parts
                .iter()
                .flat_map(|p| [(*p, false), (*p, true)])
                .map(|(p, upper)| self.b.op(Op::Widen(change, from, to, upper), &[p]))
                .collect(),
            (true, false) => {
                parts.chunks(2).map(|pair| self.b.op(Op::Narrow(change, from, to), pair)).collect()
            }
            _ if from == to => parts.clone(),
            _ => parts.iter().map(|p| self.b.op(Op::Convert(change, from, to), &[*p])).collect(),
        })
    }

    /// A scalar operation by the helper function.
    pub fn help(&mut self, op: ScalarOp, ty: ElemType, args: &[Raw]) -> Value {
        let helper = Helper::Apply(op, ty);
        let (lane, result) = (lane_of(ty), op.result_type(ty));
        let Some(Raw::Many(first)) = args.first() else {
            let regs: Parts = args.iter().map(|a| a.part(0)).collect();
            let op = if lane.is_float() { Op::Help(helper, Extent::One) } else { Op::HelpScalar(helper) };
            return Raw::One(self.b.op(op, &regs)).typed(result);
        };
        let parts: Parts = (0..first.len())
            .map(|k| {
                let regs: Parts = args.iter().map(|a| a.part(k)).collect();
                self.b.op(Op::Help(helper, Extent::All), &regs)
            })
            .collect();
        let container = lane.as_int();
        let mut raw = Raw::Many(parts);
        if result == ElemType::Bool {
            let zero = self.raw_const(container, 0, true);
            return self.cmp(Cond::Ne, container, &raw, &zero).typed(result);
        }
        if lane.is_wide() && !lane_of(result).is_wide() {
            raw = self.change(Change::Extend, Lane::I64, Lane::I32, &raw);
        }
        raw.typed(result)
    }

    /// The same bits as a value of a type that is as wide.
    pub fn same_bits(&mut self, from: ElemType, to: ElemType, a: &Raw) -> Value {
        let Raw::One(reg) = a else { return a.clone().typed(to) };
        let (source, target) = (lane_of(from), lane_of(to));
        let mut reg = *reg;
        if source.is_float() {
            reg = self.b.op(Op::FromFloat(source), &[reg]);
        }
        if target.is_float() {
            reg = self.b.op(Op::ToFloat(target), &[reg]);
        }
        Value::uniform(to, reg)
    }

    /// A conversion by the helper function; neither type is bool.
    pub fn help_convert(&mut self, from: ElemType, to: ElemType, a: &Raw) -> Value {
        let helper = Helper::Convert(from, to);
        let (source, target) = (lane_of(from), lane_of(to));
        let Raw::Many(_) = a else {
            let mut reg = a.part(0);
            if source.is_float() {
                reg = self.b.op(Op::FromFloat(source), &[reg]);
            }
            let mut result = self.b.op(Op::HelpScalar(helper), &[reg]);
            if target.is_float() {
                result = self.b.op(Op::ToFloat(target), &[result]);
            }
            return Value::uniform(to, result);
        };
        let wide = self.change(Change::ExtendZero, source.as_int(), Lane::I64, a);
        let mut result = self.each(Op::Help(helper, Extent::All), &[&wide]);
        if !target.is_wide() {
            result = self.change(Change::Extend, Lane::I64, Lane::I32, &result);
        }
        result.typed(to)
    }

    /// The execution mask, every lane if there is none.
    pub fn mask_or_all(&mut self) -> Parts {
        match &self.mask {
            Some(mask) => mask.clone(),
            None => {
                let all = self.b.op(Op::MaskAll, &[]);
                smallvec![all; self.groups()]
            }
        }
    }

    /// One register that is set where any of the masks is.
    pub fn any_of(&mut self, masks: &[Reg]) -> Reg {
        let mut all = masks[0];
        for &mask in &masks[1..] {
            all = self.b.op(Op::MaskLogic(Bin::Or), &[all, mask]);
        }
        all
    }

    /// The constant zero of a type.
    pub fn zero(ty: ElemType) -> Value {
        Value::constant(Scalar::new(ty, 0))
    }
}
