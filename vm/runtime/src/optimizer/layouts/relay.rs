//! Giving operators copies of arrays in the layout that they read, and the arrays back to their registers.

use super::LEAST_WORK;
use super::copies::Relaid;
use super::decide::{Want, Wants, wants};
use crate::optimizer::Optimizer;
use crate::optimizer::order::{Copies, Relay};
use galopvm_analysis::layout::{Verdict, memory_order};
use galopvm_bytecode::{Operand, Operator, RegId};
use galopvm_interp::Registers;
use galopvm_store::array::Array;
use galopvm_store::error::Trap;
use galopvm_tier::site::{Found, Made, nanos};
use galopvm_tier::told::RelaidAnswer;
use galopvm_tier::{Choice, Doing, Execution, Executor, PlanPhases};
use smallvec::SmallVec;
use std::sync::Arc;
use std::time::Instant;

/// Registers that have copies while an operator runs.
#[derive(Default)]
pub(in crate::optimizer) struct Relaying {
    /// The arrays that the registers are to have again.
    arrays: Vec<(RegId, Array)>,
    /// The registers that have copies, with those that do not get their arrays back.
    given: Vec<RegId>,
    /// Who executes it and when it began to run, if somebody wants to know how long it takes.
    running: Option<(Executor, Instant)>,
    /// Operands that the operator uses up, in case that it has to be run again.
    spare: Vec<(RegId, Array)>,
}

impl<'a> Optimizer<'a> {
    /// The arrays of an operator for which copies in better layouts pay.
    pub(in crate::optimizer) fn copies(
        &mut self,
        registers: &Registers<'a>,
        execution: Execution,
        operator: &Operator<'_>,
        choice: Choice,
    ) -> Copies {
        let Execution { block, index, site, width, work } = execution;
        let mut copies = Copies::default();
        if !self.switches.galop || width == 0 || (work < LEAST_WORK && !self.eager) {
            return copies;
        }
        let executor = self.tiers.executor(site, choice);
        let executor = executor.unwrap_or_else(|| self.form_for(registers, execution, operator.arrays));
        copies.asked_for = Some(executor);
        let room = self.memory.room();
        let dying = registers.prepared.blocks[block].dying(registers.code, block, index);
        let is_free = |reg: RegId| room.is_none() && dying.contains(&reg);
        let is_trusted = self.eager || self.layouts.site(site).is_trusted(executor);
        if let Some(advice) = self.advice_here(registers).filter(|_| is_trusted) {
            for copy in advice.at(execution.at()).into_iter().flat_map(|advice| &advice.copies) {
                let Some(array) = registers.array_of(copy.reg) else { continue };
                let order = copy.order(array.lmad());
                if !array.is_unmade()
                    && order != memory_order(array.lmad())
                    && !self.is_planned(registers, copy.reg)
                {
                    copies.all.push(Relay { reg: copy.reg, order, is_free: is_free(copy.reg) });
                }
            }
        }
        if !copies.all.is_empty() {
            // What was decided for the region as a whole has looked at its other arrays as well.
            return copies;
        }
        let Some(wants) = self.wants(registers, site, executor) else { return copies };
        let mut chosen: SmallVec<[(usize, u64, bool); 2]> = SmallVec::new();
        for (k, want) in wants.all.iter().enumerate() {
            let Some(array) = registers.array_of(want.reg) else { continue };
            if array.is_unmade() || self.is_planned(registers, want.reg) {
                continue;
            }
            let relaid = Relaid::new(array, &want.order);
            let seen = relaid.ask(self.memory);
            let runs = self.layouts.site(site).runs(want.reg, seen);
            let held = relaid.kept(self.memory).is_some();
            match want.verdict(runs, held, room.unwrap_or(u64::MAX)) {
                Verdict::Manifest => chosen.push((k, runs, held)),
                verdict => self.tiers.tell_relaid(site, want.reg, &want.order, RelaidAnswer::No(verdict)),
            }
        }
        let is_felt = self.eager
            || executor == Executor::Compiled
            || wants.are_felt(chosen.iter().map(|(k, ..)| *k), work);
        let no = match wants.are_worth(chosen.iter().copied()) {
            false => Some(RelaidAnswer::Lane),
            true if !is_felt => Some(RelaidAnswer::Little),
            true => (!is_trusted).then_some(RelaidAnswer::Measured),
        };
        for (k, ..) in chosen {
            let Want { reg, order, .. } = &wants.all[k];
            match no {
                Some(why) => self.tiers.tell_relaid(site, *reg, order, why),
                None => {
                    copies.all.push(Relay { reg: *reg, order: order.clone(), is_free: is_free(*reg) });
                }
            }
        }
        copies
    }

    /// Gives registers of an operator the copies of its order. The error is that the call is to end.
    pub(in crate::optimizer) fn relay(
        &mut self,
        registers: &mut Registers<'a>,
        execution: Execution,
        copies: &Copies,
        operator: &Operator<'_>,
    ) -> Result<Relaying, Trap> {
        let mut relaying = Relaying::default();
        for copy in &copies.all {
            self.relay_one(registers, execution.site, copy, &mut relaying)?;
        }
        if self.memory.room().is_some() && !relaying.given.is_empty() {
            let operands = operator.arrays.iter().chain(operator.neutral);
            let used_up = operands.filter(|operand| operand.last && registers.is_array(operand.reg));
            let spare = used_up.filter_map(|operand| {
                let given = relaying.given.contains(&operand.reg);
                if given { None } else { Some((operand.reg, registers.array_of(operand.reg)?.clone())) }
            });
            relaying.spare = spare.collect();
        }
        relaying.running = copies.asked_for.map(|executor| (executor, Instant::now()));
        Ok(relaying)
    }

