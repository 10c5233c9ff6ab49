//! Where the results of an operator live: one residence for each, decided here and nowhere else.
//!
//! Four know of places: an operator around this one, which has its rows made where they belong; the analysis of reuse, which
//! knows of arrays that die here; the plan of the region; and the advice on layouts. They are heard in this order, and what
//! one of them says of a result the next ones cannot take back. With a place goes its ground, as what may be done there
//! depends on it: only where the plan has a result may parts of it be made where the plan has them, and only of a row, or over a
//! dying array, may something be left as it is.
//!
//! Invariants: a result has one residence or none; `settle` is the only way to it. A ground is never told of another place
//! than the one it came with.

use super::Optimizer;
use galopvm_base::ElemType;
use galopvm_bytecode::{Operator, RegId};
use galopvm_interp::{Outcome, Registers};
use galopvm_store::array::{Array, Granted};
use galopvm_store::memory::Memory;
use galopvm_tier::{Changes, Choice, Execution, Met, Rows};
use smallvec::SmallVec;
use std::sync::Arc;

/// Why a result lives where it does, and what is known of the place for that reason.
#[derive(Clone, Debug)]
pub(super) enum Ground {
    /// It is a row of what an operator around makes; nobody wants other rows of it than these.
    Row(Option<Rows>),
    /// It goes over an array that dies with the operator, of which elements other than these may stay as they are.
    Over(Option<Arc<Changes>>),
    /// The plan of the region has it there.
    Planned,
    /// It is a block of its own, in the layout that its readers like.
    Advised,
}

/// Where the results of an operator go; those without a residence get a block of their own.
pub(super) struct Placing {
    /// How many results there are.
    results: usize,
    /// The places, by result, as soon as there is one: most operators have none. A block that is made meanwhile for a result without
    /// a residence is one of them, too.
    pub(super) places: Vec<Option<Granted>>,
    grounds: Vec<Option<Ground>>,
}

/// The place of a row's value, as long as the row is computed.
pub(super) struct Target {
    /// How deep calls were nested when it was made: a register of another call is not meant.
    pub(super) depth: usize,
    pub(super) reg: RegId,
    pub(super) place: Granted,
    /// The rows that are wanted; all if nothing is said.
    pub(super) window: Option<Rows>,
}

impl Placing {
    /// No residences yet, for so many results.
    pub(super) fn none(results: usize) -> Placing {
        Placing { results, places: Vec::new(), grounds: Vec::new() }
    }

    /// Result `k` lives there, unless it has a residence already. An array without elements needs none; it has the extents that
    /// executing gives it, which need not be those that the place was decided with.
    pub(super) fn settle(&mut self, k: usize, place: Granted, ground: Ground) {
        if !self.has(k) && place.array().elements() > 0 {
            self.make_room();
            self.places[k] = Some(place);
            self.grounds[k] = Some(ground);
        }
    }

    fn make_room(&mut self) {
        self.places.resize(self.results, None);
        self.grounds.resize(self.results, None);
    }

    /// The place of result `k`, which is not made there after all or by other means.
    pub(super) fn take(&mut self, k: usize) -> Option<Granted> {
        *self.grounds.get_mut(k)? = None;
        self.places[k].take()
    }

    /// Gives up the places that do not fit.
    pub(super) fn retain(&mut self, fits: impl Fn(usize, &Array) -> bool) {
        for k in 0..self.places.len() {
            if self.places[k].as_ref().is_some_and(|place| !fits(k, place.array())) {
                drop(self.take(k));
            }
        }
    }

    /// Whether result `k` has a residence.
    pub(super) fn has(&self, k: usize) -> bool {
        self.grounds.get(k).is_some_and(Option::is_some)
    }

    /// Whether no result has one.
    pub(super) fn is_empty(&self) -> bool {
        self.grounds.iter().all(Option::is_none)
    }

    /// Whether the operator may run again after it failed: it has not written over anything that was there before.
    pub(super) fn is_repeatable(&self) -> bool {
        self.grounds.iter().flatten().all(|ground| matches!(ground, Ground::Advised))
    }

    /// The place of result `k`, if it is the plan's.
    pub(super) fn planned(&self, k: usize) -> Option<&Granted> {
        self.places.get(k)?.as_ref().filter(|_| matches!(self.grounds[k], Some(Ground::Planned)))
    }

    /// The ground of the only result.
    fn only(&self) -> Option<&Ground> {
        match &self.grounds[..] {
            [ground] => ground.as_ref(),
            _ => None,
        }
    }

    /// Whether a row may be made in its place at once, before the rest of its block is done: no other row reads anything there,
    /// and what is left of the block when a row is made cannot change it any more.
    pub(super) fn is_at_once(&self) -> bool {
        matches!(self.only(), Some(Ground::Row(_) | Ground::Over(_)))
    }

    /// The rows that are wanted, where others stay as they are.
    pub(super) fn window(&self) -> Option<Rows> {
        match self.only() {
            Some(Ground::Row(window)) => *window,
            _ => None,
        }
    }

    /// The elements that change, if all others may be left as they are.
    pub(super) fn changes(&self) -> Option<&Arc<Changes>> {
        match self.only() {
            Some(Ground::Over(changes)) => changes.as_ref(),
            _ => None,
        }
    }

    /// The place of result `k`: a block of its own where it has no residence.
    pub(super) fn place(
        &mut self,
        memory: &Memory,
        k: usize,
        elem: ElemType,
        shape: &[i64],
    ) -> Outcome<&mut Granted> {
        self.make_room();
        match &mut self.places[k] {
            Some(place) => Ok(place),
            none => Ok(none.insert(Granted::fresh(memory, elem, shape)?)),
        }
    }
}

impl<'a> Optimizer<'a> {
    /// Where the results of an operator are to be made, whoever makes them.
    pub(super) fn residences(
        &mut self,
        registers: &Registers<'a>,
        execution: Execution,
        operator: &Operator<'_>,
        choice: Choice,
    ) -> Outcome<Placing> {
        let mut placing = Placing::none(operator.dsts.len());
        self.targeted(registers, operator, &mut placing);
        self.over(registers, execution, operator, choice, &mut placing);
        if operator.is_map() && placing.is_empty() {
            let results: SmallVec<[RegId; 4]> = operator.dsts.iter().map(|dst| dst.0).collect();
            self.planned(registers, &results, &mut placing)?;
        }
        Ok(placing)
    }

    /// The residences of results that are rows of an operator around.
    fn targeted(&self, registers: &Registers<'a>, operator: &Operator<'_>, placing: &mut Placing) {
        for (k, dst) in operator.dsts.iter().enumerate() {
            let meant = |target: &&Target| target.depth == registers.depth && target.reg == dst.0;
            if let Some(target) = self.holding.targets.iter().find(meant) {
                self.tiers.coverage.met(Met::PlaceTarget);
                placing.settle(k, target.place.clone(), Ground::Row(target.window));
            }
        }
    }
}
