//! Layouts that are chosen for all operators of a function or loop together.
//!
//! What is about to run is recorded (`vm/lift/src/region/`), and the cheapest sequence of lanes, copies and births is found
//! (`galopvm_analysis::strategy`). Copies are made when the first operator needs them and stay with their blocks, so
//! that none has to be moved out of a loop; results are made in the layout of their readers by those that interpret.

use super::advice::{self, Advice, At, BirthAdvice};
use crate::optimizer::Optimizer;
use crate::optimizer::order::Order;
use crate::optimizer::plan::key::Inputs;
use crate::optimizer::residence::{Ground, Placing};
use galopvm_analysis::index::{Role, table};
use galopvm_analysis::layout::{Means, Pricing, Profile, Target};
use galopvm_analysis::strategy;
use galopvm_bytecode::{FuncId, Function, Instr, Operator, Scope};
use galopvm_interp::{Outcome, Registers};
use galopvm_kir::{Exp, VarId};
use galopvm_lift::region::{Purpose, Recorded};
use galopvm_lmad::Lmad;
use galopvm_store::array::{Array, Granted};
use galopvm_tier::site::{Answers, Found, Made, nanos, rules};
use galopvm_tier::told::{AdvisedSeen, Explained};
use galopvm_tier::{Doing, Execution, Executor, Met, PlanFigures, PlanPhases, Watch};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

/// Arrays of fewer elements, and smaller counts, are not worth advice.
const LEAST_ELEMENTS: i64 = 1 << 12;
const LEAST_COUNT: i64 = 32;

/// What is known of the functions and loops of a session.
#[derive(Default)]
pub(crate) struct Advices {
    sites: FxHashMap<(FuncId, Scope), SiteAdvice>,
    words: Vec<u64>,
    pub(crate) figures: PlanFigures,
}

/// What is known of a function or loop.
struct SiteAdvice {
    inputs: Arc<Inputs>,
    /// Whether there is anything to decide.
    asks: bool,
    answers: Answers<Option<Arc<Advice>>>,
    /// Whether there was any for some numbers.
    is_useful: bool,
}

/// Advice in use.
pub(in crate::optimizer) struct Advising {
    advice: Arc<Advice>,
    /// How deep calls are nested where it holds.
    depth: usize,
}

/// To be given back when the region ends.
pub(in crate::optimizer) struct Advised {
    site: (FuncId, Scope),
    start: Instant,
}

impl<'a> Optimizer<'a> {
    /// Takes advice for what is about to run, if there is any. What was recorded for it is left in `told`.
    pub(in crate::optimizer) fn begin_advised(
        &mut self,
        registers: &Registers<'a>,
        scope: Scope,
        told: &mut Option<Recorded>,
    ) -> Option<Advised> {
        let is_on = self.switches.galop && self.switches.strategy;
        if !is_on || matches!(scope, Scope::Round { .. }) || self.advice_here(registers).is_some() {
            return None;
        }
        let site = (registers.function, scope);
        let inputs = || self.plans.inputs(site, registers.code);
        let known = self.advices.sites.entry(site).or_insert_with(|| SiteAdvice::of(registers.code, inputs));
        if !known.asks {
            return None;
        }
        known.answers.asking.come();
        // Where no advice was found so far, numbers are only looked at when there may be some.
        let is_small = || !known.inputs.are_large(registers, LEAST_ELEMENTS, LEAST_COUNT);
        if !self.eager && !known.is_useful && (!known.answers.asking.may_ask() || is_small()) {
            return None;
        }
        let mut words = std::mem::take(&mut self.advices.words);
        let advice = self.find_advice(registers, site, &mut words, told);
        self.advices.words = words;
        self.holding.advising.push(Advising { advice: advice?, depth: registers.depth });
        self.advices.figures.applied += 1;
        Some(Advised { site, start: Instant::now() })
    }

    /// Gives the advice back.
    pub(in crate::optimizer) fn end_advised(&mut self, registers: &Registers<'_>, advised: Option<Advised>) {
        let Some(Advised { site, start }) = advised else { return };
        if self.advice_here(registers).is_some() {
            self.holding.advising.pop();
        }
        if let Some(known) = self.advices.sites.get_mut(&site) {
            known.answers.asking.served(nanos(start.elapsed()));
            known.answers.asking.learn(true);
        }
    }

