//! Branches and loops of a unit.
//!
//! A value that is carried around a loop has one slot: for the initial value, the parameter of each turn and the result.

use super::code::Op;
use super::share::{can_share, defined_in_place};
use super::translate::Translator;
use super::unit::{Base, Origin, Place, Slot};
use crate::refused::{Made, Refused};
use galopvm_bytecode::{BlockId, Def, Function, Instr, Operand, RegId};

/// Operations that executing a block counts for, without the turns of loops in it, which count for themselves.
pub(crate) fn cost(function: &Function, block: BlockId) -> u64 {
    let block = &function.blocks[block];
    let branches = block.code.iter().map(|instr| match instr {
        Instr::If { then, otherwise, .. } => cost(function, *then).max(cost(function, *otherwise)),
        _ => 0,
    });
    block.code.len() as u64 + 1 + branches.sum::<u64>()
}

impl<'a> Translator<'a> {
    pub(super) fn branch(
        &mut self,
        dsts: &[Def],
        cond: Operand,
        then: BlockId,
        otherwise: BlockId,
    ) -> Made<()> {
        let test = self.slot(cond.reg)?;
        let compare = if cond.last { self.take_compare(test) } else { None };
        let past_then = match compare {
            Some((unless, _, a, b)) => self.emit(unless, a, b, 0)?,
            None => self.emit(Op::Unless, test, 0, 0)?,
        };
        let mut targets = Vec::with_capacity(dsts.len());
        for dst in dsts {
            targets.push(if self.is_array(dst.0) { None } else { Some(self.define(dst.0)?) });
        }
        let first = self.arm(then, &targets)?;
        let past_otherwise = self.emit(Op::Jump, 0, 0, 0)?;
        self.land(past_then);
        let second = self.arm(otherwise, &targets)?;
        if self.unit.code.len() == past_otherwise + 1 {
            // There is nothing to jump over.
            self.unit.code.pop();
            self.unit.origins.pop();
            self.land(past_then);
        } else {
            self.land(past_otherwise);
        }
        for ((dst, first), second) in dsts.iter().zip(first).zip(second) {
            if first != second {
                return Err(Refused::Because("a branch that gives one of two arrays"));
            }
            if let Some(place) = first {
                self.places.insert(dst.0, place);
            }
        }
        Ok(())
    }

    /// A block whose scalar results go to these slots; gives the places of its array results.
    fn arm(&mut self, block: BlockId, targets: &[Option<Slot>]) -> Made<Vec<Option<Place>>> {
        self.offer(block, targets);
        self.block(block)?;
        let results = &self.function.blocks[block].results;
        let mut moves = Vec::with_capacity(results.len());
        let mut places = Vec::with_capacity(results.len());
        for (result, target) in results.iter().zip(targets) {
            match target {
                Some(target) => {
                    moves.push((*target, self.slot(result.reg)?));
                    places.push(None);
                }
                None => places.push(Some(self.place(result.reg)?)),
            }
        }
        self.moves(moves)?;
        Ok(places)
    }

    /// Lets results of a block be computed in the slots where they are wanted, as far as nobody is in the way.
    fn offer(&mut self, block: BlockId, targets: &[Option<Slot>]) {
        let function = self.function;
        for (k, (result, target)) in function.blocks[block].results.iter().zip(targets).enumerate() {
            let Some(target) = target else { continue };
            let free = match self.occupants.get(target) {
                Some(occupant) => can_share(function, block, *occupant, k),
                None => defined_in_place(function, block, result.reg).is_some(),
            };
            if free {
                self.wanted.entry(result.reg).or_insert(*target);
            }
        }
    }

    /// Gives the values that a loop carries their slots, and the initial values to those.
    fn carry(
        &mut self,
        dsts: &[Def],
        init: &[Operand],
        params: &[RegId],
        outermost: bool,
    ) -> Made<Vec<Option<Slot>>> {
        let mut slots = Vec::with_capacity(init.len());
        let mut moves = Vec::with_capacity(init.len());
        for (k, ((dst, init), param)) in dsts.iter().zip(init).zip(params).enumerate() {
            if self.is_array(dst.0) {
                let place = if outermost {
                    Place { base: Base::Cell(self.cell(Origin::Init(k))?), lead: Default::default() }
                } else {
                    self.place(init.reg)?
                };
                // What is updated must not be seen elsewhere.
                if matches!(place.base, Base::Cell(_)) && !outermost && !init.last {
                    return Err(Refused::Because("an array that is changed and seen elsewhere as well"));
                }
                self.places.insert(dst.0, place.clone());
                self.places.insert(*param, place);
                slots.push(None);
            } else {
                let from = self.slot(init.reg)?;
                let slot = self.carried_slot(dst.0, *param)?;
                moves.push((slot, from));
                slots.push(Some(slot));
            }
        }
        self.moves(moves)?;
        Ok(slots)
    }