    /// Gives a register a copy of its array.
    fn relay_one(
        &self,
        registers: &mut Registers<'a>,
        site: u32,
        Relay { reg, order, is_free }: &Relay,
        relaying: &mut Relaying,
    ) -> Result<(), Trap> {
        let reg = *reg;
        let Some(array) = registers.array_of(reg) else { return Ok(()) };
        let relaid = Relaid::new(array, order);
        let free = *is_free && array.block().is_unique();
        let kept = relaid.kept(self.memory);
        let answer = if kept.is_some() { RelaidAnswer::Kept } else { RelaidAnswer::Made };
        let copy = match kept {
            Some(copy) => {
                self.memory.count_layout(None);
                Some(copy)
            }
            None => self.tiers.moments.during(Doing::Relaying, || relaid.make(self.memory, !free))?,
        };
        let Some(copy) = copy else {
            self.tiers.tell_relaid(site, reg, order, RelaidAnswer::NoMemory);
            return Ok(());
        };
        self.tiers.tell_relaid(site, reg, order, answer);
        let array = registers.array_of(reg).cloned();
        registers.set_array(reg, copy);
        relaying.arrays.extend(array.filter(|_| !free).map(|array| (reg, array)));
        relaying.given.push(reg);
        Ok(())
    }

    /// Gives registers their arrays back, those that still have one.
    pub(in crate::optimizer) fn relay_back(
        &mut self,
        registers: &mut Registers<'a>,
        execution: Execution,
        relaying: Relaying,
    ) {
        if let Some((executor, start)) = relaying.running {
            let (took, with_copies) = (nanos(start.elapsed()), !relaying.given.is_empty());
            self.layouts.site(execution.site).ran(executor, took, execution.work, with_copies);
        }
        for (reg, array) in relaying.arrays {
            if registers.array_of(reg).is_some() {
                registers.set_array(reg, array);
            }
        }
    }

    /// Makes registers as they were before an operator that had no memory with its copies; says whether it had any.
    pub(in crate::optimizer) fn relay_undone(
        &mut self,
        registers: &mut Registers<'a>,
        relaying: &mut Relaying,
    ) -> bool {
        let had = !relaying.given.is_empty();
        for (reg, array) in relaying.arrays.drain(..).chain(relaying.spare.drain(..)) {
            registers.set_array(reg, array);
        }
        relaying.given.clear();
        had
    }

    /// What an operator would like; nothing if it has no kernel, or is as it likes it.
    fn wants(&mut self, registers: &Registers<'a>, site: u32, executor: Executor) -> Option<Arc<Wants>> {
        let arrays = match self.layouts.site(site).arrays.clone() {
            Some(arrays) => arrays,
            None => {
                let arrays = self.tiers.arrays_read(site).into_iter();
                let arrays: Arc<[RegId]> = arrays.filter(|reg| registers.ty(*reg).rank > 1).collect();
                self.layouts.site(site).arrays = Some(arrays.clone());
                arrays
            }
        };
        if arrays.is_empty() {
            return None;
        }
        let mut numbers: SmallVec<[u64; 16]> = SmallVec::from_slice(&[executor as u64]);
        for reg in arrays.iter() {
            let view = registers.array_of(*reg)?.lmad();
            numbers.extend(view.dims.iter().flat_map(|dim| [dim.size as u64, dim.stride as u64]));
        }
        let answers = &mut self.layouts.site(site).answers;
        answers.asking.come();
        let wants = match answers.find(&numbers, self.eager) {
            Found::Known(known) => known.clone(),
            Found::Wait => return None,
            Found::Ask => {
                let start = Instant::now();
                self.tiers.moments.begins(Doing::Deciding);
                let wants = Arc::new(match self.tiers.kernel(site, registers) {
                    Some((lifted, observed)) => wants(&lifted, &observed, self.costs.get(), executor),
                    None => Wants::default(),
                });
                self.tiers.moments.ends();
                let took = start.elapsed();
                let phases = PlanPhases { analyse: took, ..PlanPhases::default() };
                let is_useful = !wants.all.is_empty();
                self.layouts.figures.count_made(took, &phases, is_useful);
                let made = Made { value: wants.clone(), weight: 1, nanos: nanos(took), is_useful };
                self.layouts.site(site).answers.keep(&numbers, made);
                wants
            }
        };
        (!wants.all.is_empty()).then_some(wants)
    }

    /// The form in which the interpreter is going to execute an operator over arrays.
    fn form_for(&self, registers: &Registers<'a>, execution: Execution, arrays: &[Operand]) -> Executor {
        match self.forms.runs_as_unit(registers, execution.at(), arrays) {
            true => Executor::Unit,
            false => Executor::Blocks,
        }
    }
}