    /// The advice that holds for the running call.
    pub(in crate::optimizer) fn advice_here(&self, registers: &Registers<'_>) -> Option<&Arc<Advice>> {
        self.holding
            .advising
            .last()
            .filter(|advising| advising.depth == registers.depth)
            .map(|advising| &advising.advice)
    }

    fn find_advice(
        &mut self,
        registers: &Registers<'a>,
        site: (FuncId, Scope),
        words: &mut Vec<u64>,
        told: &mut Option<Recorded>,
    ) -> Option<Arc<Advice>> {
        let start = Instant::now();
        let known = self.advices.sites.get_mut(&site)?;
        if !known.inputs.words(registers, words) {
            return None;
        }
        match known.answers.find(words, self.eager) {
            Found::Known(advice) => {
                self.advices.figures.count_found(start.elapsed());
                return advice.clone();
            }
            Found::Ask => {}
            Found::Wait => return None,
        }
        if !self.eager && !known.inputs.are_large(registers, LEAST_ELEMENTS, LEAST_COUNT) {
            return None;
        }
        let start = Instant::now();
        let mut phases = PlanPhases::default();
        let make = || self.make_advice(registers, site.1, told, &mut phases).map(Arc::new);
        let advice = self.tiers.moments.during(Doing::Deciding, make);
        let took = start.elapsed();
        self.advices.figures.count_made(took, &phases, advice.is_some());
        if let (Some(explainer), Some(advice)) = (&self.tiers.explainer, &advice) {
            let (function, scope) = site;
            let lines = advice.lines.clone();
            explainer.tell(Explained::Advised(AdvisedSeen { function, scope, lines }));
        }
        let known = self.advices.sites.get_mut(&site)?;
        let is_useful = advice.is_some();
        known.is_useful |= is_useful;
        known.answers.keep(words, Made { value: advice.clone(), weight: 1, nanos: nanos(took), is_useful });
        advice
    }

    fn make_advice(
        &self,
        registers: &Registers<'a>,
        scope: Scope,
        told: &mut Option<Recorded>,
        phases: &mut PlanPhases,
    ) -> Option<Advice> {
        let mut watch = Watch::start();
        *told = self.record(registers, scope, Purpose::Layouts);
        phases.record = watch.lap();
        let recorded = told.as_ref()?;
        let table = table(&recorded.region, &recorded.observed);
        let table = table.with_nested_births(recorded.region.region());
        let executor = match (self.tiers.has_backends(), self.switches.machine) {
            (true, _) => Executor::Compiled,
            (false, true) => Executor::Unit,
            (false, false) => Executor::Blocks,
        };
        let costs = executor.costs(self.costs.get());
        let mut profile = Profile::default();
        let (target, sharing) = (Target::Cpu, 1);
        let pricing = Pricing { table: &table, costs: &costs, target, profile: &profile, sharing };
        let (lanes, fixed) = self.given(registers, recorded, &pricing);
        profile.lanes = lanes;
        profile.fixed = fixed;
        let pricing = Pricing { table: &table, costs: &costs, target, profile: &profile, sharing };
        let region = recorded.region.region();
        let result = |exp: &Exp| match exp {
            Exp::Var(var) => Some(*var),
            _ => None,
        };
        let results: Vec<VarId> = region.body.results.iter().filter_map(result).collect();
        let means = Means { budget: self.memory.room().unwrap_or(u64::MAX), ..Means::default() };
        let choice = strategy::decide(&pricing, &results, &means);
        phases.analyse = watch.lap();
        let advice = Advice::new(registers.code, recorded, &table, &choice);
        phases.plan = watch.lap();
        let mut advice = advice?;
        if self.tiers.explainer.is_some() {
            advice.lines = choice.text(region, &pricing).lines().map(str::to_string).collect();
        }
        Some(advice)
    }