    /// The slot of a result that is also a parameter of every turn.
    pub(super) fn carried_slot(&mut self, dst: RegId, param: RegId) -> Made<Slot> {
        let slot = self.define(dst)?;
        self.carry_in(param, slot);
        Ok(slot)
    }

    /// Lets a parameter of every turn live in a slot.
    pub(super) fn carry_in(&mut self, param: RegId, slot: Slot) {
        self.bind(param, slot);
        let before = self.occupants.insert(slot, param);
        self.covered.push((slot, before));
    }

    /// Ends the scope of the parameters carried since there were so many of them.
    pub(super) fn end_carrying(&mut self, count: usize) {
        for (slot, before) in self.covered.drain(count..).rev() {
            match before {
                Some(param) => self.occupants.insert(slot, param),
                None => self.occupants.remove(&slot),
            };
        }
    }

    /// One turn: a block whose results are the next values.
    pub(super) fn turn(&mut self, body: BlockId, params: &[RegId], slots: &[Option<Slot>]) -> Made<()> {
        let places = self.arm(body, slots)?;
        for (param, place) in params.iter().zip(places) {
            if place.is_some_and(|place| self.places.get(param) != Some(&place)) {
                return Err(Refused::Because("a loop that carries another array in each round"));
            }
        }
        Ok(())
    }

    /// What a turn of these blocks costs, for the jump back.
    fn price(&mut self, jump: usize, blocks: &[BlockId]) {
        let cost = blocks.iter().map(|block| cost(self.function, *block)).sum::<u64>();
        self.unit.code[jump].d = Slot::try_from(cost).unwrap_or(Slot::MAX);
    }

    pub(super) fn count(
        &mut self,
        dsts: &[Def],
        bound: Operand,
        init: &[Operand],
        body: BlockId,
        outermost: bool,
    ) -> Made<()> {
        let function = self.function;
        let (counter, params) =
            function.blocks[body].params.split_first().ok_or(Refused::Because("a loop without a counter"))?;
        let bound = self.slot(bound.reg)?;
        let outer = self.covered.len();
        let slots = self.carry(dsts, init, params, outermost)?;
        let slot = self.define(*counter)?;
        let start = self.start_counting(slot, bound)?;
        self.turn(body, params, &slots)?;
        self.end_carrying(outer);
        self.go_on_counting(start, &[body])
    }

    /// Code that counts a slot from 0 below a bound; gives counter, bound and the jump over the loop.
    pub(super) fn start_counting(&mut self, slot: Slot, bound: Slot) -> Made<(Slot, Slot, usize)> {
        let zero = self.constant(0)?;
        self.emit(Op::Move, slot, zero, 0)?;
        let over = self.emit(Op::UnlessLtI64, slot, bound, 0)?;
        self.here();
        Ok((slot, bound, over))
    }

    pub(super) fn go_on_counting(&mut self, start: (Slot, Slot, usize), blocks: &[BlockId]) -> Made<()> {
        let (counter, bound, over) = start;
        let jump = self.emit(Op::Count, counter, bound, (over + 1) as Slot)?;
        self.price(jump, blocks);
        self.land(over);
        Ok(())
    }

    pub(super) fn repeat(
        &mut self,
        dsts: &[Def],
        init: &[Operand],
        cond: BlockId,
        body: BlockId,
        outermost: bool,
    ) -> Made<()> {
        let function = self.function;
        let params = &function.blocks[body].params;
        let test = &function.blocks[cond];
        let outer = self.covered.len();
        let slots = self.carry(dsts, init, params, outermost)?;
        for ((test, param), slot) in test.params.iter().zip(params).zip(&slots) {
            match slot {
                Some(slot) => self.bind(*test, *slot),
                None => {
                    let place = self.place(*param)?;
                    self.places.insert(*test, place);
                }
            }
        }
        let start = self.emit(Op::Jump, 0, 0, 0)?;
        let top = self.here();
        self.turn(body, params, &slots)?;
        self.end_carrying(outer);
        self.land(start);
        self.block(cond)?;
        let answer = self.slot(test.results[0].reg)?;
        let jump = match self.take_compare(answer) {
            Some((_, again, a, b)) => self.emit(again, a, b, top)?,
            None => self.emit(Op::Again, answer, 0, top)?,
        };
        self.price(jump, &[cond, body]);
        Ok(())
    }
}
