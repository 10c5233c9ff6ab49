//! Loops in blocks of rounds: of each block only what it begins with is kept, and it is executed again for what its rounds carry
//! once the way back comes to it. The last block's rounds are kept at once, since the way back begins with them.
//!
//! A loop is written as one over blocks, whose body is the loop over the rounds of a block; nothing else knows of blocks. How
//! many levels there are says `#[stripmine(n)]`. Where nothing is said, a loop that carries arrays has two, and as many rounds in
//! a block as there are blocks, if what all its rounds carry is too much; otherwise all its rounds are the last block.
//!
//! Invariant: the rounds, their order and what adds up in them are those of the loop as it was written.

use super::super::super::ir::*;
use super::super::super::substitute::{Items, substitute};
use super::super::{Derive, activity};
use super::lean::lean_arrays;
use super::loops::NUMBER;
use galopvm_base::{ElemType, Scalar, ScalarOp};
use galopvm_bytecode::ValueType;

/// The elements that rounds may carry before they are kept in blocks, if the program does not say.
const MANY: i64 = 1 << 24;

/// The most levels: more of them keep hardly less.
const MOST_LEVELS: u32 = 16;

/// A loop to be written in blocks.
struct Loop<'l> {
    stm: &'l Stm,
    body: &'l Block,
    types: Vec<ValueType>,
}

/// Some of a loop's rounds: how many, and the first one's number.
#[derive(Clone, Copy)]
struct Stretch {
    rounds: Atom,
    first: Atom,
}

