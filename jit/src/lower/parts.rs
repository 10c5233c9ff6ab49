//! Reductions by operators whose operands may not be exchanged, in lanes: each lane folds rows that follow on each other.
//!
//! The rows of the innermost axis are taken in blocks, which are small enough that lanes far apart in one meet in the caches. A
//! block is cut into as many parts as there are lanes; the parts' results are combined in order (`lanes.rs` says which lane
//! comes in front of which), and then with what came before the block. Where there are many rows, `pairs.rs` does most of them.

use super::control::Span;
use super::primitive::Raw;
use super::reduce::Range;
use super::value::{Parts, Value};
use super::{Lanes, Lower};
use crate::lir::{Bin, Change, Cond, Lane, Op, Reg, Width};
use galopvm_base::ElemType;
use galopvm_kir::{Axis, Body, Combine, Refusal, VarId};

/// Rows of a lane in a block.
const ROWS: i64 = 64;

/// What is folded, over which axis.
pub(super) struct Fold<'f> {
    pub axis: VarId,
    pub body: &'f Body,
    pub combine: &'f Combine,
    pub neutral: &'f [Value],
}

impl Lower<'_> {
    /// Every lane folds a part of the rows.
    pub fn reduce_parts(
        &mut self,
        axes: &[Axis],
        range: Range,
        body: &Body,
        combine: &Combine,
        neutral: &[Value],
    ) -> Result<Vec<Value>, Refusal> {
        let Some((last, outer)) = axes.split_last() else {
            return Err(Refusal::new("a reduction without axes"));
        };
        let fold = Fold { axis: last.var, body, combine, neutral };
        let shapes: Vec<(ElemType, bool)> = neutral.iter().map(|n| (n.ty, false)).collect();
        // The piece's range belongs to the outermost axis.
        let (outer_range, inner_range) = if outer.is_empty() { (None, range) } else { (range, None) };
        self.fold_axes(outer, outer_range, neutral, &shapes, &mut |l, accs| {
            let (low, high) = match inner_range {
                Some(range) => range,
                None => {
                    let bound = l.exp(&last.bound)?;
                    (l.b.int(0), l.uniform(&bound))
                }
            };
            l.fold_blocks(&fold, (low, high), accs, &shapes)
        })
    }

    fn fold_blocks(
        &mut self,
        fold: &Fold<'_>,
        (low, high): (Reg, Reg),
        accs: &[Value],
        shapes: &[(ElemType, bool)],
    ) -> Result<Vec<Value>, Refusal> {
        let length = self.b.op(Op::Alu(Bin::Sub, Width::W64), &[high, low]);
        let (accs, done) = self.fold_pairs(fold, (low, length), accs, shapes)?;
        let low = self.b.op(Op::Alu(Bin::Add, Width::W64), &[low, done]);
        let length = self.b.op(Op::Alu(Bin::Sub, Width::W64), &[length, done]);
        let groups = self.planned_groups(fold.axis);
        let size = ROWS * (groups * self.target.lanes()) as i64;
        let blocks = self.quotient_up(length, size);
        let zero = self.b.int(0);
        let span = Span { low: zero, high: blocks, step: 1, few: false };
        let (_, accs) = self.counted(span, &accs, shapes, &mut |l, block, accs| {
            let begin = l.b.op(Op::AluImm(Bin::Mul, Width::W64, size as i32), &[block]);
            let left = l.b.op(Op::Alu(Bin::Sub, Width::W64), &[length, begin]);
            let begin = l.b.op(Op::Alu(Bin::Add, Width::W64), &[low, begin]);
            let size = Raw::One(l.b.int(size));
            let count = l.bin(Bin::MinS, Lane::I64, &Raw::One(left), &size);
            let Raw::One(count) = count else { return Err(Refusal::new("internal: a count has lanes")) };
            l.lanes = Some(Lanes { groups });
            let (parts, there) = l.fold_block(fold, begin, count)?;
            let folded = l.fold_lanes(fold.combine, &parts, Some(&there))?;
            l.lanes = None;
            l.operate(fold.combine, accs, &folded)
        })?;
        Ok(accs)
    }

    /// The partial results of the lanes over the `count` rows from `begin` on, and which lanes have rows.
    fn fold_block(
        &mut self,
        fold: &Fold<'_>,
        begin: Reg,
        count: Reg,
    ) -> Result<(Vec<Value>, Value), Refusal> {
        let rows = self.quotient_up(count, self.lane_count() as i64);
        let numbers = self.part_numbers();
        let each = Raw::Many(self.in_all_lanes(Lane::I32, rows));
        let first = self.bin(Bin::Mul, Lane::I32, &numbers, &each);
        let first_wide = self.change(Change::ExtendZero, Lane::I32, Lane::I64, &first);
        let shapes: Vec<(ElemType, bool)> = fold.neutral.iter().map(|n| (n.ty, true)).collect();
        let zero = self.b.int(0);
        let span = Span { low: zero, high: rows, step: 1, few: false };
        let (_, accs) = self.counted(span, fold.neutral, &shapes, &mut |l, row, now| {
            let at = l.b.op(Op::Alu(Bin::Add, Width::W64), &[begin, row]);
            let at = Raw::Many(l.in_all_lanes(Lane::I64, at));
            let index = l.bin(Bin::Add, Lane::I64, &at, &first_wide);
            l.bind_scalar(fold.axis, index.typed(ElemType::I64));
            let left = l.b.op(Op::Alu(Bin::Sub, Width::W64), &[count, row]);
            let left = Raw::Many(l.in_all_lanes(Lane::I32, left));
            let active = l.cmp(Cond::Lt, Lane::I32, &first, &left);
            if let Raw::Many(masks) = &active {
                l.mask = Some(masks.clone());
            }
            let items = l.body(fold.body)?;
            let next = l.combined(fold.body, fold.combine, now, &items)?;
            l.mask = None;
            Ok(next.iter().zip(now).map(|(new, old)| l.merge(&active, new, old)).collect())
        })?;
        let count = Raw::Many(self.in_all_lanes(Lane::I32, count));
        let there = self.cmp(Cond::Lt, Lane::I32, &first, &count).typed(ElemType::Bool);
        Ok((accs, there))
    }

    /// `dividend / divisor`, rounded up; the dividend may be negative, then the result is not positive.
    fn quotient_up(&mut self, dividend: Reg, divisor: i64) -> Reg {
        let raised = self.b.op(Op::AluImm(Bin::Add, Width::W64, (divisor - 1) as i32), &[dividend]);
        if divisor.count_ones() == 1 {
            let bits = divisor.trailing_zeros() as i32;
            return self.b.op(Op::AluImm(Bin::Sar, Width::W64, bits), &[raised]);
        }
        let divisor = self.b.int(divisor);
        self.b.op(Op::Quot(true, Width::W64), &[raised, divisor])
    }

    /// A general register in all lanes.
    fn in_all_lanes(&mut self, lane: Lane, reg: Reg) -> Parts {
        let splat = self.b.op(Op::Splat(lane), &[reg]);
        let count = self.groups() * if lane.is_wide() { 2 } else { 1 };
        std::iter::repeat_n(splat, count).collect()
    }

    /// The number of the part that each lane takes: the bits of the lane's number in reverse, as halves are combined, and
    /// one group of lanes after the other.
    pub(super) fn part_numbers(&mut self) -> Raw {
        let groups = self.groups();
        let bits = self.target.lanes().ilog2() as u8;
        let lanes = Raw::Many(Parts::from_slice(&[self.b.op(Op::Iota(Lane::I32, 0), &[])]));
        let one = |l: &mut Self, value: u64| {
            let value = l.b.int(value as i64);
            Raw::Many(Parts::from_slice(&[l.b.op(Op::Splat(Lane::I32), &[value])]))
        };
        let lowest = one(self, 1);
        let mut reversed = one(self, 0);
        for bit in 0..bits {
            let shifted = self.shift(Bin::Shr, Lane::I32, &lanes, bit);
            let digit = self.bin(Bin::And, Lane::I32, &shifted, &lowest);
            let digit = self.shift(Bin::Shl, Lane::I32, &digit, bits - 1 - bit);
            reversed = self.bin(Bin::Or, Lane::I32, &reversed, &digit);
        }
        let factor = one(self, groups as u64);
        let scaled = self.bin(Bin::Mul, Lane::I32, &reversed, &factor);
        let parts = (0..groups).flat_map(|group| {
            let group = one(self, group as u64);
            let Raw::Many(number) = self.bin(Bin::Add, Lane::I32, &scaled, &group) else {
                return Parts::new();
            };
            number
        });
        Raw::Many(parts.collect())
    }
}
