//! Partial results in lanes, combined to one value.
//!
//! Groups of lanes first, then the upper half of the lanes onto the lower one, half by half. So lane `l` of group `g` is
//! combined in front of lane `l` of group `g + 1`, and lane `l` in front of lane `l + half`: who keeps the order of rows gives
//! them to lanes accordingly (`parts.rs`). A lane that has had no rows holds the neutral element. Some operators in use have one
//! that is neutral only in front of everything that occurs, as the interpreter has it: who keeps the order says which lanes have
//! had rows, and others are passed by.

use super::primitive::Raw;
use super::value::{Parts, Value, lane_of};
use super::{Lanes, Lower};
use crate::lir::{Cond, Lane, Op};
use galopvm_base::ElemType;
use galopvm_kir::{Combine, Refusal};

impl Lower<'_> {
    /// One application of an operator to values that are there.
    pub fn operate(&mut self, combine: &Combine, a: &[Value], b: &[Value]) -> Result<Vec<Value>, Refusal> {
        if let Some(ops) = combine.scalar_ops() {
            let each = ops.iter().zip(a.iter().zip(b));
            return each.map(|(op, (a, b))| self.scalar_op(*op, a.ty, &[a.clone(), b.clone()])).collect();
        }
        self.bind_all(&combine.acc, a);
        self.bind_all(&combine.item, b);
        self.body(&combine.body)
    }

    /// The lanes in use of values combined; uniform values. Where it is said, those of the lanes that are there: a lane in front
    /// of one that is there is there, too.
    pub fn fold_lanes(
        &mut self,
        combine: &Combine,
        accs: &[Value],
        there: Option<&Value>,
    ) -> Result<Vec<Value>, Refusal> {
        let accs: Vec<Value> = accs.iter().chain(there).cloned().collect();
        let groups = self.groups();
        let split: Vec<Parts> = accs.iter().map(|acc| self.parts(acc)).collect();
        let group = |g: usize| -> Vec<Value> {
            let one = |(acc, parts): (&Value, &Parts)| {
                let each = parts.len() / groups;
                Raw::Many(parts[g * each..(g + 1) * each].into()).typed(acc.ty)
            };
            accs.iter().zip(&split).map(one).collect()
        };
        let saved = self.lanes.replace(Lanes { groups: 1 });
        let mut folded = group(0);
        for g in 1..groups {
            folded = self.fold_onto(combine, &folded, &group(g))?;
        }
        let mut count = self.target.lanes() / 2;
        while count > 0 {
            let upper: Vec<Value> = folded.iter().map(|value| self.moved_down(value, count)).collect();
            let mask = self.first_lanes(count);
            let outer = self.mask.replace(mask);
            folded = self.fold_onto(combine, &folded, &upper)?;
            self.mask = outer;
            count /= 2;
        }
        folded.truncate(combine.acc.len());
        let folded = folded.iter().map(|value| self.first_lane(value)).collect();
        self.lanes = saved;
        Ok(folded)
    }

    /// Values combined with later ones, where these are there.
    fn fold_onto(&mut self, combine: &Combine, a: &[Value], b: &[Value]) -> Result<Vec<Value>, Refusal> {
        let count = combine.acc.len();
        let (Some(first), Some(second)) = (a.get(count), b.get(count)) else {
            return self.operate(combine, a, b);
        };
        let there = self.parts(second);
        let mask = self.under_mask(&there);
        let outer = self.mask.replace(mask);
        let both = self.operate(combine, &a[..count], &b[..count])?;
        self.mask = outer;
        let there = Raw::Many(there);
        let mut values: Vec<Value> =
            both.iter().zip(a).map(|(both, first)| self.merge(&there, both, first)).collect();
        values.push(first.clone());
        Ok(values)
    }

    /// The mask of the first lanes of a group.
    fn first_lanes(&mut self, count: usize) -> Parts {
        let count = self.b.int(count as i64);
        let count = self.b.op(Op::Splat(Lane::I32), &[count]);
        let numbers = self.b.op(Op::Iota(Lane::I32, 0), &[]);
        Parts::from_slice(&[self.b.op(Op::Cmp(Cond::Lt, Lane::I32), &[numbers, count])])
    }

    /// In the first `count` lanes of a group those that come so many later; anything in the others.
    fn moved_down(&mut self, value: &Value, count: usize) -> Value {
        if value.ty == ElemType::Bool {
            let numbers = self.convert(value, ElemType::I32);
            let moved = self.moved_down(&numbers, count);
            return self.convert(&moved, ElemType::Bool);
        }
        let parts = self.parts(value);
        let lane = lane_of(value.ty);
        let per_part = self.target.vectors().bytes() / lane.bytes();
        let moved = match parts.get(1) {
            Some(upper) if count == per_part => *upper,
            _ => self.b.op(Op::MoveDown((count * lane.bytes()) as u8), &[parts[0]]),
        };
        Raw::Many(std::iter::repeat_n(moved, parts.len()).collect()).typed(value.ty)
    }

    /// The first lane of a value, as a uniform value.
    fn first_lane(&mut self, value: &Value) -> Value {
        if !value.varies() {
            return value.clone();
        }
        if value.ty == ElemType::Bool {
            let numbers = self.convert(value, ElemType::I32);
            return Value { ty: ElemType::Bool, ..self.first_lane(&numbers) };
        }
        let (lane, parts) = (lane_of(value.ty), self.parts(value));
        let reg = if lane.is_float() { parts[0] } else { self.b.op(Op::FromFloat(lane), &[parts[0]]) };
        Value::uniform(value.ty, reg)
    }
}
