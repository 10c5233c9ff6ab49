//! Reductions by operators whose operands may not be exchanged, over many rows in lanes: neighbours are combined, then neighbours of what
//! that gives, and so on.
//!
//! Rows come from memory by vectors, every second one in a register, and so do the others: no lane reads far from the next one, as it
//! does where each has a part of the rows (`parts.rs`). The rows of the innermost axis are taken in blocks. What pairs come to lies in
//! rooms of half a block's size, which stay in the nearest cache, and over itself from the second time on. Rows behind the last
//! whole block are left to the caller.

use super::access::View;
use super::control::Span;
use super::parts::Fold;
use super::primitive::Raw;
use super::value::{Factor, Rep, Value};
use super::{Lanes, Lower};
use crate::lir::{Bin, Change, Lane, Op, Reg, Width};
use galopvm_base::ElemType;
use galopvm_kir::Refusal;

/// Bytes of the rooms together.
const ROOM: usize = 16 << 10;

/// Rows of a block at most.
const MOST_ROWS: usize = 2048;

impl Lower<'_> {
    /// The whole blocks of `length` rows from `low` on, after `accs`; also gives how many rows these are. None, if there is no room for
    /// pairs: a reduction does not trap for want of memory.
    pub(super) fn fold_pairs(
        &mut self,
        fold: &Fold<'_>,
        (low, length): (Reg, Reg),
        accs: &[Value],
        shapes: &[(ElemType, bool)],
    ) -> Result<(Vec<Value>, Reg), Refusal> {
        let size = rows_of_block(fold, self.target.lanes());
        let bits = size.trailing_zeros() as i32;
        let (zero, one) = (self.b.int(0), self.b.int(1));
        let blocks = self.b.op(Op::AluImm(Bin::Sar, Width::W64, bits), &[length]);
        // Rooms are for who has a block.
        let any = self.bin(Bin::MinS, Lane::I64, &Raw::One(blocks), &Raw::One(one)).part(0);
        let start: Vec<Value> = accs.iter().cloned().chain([Value::int(0)]).collect();
        let all_shapes: Vec<(ElemType, bool)> =
            shapes.iter().copied().chain([(ElemType::I64, false)]).collect();
        let span = Span { low: zero, high: any, step: 1, few: true };
        let (_, mut ended) = self.counted(span, &start, &all_shapes, &mut |l, _, now| {
            let (rooms, are_there) = l.rooms_of_pairs(shapes, size / 2)?;
            let high = l.b.op(Op::Choose, &[are_there, blocks, zero]);
            let span = Span { low: zero, high, step: 1, few: false };
            let (counter, mut accs) =
                l.counted(span, &now[..shapes.len()], shapes, &mut |l, block, accs| {
                    let begin = l.b.op(Op::AluImm(Bin::Shl, Width::W64, bits), &[block]);
                    let begin = l.b.op(Op::Alu(Bin::Add, Width::W64), &[low, begin]);
                    l.lanes = Some(Lanes { groups: 1 });
                    let folded = l.fold_block_of_pairs(fold, begin, size, &rooms)?;
                    l.lanes = None;
                    l.operate(fold.combine, accs, &folded)
                })?;
            let done = l.b.op(Op::AluImm(Bin::Shl, Width::W64, bits), &[counter]);
            accs.push(Value::uniform(ElemType::I64, done));
            Ok(accs)
        })?;
        let done = ended.pop().ok_or_else(|| Refusal::new("internal: no number of rows"))?;
        Ok((ended, self.uniform(&done)))
    }

    /// A room for each component, and whether all are there.
    fn rooms_of_pairs(
        &mut self,
        shapes: &[(ElemType, bool)],
        rows: usize,
    ) -> Result<(Vec<View>, Reg), Refusal> {
        let rows = Value::int(rows as i64);
        let mut rooms = Vec::with_capacity(shapes.len());
        let mut are_there = self.b.int(1);
        for (elem, _) in shapes {
            let (room, is_there) = self.fresh_if_there(*elem, std::slice::from_ref(&rows))?;
            are_there = self.b.op(Op::Alu(Bin::And, Width::W64), &[are_there, is_there]);
            rooms.push(room);
        }
        Ok((rooms, are_there))
    }

    fn fold_block_of_pairs(
        &mut self,
        fold: &Fold<'_>,
        begin: Reg,
        size: usize,
        rooms: &[View],
    ) -> Result<Vec<Value>, Refusal> {
        let lanes = self.lane_count();
        let (zero, vectors) = (self.b.int(0), size / (2 * lanes));
        let high = self.b.int(vectors as i64);
        let span = Span { low: zero, high, step: 1, few: false };
        self.counted(span, &[], &[], &mut |l, pair, _| {
            let first = l.b.op(Op::AluImm(Bin::Mul, Width::W64, 2 * lanes as i32), &[pair]);
            let first = l.b.op(Op::Alu(Bin::Add, Width::W64), &[begin, first]);
            let mut halves = Vec::with_capacity(2);
            for index in l.every_second(first) {
                l.bind_scalar(fold.axis, index);
                halves.push(l.body(fold.body)?);
            }
            l.store_pairs(fold, &halves, rooms, pair)
        })?;
        let levels = self.b.int(i64::from(vectors.ilog2()));
        let half = self.b.int(vectors as i64 / 2);
        let span = Span { low: zero, high: levels, step: 1, few: false };
        let (start, shapes) = ([Value::uniform(ElemType::I64, half)], [(ElemType::I64, false)]);
        self.counted(span, &start, &shapes, &mut |l, _, now| {
            let high = l.uniform(&now[0]);
            let span = Span { low: zero, high, step: 1, few: false };
            l.counted(span, &[], &[], &mut |l, pair, _| {
                let first = l.b.op(Op::AluImm(Bin::Mul, Width::W64, 2 * lanes as i32), &[pair]);
                let mut halves = Vec::with_capacity(2);
                for index in l.every_second(first) {
                    halves.push(l.load_all(rooms, &index));
                }
                l.store_pairs(fold, &halves, rooms, pair)
            })?;
            let half = l.b.op(Op::AluImm(Bin::Sar, Width::W64, 1), &[high]);
            Ok(vec![Value::uniform(ElemType::I64, half)])
        })?;
        // A lane for each stretch of rows is left, in the order of the rows.
        let numbers = self.part_numbers();
        let numbers = self.change(Change::ExtendZero, Lane::I32, Lane::I64, &numbers);
        let last = self.load_all(rooms, &numbers.typed(ElemType::I64));
        self.fold_lanes(fold.combine, &last, None)
    }

    /// The numbers of every second row from one on, and of those behind them.
    fn every_second(&mut self, first: Reg) -> [Value; 2] {
        let second = self.b.op(Op::AluImm(Bin::Add, Width::W64, 1), &[first]);
        [first, second].map(|start| {
            let rep = Rep::Linear { start, step: Factor::Const(2) };
            Value { ty: ElemType::I64, rep }
        })
    }

    /// What rooms hold now.
    fn load_all(&mut self, rooms: &[View], index: &Value) -> Vec<Value> {
        rooms
            .iter()
            .map(|room| {
                let now = self.written(room.clone());
                self.load(&now.row(std::slice::from_ref(index)), false)
            })
            .collect()
    }

    fn store_pairs(
        &mut self,
        fold: &Fold<'_>,
        halves: &[Vec<Value>],
        rooms: &[View],
        pair: Reg,
    ) -> Result<Vec<Value>, Refusal> {
        let [first, second] = halves else { return Err(Refusal::new("internal: no pair")) };
        let both = self.operate(fold.combine, first, second)?;
        let start = self.b.op(Op::AluImm(Bin::Mul, Width::W64, self.lane_count() as i32), &[pair]);
        let rep = Rep::Linear { start, step: Factor::Const(1) };
        let place = Value { ty: ElemType::I64, rep };
        for (room, value) in rooms.iter().zip(&both) {
            self.store(&room.row(std::slice::from_ref(&place)), value);
        }
        Ok(Vec::new())
    }
}

/// The rows of a block: a power of two.
fn rows_of_block(fold: &Fold<'_>, lanes: usize) -> usize {
    let bytes: usize = fold.neutral.iter().map(|value| value.ty.bytes()).sum();
    let fitting = (2 * ROOM / bytes.max(1) + 1).next_power_of_two() / 2;
    fitting.clamp(8 * lanes, MOST_ROWS)
}