impl Derive<'_> {
    /// A loop as loops over blocks of its rounds, if it is to be one.
    pub(super) fn in_blocks(&mut self, stm: &Stm) -> Option<Block> {
        let Op::For { bound, init, body } = &stm.op else { return None };
        let asked = stm.defs.iter().find_map(|def| self.fun.levels.get(def)).copied();
        let levels = asked.unwrap_or(2).min(MOST_LEVELS);
        if levels < 2 {
            return None;
        }
        let bound = self.value(*bound);
        let count = self.fun.size_op(ScalarOp::Max, bound, Atom::i64(0));
        let lengths = match asked {
            Some(_) => (1..levels).map(|level| self.rounds_of_block(count, level, levels)).collect(),
            None => vec![self.rounds_if_many(count, init, body)?],
        };
        self.leave_inner_loops(body);
        let of = Loop { stm, body, types: self.types(&stm.defs) };
        let all = self.fun.pieces(count, lengths[0]);
        let before = self.fun.size_op(ScalarOp::Sub, all, Atom::i64(1));
        let before = self.fun.size_op(ScalarOp::Max, before, Atom::i64(0));
        let first = self.fun.size_op(ScalarOp::Mul, before, lengths[0]);
        let rounds = self.fun.size_op(ScalarOp::Sub, count, first);
        let mut stms = Vec::new();
        let begin = Stretch { rounds: first, first: Atom::i64(0) };
        let middle = self.write_blocks(&of, &lengths, begin, init, &mut stms);
        let last = Stretch { rounds, first };
        let results = self.write_blocks(&of, &lengths[1..], last, &middle, &mut stms);
        Some(Block { params: Vec::new(), stms, results })
    }

    /// How many rounds a block has: of so many levels of blocks with as many parts each, one at this level from outside.
    fn rounds_of_block(&mut self, count: Atom, level: u32, levels: u32) -> Atom {
        let share = f64::from(levels - level) / f64::from(levels);
        let share = Atom::Const(Scalar::from_f64(ElemType::F64, share));
        let real = self.fun.convert(ElemType::I64, ElemType::F64, count);
        let root = self.fun.scalar(ScalarOp::Pow, ElemType::F64, &[real, share]);
        let whole = self.fun.scalar(ScalarOp::Ceil, ElemType::F64, &[root]);
        let rounds = self.fun.convert(ElemType::F64, ElemType::I64, whole);
        self.fun.size_op(ScalarOp::Max, rounds, Atom::i64(1))
    }

    /// How many rounds a block of a loop has that carries arrays: all of them, unless what they carry is too much. Loops in maps
    /// are left as they are.
    fn rounds_if_many(&mut self, count: Atom, init: &[Atom], body: &Block) -> Option<Atom> {
        let lean = lean_arrays(body, 1, &|var| !self.fun.vars[var].is_scalar());
        let carried: Vec<Atom> = (0..init.len())
            .filter(|k| lean.iter().all(|l| l.position != *k))
            .map(|k| self.value(init[k]))
            .filter(|value| !self.fun.type_of(*value).is_scalar())
            .collect();
        if self.depth > 0 || carried.is_empty() {
            return None;
        }
        let mut elements = Atom::i64(0);
        for value in carried {
            let shape = self.fun.shape(value);
            let size = shape.iter().fold(Atom::i64(1), |size, n| self.fun.size_op(ScalarOp::Mul, size, *n));
            elements = self.fun.size_op(ScalarOp::Add, elements, size);
        }
        let all = self.fun.size_op(ScalarOp::Mul, count, elements);
        let is_many = self.fun.size_op(ScalarOp::Gt, all, Atom::i64(MANY));
        let some = self.rounds_of_block(count, 1, 2);
        let rounds = self.fun.scalar(ScalarOp::Select, ElemType::I64, &[is_many, some, count]);
        Some(self.fun.size_op(ScalarOp::Max, rounds, Atom::i64(1)))
    }

    /// Loops in a loop of which nothing is said are not written in blocks where that one is: its code would grow with each level.
    fn leave_inner_loops(&mut self, block: &Block) {
        for stm in &block.stms {
            if let Op::For { .. } = stm.op {
                stm.defs.iter().for_each(|def| {
                    self.fun.levels.entry(*def).or_insert(1);
                });
            }
            stm.op.blocks().into_iter().for_each(|inner| self.leave_inner_loops(inner));
        }
    }

    /// Writes some rounds of a loop, in blocks of so many rounds, those in blocks of the next number, and so on; gives what they
    /// carry in the end.
    fn write_blocks(
        &mut self,
        of: &Loop<'_>,
        lengths: &[Atom],
        Stretch { rounds, first }: Stretch,
        init: &[Atom],
        stms: &mut Vec<Stm>,
    ) -> Vec<Atom> {
        let number = self.fun.var(NUMBER);
        let body = match lengths {
            [] => self.write_round(of, number, first),
            [length, inner @ ..] => {
                let length = *length;
                let params: Vec<Var> = of.types.iter().map(|ty| self.fun.var(*ty)).collect();
                let mut own = Vec::new();
                let passed = self.write(of, ScalarOp::Mul, [Atom::Var(number), length], &mut own);
                let first = self.write(of, ScalarOp::Add, [first, passed], &mut own);
                let left = self.write(of, ScalarOp::Sub, [rounds, passed], &mut own);
                let rounds = self.write(of, ScalarOp::Min, [left, length], &mut own);
                let init = activity::vars(&params);
                let results = self.write_blocks(of, inner, Stretch { rounds, first }, &init, &mut own);
                Block { params: [&[number], params.as_slice()].concat(), stms: own, results }
            }
        };
        let bound = match lengths {
            [] => rounds,
            [length, ..] => {
                let more = self.write(of, ScalarOp::Add, [rounds, *length], stms);
                let more = self.write(of, ScalarOp::Sub, [more, Atom::i64(1)], stms);
                self.write(of, ScalarOp::Quot, [more, *length], stms)
            }
        };
        let defs: Vec<Var> = of.types.iter().map(|ty| self.fun.var(*ty)).collect();
        self.fun.levels.extend(defs.iter().map(|def| (*def, 1)));
        let op = Op::For { bound, init: init.to_vec(), body };
        stms.push(Stm::new(defs.clone(), op, of.stm.origin));
        activity::vars(&defs)
    }

    /// The round of a loop, as one of a stretch.
    fn write_round(&mut self, of: &Loop<'_>, number: Var, first: Atom) -> Block {
        let mut body = self.renamed(of.body);
        let counter = std::mem::replace(&mut body.params[0], number);
        if first == Atom::i64(0) {
            substitute(&mut body, &Items::from([(counter, Atom::Var(number))]));
            return body;
        }
        let op = Op::scalar(ScalarOp::Add, ElemType::I64, &[first, Atom::Var(number)]);
        body.stms.insert(0, Stm::new(vec![counter], op, of.stm.origin));
        body
    }

    /// Writes an operation on i64.
    fn write(&mut self, of: &Loop<'_>, op: ScalarOp, args: [Atom; 2], stms: &mut Vec<Stm>) -> Atom {
        let var = self.fun.var(NUMBER);
        let op = Op::scalar(op, ElemType::I64, &args);
        stms.push(Stm::new(vec![var], op, of.stm.origin));
        Atom::Var(var)
    }
}
