//! Values during lowering: what is known at compile time, one number for all lanes, or one for each lane.

use super::Lower;
use crate::library::extended;
use crate::lir::{Addr, Bin, Class, Lane, Op, Reg, Width};
use galopvm_base::{ElemType, Scalar};
use smallvec::{SmallVec, smallvec};

/// Registers of a value that differs between lanes. Narrow lanes: one register for each group of lanes; wide lanes:
/// two; bools: one mask for each group.
pub type Parts = SmallVec<[Reg; 4]>;

/// A multiplier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Factor {
    /// Known now.
    Const(i64),
    /// In a general register.
    Reg(Reg),
}

/// How a value is there.
#[derive(Clone, PartialEq, Debug)]
pub enum Rep {
    /// Known now: the bits of the type.
    Const(u64),
    /// The same in all lanes. Floats in a vector register, everything else in a general one.
    Uniform(Reg),
    /// An `i64` that is `start + lane * step`.
    Linear {
        /// Lane 0.
        start: Reg,
        /// Difference of neighbours.
        step: Factor,
    },
    /// An `i64`: the remainder of `start + lane` by a number that is not 0, rounded down.
    Around {
        /// Lane 0, before the remainder is taken.
        start: Reg,
        /// The divisor.
        by: Factor,
    },
    /// One for each lane.
    Lanes(Parts),
}

/// A scalar of the program.
#[derive(Clone, PartialEq, Debug)]
pub struct Value {
    /// Its type.
    pub ty: ElemType,
    /// How it is there.
    pub rep: Rep,
}

impl Value {
    /// A constant.
    pub fn constant(scalar: Scalar) -> Value {
        Value { ty: scalar.ty, rep: Rep::Const(scalar.bits) }
    }

    /// An `i64` constant.
    pub fn int(value: i64) -> Value {
        Value::constant(Scalar::i64(value))
    }

    /// A value in one register.
    pub fn uniform(ty: ElemType, reg: Reg) -> Value {
        Value { ty, rep: Rep::Uniform(reg) }
    }

    /// The constant, if it is one.
    pub fn known(&self) -> Option<u64> {
        if let Rep::Const(bits) = self.rep { Some(bits) } else { None }
    }

    /// True if it differs, or may differ, between lanes.
    pub fn varies(&self) -> bool {
        matches!(self.rep, Rep::Linear { .. } | Rep::Around { .. } | Rep::Lanes(_))
    }
}

/// What a lane or a register holds for a type. Halves travel as their bits.
pub fn lane_of(ty: ElemType) -> Lane {
    match ty {
        ElemType::F32 => Lane::F32,
        ElemType::F64 => Lane::F64,
        ElemType::I64 | ElemType::U64 => Lane::I64,
        _ => Lane::I32,
    }
}

/// Width of a type in a general register.
pub fn width_of(lane: Lane) -> Width {
    if lane.is_wide() { Width::W64 } else { Width::W32 }
}

/// The register class of a uniform value.
pub fn class_of(ty: ElemType) -> Class {
    if lane_of(ty).is_float() { Class::Vec } else { Class::Int }
}