    /// What whoever executes the kernels of a region has no choice about: lanes, and the layouts of results.
    fn given(
        &self,
        registers: &Registers<'a>,
        recorded: &Recorded,
        pricing: &Pricing<'_>,
    ) -> (BTreeMap<VarId, VarId>, BTreeSet<VarId>) {
        let operators = advice::operators(registers.code);
        let mut lanes = BTreeMap::new();
        for (kernel, rows) in pricing.rows_by_kernel() {
            let at = advice::at(recorded, &operators, kernel);
            if at.is_some_and(|at| self.may_be_compiled(registers, at)) {
                continue;
            }
            let lane = pricing.lane_axes_of(&rows).into_iter().rev().find(|a| pricing.table.is_parallel(*a));
            lanes.extend(lane.map(|lane| (kernel, lane)));
        }
        let is_fixed = |array: &VarId| match recorded.makers.get(*array) {
            Some(maker) => {
                let block = &registers.code.blocks[maker.block];
                let is_map = matches!(block.code.get(maker.index), Some(Instr::Map { .. }));
                let at = (maker.block, maker.index);
                !recorded.registers.has(*array)
                    || !is_map
                    || registers.prepared.blocks[maker.block].in_operator
                    || self.may_be_compiled(registers, at)
            }
            None => true,
        };
        let fresh = pricing.table.rows.iter().filter(|row| row.role == Role::Fresh).map(|row| row.array);
        (lanes, fresh.filter(is_fixed).collect())
    }

    fn may_be_compiled(&self, registers: &Registers<'a>, (block, index): At) -> bool {
        let site = registers.prepared.blocks[block].site(index);
        site.is_some_and(|site| self.tiers.may_be_compiled(site))
    }

    /// The results that are advised to be made in another layout, of those without a residence.
    pub(in crate::optimizer) fn births(
        &self,
        registers: &Registers<'_>,
        execution: Execution,
        operator: &Operator<'_>,
        outputs: &Placing,
    ) -> Vec<BirthAdvice> {
        let advice = self.advice_here(registers).filter(|_| operator.is_map());
        let Some(advice) = advice.and_then(|advice| advice.at(execution.at())) else {
            return Vec::new();
        };
        let is_followed = |birth: &&BirthAdvice| {
            let is_large = self.eager || Lmad::row_major(&birth.shape).elements() >= LEAST_ELEMENTS;
            birth.result < operator.dsts.len()
                && !outputs.has(birth.result)
                && birth.shape.first() == Some(&execution.width)
                && is_large
        };
        advice.births.iter().filter(is_followed).cloned().collect()
    }

    /// The outputs of an order, with a block in the advised layout for each birth.
    pub(in crate::optimizer) fn with_births(
        &mut self,
        registers: &Registers<'a>,
        operator: &Operator<'_>,
        order: Order,
    ) -> Outcome<Placing> {
        let Order { mut outputs, births, .. } = order;
        for birth in &births {
            let elem = registers.elem(operator.dsts[birth.result].0);
            let array = Array::fresh(self.memory, elem, &birth.shape)?;
            let array = array.into_view(Lmad::manifest(&birth.shape, &birth.order));
            if let Some(place) = Granted::new(array, 1) {
                outputs.settle(birth.result, place, Ground::Advised);
                self.memory.count_birth();
                self.tiers.coverage.met(Met::AdviceBirth);
            }
        }
        Ok(outputs)
    }
}

impl SiteAdvice {
    fn of(code: &Function, inputs: impl FnOnce() -> Arc<Inputs>) -> SiteAdvice {
        let instrs = || code.blocks.iter().flat_map(|block| &block.code);
        let loops = instrs().any(|instr| matches!(instr, Instr::For { .. } | Instr::While { .. }));
        let operators = instrs().filter(|instr| instr.goes_over_rows()).count();
        // An operator alone decides for itself.
        let asks = code.regs.iter().any(|ty| ty.rank > 1) && (operators > 1 || operators == 1 && loops);
        let inputs = if asks { inputs() } else { Arc::default() };
        SiteAdvice {
            inputs,
            asks,
            answers: Answers::new(&rules::ADVICE, rules::MOST_ADVICE),
            is_useful: false,
        }
    }
}