impl Lower<'_> {
    /// Number of registers of a varying value.
    pub fn part_count(&self, ty: ElemType) -> usize {
        self.groups() * if lane_of(ty).is_wide() { 2 } else { 1 }
    }

    /// The class of the registers of a varying value.
    pub fn part_class(&self, ty: ElemType) -> Class {
        if ty == ElemType::Bool { self.target.masks() } else { Class::Vec }
    }

    /// Groups of lanes; a group fills one register of narrow lanes.
    pub fn groups(&self) -> usize {
        self.lanes.map_or(1, |l| l.groups)
    }

    /// The register of a value that is the same in all lanes.
    pub fn uniform(&mut self, value: &Value) -> Reg {
        match &value.rep {
            Rep::Const(bits) => self.constant(lane_of(value.ty), extended(value.ty, *bits)),
            Rep::Uniform(reg) => *reg,
            Rep::Linear { start, .. } => *start,
            Rep::Around { start, by } => {
                let by = self.factor_reg(*by);
                let [start, by] = [*start, by].map(|reg| Value::uniform(ElemType::I64, reg));
                let remainder = self.remainder_of_one(&start, &by);
                self.uniform(&remainder)
            }
            Rep::Lanes(parts) => parts[0],
        }
    }

    /// A constant in a register of its own kind.
    pub fn constant(&mut self, lane: Lane, bits: u64) -> Reg {
        let int = self.b.int(bits as i64);
        if lane.is_float() { self.b.op(Op::ToFloat(lane), &[int]) } else { int }
    }

    /// One register that holds a uniform value in every lane (bools: as 0 or 1 in narrow lanes).
    fn splat(&mut self, value: &Value) -> Reg {
        let lane = lane_of(value.ty);
        match value.rep {
            Rep::Const(bits) => {
                let int = self.b.int(extended(value.ty, bits) as i64);
                self.b.op(Op::Splat(lane.as_int()), &[int])
            }
            _ => {
                let reg = self.uniform(value);
                if let Some((lane, addr, args)) = self.loads.get(&reg).cloned() {
                    return self.b.op(Op::LoadSplat(lane, addr), &args);
                }
                let op = if lane.is_float() { Op::SplatFloat(lane) } else { Op::Splat(lane) };
                self.b.op(op, &[reg])
            }
        }
    }

    /// The registers of a value, one for each lane.
    pub fn parts(&mut self, value: &Value) -> Parts {
        let count = self.part_count(value.ty);
        match &value.rep {
            Rep::Lanes(parts) => parts.clone(),
            Rep::Linear { start, step } => self.linear_parts(*start, *step),
            Rep::Around { start, by } => self.around_parts(*start, *by),
            Rep::Const(bits) if value.ty == ElemType::Bool => {
                let all = self.b.op(Op::MaskAll, &[]);
                let mask = if *bits != 0 { all } else { self.b.op(Op::MaskLogic(Bin::Xor), &[all, all]) };
                smallvec![mask; count]
            }
            _ if value.ty == ElemType::Bool => {
                let lanes = self.splat(value);
                let zero = self.splat(&Value::constant(Scalar::new(ElemType::I32, 0)));
                let mask = self.b.op(Op::Cmp(crate::lir::Cond::Ne, Lane::I32), &[lanes, zero]);
                smallvec![mask; count]
            }
            _ => smallvec![self.splat(value); count],
        }
    }

    fn linear_parts(&mut self, start: Reg, step: Factor) -> Parts {
        let base = self.b.op(Op::Splat(Lane::I64), &[start]);
        let per_part = self.target.lanes() / 2;
        let step = match step {
            Factor::Const(1) => None,
            Factor::Const(c) => Some(self.splat(&Value::int(c))),
            Factor::Reg(reg) => Some(self.b.op(Op::Splat(Lane::I64), &[reg])),
        };
        (0..self.part_count(ElemType::I64))
            .map(|part| {
                let mut count = self.b.op(Op::Iota(Lane::I64, (part * per_part) as u32), &[]);
                if let Some(step) = step {
                    count = self.b.op(vector(Bin::Mul, Lane::I64), &[count, step]);
                }
                self.b.op(vector(Bin::Add, Lane::I64), &[base, count])
            })
            .collect()
    }

    /// The low halves of a linear value, as narrow lanes.
    pub fn linear_narrow(&mut self, start: Reg, step: Factor) -> Parts {
        let base = self.b.op(Op::Splat(Lane::I32), &[start]);
        let step = match step {
            Factor::Const(1) => None,
            Factor::Const(c) => {
                let int = self.b.int(c);
                Some(self.b.op(Op::Splat(Lane::I32), &[int]))
            }
            Factor::Reg(reg) => Some(self.b.op(Op::Splat(Lane::I32), &[reg])),
        };
        (0..self.groups())
            .map(|group| {
                let mut count = self.b.op(Op::Iota(Lane::I32, (group * self.target.lanes()) as u32), &[]);
                if let Some(step) = step {
                    count = self.b.op(vector(Bin::Mul, Lane::I32), &[count, step]);
                }
                self.b.op(vector(Bin::Add, Lane::I32), &[base, count])
            })
            .collect()
    }

    /// The value with one number for each lane, or with one register.
    pub fn shaped(&mut self, value: &Value, varies: bool) -> Value {
        let rep = if varies { Rep::Lanes(self.parts(value)) } else { Rep::Uniform(self.uniform(value)) };
        Value { ty: value.ty, rep }
    }

    /// `value * factor` on general registers, for addresses.
    pub fn times(&mut self, value: Reg, factor: Factor) -> Reg {
        match factor {
            Factor::Const(1) => value,
            Factor::Const(c) => match i32::try_from(c) {
                Ok(small) => self.b.op(Op::AluImm(Bin::Mul, Width::W64, small), &[value]),
                Err(_) => {
                    let c = self.b.int(c);
                    self.b.op(Op::Alu(Bin::Mul, Width::W64), &[value, c])
                }
            },
            Factor::Reg(reg) => self.b.op(Op::Alu(Bin::Mul, Width::W64), &[value, reg]),
        }
    }

    /// Product of two factors.
    pub fn factor_product(&mut self, a: Factor, b: Factor) -> Factor {
        match (a, b) {
            (Factor::Const(x), Factor::Const(y)) => Factor::Const(x.wrapping_mul(y)),
            (Factor::Const(0), _) | (_, Factor::Const(0)) => Factor::Const(0),
            (Factor::Reg(r), f) | (f, Factor::Reg(r)) => Factor::Reg(self.times(r, f)),
        }
    }

    /// Sum of two factors.
    pub fn factor_sum(&mut self, a: Factor, b: Factor) -> Factor {
        match (a, b) {
            (Factor::Const(x), Factor::Const(y)) => Factor::Const(x.wrapping_add(y)),
            (Factor::Const(0), f) | (f, Factor::Const(0)) => f,
            (a, b) => {
                let (a, b) = (self.factor_reg(a), self.factor_reg(b));
                Factor::Reg(self.b.op(Op::Alu(Bin::Add, Width::W64), &[a, b]))
            }
        }
    }

    /// A factor in a general register.
    pub fn factor_reg(&mut self, factor: Factor) -> Reg {
        match factor {
            Factor::Const(c) => self.b.int(c),
            Factor::Reg(reg) => reg,
        }
    }

    /// `base + index * size` as a register.
    pub fn lea(&mut self, base: Reg, index: Reg, size: usize) -> Reg {
        self.b.op(Op::Lea(Addr { scale: size as u8, disp: 0 }), &[base, index])
    }
}

/// A vector operation on all lanes.
pub fn vector(bin: Bin, lane: Lane) -> Op {
    Op::V(bin, lane, crate::lir::Extent::All)
}
